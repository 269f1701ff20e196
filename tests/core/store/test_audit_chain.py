"""The audit log is a chain: whatever is changed, dropped, moved or cut off is named, and an honest purge breaks nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.admin.sample_stores import opened
from tests.core.store.making import always, memory, move, put

from hybrid_memory.admin.health_check import repair
from hybrid_memory.admin.purge import purge
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.store.audit_chain import SALT_BYTES, LogHead, anchored, chained, check_chain, erased_salt
from hybrid_memory.store.duck.files.database_copy import open_session
from hybrid_memory.store.store_file import file_eraser
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory.store.writing import ChangeType, LogEntry, SetTier, Update
from hybrid_memory.testing import START, FakeClock

ENTRIES = 12


def entry(position, **changes):
    plain = LogEntry(
        position=position,
        change=ChangeType.INSERT,
        id=MemoryId(f"m{position % 5}"),
        rev=position,
        at=START + timedelta(seconds=position),
        actor="tester",
        action="test",
        digest=f"{position:032x}",
        note="long_term",
    )
    return replace(plain, **changes)


LOG = chained("default", [entry(at) for at in range(1, ENTRIES + 1)], "", bytes(range(SALT_BYTES * ENTRIES)))
HEAD = LogHead(ENTRIES, LOG[-1].link)
PLACES = st.integers(0, ENTRIES - 1)
FIELDS = {
    "change": "patch",
    "id": "other",
    "rev": 99,
    "made_at": 0,
    "actor": "nobody",
    "action": "forget",
    "digest": "0" * 32,
    "note": "faded",
    "salt": "00" * SALT_BYTES,
    "link": "00" * 16,
}


def problem(log, head=HEAD):
    return check_chain("default", log, head).problem


def test_a_log_as_it_was_written_fits():
    assert problem(LOG) is None


@given(PLACES, st.sampled_from(sorted(FIELDS)))
def test_a_changed_value_is_named_where_it_stands(place, field):
    log = list(LOG)
    log[place] = log[place]._replace(**{field: FIELDS[field]})
    if log[place] != LOG[place]:
        assert problem(log).startswith(f"entry {place + 1} ")


@given(PLACES, st.sampled_from(["id", "actor", "action", "digest", "note", "salt", "link"]), st.data())
def test_a_single_changed_character_is_named(place, field, data):
    text = getattr(LOG[place], field)
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[:at] + chr(ord(text[at]) ^ data.draw(st.sampled_from([1, 2, 4, 8, 16, 64]))) + text[at + 1 :]
    log = [*LOG[:place], LOG[place]._replace(**{field: other}), *LOG[place + 1 :]]
    assert problem(log).startswith(f"entry {place + 1} ")


@given(st.sets(PLACES, min_size=1))
def test_missing_entries_are_named_from_the_first_on(places):
    log = [one for at, one in enumerate(LOG) if at not in places]
    first = min(places) + 1
    assert f" {first} " in problem(log)
    assert "missing" in problem(log)


@given(PLACES, PLACES)
def test_entries_that_change_places_are_named(one, other):
    log = list(LOG)
    log[one], log[other] = (
        log[other]._replace(position=log[one].position),
        log[one]._replace(position=log[other].position),
    )
    if one != other:
        assert problem(log).startswith(f"entry {min(one, other) + 1} ")


def test_an_entry_in_another_namespace_fits_nowhere():
    assert check_chain("other", LOG, HEAD).problem.startswith("entry 1 ")


def test_a_new_chain_does_not_fit_the_head():
    forged = chained(
        "default", [entry(at, actor="nobody") for at in range(1, ENTRIES + 1)], "", bytes(SALT_BYTES * ENTRIES)
    )
    assert problem(forged) == f"entry {ENTRIES} is not the one that the head of the log names"
    assert problem(LOG, None) is not None


@given(st.sets(PLACES))
def test_what_was_erased_honestly_fits_and_tells_no_digest(places):
    log = [
        one._replace(salt=erased_salt(one.salt, one.digest), digest="") if at in places else one
        for at, one in enumerate(LOG)
    ]
    assert problem(log) is None
    twice = [one._replace(salt=erased_salt(one.salt, one.digest)) for one in log if not one.digest]
    assert all(again.salt in {one.salt for one in log} for again in twice)


@given(PLACES)
def test_a_digest_taken_out_without_its_seal_is_named(place):
    log = [one._replace(digest="") if at == place else one for at, one in enumerate(LOG)]
    assert problem(log).startswith(f"entry {place + 1} ")


def test_entries_from_before_the_chain_are_counted_and_nothing_may_lose_its_link():
    before = [one._replace(salt=None, link=None) for one in LOG[:5]]
    later = chained("default", [entry(at) for at in range(6, 9)], "", bytes(SALT_BYTES * 3))
    found = check_chain("default", [*before, *later], LogHead(8, later[-1].link))
    assert (found.problem, found.unchained) == (None, 5)
    assert problem([*LOG[:5], LOG[5]._replace(link=None), *LOG[6:]]) == "entry 6 has lost its digest"
    assert problem([*before, *LOG[5:]]).startswith("entry 6 ")


def test_behind_a_repair_the_chain_begins_anew_and_the_repair_is_counted():
    repaired = anchored("default", entry(ENTRIES + 3), bytes(SALT_BYTES))
    found = check_chain("default", [*LOG[3:], repaired], LogHead(ENTRIES + 3, repaired.link))
    assert (found.problem, found.anchors, found.unchained) == (None, 1, ENTRIES - 3)
    forged = repaired._replace(note="nothing happened")
    assert check_chain("default", [*LOG[3:], forged], LogHead(ENTRIES + 3, repaired.link)).problem is not None


# Both stores


def test_every_write_goes_on_with_the_chain(store, clock):
    for number in range(5):
        put(store, f"a{number}", f"b{number}", f"c{number}", f"d{number}")
        put(store, f"x{number}", namespace="other")
        store.write("default", None, move(f"a{number}", Tier.FADED))
    store.trim("default", 4)
    assert [store.check_log(name).problem for name in ("default", "other", "nothing")] == [None] * 3


def test_the_log_says_what_changed_and_why(store):
    put(store, "a")
    store.write("default", None, always(tier_changes=(SetTier(MemoryId("a"), Tier.LONG_TERM, "3 enhancements"),)))
    known = store.get("default", [MemoryId("a")])[MemoryId("a")]
    store.write("default", None, always(updates=(Update(replace(known, forgotten_at=START, pinned=True)),)))
    notes = [one.note for one in store.history("default", [MemoryId("a")])]
    assert notes == [
        memory("a").tier.value,
        f"{memory('a').tier.value} to long_term (3 enhancements)",
        "forgotten, pinned",
    ]


def test_the_history_of_a_memory_is_its_own_entries(store):
    put(store, "a", "b")
    store.write("default", None, move("a", Tier.FADED))
    store.trim("default", 3)
    assert [(one.position, one.id) for one in store.history("default", [MemoryId("a")])] == [(1, "a"), (3, "a")]


# The file

HARM = [
    ("UPDATE log SET actor = 'nobody' WHERE namespace = 'default' AND position = 3", "entry 3 does not fit"),
    ("UPDATE log SET made_at = made_at + 1 WHERE namespace = 'default' AND position = 7", "entry 7 does not fit"),
    (
        "UPDATE log SET change = 'x', made_at = 9223372036854775807 WHERE namespace = 'default' AND position = 2",
        "entry 2 does not fit",
    ),
    ("DELETE FROM log WHERE namespace = 'default' AND position = 4", "entry 4 is missing"),
    ("DELETE FROM log WHERE namespace = 'default' AND position > 6", "the end is missing: entries 7 to 9"),
    ("DELETE FROM log WHERE namespace = 'default'", "the end is missing: entries 1 to 9"),
    (
        "UPDATE log SET position = 11 - position WHERE namespace = 'default' AND position IN (5, 6)",
        "entry 5 does not fit",
    ),
    ("INSERT INTO log SELECT * FROM log WHERE namespace = 'default' AND position = 9", "entry 9 is there twice"),
    (
        "INSERT INTO log SELECT * REPLACE (10 AS position) FROM log WHERE namespace = 'default' AND position = 9",
        "entry 10 does not fit",
    ),
    ("UPDATE log SET link = NULL, salt = NULL WHERE namespace = 'default'", "entry 9 is"),
    ("UPDATE mark SET position = NULL, link = NULL, namespace = NULL", "the head of the log is missing"),
]


@pytest.fixture
def kept(tmp_path):
    home = tmp_path / "home"
    store = opened(home)
    for number in range(4):
        put(store, f"o{number}", namespace="other", content_hash=content_hash(f"what o{number} says"))
    for number in range(9):
        put(store, f"m{number}", content_hash=content_hash(f"what m{number} says"))
    store.close()
    return home


def harmed(home, *statements):
    with open_session(home / "memory.duckdb") as session:
        for statement in statements:
            session.rows(statement)
    return findings(home)


def findings(home):
    store = opened(home)
    try:
        return [one.what for one in store.check().findings if "audit log" in one.what]
    finally:
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "told"), HARM)
def test_doctor_names_the_first_entry_that_does_not_fit(kept, statement, told):
    assert told in harmed(kept, statement)[0]


def test_the_head_of_a_namespace_that_was_not_written_last_is_kept_too(kept):
    assert harmed(kept, "DELETE FROM log WHERE namespace = 'other' AND position = 4") == [
        "the audit log of the namespace 'other': the end is missing: entries 4 to 4"
    ]


@pytest.mark.slow
def test_a_repair_of_the_log_is_told_in_the_log(kept):
    harmed(kept, "UPDATE log SET change = 'x' WHERE namespace = 'default' AND position = 3")
    repair(kept, FakeClock())
    assert findings(kept)[0].startswith("a repair began the chain of the audit log anew")
    store = opened(kept)
    put(store, "later")
    assert store.check_log("default").problem is None
    assert "entry 3 does not fit" in store.changes("default", 9)[0].note
    store.close()


@pytest.mark.slow
def test_a_purge_leaves_a_chain_that_fits(kept):
    chosen = PurgeSelection(namespace="default", ids=(MemoryId("m3"), MemoryId("m8")))
    purge(file_eraser(kept), chosen, START, actor="tester")
    assert findings(kept) == []
    store = opened(kept)
    assert {one.digest for one in store.history("default", [MemoryId("m3")])} == {""}
    put(store, "later")
    store.close()
    assert findings(kept) == []


@pytest.mark.slow
@pytest.mark.parametrize("namespace", ["default", "other"])
def test_a_namespace_that_is_erased_leaves_no_head(kept, namespace):
    purge(file_eraser(kept), PurgeSelection(namespace=namespace, everything=True), START, actor="tester")
    assert findings(kept) == []
    store = opened(kept)
    put(store, "again", namespace=namespace)
    store.close()
    assert findings(kept) == []


@pytest.mark.stress
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("pmto"), st.integers(0, 6)), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_random_lives_fit_and_any_change_of_a_row_is_named(tmp_path_factory, steps, draws):
    home = tmp_path_factory.mktemp("chain") / "home"
    store = opened(home)
    for at, (what, number) in enumerate(steps):
        name = "other" if what == "o" else "default"
        known = store.get(name, [MemoryId(f"m{number}")])
        if what == "t":
            store.trim("default", number)
        elif what == "m" and known:
            store.write(name, None, move(f"m{number}", draws.choice([Tier.FADED, Tier.LONG_TERM])))
        else:
            put(store, f"m{number}" if not known else f"n{at}", namespace=name)
    count = len(store.changes("default", 10**6)) or store.head("default")
    store.close()
    assert findings(home) == []
    if count:
        place = draws.randint(1, count)
        column, value = draws.choice(
            [("actor", "'x'"), ("note", "'x'"), ("rev", "rev + 1"), ("digest", "'x'"), ("id", "'x'")]
        )
        # Columns and values are those of the list above.
        told = harmed(home, f"UPDATE log SET {column} = {value} WHERE namespace = 'default' AND position = {place}")  # noqa: S608
        assert f"entry {place} does not fit" in told[0]
