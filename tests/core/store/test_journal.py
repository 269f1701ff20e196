"""The journal's file, and what an opening concludes from it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.store.duck.recovery.journal import Journal, JournalContents, JournalEnd, JournalRecord, read_journal
from hybrid_memory.store.duck.recovery.open import FoundState, plan_recovery
from hybrid_memory.store.duck.recovery.wal import length_before_damage, scan_wal

VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
STEPS = st.lists(st.tuples(st.sampled_from(["one", "two", "three"]), st.lists(VALUES).map(tuple)), max_size=4)


def written(folder: Path, works, base=7, store="s"):
    journal = Journal(folder / "memory.journal", store)
    journal.ensure_open(base)
    for number, steps in enumerate(works, base + 1):
        journal.append(number, steps)
    journal.release()
    return (folder / "memory.journal").read_bytes()


def work_of(reading):
    return [(number, [(text, tuple(values)) for text, values in steps]) for number, steps in reading.steps_after(0)]


@given(works=st.lists(STEPS, max_size=5))
def test_what_was_appended_is_read_again(tmp_path_factory, works):
    reading = read_journal(written(tmp_path_factory.mktemp("j"), works), "s")
    assert work_of(reading) == list(enumerate(works, 8))
    assert (reading.end, reading.last, reading.highest, reading.is_complete) == (
        JournalEnd.WHOLE,
        7 + len(works),
        reading.last,
        True,
    )


@given(works=st.lists(STEPS, min_size=2, max_size=5), data=st.data())
def test_a_turned_bit_never_changes_what_is_read(tmp_path_factory, works, data):
    content = bytearray(written(tmp_path_factory.mktemp("j"), works))
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << (bit % 8)
    reading = read_journal(bytes(content), "s")
    assert reading is not None
    assert work_of(reading) == list(enumerate(works, 8))[: reading.last - 7]


@given(works=st.lists(STEPS, min_size=1, max_size=5), data=st.data())
def test_a_cut_leaves_the_records_before_it(tmp_path_factory, works, data):
    content = written(tmp_path_factory.mktemp("j"), works)
    reading = read_journal(content[: data.draw(st.integers(0, len(content) - 1))], "s")
    assert reading is None or work_of(reading) == list(enumerate(works, 8))[: reading.last - 7]


def test_an_intact_record_behind_a_damaged_one_tells_how_far_writes_went(tmp_path):
    content = bytearray(written(tmp_path, [[("one", (n,))] for n in range(9)]))
    content[len(content) // 2] ^= 1
    reading = read_journal(bytes(content), "s")
    assert (reading.last < 16, reading.highest, reading.end) == (True, 16, JournalEnd.DAMAGED)


def test_the_journal_of_another_store_tells_nothing(tmp_path):
    assert read_journal(written(tmp_path, [[("one", ())]], store="t"), "s").is_foreign


def test_a_damaged_header_costs_nothing(tmp_path):
    content = bytearray(written(tmp_path, [[("one", (1,))]]))
    content[7] ^= 1
    assert work_of(read_journal(bytes(content), "s")) == [(8, [("one", (1,))])]


def test_a_journal_goes_on_after_it_was_read(tmp_path):
    reading = read_journal(written(tmp_path, [[("one", (1,))]]), "s")
    journal = Journal(tmp_path / "memory.journal", "s")
    journal.resume(reading)
    journal.append(9, [("two", ()), ("one", (2,))])
    journal.release()
    again = read_journal((tmp_path / "memory.journal").read_bytes(), "s")
    assert work_of(again) == [(8, [("one", (1,))]), (9, [("two", ()), ("one", (2,))])]


@pytest.mark.parametrize("number", [8, 10])
def test_a_write_out_of_turn_is_not_noted_and_the_file_says_that_it_misses_some(tmp_path, number):
    journal = Journal(tmp_path / "memory.journal", "s")
    journal.ensure_open(7)
    journal.append(8, [("one", ())])
    journal.append(number, [("one", ())])
    journal.release()
    reading = read_journal(journal.file.read_bytes(), "s")
    assert (journal.is_complete, reading.is_complete, reading.last) == (False, False, 8)


def found(number, *, log_whole=True, log_cut=False, base=0, last=0, **changes):
    records = tuple(JournalRecord(one, memoryview(b"")) for one in range(base + 1, last + 1))
    reading = JournalContents(**({"base": base, "records": records, "highest": last} | changes))
    return FoundState(number=number, log_whole=log_whole, log_cut=log_cut, journal=reading, journal_there=True)


def test_a_process_killed_between_commit_and_record_has_lost_nothing():
    assert plan_recovery(found(6, last=5)).damaged is None
    assert plan_recovery(found(6, last=5, end=JournalEnd.TORN)).damaged is None


def test_a_process_killed_in_a_commit_has_lost_nothing():
    done = plan_recovery(found(5, last=5, log_whole=False))
    assert (done.damaged, done.lost, done.resume) == (None, 0, True)


@given(
    number=st.integers(0, 9),
    base=st.integers(0, 9),
    count=st.integers(0, 9),
    more=st.integers(0, 3),
    log_whole=st.booleans(),
    end=st.sampled_from(JournalEnd),
    is_complete=st.booleans(),
)
def test_what_the_journal_knows_and_the_database_will_lack_is_always_told(
    number, base, count, more, log_whole, end, is_complete
):
    last = base + count
    case = found(
        number, log_whole=log_whole, base=base, last=last, highest=last + more, end=end, is_complete=is_complete
    )
    done = plan_recovery(case)
    missing = max(last + more - number - done.redo, 0)
    assert done.lost in {missing, None}
    assert done.damaged is not None or (missing == 0 and done.redo == 0 and done.lost == 0)


def test_a_log_is_walked_to_its_last_commit():
    version = bytes.fromhex("640062650002ffff")
    entry = (5).to_bytes(8, "little") + bytes(8) + bytes.fromhex("640064ffff")
    assert [scan_wal(version + entry * n).commits for n in range(3)] == [0, 1, 2]
    assert [scan_wal(content).whole for content in (b"", version, version + entry, version + entry[:-1])] == [
        True,
        True,
        True,
        False,
    ]


def test_a_position_that_the_layout_does_not_bear_out_cuts_nothing():
    wal = bytes.fromhex("640062650002ffff") + bytes(64)
    text = "Corrupt WAL file: entry at byte position {} computed checksum 1 does not match stored checksum {}"
    assert length_before_damage(text.format(24, 0), wal) == 8
    assert [length_before_damage(text.format(*pair), wal) for pair in ((24, 5), (9, 0), (900, 0))] == [None] * 3
    assert length_before_damage("something else", wal) is None
