"""Where commands write and read: plain files outside of the store's folder, whole or not at all."""

import itertools
import os
import stat

import pytest

from hybrid_memory.admin.user_files import atomic_file, check_source, check_target
from hybrid_memory.errors import InvalidInput, StoreError, StoreReadOnly

NAMES = (
    "memory.duckdb",
    "memory.duckdb.wal",
    "memory.journal",
    "memory.lock",
    "config.toml",
    "new",
    "logs/hub.log",
    "",
)
WAYS = (
    "home",
    "home/.",
    "home/backups/..",
    "aside/../home",
    "aside/link",
    "aside/../aside/link",
    "aside/link/backups/..",
)


@pytest.fixture
def home(tmp_path):
    for name in ("home/backups", "home/logs", "aside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / "memory.duckdb").write_text("store")
    (tmp_path / "aside" / "link").symlink_to(tmp_path / "home", target_is_directory=True)
    (tmp_path / "aside" / "file-link").symlink_to(tmp_path / "home" / "memory.duckdb")
    (tmp_path / "aside" / "lost-link").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "aside" / "pipe")
    return tmp_path / "home"


@pytest.mark.parametrize(("way", "name"), list(itertools.product(WAYS, NAMES)))
def test_no_way_leads_into_the_stores_folder(home, way, name):
    with pytest.raises(InvalidInput):
        check_target(home.parent / way / name, home, force=True)


@pytest.mark.parametrize("name", ["link", "file-link", "lost-link", "pipe", "missing/x", "", "../aside"])
def test_what_is_no_plain_file_is_not_replaced(home, name):
    with pytest.raises(InvalidInput):
        check_target(home.parent / "aside" / name, home, force=True)


@pytest.mark.parametrize("place", ["/dev/null", "/dev/zero"])
def test_devices_are_not_written(home, place):
    with pytest.raises(InvalidInput):
        check_target(home / place, home, force=True)


@pytest.mark.parametrize("name", ["pipe", "missing", "lost-link", ""])
def test_what_is_no_plain_file_is_not_read(home, name):
    with pytest.raises(InvalidInput):
        check_source(home.parent / "aside" / name)


def test_a_file_that_is_there_is_replaced_only_by_force(home):
    place = home.parent / "aside" / "x"
    place.write_text("precious")
    with pytest.raises(InvalidInput):
        check_target(place, home, force=False)
    assert check_target(place, home, force=True) == place


def test_a_new_file_has_its_name_only_when_it_is_whole(tmp_path):
    place = tmp_path / "x"
    with pytest.raises(KeyError), atomic_file(place) as stream:
        stream.write({}[b"half"])
    assert list(tmp_path.iterdir()) == []
    with atomic_file(place) as stream:
        stream.write(b"whole")
        assert not place.exists()
    assert place.read_bytes() == b"whole"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreReadOnly), atomic_file(tmp_path / "x"):
            pass
    finally:
        tmp_path.chmod(0o700)


def test_an_error_of_the_file_system_names_no_path(tmp_path):
    with pytest.raises(StoreError) as caught, atomic_file(tmp_path / "missing" / "x"):
        pass
    assert str(tmp_path) not in str(caught.value)
