"""Stores that are written to apart come to hold the same, byte by byte, once each has seen all."""

import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.core.store.making import memory
from tests.sync.machines import Machine

from hybrid_memory.admin.backup import create_backup, restore
from hybrid_memory.admin.purge import purge
from hybrid_memory.admin.redact import redact
from hybrid_memory.errors import InvalidInput, StoreReadOnly
from hybrid_memory.language.text import content_hash
from hybrid_memory.requests import ReadRequest
from hybrid_memory.store.store_file import file_eraser
from hybrid_memory.store.transfer import MemoryItem, PurgeSelection
from hybrid_memory.testing import START
from hybrid_memory_sync.lines import MemoryChange
from hybrid_memory_sync.merge import State
from hybrid_memory_sync.segments import segment_bytes
from hybrid_memory_sync.stamps import LATEST_STAMP

VIOLIN = "The violin is in the attic."
SECRET = "sk-ant-api03-" + "Ab3" * 30  # made up


class KilledError(Exception):
    """Stands for the end of a process."""


def killed(*_, **__):
    raise KilledError


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    return place


@pytest.fixture
def machines(tmp_path):
    found = []

    def make(seed=1, minutes=0.0, of=None):
        home, start = tmp_path / f"m{seed}", START + timedelta(minutes=minutes)
        found.append(Machine(home, seed, start) if of is None else of.copied(home, seed, start))
        return found[-1]

    yield make
    for one in found:
        one.discard()


def rounds(folder, *machines, times=2):
    for _ in range(times):
        for one in machines:
            one.sync(folder)


def agree(*machines):
    exports = [one.export() for one in machines]
    assert all(one == exports[0] for one in exports)


def closed(machine, work):
    """Do something for which the store must be closed."""
    machine.close()
    try:
        return work()
    finally:
        machine.open()


def erase(machine, **selection):
    selected = PurgeSelection(namespace="default", **selection)
    closed(machine, lambda: purge(file_eraser(machine.home), selected, machine.clock.now(), actor="tester"))


def imported(machine, id_, **values):
    made = memory(id_, **values)
    item = MemoryItem(replace(made, content_hash=content_hash(made.content)))
    machine.store.transfer.import_items([item], action="import", actor="tester")


def segments(folder):
    return sorted(folder.glob("*/*.jsonl"))


def words_in(folder):
    return b"".join(file.read_bytes() for file in segments(folder)).decode()


# --- what is told ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_one_machine_was_told_is_on_the_other(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN, tags=("music",), metadata={"b": 1, "a": [2]})
    rounds(folder, one, other, times=1)
    assert other.get(id_).content == VIOLIN
    agree(one, other)


def test_what_came_from_another_machine_is_found_at_once(folder, machines):
    one, other = machines(1), machines(2)
    other.service.warm_up(other.scope())
    one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    found = other.service.read(other.scope(), ReadRequest(query="Where is the violin?"))
    assert [hit.memory.content for hit in found.hits] == [VIOLIN]


@pytest.mark.slow
def test_changes_of_different_fields_of_one_memory_are_both_kept(folder, machines):
    one = machines(1)
    id_ = one.write(VIOLIN)
    other = machines(2, of=one, minutes=-7)
    one.update(id_, tags=("music",))
    other.update(id_, pinned=True)
    rounds(folder, one, other)
    assert (one.get(id_).tags, one.get(id_).pinned) == (("music",), True)
    agree(one, other)


@pytest.mark.slow
def test_a_change_made_in_knowledge_of_another_is_later_by_whatever_clock(folder, machines):
    one, other = machines(1, minutes=60 * 24 * 800), machines(2)
    id_ = one.write(VIOLIN)
    one.update(id_, tags=("from", "the", "future"))
    rounds(folder, one, other, times=1)
    other.update(id_, tags=("now",))
    rounds(folder, other, one)
    assert one.get(id_).tags == ("now",)
    agree(one, other)


@pytest.mark.slow
def test_two_corrections_of_one_memory_become_versions(folder, machines):
    one = machines(1)
    id_ = one.write(VIOLIN)
    other = machines(2, of=one, minutes=3)
    left = one.update(id_, content="The violin is in the cellar.")
    right = other.update(id_, content="The violin is sold.")
    rounds(folder, one, other)
    assert [one.get(each).superseded_by for each in (left, right)] == [right, None]
    agree(one, other)


@pytest.mark.slow
def test_the_same_words_on_both_machines_know_the_first_saying(folder, machines):
    one, other = machines(1), machines(2, minutes=1)
    first, second = one.write(VIOLIN), other.write(VIOLIN)
    rounds(folder, other, one)
    assert (one.get(first).duplicate_of, one.get(second).duplicate_of) == (None, first)
    agree(one, other)


@pytest.mark.slow
def test_forgetting_and_bringing_back_go_to_the_other_machine(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN)
    one.forget(id_)
    rounds(folder, one, other, times=1)
    assert other.get(id_).forgotten_at is not None
    other.forget(id_, restore=True)
    rounds(folder, other, one, times=1)
    assert one.get(id_).forgotten_at is None
    agree(one, other)


@pytest.mark.slow
def test_an_insight_may_arrive_before_its_evidence(folder, machines):
    one, other = machines(1), machines(2)
    imported(one, "m1")
    one.sync(folder)
    imported(one, "m2", parents=("m1",))
    one.sync(folder)
    first, _ = segments(folder)
    kept = first.rename(folder / "on its way")
    other.sync(folder)
    assert (other.get("m2").parents, other.get("m1")) == (("m1",), None)
    kept.rename(first)
    rounds(folder, other, one)
    agree(one, other)


@pytest.mark.slow
def test_use_is_told_too(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    for _ in range(2):
        other.service.read(other.scope(), ReadRequest(query="Where is the violin?"))
        other.service.flush_recalls()
    rounds(folder, other, one)
    assert b'"access_count":2' in one.export()
    agree(one, other)


@pytest.mark.slow
def test_buffers_and_conversations_are_told(folder, machines):
    one, other = machines(1), machines(2)
    one.store.put_entry("default", "talk", "message", {"text": "hello"})
    one.write(VIOLIN, session="work")
    rounds(folder, one, other, times=1)
    assert other.store.put_entry("default", "talk", "message", {"text": "again"}) == 2
    one.service.end_session(one.scope("work"))
    rounds(folder, other, one, other)
    assert b'"type":"buffer"' not in other.export()
    agree(one, other)


@pytest.mark.slow
def test_the_end_of_a_session_is_no_erasing(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN, session="work")
    rounds(folder, one, other, times=1)
    one.service.end_session(one.scope("work"))
    done = [each.sync(folder) for each in (one, other, one)]
    assert [(each.cleaned, each.leftovers) for each in done] == [(0, ())] * 3


@pytest.mark.slow
def test_only_a_namespace_that_is_named_is_told_and_heard(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN, namespace="work")
    mine = one.write(VIOLIN)
    one.sync(folder, namespace="work")
    assert mine not in words_in(folder)
    one.sync(folder)
    other.sync(folder, namespace="work")
    assert other.get(mine) is None
    other.sync(folder)
    agree(one, other)


@pytest.mark.slow
def test_memories_of_one_moment_stand_in_the_same_order_everywhere(folder, machines):
    one, other = machines(1), machines(2)
    for machine, ids in ((one, "db"), (other, "ca")):
        for id_ in ids:
            imported(machine, f"m{id_}", created_at=START)
    rounds(folder, one, other)
    agree(one, other)


# --- what is not told, and what it costs ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_with_nothing_new_nothing_is_written_or_read(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    rounds(folder, one, other)
    before = segments(folder)
    again = one.sync(folder)
    assert (again.sent, again.segments, again.read) == (0, 0, 0)
    assert segments(folder) == before


@pytest.mark.slow
def test_only_what_is_new_is_written(folder, machines):
    one = machines(1)
    for number in range(5):
        one.write(f"Statement {number}.")
    one.sync(folder)
    one.write(VIOLIN)
    assert one.sync(folder).sent <= 2  # and what left a buffer for it
    assert words_in(folder).count("Statement 0.") == 1


@pytest.mark.slow
def test_what_is_new_to_a_machine_is_not_sent_back(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    rounds(folder, one, other)
    assert not [file for file in segments(folder) if other.sync(folder).machine in str(file)]


def test_a_preview_counts_and_changes_nothing(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    assert one.sync(folder, preview=True).sent == 1
    assert list(folder.iterdir()) == []
    one.sync(folder)
    before = other.export()
    seen = other.sync(folder, preview=True)
    assert (seen.new, seen.read, seen.preview) == (1, 1, True)
    assert other.export() == before


# --- torn, copied and hostile files ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_segment_that_is_half_carried_is_read_when_it_is_whole(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    one.sync(folder)
    (file,) = segments(folder)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert (other.sync(folder).torn, other.sync(folder).passed_over) == (1, (f"{file.parent.name}/{file.name}",))
    file.write_bytes(whole)
    assert other.sync(folder).new == 1
    agree(one, other)


@pytest.mark.slow
def test_a_conflicted_copy_is_known_again_and_counts_where_the_other_is_torn(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    one.sync(folder)
    (file,) = segments(folder)
    shutil.copy(file, file.with_name(f"{file.stem} (conflicted copy).jsonl"))
    file.write_bytes(b"{}")
    done = other.sync(folder)
    assert (done.new, done.read, done.torn) == (1, 1, 0)


@pytest.mark.slow
def test_a_segment_of_a_later_version_is_passed_over_and_told(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    one.sync(folder)
    (file,) = segments(folder)
    file.write_bytes(file.read_bytes().replace(b'"version":1', b'"version":9', 1))
    assert (other.sync(folder).newer, other.sync(folder).new) == (1, 0)


@pytest.mark.slow
def test_what_carriers_leave_in_the_folder_is_passed_over(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    one.sync(folder)
    (file,) = segments(folder)
    (file.parent / ".syncthing.x.tmp").write_text("x")
    (file.parent / "notes.txt").write_text("x")
    (folder / ".git").mkdir()
    (folder / "link").symlink_to(file.parent)
    (file.parent / "00000009-00000000000000000000000000000000.jsonl").mkdir()
    assert other.sync(folder).new == 1


@pytest.mark.slow
def test_segments_that_vanished_are_written_again(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    one.sync(folder)
    shutil.rmtree(segments(folder)[0].parent)
    rounds(folder, one, other, times=1)
    agree(one, other)


@pytest.mark.slow
def test_a_segment_that_was_torn_for_good_is_written_again_by_its_machine(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    rounds(folder, one, times=1)
    (file,) = segments(folder)
    file.write_bytes(file.read_bytes()[:-9])
    rounds(folder, other, one, other, times=1)
    assert other.sync(folder).torn == 0
    agree(one, other)


@pytest.mark.slow
def test_another_folder_gets_everything(folder, machines, tmp_path):
    one, other, third = machines(1), machines(2), machines(3)
    one.write(VIOLIN)
    second = tmp_path / "second"
    second.mkdir()
    rounds(folder, one, other, times=1)
    rounds(second, other, third, times=1)
    agree(one, other, third)
    third.write("The cello is sold.")
    for _ in range(2):
        rounds(second, third, other, times=1)
        rounds(folder, other, one, times=1)
    agree(one, other, third)


@pytest.mark.parametrize("what", ["missing", "file", "full", "home", "marker"])
def test_a_folder_that_cannot_be_meant_is_refused(folder, machines, tmp_path, what):
    one = machines(1)
    place = {"missing": tmp_path / "absent", "home": one.home}.get(what, folder)
    if what == "file":
        place = tmp_path / "file"
        place.write_text("")
    if what == "full":
        (folder / "taxes.pdf").write_text("")
    if what == "marker":
        (folder / "hybrid-memory-sync.json").write_text('{"format": "other"}')
    with pytest.raises(InvalidInput):
        one.sync(place)


def test_a_folder_that_cannot_be_written_is_refused(folder, machines, monkeypatch):
    monkeypatch.setattr("hybrid_memory_sync.folder.os.access", lambda *_: False)  # as root may write anywhere
    with pytest.raises(StoreReadOnly):
        machines(1).sync(folder)


# --- copies and backups ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_copied_store_writes_under_a_name_of_its_own(folder, machines):
    one = machines(1)
    one.write(VIOLIN)
    name = one.sync(folder).machine
    other = machines(2, of=one)
    other.write("The cello is sold.")
    done = other.sync(folder)
    assert (done.renamed, done.machine != name, done.sent) == (True, True, 1)
    rounds(folder, one, other)
    agree(one, other)


@pytest.mark.slow
def test_a_store_that_a_backup_replaced_takes_a_new_name_and_hears_what_it_had_told(folder, machines):
    one = machines(1)
    one.write(VIOLIN)
    one.sync(folder)
    saved = create_backup(one.store, one.home, one.clock.now(), keep=1).file
    one.write("The cello is sold.")
    one.sync(folder)
    whole = one.export()
    closed(one, lambda: restore(one.home, saved, one.clock.now()))
    done = one.sync(folder)
    assert (done.renamed, one.sync(folder).renamed) == (True, False)
    assert {line for line in one.export().splitlines() if b"content" in line} == {
        line for line in whole.splitlines() if b"content" in line
    }


@pytest.mark.slow
def test_a_store_that_was_moved_keeps_its_name(folder, machines, tmp_path):
    one = machines(1)
    id_ = one.write(VIOLIN)
    name = one.sync(folder).machine
    one.close()
    one.home = one.home.rename(tmp_path / "moved")
    one.open()
    erase(one, ids=(id_,))
    done = one.sync(folder)
    assert (done.machine, done.renamed, VIOLIN in words_in(folder)) == (name, False, False)


def test_a_copy_of_which_the_first_is_gone_takes_a_new_name(folder, machines):
    one = machines(1)
    name = one.sync(folder).machine
    other = machines(2, of=one)
    shutil.rmtree(one.home)
    assert other.sync(folder).machine != name


@pytest.mark.slow
def test_a_machine_that_is_gone_is_named_until_its_files_are_retired(folder, machines):
    one, gone, third = machines(1), machines(2), machines(3)
    id_ = gone.write(VIOLIN)
    kept = gone.write("The cello is sold.")
    name = gone.sync(folder).machine
    one.sync(folder)
    erase(one, ids=(id_,))
    one.sync(folder)
    assert [left.machine for left in one.sync(folder).leftovers] == [name]
    assert (one.sync(folder, retire=name).leftovers, VIOLIN in words_in(folder)) == ((), False)
    third.sync(folder)
    assert third.get(kept).content == "The cello is sold."
    agree(one, third)


@pytest.mark.slow
def test_a_machine_that_was_retired_and_comes_back_is_heard_again(folder, machines):
    one, other = machines(1), machines(2)
    other.write(VIOLIN)
    name = other.sync(folder).machine
    one.sync(folder)
    one.sync(folder, retire=name)
    other.write("The cello is sold.")
    rounds(folder, other, one)
    agree(one, other)


def test_a_machine_of_which_not_all_was_read_is_not_retired(folder, machines):
    one, gone = machines(1), machines(2)
    gone.write(VIOLIN)
    name = gone.sync(folder).machine
    (file,) = segments(folder)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InvalidInput):
        one.sync(folder, retire=name)
    assert file.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no such machine", "..", "own"])
def test_only_another_machine_of_the_folder_is_retired(folder, machines, name):
    one = machines(1)
    one.write(VIOLIN)
    own = one.sync(folder).machine
    with pytest.raises(InvalidInput):
        one.sync(folder, retire=own if name == "own" else name)


@pytest.mark.slow
def test_copies_that_nobody_cleans_are_named_after_a_purge(folder, machines):
    one = machines(1)
    id_ = one.write(VIOLIN)
    one.sync(folder)
    (file,) = segments(folder)
    places = ("{}_conf-1.jsonl", "deeper/{}.jsonl", "../{}.jsonl", ".stversions/{}~1.jsonl")
    copies = [(file.parent / place.format(file.stem)).resolve() for place in places]
    for copied in copies:
        copied.parent.mkdir(exist_ok=True)
        shutil.copy(file, copied)
    erase(one, ids=(id_,))
    one.sync(folder)
    assert {(folder / left.file).resolve() for left in one.sync(folder).leftovers} == set(copies)
    for copied in copies:
        copied.unlink()
    assert one.sync(folder).leftovers == ()


# --- purged and redacted --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_purged_memory_goes_everywhere_and_never_comes_back(folder, machines):
    one, other, third = machines(1), machines(2), machines(3)
    id_ = one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    erase(one, ids=(id_,))
    rounds(folder, one, other, third)
    assert [each.get(id_) for each in (one, other, third)] == [None] * 3
    agree(one, other, third)


@pytest.mark.slow
def test_a_purge_takes_its_words_out_of_this_machines_segments(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN)
    one.write("The cello is sold.")
    rounds(folder, one, other, times=1)
    erase(one, ids=(id_,))
    assert one.sync(folder).cleaned == 1
    assert (VIOLIN in words_in(folder), "The cello is sold." in words_in(folder)) == (False, True)
    third = machines(3)
    rounds(folder, other, third, one)
    agree(one, other, third)


@pytest.mark.slow
def test_a_purge_that_was_heard_cleans_what_the_hearer_had_written(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    other.update(id_, tags=("music",))
    rounds(folder, other, one, times=1)
    erase(one, ids=(id_,))
    rounds(folder, one, other, times=1)
    assert VIOLIN not in words_in(folder)
    assert other.erased.ids == {"default": [id_]}


@pytest.mark.slow
def test_a_change_made_apart_does_not_bring_a_purged_memory_back(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    erase(one, ids=(id_,))
    correction = other.update(id_, content="The violin is sold.")
    rounds(folder, other, one)
    assert (one.get(id_), one.get(correction).supersedes) == (None, None)
    agree(one, other)


@pytest.mark.slow
def test_a_memory_that_is_stored_again_after_its_purge_is_everywhere(folder, machines):
    one, other = machines(1), machines(2)
    imported(one, "m1", content=VIOLIN)
    rounds(folder, one, other, times=1)
    erase(one, ids=("m1",))
    rounds(folder, one, other, times=1)
    imported(one, "m1", content=VIOLIN)
    rounds(folder, one, other)
    assert other.get("m1").content == VIOLIN
    agree(one, other)


@pytest.mark.slow
def test_a_namespace_that_is_erased_is_erased_everywhere_with_its_conversations(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    one.store.put_entry("default", "talk", "message", {"text": "the violin"})
    rounds(folder, one, other, times=1)
    erase(one, everything=True)
    new = one.write("The cello is sold.")
    rounds(folder, one, other)
    assert "violin" not in words_in(folder)
    assert (b"violin" in other.export(), other.get(new) is None) == (False, False)
    agree(one, other)


@pytest.mark.slow
def test_a_purge_of_everything_reaches_only_what_was_known_where_it_was_asked(folder, machines):
    one, other = machines(1), machines(2)
    old = one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    unsent = other.write("The harp is new.")
    erase(one, everything=True)
    after = other.write("The cello is sold.")
    rounds(folder, one, other, one, times=1)
    assert [one.get(id_) is None for id_ in (old, unsent, after)] == [True, False, False]
    agree(one, other)


@pytest.mark.slow
def test_a_purge_of_everything_has_the_moment_of_the_purge(folder, machines):
    one, other = machines(1), machines(2)
    one.store.put_entry("default", "talk", "message", {"text": "the violin"})
    one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    erase(one, everything=True)
    other.clock.advance(seconds=600)
    other.store.put_entry("default", "talk", "message", {"text": "said afterwards"})
    other.sync(folder)
    one.clock.advance(seconds=6000)
    rounds(folder, one, other)
    assert (b"said afterwards" in one.export(), b"the violin" in one.export()) == (True, False)
    agree(one, other)


@pytest.mark.slow
def test_what_was_purged_singly_stays_gone_after_a_purge_of_everything(folder, machines):
    one, other, third = machines(1), machines(2), machines(3)
    id_ = one.write(VIOLIN)
    one.write("The cello is sold.")
    rounds(folder, one, other, third, times=1)
    erase(one, ids=(id_,))
    erase(one, everything=True)
    rounds(folder, third, one, other, third)
    assert third.get(id_) is None
    agree(one, other, third)


@pytest.mark.slow
def test_words_leave_the_files_also_if_a_process_is_killed_before_it_cleans_them(folder, machines, monkeypatch):
    one, other = machines(1), machines(2)
    one.store.put_entry("default", "talk", "message", {"text": "the violin"})
    one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    erase(one, everything=True)
    with monkeypatch.context() as patched:
        patched.setattr(type(one.store.syncing), "to_clean", killed)
        with pytest.raises(KilledError):
            one.sync(folder)
    one.sync(folder)
    assert "violin" not in words_in(folder)


@pytest.mark.slow
def test_a_time_that_lies_a_century_ahead_is_not_believed(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN)
    one.sync(folder)
    (folder / "stranger").mkdir()
    state = State(memory=None, gone=LATEST_STAMP)
    name, data = segment_bytes("stranger", 1, "default", [MemoryChange(id_, state)])
    (folder / "stranger" / name).write_bytes(data)
    done = other.sync(folder)
    assert (done.ahead, done.passed_over, done.purged) == (1, (f"stranger/{name}",), 0)
    assert other.get(id_).content == VIOLIN


@pytest.mark.slow
def test_the_log_does_not_call_other_words_a_redaction(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(f"The key is {SECRET} for the bank.")
    rounds(folder, one, other, times=1)
    closed(one, lambda: redact(file_eraser(one.home), "default", [id_], one.clock.now(), actor="tester"))
    rounds(folder, one, other)
    assert "its words as another machine has them" in [entry.note for entry in other.store.changes("default", 0)]


@pytest.mark.slow
def test_a_session_that_is_purged_takes_its_conversation_along(folder, machines):
    one, other = machines(1), machines(2)
    one.write(VIOLIN, session="talk")
    one.store.put_entry("default", "talk", "message", {"text": "the violin"})
    rounds(folder, one, other, times=1)
    erase(one, session="talk")
    rounds(folder, one, other)
    assert "violin" not in words_in(folder)
    agree(one, other)


@pytest.mark.slow
def test_a_redaction_goes_everywhere_and_into_the_files_of_this_machine(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(f"The key is {SECRET} for the bank.")
    rounds(folder, one, other, times=1)
    closed(one, lambda: redact(file_eraser(one.home), "default", [id_], one.clock.now(), actor="tester"))
    rounds(folder, one, other)
    assert SECRET not in words_in(folder) + other.get(id_).content
    assert other.get(id_).content == one.get(id_).content
    assert [memory.id for memory in other.erased.redacted] == [id_]
    agree(one, other)


@pytest.mark.slow
def test_what_a_client_changes_meanwhile_is_not_lost(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write(VIOLIN)
    rounds(folder, one, other, times=1)
    one.update(id_, tags=("earlier",))
    one.write("The cello is sold.")
    one.sync(folder)

    def embed(texts):
        other.clock.advance(seconds=60)
        other.update(id_, tags=("meanwhile",))
        return other.service.encode_texts(texts)

    other.sync(folder, embed=embed)
    rounds(folder, other, one)
    assert one.get(id_).tags == ("meanwhile",)
    agree(one, other)


@pytest.mark.slow
def test_a_synchronisation_that_is_killed_is_done_by_the_next(folder, machines, monkeypatch):
    one, other = machines(1), machines(2)
    one.write(VIOLIN)
    with monkeypatch.context() as patched:
        patched.setattr(type(one.store.syncing), "sent", killed)
        with pytest.raises(KilledError):
            one.sync(folder)
    one.write("The cello is sold.")
    with monkeypatch.context() as patched:
        patched.setattr(type(one.store.syncing), "know", killed)
        with pytest.raises(KilledError):
            other.sync(folder)
    rounds(folder, one, other)
    assert [words in other.export().decode() for words in (VIOLIN, "The cello is sold.")] == [True, True]
    agree(one, other)


@pytest.mark.slow
def test_a_store_stays_sound(folder, machines):
    one, other = machines(1), machines(2)
    gone = one.write(VIOLIN)
    id_ = one.write("The cello is sold.")
    rounds(folder, one, other, times=1)
    one.update(id_, content="The cello was sold in May.")
    erase(one, ids=(gone,))
    rounds(folder, one, other)
    for each in (one, other):
        found = [finding.what for finding in each.store.check().findings if finding.severity.value != "note"]
        assert [what for what in found if "future" not in what and "free" not in what and "enter" not in what] == []
