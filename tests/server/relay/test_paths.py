"""Where a store's hub is found."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from hybrid_memory_mcp.relay import paths

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets, users and modes")

ENVIRONMENTS = [
    {"HOME": "/home/ada"},
    {"HOME": "/home/ada/"},
    {"HOME": "/"},
    {"HOME": "/home/ada", "XDG_DATA_HOME": "/data/of ada"},
    {"HOME": "/home/ada", "XDG_DATA_HOME": "/data/"},
    {"HOME": "/home/ada", "XDG_DATA_HOME": ""},
    {"HOME": "/home/ada", "XDG_DATA_HOME": "   "},
    {"HOME": "/home/ada", "XDG_DATA_HOME": " /data "},
    {"HOME": "/home/ada", "XDG_DATA_HOME": "relative/data"},
    {"HOME": "/home/ada", "XDG_DATA_HOME": "~/data"},
    {"HOME": "relative"},
    {"HOME": ""},
    {"XDG_DATA_HOME": "/data"},
    {},
]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_platforms_data_folder_is_the_one_that_platformdirs_names(monkeypatch, environment):
    for name in ("HOME", "XDG_DATA_HOME", "ANDROID_ROOT", "ANDROID_DATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = paths.data_folder(environment)
    assert found == platformdirs.user_data_dir("hybrid-memory-mcp", appauthor=False)


@pytest.mark.parametrize("arguments", [["--home", "/a/b"], ["--home=/a/b"], ["serve", "--home", "/x", "--home=/a/b"]])
def test_the_folder_of_the_command_line_wins_however_it_is_written(arguments):
    assert paths.store_folder(arguments, {"HYBRID_MEMORY_HOME": "/other"}) == "/a/b"


def test_a_folder_is_made_absolute_and_a_tilde_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    assert paths.store_folder([], {"HYBRID_MEMORY_HOME": "notes/../memory"}) == str(tmp_path / "memory")
    assert paths.store_folder(["--home", "~/memory"], {}) == "/home/ada/memory"


def test_an_empty_variable_is_none():
    assert paths.store_folder([], {"HYBRID_MEMORY_HOME": "", "HOME": "/home/ada", "XDG_DATA_HOME": "/d"}) == (
        paths.data_folder({"HOME": "/home/ada", "XDG_DATA_HOME": "/d"})
    )


@pytest.fixture
def runtime(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / f"hybrid-memory-mcp-{os.getuid()}"


def test_a_socket_lies_in_its_store_where_the_path_is_short_enough(runtime):
    assert paths.socket_path("/a/b") == "/a/b/hub.sock"
    assert not runtime.exists()


def test_a_long_path_leads_to_a_private_runtime_folder_under_a_name_of_its_own(runtime):
    first, second = (paths.socket_path(f"/{'a' * 90}/{name}") for name in ("one", "two"))
    assert first != second
    assert Path(first).parent == runtime
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700


def test_a_path_is_as_long_as_its_bytes(runtime):
    assert paths.socket_path("/" + "ä" * 46).startswith(str(runtime))
    assert not paths.socket_path("/" + "a" * 46).startswith(str(runtime))


def test_two_names_of_one_long_folder_lead_to_one_socket(runtime, tmp_path):
    real = tmp_path / ("a" * 100)
    real.mkdir()
    (tmp_path / ("b" * 100)).symlink_to(real)
    assert paths.socket_path(str(tmp_path / ("b" * 100))) == paths.socket_path(str(real))


def test_a_runtime_folder_that_others_may_enter_is_refused(runtime):
    runtime.mkdir()
    runtime.chmod(0o755)
    with pytest.raises(PermissionError):
        paths.runtime_folder()


def test_a_link_or_a_file_in_place_of_the_runtime_folder_is_refused(runtime, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(0o700)
    runtime.symlink_to(elsewhere)
    with pytest.raises(PermissionError):
        paths.runtime_folder()
    runtime.unlink()
    runtime.touch(0o600)
    with pytest.raises(PermissionError):
        paths.runtime_folder()


def test_a_runtime_folder_of_another_user_is_refused(runtime, monkeypatch):
    other_user = os.getuid() + 1
    runtime.with_name(f"hybrid-memory-mcp-{other_user}").mkdir(0o700)
    monkeypatch.setattr(os, "getuid", lambda: other_user)
    with pytest.raises(PermissionError):
        paths.runtime_folder()


SLOW = ("json", "re", "pathlib", "typing", "dataclasses", "contextlib", "subprocess", "logging", "hybrid_memory", "mcp")
IMPORTED = f"""
import sys
before = set(sys.modules)
import hybrid_memory_mcp.relay.relay
print(sorted((set(sys.modules) - before) & set({SLOW})))
"""


def test_a_relay_imports_nothing_that_takes_long():
    # -S: what the environment's own start-up files import is not the relay's doing.
    path = os.pathsep.join(one for one in sys.path if one)
    done = subprocess.run(
        [sys.executable, "-S", "-c", IMPORTED],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
