"""A pipe or a folder in the place of one of the store's files is refused at once, in a sentence that says so."""

import os

import pytest

from hybrid_memory.errors import InvalidInput, StoreReadOnly
from hybrid_memory.private_files import NotPlainFileError, open_plain_file, read_plain_file
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock

pytestmark = [pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names"), pytest.mark.timeout(20)]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["memory.duckdb", "memory.duckdb.wal", "memory.journal"])
def test_a_store_with_something_else_in_the_place_of_a_file_is_not_opened(tmp_path, name, make):
    make(tmp_path / name)
    with pytest.raises(StoreReadOnly, match="stands in the place of one of the store's files"):
        DuckStore.open(tmp_path / "memory.duckdb", FakeClock())


@pytest.mark.parametrize(
    ("name", "said"), [("what?", "a question mark"), ("?x=1", "a question mark"), ("\udcff", "not UTF-8")]
)
def test_a_folder_that_the_engine_cannot_open_is_refused(tmp_path, name, said):
    with pytest.raises(InvalidInput, match=f"home: a name .*{said}"):
        DuckStore.open(tmp_path / name / "memory.duckdb", FakeClock())


def test_a_device_is_no_plain_file():
    from pathlib import Path

    with pytest.raises(NotPlainFileError):
        open_plain_file(Path("/dev/zero"))


def test_a_plain_file_is_read_up_to_a_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert (read_plain_file(tmp_path / "a"), read_plain_file(tmp_path / "a", 2)) == (b"12345", b"12")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a#b", "50%", "a b", "it's", 'the "one"', "line\nfeed", "野", "a;b", "x=1&mode=ro"])
def test_a_folder_of_any_name_holds_a_store(tmp_path, name):
    place = tmp_path / name / "memory.duckdb"
    place.parent.mkdir()
    store = DuckStore.open(place, FakeClock())
    store.close()
    assert place.is_file()
    assert [one.name for one in tmp_path.iterdir()] == [name]
