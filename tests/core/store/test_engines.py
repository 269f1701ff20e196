"""Engines of stores are found by the scheme of an address, and never looked for without one."""

import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from hybrid_memory import extras
from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.setting_sources import report_settings
from hybrid_memory.settings import store_settings
from hybrid_memory.store.engines import engine_of, read_password, shown_address
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.opening import is_missing, open_store, restorer_of

SECRET = "tulip-9313"  # noqa: S105 - of nobody


class Kept:
    """A database of an engine that nobody has written yet."""

    digest = "kept"

    def __init__(self, address):
        self.shown = address.partition("?")[0]

    def open(self, _settings, clock, _random_source):
        return MemoryStore(clock)

    def restorer(self, *_):
        return f"restorer of {self.shown}"


class KeptEngine:
    def database(self, address, *_):
        return Kept(address)

    def shown_address(self, address):
        return Kept(address).shown

    def refuse_secret(self, address, _place):
        return address


KEPT = KeptEngine()


@pytest.fixture
def engines(monkeypatch):
    """The engines that are installed, by scheme."""
    found = {"kept": EntryPoint("kept", f"{__name__}:KEPT", "hybrid_memory.stores")}
    monkeypatch.setattr(EntryPoint, "load", lambda _: KEPT)
    monkeypatch.setattr(extras, "_offered", lambda group: found if group == "hybrid_memory.stores" else {})
    return found


@pytest.fixture
def no_entry_points(monkeypatch):
    def look(group):
        raise AssertionError(f"looked for the entry points of {group}")

    monkeypatch.setattr(extras, "_offered", look)


@pytest.mark.usefixtures("engines")
class TestAnotherEngine:
    @pytest.fixture(autouse=True)
    def address(self, monkeypatch):
        monkeypatch.setenv("HYBRID_MEMORY_STORE", "KEPT://here?word=tulip-9313")

    def test_opens_the_store_that_the_settings_name(self, tmp_path):
        store = open_store(store_settings(tmp_path), tmp_path, SystemClock())
        assert isinstance(store, MemoryStore)
        assert not (tmp_path / "memory.duckdb").exists()

    def test_restores_into_it(self, tmp_path):
        assert restorer_of(store_settings(tmp_path), tmp_path) == "restorer of KEPT://here"

    def test_says_what_of_an_address_may_be_shown(self, tmp_path):
        state = next(one for one in report_settings({"home": tmp_path}).settings if one.name == "store")
        assert (state.value, state.problem) == ("KEPT://here", None)

    def test_is_no_file_that_could_be_missing(self, tmp_path):
        assert not is_missing(tmp_path)

    def test_takes_no_address_of_others(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HYBRID_MEMORY_STORE", "other://here")
        with pytest.raises(InvalidInput, match="must be an address"):
            store_settings(tmp_path)


def test_without_an_engine_an_address_says_what_to_install(engines, tmp_path, monkeypatch):
    engines.clear()
    monkeypatch.setenv("HYBRID_MEMORY_STORE", f"postgresql://hub:{SECRET}@db.example/memory")
    with pytest.raises(InvalidInput, match="install hybrid-memory-mcp again") as told:
        store_settings(tmp_path)
    assert SECRET not in str(told.value)


def test_without_an_engine_nothing_of_an_address_is_shown(engines):
    engines.clear()
    assert SECRET not in shown_address(f"postgresql://hub:{SECRET}@db.example/memory")


@pytest.mark.usefixtures("engines")
@pytest.mark.parametrize("place", ["/srv/memory", "memory", "C:\\memory", "other://here", "kept:/here", ""])
def test_a_folder_is_no_address(place):
    with pytest.raises(InvalidInput, match="must be an address"):
        engine_of(place)


@pytest.mark.usefixtures("no_entry_points")
def test_a_store_that_is_a_file_is_opened_without_a_look_at_entry_points(tmp_path):
    settings = store_settings(tmp_path)
    open_store(settings, tmp_path, SystemClock()).close()
    restorer_of(settings, tmp_path)
    assert not is_missing(tmp_path)


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() == 0, reason="a file of root may be readable, as containers mount secrets"
)
@pytest.mark.parametrize(("mode", "what"), [(0o644, "read"), (0o640, "read"), (0o666, "change")])
def test_a_file_that_others_can_read_or_change_is_refused(tmp_path: Path, mode: int, what: str) -> None:
    file = tmp_path / "password"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(InvalidInput, match=what):
        read_password(file)


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", b"\xff\xfe", b"x" * 20_000])
def test_a_file_without_a_password_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "password"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(InvalidInput, match="store_password_file"):
        read_password(file)


def test_a_file_that_is_missing_is_named_by_its_setting_alone(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_password(tmp_path / "absent")
    assert str(tmp_path) not in str(caught.value)
