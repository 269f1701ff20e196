"""What is purged is gone from every file of the store's folder, and what is left is whole."""

import json
import random
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from tests.core.admin.killed_process import also, killed_at
from tests.core.admin.sample_stores import exported, filled, lines_of, opened, some
from tests.core.store.making import DIMENSIONS, memory, vector

from hybrid_memory.admin.backup import create_backup, restore
from hybrid_memory.admin.purge import purge
from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound, StoreLocked
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, MemoryId, Origin, Trust, Usage
from hybrid_memory.store.duck.files.database_copy import verify
from hybrid_memory.store.home_files import list_backups
from hybrid_memory.store.made_anew import NewVector
from hybrid_memory.store.store_file import file_eraser
from hybrid_memory.store.transfer import BufferItem, EntryItem, MemoryItem, PurgeSelection
from hybrid_memory.store.writing import BufferState, ChangeType, RequestKey
from hybrid_memory.testing import START
from hybrid_memory.tiers.buffers import BufferEntry, Buffers, Item, decode_buffers, encode_buffers


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def ids(*names):
    return tuple(MemoryId(name) for name in names)


def chosen(*names, **options):
    return PurgeSelection(namespace="default", ids=ids(*names), **options)


def purged(home, selection, **options):
    return purge(file_eraser(home), selection, START, actor="tester", **options)


def store_of(home, *items):
    filled(home, list(items), own_digests=False).close()


def left(home, namespace="default"):
    store = opened(home)
    try:
        items = store.transfer.export_items([namespace], vectors=True).items
        return {item.memory.id: item.memory for item in items if isinstance(item, MemoryItem)}
    finally:
        store.close()


def chosen_of(home, selection):
    store = opened(home)
    try:
        return store.transfer.plan_purge(selection)
    finally:
        store.close()


def versions():
    """Return three versions of a statement, an insight from the middle one and one from that, and a group of it."""
    return [
        MemoryItem(memory("v1", superseded_by=MemoryId("v2"))),
        MemoryItem(memory("v2", supersedes=MemoryId("v1"), superseded_by=MemoryId("v3"))),
        MemoryItem(memory("v3", supersedes=MemoryId("v2"))),
        MemoryItem(memory("thought", kind=Kind.INSIGHT, parents=ids("v2"))),
        MemoryItem(memory("sum", kind=Kind.SUMMARY, origin=Origin.DERIVED, parents=ids("thought", "other"))),
        MemoryItem(memory("group", parents=ids("v3", "other"))),
        MemoryItem(memory("other", duplicate_of=MemoryId("v3"))),
        MemoryItem(memory("echo", content_hash="hash-v2")),
    ]


@pytest.mark.slow
def test_older_versions_and_what_was_made_of_them_go_along(home):
    store_of(home, *versions())
    assert purged(home, chosen("v3")).memories == 5
    assert set(left(home)) == {"group", "other", "echo"}


@pytest.mark.slow
def test_what_is_left_refers_to_nothing_that_is_gone(home):
    store_of(home, *versions())
    purged(home, chosen("v3"))
    found = left(home)
    assert (found["group"].parents, found["group"].rev) == (ids("other"), 2)
    assert found["other"].duplicate_of is None


@pytest.mark.slow
def test_a_newer_version_and_other_memories_in_the_same_words_stay_and_are_named(home):
    store_of(home, *versions())
    told = chosen_of(home, chosen("v2"))
    assert (told.ids, told.newer, told.same_words) == (
        frozenset(ids("v1", "v2", "thought", "sum")),
        ids("v3"),
        ids("echo"),
    )
    assert (told.named, told.versions, told.derived) == (1, 1, 2)
    purged(home, chosen("v2"))
    assert left(home)["v3"].supersedes is None


def lie_and_fact(**lie):
    """Return a tool's memory and the user's that it replaced, as a store of an earlier version may hold them."""
    return [
        MemoryItem(memory("fact", trust=Trust.USER, superseded_by=MemoryId("lie"))),
        MemoryItem(memory("lie", trust=Trust.UNTRUSTED, **lie)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lie", [{"supersedes": MemoryId("fact")}, {"disputes": MemoryId("fact")}, {}])
def test_purging_a_lie_leaves_the_fact_and_lets_it_be_current_again(home, lie):
    store_of(home, *lie_and_fact(**lie))
    assert purged(home, chosen("lie")).memories == 1
    assert left(home)["fact"].superseded_by is None


@pytest.mark.slow
def test_purging_the_assistants_correction_leaves_what_the_user_said_and_names_it(home):
    store_of(
        home,
        MemoryItem(memory("said", trust=Trust.USER, superseded_by=MemoryId("corrected"))),
        MemoryItem(memory("corrected", trust=Trust.AGENT, supersedes=MemoryId("said"))),
    )
    assert chosen_of(home, chosen("corrected")).kept_older == ids("said")
    purged(home, chosen("corrected"))
    assert left(home)["said"].superseded_by is None


@pytest.mark.slow
def test_what_disputed_a_purged_memory_disputes_nothing(home):
    store_of(home, *lie_and_fact(disputes=MemoryId("fact")))
    purged(home, chosen("fact"))
    assert left(home)["lie"].disputes is None


@pytest.mark.slow
def test_what_was_derived_can_stay_and_is_named(home):
    store_of(home, *versions())
    assert chosen_of(home, chosen("v3", derived=False)).kept_derived == ids("thought")
    purged(home, chosen("v3", derived=False))
    assert left(home)["thought"].parents == ()


@pytest.mark.slow
@pytest.mark.parametrize("others", [(), (Item(MemoryId("stays"), "", 0.5),)])
def test_the_name_of_a_session_goes_with_the_last_of_its_memories(home, others):
    state = encode_buffers(Buffers(short_term=tuple(BufferEntry(one) for one in others)))
    store_of(
        home,
        MemoryItem(memory("goes", session="s-of-the-canary")),
        MemoryItem(memory("stays", session="another")),
        BufferItem("default", BufferState("s-of-the-canary", "default", state, START)),
        BufferItem("default", BufferState("another", "default", state, START)),
    )
    purged(home, chosen("goes"))
    assert not [file for file in home.rglob("*") if file.is_file() and b"s-of-the-canary" in file.read_bytes()]
    assert set(left(home)) == {"stays"}


def test_a_session_that_has_memories_left_keeps_its_attention(home):
    state = encode_buffers(Buffers())
    store_of(
        home,
        *(MemoryItem(memory(name, session="s")) for name in ("goes", "stays")),
        BufferItem("default", BufferState("s", "default", state, START)),
    )
    purged(home, chosen("goes"))
    assert chosen_of(home, PurgeSelection(namespace="default", session="s")).buffers == 1


@pytest.mark.slow
def test_a_session_goes_with_its_buffers_and_its_conversation(home):
    store_of(
        home, *some(), MemoryItem(memory("other", session="s-2")), EntryItem("default", "s-1", "message", 1, {"a": "b"})
    )
    selection = PurgeSelection(namespace="default", session="s-1")
    told = chosen_of(home, selection)
    assert (len(told.ids), told.entries, told.buffers) == (3, 1, 1)
    purged(home, selection)
    assert set(left(home)) == {"other"}
    store = opened(home)
    assert store.entries("default", "s-1", "message") == []
    assert store.entries("default", "talk", "message") != []
    store.close()


@pytest.mark.slow
def test_everything_forgotten_can_go(home):
    store_of(home, *some(), MemoryItem(memory("gone", forgotten_at=START)))
    purged(home, PurgeSelection(namespace="default", forgotten=True))
    assert set(left(home)) == {"m0", "m1", "m2"}


@pytest.mark.slow
def test_nothing_is_left_of_a_namespace_that_goes_as_a_whole(home, tmp_path):
    store_of(home, *some(), *some(namespace="secret-project"))
    purged(home, PurgeSelection(namespace="secret-project", everything=True))
    store = opened(home)
    assert list(store.namespaces()) == ["default"]
    assert store.head("secret-project") == 0
    store.close()
    assert holding(home, [b"secret-project"]) == []


@pytest.mark.slow
def test_the_log_keeps_who_purged_what_and_no_digest_of_it(home):
    store_of(home, *versions())
    purged(home, chosen("v3"))
    store = opened(home)
    log = store.changes("default", 0)
    store.close()
    assert {entry.digest for entry in log if entry.id == "v3"} == {""}
    assert {(entry.id, entry.actor) for entry in log if entry.change is ChangeType.PURGE} == {
        (name, "tester") for name in ("v1", "v2", "v3", "thought", "sum")
    }
    assert [(entry.id, entry.rev) for entry in log if entry.change is ChangeType.UPDATE] == [("group", 2), ("other", 2)]
    assert [entry.position for entry in log] == list(range(1, len(log) + 1))


@pytest.mark.slow
def test_buffers_hold_what_is_left(home):
    def item(name):
        return Item(MemoryId(name), "", 0.5)

    state = encode_buffers(Buffers((item("m0"), item("m1")), (BufferEntry(item("m2"), 2, (item("m0"), item("x"))),)))
    only = encode_buffers(Buffers((item("m0"),), ()))
    buffers = [BufferItem("default", BufferState(name, "a", text, START)) for name, text in (("s", state), ("t", only))]
    store_of(home, *some(), *buffers)
    purged(home, chosen("m0"))
    store = opened(home)
    kept = [one.buffer for one in store.transfer.export_items(None, vectors=False).items if isinstance(one, BufferItem)]
    store.close()
    assert [one.session for one in kept] == ["s", "s-1"]
    assert decode_buffers(kept[0].state) == Buffers((item("m1"),), (BufferEntry(item("m2"), 2, (item("x"),)),))


@pytest.mark.slow
def test_results_of_requests_that_name_a_purged_memory_go(home):
    from tests.core.store.making import always

    store = filled(home, some())
    for number, name in enumerate(["m0", "m1"]):
        store.write("default", RequestKey("r", number), always(result={"moved": [["x", {"members": [name]}]]}))
    store.close()
    purged(home, chosen("m0"))
    store = opened(home)
    found = [store.result("default", RequestKey("r", number)) for number in range(2)]
    store.close()
    assert found == [None, {"moved": [["x", {"members": ["m1"]}]]}]


@pytest.mark.slow
@pytest.mark.parametrize(
    "selection",
    [chosen("m0", "absent"), PurgeSelection(namespace="empty", everything=True), chosen("m0", derived=True)],
)
def test_an_absent_memory_or_another_count_purges_nothing(home, tmp_path, selection):
    store = filled(home, some())
    before = exported(store, tmp_path / "x", vectors=True)
    store.close()
    with pytest.raises((NotFound, ConfirmationNeeded)):
        purged(home, selection, count=2)
    store = opened(home)
    assert exported(store, tmp_path / "x", vectors=True) == before
    store.close()


@pytest.mark.parametrize("selection", [chosen(), chosen("m0", forgotten=True), chosen("m0", session="s")])
def test_a_selection_is_one_of_four(home, selection):
    store_of(home, *some())
    with pytest.raises(InvalidInput):
        purged(home, selection)


def test_a_store_in_use_is_not_purged(home):
    store = filled(home, some())
    with pytest.raises(StoreLocked):
        purged(home, chosen("m0"))
    store.close()


@pytest.mark.slow
def test_what_stays_is_exactly_as_it_was(home, tmp_path):
    store = filled(home, [*some(50), *some(5, "work")])
    before = lines_of(exported(store, tmp_path / "x", vectors=True))
    store.close()
    purged(home, chosen("m7"))
    store = opened(home)
    after = lines_of(exported(store, tmp_path / "x", vectors=True))
    store.close()
    assert after[1:] == [line for line in before[1:] if (line.get("id"), line["namespace"]) != ("m7", "default")]


def secret(number):
    return f"canary-{number}-{random.Random(number).randrange(2**64):016x}"


def canaries(count):
    """Return memories with secrets in every field that takes text, and vectors that can be found as bytes."""
    made, secrets = [], []
    for n in range(count):
        words = [secret(f"{n}-{field}") for field in ("content", "metadata", "tag", "source", "speaker", "key")]
        made.append(
            MemoryItem(
                memory(
                    f"c{n}",
                    session="doomed",
                    content=f"it is {words[0]}",
                    metadata={"deep": [words[1]]},
                    tags=(words[2],),
                    source=words[3],
                    speaker=words[4],
                    key=words[5],
                    content_hash=content_hash(f"it is {words[0]}"),
                    created_at=START + timedelta(seconds=n),
                ),
                Usage(accessed_at=START, count=1),
                vector(1000 + n),
            )
        )
        secrets += [*words, content_hash(f"it is {words[0]}")]
    insight = memory(
        "thought",
        kind=Kind.INSIGHT,
        content=secret("insight"),
        content_hash=content_hash(secret("insight")),
        parents=ids("c0"),
        session="later",
    )
    secrets.append(secret("insight"))
    found = [one.encode() for one in secrets] + [one.vector.tobytes() for one in made]
    return [*made, MemoryItem(insight)], found


def holding(home, secrets):
    """Return which files hold any of the secrets."""
    found = []
    for file in sorted(home.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            found += [f"{file.relative_to(home)}: {one!r}" for one in secrets if one in data]
    return found


@pytest.mark.slow
def test_no_byte_of_what_was_purged_is_left_in_any_file(home):
    purge_everywhere(home, *canaries(8))


def purge_everywhere(home, made, secrets):
    store = filled(
        home,
        [*some(30), *made, EntryItem("default", "doomed", "message", 1, {"said": secret("entry")})],
    )
    secrets = [*secrets, secret("entry").encode()]
    candidate_vector = np.full(4, 7.125, np.float32) * np.arange(1, 5, dtype=np.float32)
    store.embedder_change.begin("e-2", 4)
    store.embedder_change.add_vectors([NewVector("default", MemoryId("c0"), candidate_vector)])
    secrets.append(candidate_vector.tobytes())
    create_backup(store, home, START, keep=9)
    newest = create_backup(store, home, START, keep=9).file
    journal = (home / "memory.journal").read_bytes()
    assert secrets[2] in journal
    store.close()
    restore(home, newest, START)
    (home / "quarantine" / "left.wal").write_bytes(b"..." + secrets[0])
    (home / "logs").mkdir()
    (home / "logs" / "hub.log").write_bytes(b"..." + secrets[1])
    (home / "memory.journal").write_bytes(journal)
    damaged = list_backups(home)[0]
    damaged.write_bytes(damaged.read_bytes()[:20_000] + secrets[3])
    before = holding(home, secrets)
    assert all(
        any(name in line for line in before) for name in (".journal", "memory.duckdb", "hub.log", "left.wal", "backups")
    )
    assert len({line.partition(": ")[2] for line in before}) == len(secrets)
    done = purged(home, PurgeSelection(namespace="default", session="doomed"))
    assert (done.memories, done.rewritten, done.removed) == (len(made), 2, 2)
    assert holding(home, secrets) == []
    assert len(left(home)) == 30
    assert verify(list_backups(home)[0])["memory"][0] == 30
    assert holding(home, secrets) == []


def test_without_a_rewrite_the_bytes_would_still_be_there(home):
    """The search for canaries finds what was only deleted; otherwise its silence would mean nothing."""
    made, secrets = canaries(3)
    store_of(home, *some(), *made)
    import duckdb

    connection = duckdb.connect(str(home / "memory.duckdb"))
    connection.execute("SET force_compression='uncompressed'")
    connection.execute("DELETE FROM memory WHERE session <> 's-1'; DELETE FROM vector_1 WHERE id LIKE 'c%'; CHECKPOINT")
    connection.close()
    assert len(holding(home, secrets)) == len(secrets)


POINTS = ["copy", "copies", "erased", "prepared", "decided", "cleared", "replaced", "done"]


@pytest.mark.parametrize("point", also(*POINTS))
def test_a_purge_that_is_killed_leaves_the_old_store_or_the_new_one(home, point):
    made, secrets = canaries(1)
    store = filled(home, [*some(), *made], own_digests=False)
    create_backup(store, home, START, keep=3)
    store.close()
    assert killed_at("purge", home, point, "c0")
    assert len(left(home)) == (3 if point in POINTS[4:] else 5)
    if point in POINTS[4:]:
        assert holding(home, secrets) == []
    else:
        purged(home, chosen("c0"))
        assert holding(home, secrets) == []
        assert len(left(home)) == 3


@pytest.mark.slow
def test_vectors_of_other_lengths_do_not_matter(home):
    assert DIMENSIONS == 8
    store_of(home, *[replace(one, vector=None) if isinstance(one, MemoryItem) else one for one in some()])
    assert purged(home, chosen("m0")).memories == 1
    assert json.dumps(sorted(left(home))) == '["m1", "m2"]'


@pytest.mark.slow
def test_what_rests_on_it_in_a_project_is_named_and_left(home):
    insight = memory("drawn", namespace="project:acme", kind=Kind.INSIGHT, origin=Origin.DERIVED, parents=ids("said"))
    store_of(home, MemoryItem(memory("said")), MemoryItem(insight))
    assert chosen_of(home, chosen("said")).derived_elsewhere == (("project:acme", MemoryId("drawn")),)
    purged(home, chosen("said"))
    assert set(left(home, "project:acme")) == {MemoryId("drawn")}
