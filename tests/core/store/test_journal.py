"""The journal's file, and what an opening concludes from it."""

import hashlib
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.store.duck.recovery.journal import Journal, JournalContents, JournalRecord, read_journal
from hybrid_memory.store.duck.recovery.open import plan_recovery

VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
STEPS = st.lists(st.tuples(st.sampled_from(["one", "two", "three"]), st.lists(VALUES).map(tuple)), max_size=4)


def written(folder: Path, works, base=7, store="s"):
    journal = Journal(folder / "memory.journal", store)
    journal.begin(base)
    for number, steps in enumerate(works, base + 1):
        journal.append(number, steps)
        journal.confirm()
    journal.release()
    return (folder / "memory.journal").read_bytes()


def work_of(reading):
    return [(number, [(text, tuple(values)) for text, values in steps]) for number, steps in reading.steps_after(0)]


@given(works=st.lists(STEPS, max_size=5))
def test_what_was_appended_is_read_again(tmp_path_factory, works):
    reading = read_journal(written(tmp_path_factory.mktemp("j"), works), "s")
    assert work_of(reading) == list(enumerate(works, 8))
    last = 7 + len(works)
    assert (reading.ends_early, reading.last, reading.highest, reading.committed) == (False, last, last, last)


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
    assert (reading.last < 16, reading.highest, reading.ends_early) == (True, 16, True)


def test_the_journal_of_another_store_tells_nothing(tmp_path):
    assert read_journal(written(tmp_path, [[("one", ())]], store="t"), "s").is_foreign


def test_a_damaged_header_costs_nothing(tmp_path):
    content = bytearray(written(tmp_path, [[("one", (1,))]]))
    content[7] ^= 1
    assert work_of(read_journal(bytes(content), "s")) == [(8, [("one", (1,))])]


def test_a_journal_goes_on_after_it_was_read(tmp_path):
    content = written(tmp_path, [[("one", (1,))]])
    (tmp_path / "memory.journal").write_bytes(content + b"\xf5hm")
    journal = Journal(tmp_path / "memory.journal", "s")
    journal.resume(read_journal(journal.file.read_bytes(), "s"))
    journal.append(9, [("two", ()), ("one", (2,))])
    journal.confirm()
    journal.release()
    again = read_journal(journal.file.read_bytes(), "s")
    assert work_of(again) == [(8, [("one", (1,))]), (9, [("two", ()), ("one", (2,))])]
    assert (again.committed, again.ends_early) == (9, False)


def test_a_write_that_was_not_committed_is_taken_back(tmp_path):
    journal = Journal(tmp_path / "memory.journal", "s")
    journal.begin(7)
    journal.append(8, [("one", (1,))])
    journal.take_back()
    journal.append(8, [("two", ())])
    journal.confirm()
    journal.release()
    assert journal.file.read_bytes() == written(tmp_path, [[("two", ())]])


def test_a_write_that_was_appended_and_not_confirmed_is_not_called_committed(tmp_path):
    journal = Journal(tmp_path / "memory.journal", "s")
    journal.begin(7)
    journal.append(8, [("one", ())])
    reading = read_journal(journal.file.read_bytes(), "s")
    journal.release()
    assert (reading.last, reading.committed) == (8, 7)


@pytest.mark.parametrize("number", [8, 10])
def test_with_a_write_out_of_turn_the_journal_begins_again(tmp_path, number):
    journal = Journal(tmp_path / "memory.journal", "s")
    journal.begin(7)
    journal.append(8, [("one", ())])
    journal.confirm()
    journal.append(number, [("two", ())])
    journal.confirm()
    journal.release()
    reading = read_journal(journal.file.read_bytes(), "s")
    assert (reading.base, reading.last, work_of(reading)) == (number - 1, number, [(number, [("two", ())])])


def test_a_journal_of_an_earlier_version_is_read(tmp_path):
    head = json.dumps({"store": "s", "base": 7}).encode()
    digest = hashlib.blake2b(head, digest_size=8, key=b"", salt=bytes(8)).digest()
    record = written(tmp_path, [[("one", (1,))]])
    record = record[record.index(b"\xf5hmr") :]
    reading = read_journal(struct.pack("<4scI8s", b"hmj1", b"m", len(head), digest) + head + record, "s")
    assert work_of(reading) == [(8, [("one", (1,))])]
    assert (reading.committed, reading.ends_early, reading.base) == (None, True, 7)


def plan(number, *, log_refused=False, base=0, last=0, **changes):
    records = tuple(JournalRecord(one, memoryview(b"")) for one in range(base + 1, last + 1))
    reading = JournalContents(**({"base": base, "records": records, "highest": last, "committed": last} | changes))
    return plan_recovery(number, reading, log_there=True, log_refused=log_refused, journal_there=True)


def plan_without_journal(number, *, log_there=True, journal_there=False):
    return plan_recovery(number, None, log_there=log_there, log_refused=False, journal_there=journal_there)


@pytest.mark.parametrize("ends_early", [True, False])
def test_a_process_killed_around_a_commit_has_lost_nothing(ends_early):
    for number, last, committed in ((5, 6, 5), (6, 6, 5), (6, 6, 6)):
        done = plan(number, last=last, committed=committed, ends_early=ends_early)
        assert (done.damaged, done.lost, done.redo, done.resume) == (None, 0, last - number, True)


@pytest.mark.parametrize("number", [5, 6])
def test_a_process_of_an_earlier_version_killed_around_a_commit_has_lost_nothing(number):
    done = plan(number, last=5, committed=None)
    assert (done.damaged, done.lost, done.resume) == (None, 0, False)


def test_a_log_that_was_shortened_silently_is_made_up_for_and_reported():
    done = plan(3, last=6)
    assert (done.redo, done.lost, done.damaged is None) == (3, 0, False)


def test_where_log_and_journal_end_early_the_header_says_how_many_writes_are_missing():
    assert plan(3, last=5, committed=9, ends_early=True).lost == 4


def test_what_a_refused_log_had_beyond_its_journal_cannot_be_told():
    assert plan(7, last=6, log_refused=True).lost is None


def test_a_database_older_than_its_journal_is_not_filled_from_behind_a_gap():
    done = plan(3, base=5, last=8)
    assert (done.redo, done.lost) == (0, 5)


@pytest.mark.parametrize("there", [True, False])
def test_a_log_without_a_journal_that_can_be_read_may_have_been_shortened(there):
    assert plan_without_journal(5, journal_there=there).lost is None
    assert plan_without_journal(5, journal_there=there, log_there=False).lost == 0


def test_a_store_killed_while_it_was_made_has_lost_nothing():
    assert plan_without_journal(0).damaged is None


@given(
    number=st.integers(0, 9),
    base=st.integers(0, 9),
    count=st.integers(0, 9),
    more=st.integers(0, 3),
    log_refused=st.booleans(),
    ends_early=st.booleans(),
    committed=st.none() | st.integers(0, 25),
)
def test_what_the_journal_knows_and_the_database_will_lack_is_always_told(
    number, base, count, more, log_refused, ends_early, committed
):
    last = base + count
    changes = {"highest": last + more, "ends_early": ends_early, "committed": committed}
    done = plan(number, log_refused=log_refused, base=base, last=last, **changes)
    missing = max(last + more - number - done.redo, (committed or 0) - number - done.redo, 0)
    assert done.lost in {missing, None}
    assert done.damaged is not None or (missing == 0 and done.lost == 0)
