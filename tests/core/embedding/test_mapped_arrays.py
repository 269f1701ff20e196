"""The file that arrays are mapped from: what is in it, who may read it, and what becomes of a damaged one."""

import os
import stat

import numpy as np
import pytest

from hybrid_memory.embedding.mapped_arrays import Rows, map_arrays, write_arrays

ARRAYS = {
    "numbers": np.arange(7, dtype=np.int32),
    "table": np.arange(60, dtype=np.uint8).reshape(12, 5),
    "weights": np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3),
}


@pytest.fixture
def file(tmp_path):
    write_arrays(tmp_path / "cache" / "arrays", ARRAYS, "these")
    return tmp_path / "cache" / "arrays"


def test_what_was_written_is_mapped(file):
    arrays, rows = map_arrays(file, "these", "table")
    assert arrays.keys() == ARRAYS.keys()
    assert all(arrays[name].dtype == one.dtype and (arrays[name] == one).all() for name, one in ARRAYS.items())
    assert (rows.at(np.array([3, 11, 3])) == ARRAYS["table"][[3, 11, 3]]).all()


def test_mapped_arrays_cannot_be_changed(file):
    arrays, _ = map_arrays(file, "these", "table")
    with pytest.raises(ValueError, match="read-only"):
        arrays["numbers"][0] = 1


def test_rows_are_the_same_where_the_system_cannot_read_at_a_place(file, monkeypatch):
    monkeypatch.delattr(os, "pread", raising=False)
    _, rows = map_arrays(file, "these", "table")
    assert (rows.at(np.array([0, 5])) == ARRAYS["table"][[0, 5]]).all()


def test_rows_in_memory_need_no_file():
    assert (Rows(ARRAYS["table"]).at(np.array([2])) == ARRAYS["table"][2]).all()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_file_and_its_folder_are_the_users_own(file):
    assert [stat.S_IMODE(one.stat().st_mode) for one in (file, file.parent)] == [0o600, 0o700]


def test_only_the_whole_file_is_left(file):
    write_arrays(file, ARRAYS, "others")
    assert [one.name for one in file.parent.iterdir()] == ["arrays"]


def test_what_a_killed_writer_left_is_removed_in_time(file):
    old, fresh = (file.with_name(f"arrays{name}.new") for name in "12")
    for one in (old, fresh):
        one.write_bytes(b"half")
    os.utime(old, (0, 0))
    write_arrays(file, ARRAYS, "these")
    assert (old.exists(), fresh.exists()) == (False, True)


def test_a_file_that_cannot_be_put_in_its_place_leaves_nothing(tmp_path):
    (tmp_path / "arrays").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_arrays(tmp_path / "arrays", ARRAYS, "these")
    assert [one.name for one in tmp_path.iterdir()] == ["arrays"]


def cut(file):
    os.truncate(file, file.stat().st_size - 1)


def emptied(file):
    file.write_bytes(b"")


def overwritten(file):
    file.write_bytes(b"\xff" * file.stat().st_size)


def changed_inside(file):
    content = bytearray(file.read_bytes())
    content[-1 - 64] ^= 1  # of the weights: their last line of 64 bytes is filled up with zeros
    content[-64] ^= 1
    file.write_bytes(content)


def without_the_arrays(file):
    file.write_bytes(file.read_bytes().replace(b'"table"', b'"elbat"', 1))


def a_folder(file):
    file.unlink()
    file.mkdir()


def gone(file):
    file.unlink()


@pytest.mark.parametrize("damage", [cut, emptied, overwritten, changed_inside, without_the_arrays, a_folder, gone])
def test_a_damaged_file_is_not_used(file, damage):
    damage(file)
    assert map_arrays(file, "these", "table") is None


def test_a_file_made_from_something_else_is_not_used(file):
    assert map_arrays(file, "those", "table") is None
