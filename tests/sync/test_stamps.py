"""When a field was changed follows from the log alone, and never goes back."""

from dataclasses import replace

from tests.core.store.making import memory
from tests.tables import each

from hybrid_memory.model import MemoryId, Tier, Trust, Verdict
from hybrid_memory.store.audit_notes import fields_of, note_of_change
from hybrid_memory.store.memory_fields import MEMORY_FIELDS
from hybrid_memory.store.syncing import LoggedChange, RowStamps
from hybrid_memory.testing import START
from hybrid_memory_sync.stamps import LATEST_STAMP, follows, next_stamp, stamped

M = MemoryId("m1")


def change(at, note, *, kind="patch", action="update", id_=M):
    return LoggedChange(1, kind, id_, at, action, note)


def test_a_change_has_the_time_of_its_entry():
    found, clock = stamped([change(500, "pinned")], {}, 100)
    assert (found[M].stamps, clock) == ({"pinned": 500}, 500)


def test_a_change_is_later_than_all_that_was_known_then_however_far_the_clock_is_behind():
    found, _ = stamped([change(5, "pinned"), change(5, "tags changed")], {}, 100)
    assert found[M].stamps == {"pinned": 101, "tags": 102}


def test_what_a_synchronisation_wrote_is_nobodys_change():
    assert stamped([change(5, "pinned", action="sync")], {}, 1) == ({}, 1)


def test_a_new_memory_needs_no_stamp():
    assert stamped([change(5, "short_term", kind="put")], {}, 1)[0] == {}


def test_a_purged_memory_that_is_stored_again_says_so():
    found, _ = stamped([change(5, "", kind="purge"), change(7, "", kind="put")], {}, 1)
    assert found[M] == RowStamps(born=7, gone=5)


def test_what_is_set_here_takes_the_place_of_what_followed_from_others():
    known = {M: RowStamps(raw={"superseded_by": None, "tier": "short_term"})}
    assert stamped([change(5, "current again")], known, 1)[0][M].raw == {"tier": "short_term"}


CHANGES = {
    "tier": Tier.FADED,
    "superseded_by": "m2",
    "forgotten_at": START,
    "pinned": True,
    "importance": 0.123,
    "trust": Trust.CONFIRMED,
    "reflected_at": START,
    "disputes": "m2",
    "tags": ("x",),
    "metadata": {"a": 1},
    "expires_at": START,
    "parents": ("m2",),
    "key": "k",
    "source": "mail",
    "speaker": "Bo",
    "supersedes": "m2",
    "duplicate_of": "m2",
    "session": "other",
    "verdict": Verdict.UNTRUE,
}


def test_whatever_a_file_claims_the_next_change_has_a_stamp_that_others_take():
    clock = follows(5, [LATEST_STAMP, 7])
    assert next_stamp(clock, 1) < LATEST_STAMP


def test_every_field_that_can_be_changed_is_told_by_its_note():
    assert set(CHANGES) == {one.name for one in MEMORY_FIELDS if one.changeable} - {"rev"}


@each("name", CHANGES)
def test_the_note_of_a_change_tells_which_field_it_was(name):
    before = memory("m1")
    after = replace(before, **{name: CHANGES[name]})
    for first, second in ((before, after), (after, before)):
        assert fields_of("update", note_of_change(first, second, "said in 3 sessions, forgotten")) == {name}
