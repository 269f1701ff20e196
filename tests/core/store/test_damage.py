"""Damaged files are opened with everything that was acknowledged, or it is said what is missing."""

import random
import shutil

import pytest
from tests.core.store.corpus import replay, saved
from tests.core.store.damage import (
    DATABASE,
    JOURNAL,
    LOG,
    damage,
    digest,
    judged,
    lay_out,
    make_template,
    opened,
    zeroed,
)
from tests.core.store.making import put

from hybrid_memory.errors import OutcomeUnknown, StoreDamaged
from hybrid_memory.store.duck.recovery.journal import _encode_header, read_journal, read_origin
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock

WRITES = 18
CLOSED_AT = 5


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return make_template(tmp_path_factory.mktemp("template") / "home", WRITES, closed_at=CLOSED_AT)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_a_store_that_nobody_closed_is_whole_and_nothing_is_told(template, home):
    found = opened(lay_out(home, template.files), template)
    assert (found.state, found.notices) == (WRITES, ())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cut", "zeroed", "zeros behind", "flipped", "garbage"])
def test_a_damaged_log_costs_nothing_that_the_journal_has(template, home, kind):
    files = damage(kind, template.files, LOG, random.Random(f"{kind} 0"))
    assert judged(lay_out(home, files), template) == "whole"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cut", "zeroed", "zeros behind", "flipped", "garbage"])
def test_a_damaged_journal_costs_nothing(template, home, kind):
    files = damage(kind, template.files, JOURNAL, random.Random(kind))
    assert judged(lay_out(home, files), template) == "whole"


def test_a_log_that_is_gone_is_made_up_for_by_the_journal(template, home):
    files = {name: content for name, content in template.files.items() if name != LOG}
    found = opened(lay_out(home, files), template)
    assert found.state == WRITES
    assert f"{WRITES - CLOSED_AT} writes were restored from the journal; nothing" in found.notices[0]


def test_without_a_journal_the_log_is_kept_up_to_the_damage_and_the_loss_is_told(template, home):
    log = template.files[LOG]
    path = lay_out(home, {DATABASE: template.files[DATABASE], LOG: zeroed(log, len(log) // 2)})
    assert judged(path, template) == "told"
    found = opened(path, template)
    assert CLOSED_AT < found.state < WRITES
    assert "how many cannot be told" in found.notices[0]


def test_a_journal_that_ends_early_beside_a_damaged_log_is_used_and_the_loss_is_told(template, home):
    log, journal = template.files[LOG], template.files[JOURNAL]
    files = {DATABASE: template.files[DATABASE], LOG: log[:100], JOURNAL: zeroed(journal, len(journal) - 10)}
    path = lay_out(home, files)
    found = opened(path, template)
    assert found.state == WRITES - 1
    assert "the newest 1 acknowledged write is missing" in found.notices[0]


@pytest.mark.slow
def test_a_record_damaged_in_the_middle_says_how_many_are_missing(template, home):
    journal = bytearray(template.files[JOURNAL])
    journal[len(journal) // 2] ^= 1
    path = lay_out(home, {DATABASE: template.files[DATABASE], LOG: template.files[LOG][:100], JOURNAL: bytes(journal)})
    found = opened(path, template)
    assert f"the newest {WRITES - found.state} acknowledged" in found.notices[0]


def test_the_files_as_they_were_found_are_in_quarantine(template, home):
    files = {**template.files, LOG: template.files[LOG] + bytes(64)}
    lay_out(home, files)
    opened(home / DATABASE, template)
    (folder,) = (home / "quarantine").iterdir()
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "report.json"} == {
        LOG: files[LOG],
        JOURNAL: files[JOURNAL],
    }


def test_without_the_journal_nobody_can_tell_whether_the_log_was_shortened(template, home):
    log = template.files[LOG]
    found = opened(lay_out(home, {DATABASE: template.files[DATABASE], LOG: log[: len(log) // 2]}), template)
    assert CLOSED_AT < found.state < WRITES
    assert "how many cannot be told" in found.notices[0]


def test_an_older_database_under_a_newer_journal_says_how_many_writes_are_missing(open_duck, path):
    store = open_duck()
    put(store, "first")
    store.close()
    older = path.read_bytes()
    store = open_duck()
    put(store, "second")
    store.close()
    store = open_duck()
    put(store, "third")
    journal = (path.parent / JOURNAL).read_bytes()
    store.close()
    lay_out(path.parent, {DATABASE: older, JOURNAL: journal})
    reopened = open_duck()
    assert set(reopened.get("default", ["first", "second", "third"])) == {"first"}
    assert "the newest 2 acknowledged writes are missing" in reopened.info().notices[0]


def with_an_early_journal(template):
    """Return files as a power cut leaves them: the log was waited for on the disk, the journal was not."""
    journal = template.files[JOURNAL]
    header, rest = journal[: journal.index(b"\xf5hmr")], journal[: journal.index(b"\xf5hmr", len(journal) // 2)]
    reading = read_journal(rest, read_origin(header)[0])
    early = _encode_header(read_origin(header)[0], reading.base, reading.last)
    return {**template.files, JOURNAL: early + rest[len(early) :]}


def test_zeros_behind_a_log_that_is_ahead_of_its_journal_cost_no_write(template, home):
    files = with_an_early_journal(template)
    found = opened(lay_out(home, {**files, LOG: files[LOG] + bytes(600)}), template)
    assert found.state == WRITES
    assert "how many cannot be told" in found.notices[0]


def test_a_log_that_is_ahead_of_its_journal_is_whole_and_emptied_after_the_next_write(template, home):
    path = lay_out(home, with_an_early_journal(template))
    store = DuckStore.open(path, FakeClock())
    assert (digest(store), store.info().notices) == (template.states[-1], ())
    put(store, "later")
    assert not (home / LOG).exists()
    store.close()


@pytest.mark.slow
def test_a_mended_store_goes_on(template, home):
    path = lay_out(home, {**template.files, LOG: template.files[LOG][:200]})
    store = DuckStore.open(path, FakeClock())
    put(store, "later")
    store.close()
    again = DuckStore.open(path, FakeClock())
    assert "later" in again.get("default", ["later"])
    again.close()


@pytest.mark.slow
def test_the_journal_of_another_store_is_not_used(template, home, tmp_path):
    other = make_template(tmp_path / "other", 3)
    path = lay_out(home, {**template.files, JOURNAL: other.files[JOURNAL]})
    found = opened(path, template)
    assert found.state == WRITES
    assert "another store's" in found.notices[0]


@pytest.mark.slow
def test_what_failed_once_does_not_fail_again(tmp_path):
    closed_at = (0, 20, 40)  # as in the stress test that found the cases
    for template, kind, name, seed in saved():
        made = make_template(tmp_path / "template", 45, closed_at=closed_at[template])
        assert replay([made], tmp_path / "s", (0, kind, name, seed))


@pytest.mark.slow
def test_where_the_database_is_damaged_too_everything_is_left_as_it_was_found(template, home, monkeypatch):
    files = {**template.files, LOG: template.files[LOG][:200]}
    path = lay_out(home, files)
    with monkeypatch.context() as patched:
        patched.setattr("hybrid_memory.store.duck.recovery.open.migrate", unreadable)
        for _ in range(2):
            with pytest.raises(StoreDamaged):
                DuckStore.open(path, FakeClock())
    assert {name: (home / name).read_bytes() for name in files} == files
    assert list((home / "quarantine").iterdir()) == []
    assert opened(path, template).state == WRITES


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 40, 74, 120])
def test_a_log_torn_before_its_first_commit_is_told_once(template, home, length):
    files = {**template.files, LOG: template.files[LOG][:length], JOURNAL: template.files[JOURNAL][:150]}
    first = opened(lay_out(home, files), template)
    assert (first.state, len(first.notices)) == (CLOSED_AT, 1)
    assert opened(home / DATABASE, template) == first
    assert not (home / LOG).exists()


class _Killed(BaseException):
    pass


def kill_the_mending(path, monkeypatch):
    """Open a store whose log is rewritten, and end before anything else is done."""

    def ends(*_):
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr("hybrid_memory.store.duck.recovery.open.read_mark", ends)
        with pytest.raises(_Killed):
            DuckStore.open(path, FakeClock())


@pytest.mark.slow
def test_a_mending_that_was_killed_is_no_longer_told_as_a_loss_when_its_journal_made_up_for_it(
    template, home, monkeypatch
):
    log = template.files[LOG]
    path = lay_out(home, {**template.files, LOG: zeroed(log, len(log) // 2)})
    kill_the_mending(path, monkeypatch)
    found = opened(path, template)
    assert found.state == WRITES
    assert all("nothing that was acknowledged is missing" in one for one in found.notices)


@pytest.mark.slow
def test_a_mending_that_was_killed_without_a_journal_is_still_told_as_a_loss(template, home, tmp_path, monkeypatch):
    log = template.files[LOG]
    path = lay_out(home, {DATABASE: template.files[DATABASE], LOG: zeroed(log, len(log) // 2)})
    kill_the_mending(path, monkeypatch)
    store = DuckStore.open(path, FakeClock())
    put(store, "later")
    shutil.copytree(home, tmp_path / "killed", ignore=shutil.ignore_patterns("*.lock", "*.pid"))
    store.close()
    killed = DuckStore.open(tmp_path / "killed" / DATABASE, FakeClock())
    assert "later" in killed.get("default", ["later"])
    assert "how many cannot be told" in killed.info().notices[0]
    killed.close()


@pytest.mark.slow
def test_what_a_killed_process_copied_to_quarantine_in_part_is_no_event(template, home):
    path = lay_out(home, {**template.files, LOG: template.files[LOG] + bytes(64)})
    left = home / "quarantine" / ".new"
    left.mkdir(parents=True)
    (left / LOG).write_bytes(b"half")
    assert len(opened(path, template).notices) == 1
    assert not left.exists()


def unreadable(*_):
    raise OutcomeUnknown("the disk is broken")
