from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from tests.core.store.making import DIMENSIONS, always, memory, move, one, patch, put, rows, vector

from hybrid_memory.errors import ConcurrentModification, ConstraintViolation, StoreClosed
from hybrid_memory.model import Kind, MemoryId, Origin, Tier, Trust, Usage
from hybrid_memory.store.writing import (
    BufferState,
    ChangeType,
    Insert,
    RecordUse,
    RequestKey,
    SetTier,
    SetVector,
    Update,
    WriteBatch,
)
from hybrid_memory.testing import START

LATER = START + timedelta(hours=1)

FULL = memory(
    "full",
    names=(-2, 7),
    days=(20_000, 20_003),
    aspects=5,
    encoding=1,
    kind=Kind.INSIGHT,
    tier=Tier.LONG_TERM,
    importance=0.1 + 0.2,
    pinned=True,
    tags=("one", 'two "quoted"', "三"),
    metadata={"a": [1, 2.5, None, {"b": True}], "ü": "x"},
    source="a file",
    speaker="Ann",
    origin=Origin.USER,
    trust=Trust.CONFIRMED,
    key="task",
    occurred_at=START - timedelta(days=30_000, microseconds=1),
    expires_at=LATER,
    forgotten_at=LATER,
    superseded_by=MemoryId("next"),
    supersedes=MemoryId("before"),
    duplicate_of=MemoryId("same"),
    disputes=MemoryId("better"),
    parents=(MemoryId("p1"), MemoryId("p2")),
    reflected_at=LATER,
    rev=7,
)


def test_a_write_is_readable_at_once(store):
    put(store, "a")
    assert one(store, "a") == memory("a")


def members(store, tier=Tier.SENSORY, session="s", agent="a"):
    seen = []

    def look(view):
        seen.extend(one.id for one in view.members(session, agent, tier))
        return WriteBatch(action="look", actor="test")

    store.write("default", None, look)
    return seen


def test_the_members_of_a_tier_are_those_of_one_session_and_agent_in_order(store, clock):
    for name in ("first", "second"):
        store.write("default", None, always(inserts=(Insert(memory(name, session="s", agent="a", tier=Tier.SENSORY)),)))
    others = (memory("x", session="t", agent="a", tier=Tier.SENSORY), memory("y", session="s", agent="b"))
    store.write("default", None, always(inserts=tuple(Insert(one) for one in others)))
    assert members(store) == ["first", "second"]


def test_a_member_that_moves_is_forgotten_or_superseded_is_one_no_longer(store):
    names = ("moved", "forgotten", "superseded", "stays")
    made = [memory(name, session="s", agent="a", tier=Tier.SENSORY) for name in names]
    store.write("default", None, always(inserts=tuple(Insert(one) for one in made)))
    assert members(store) == list(names)
    changed = (
        Update(replace(made[1], forgotten_at=LATER)),
        Update(replace(made[2], superseded_by=MemoryId("stays"))),
    )
    store.write("default", None, always(tier_changes=(SetTier(MemoryId("moved"), Tier.FADED),), updates=changed))
    assert members(store) == ["stays"]
    assert members(store, Tier.FADED) == ["moved"]


def test_every_field_comes_back_as_it_was(store):
    store.write("default", None, always(inserts=(Insert(FULL),)))
    assert one(store, "full") == FULL


@pytest.mark.parametrize(
    "text",
    [
        "שלום עולם, مرحبا, नमस्ते, 你好世界, こんにちは, สวัสดี, ខ្មែរ, 👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿, Ǆ, \u0301, 𒀀",
        "line\nbreak\ttab\r\n'quote' \"double\" \\ ; -- $1 ? {x} [1, 2]",
        "x" * 30_000,
        "漢" * 30_000,
        "",
    ],
)
def test_text_comes_back_unchanged(store, text):
    store.write("default", None, always(inserts=(Insert(memory("a", content=text, tags=(text,), speaker=text)),)))
    found = one(store, "a")
    assert (found.content, found.tags, found.speaker) == (text, (text,), text)


def test_what_was_written_names_rows_log_and_vectors(store, clock):
    store.pin_embedder("e", DIMENSIONS)
    written = store.write("default", None, always(inserts=(Insert(memory("a"), vector(1)),), result={"id": "a"}))
    assert (written.result, written.position, written.at, written.replayed) == ({"id": "a"}, 1, clock.now(), False)
    assert written.memories == {"a": memory("a")}
    assert [(entry.position, entry.change, entry.id, entry.digest) for entry in written.log] == [
        (1, ChangeType.INSERT, "a", "hash-a")
    ]
    assert written.vectors["a"].tolist() == vector(1).tolist()


def test_a_vector_comes_back_to_the_last_bit(store):
    store.pin_embedder("e", DIMENSIONS)
    tiny = np.array([1e-38, -1e-45, 3.4e38, 1 / 3, -0.0, 0.1, 1e-7, 16_777_217], np.float32)
    store.write("default", None, always(inserts=(Insert(memory("a"), tiny), Insert(memory("b")))))
    found = store.vectors("default", [MemoryId("a"), MemoryId("b"), MemoryId("none")])
    assert list(found) == ["a"]
    assert found["a"].tobytes() == tiny.tobytes()


def test_a_vector_may_follow_and_may_be_replaced(store):
    store.pin_embedder("e", DIMENSIONS)
    put(store, "a")
    for seed in (1, 2):
        written = store.write("default", None, always(vectors=(SetVector(MemoryId("a"), vector(seed)),)))
        assert [(entry.change, entry.id, entry.rev) for entry in written.log] == [(ChangeType.UPDATE, "a", 1)]
        assert (store.vectors("default", [MemoryId("a")])["a"] == vector(seed)).all()
    assert rows(store.snapshot("default"))["a"]["vector"] == vector(2).tolist()


def test_a_decision_sees_the_vectors_of_its_namespace(store):
    store.pin_embedder("e", DIMENSIONS)
    store.write("default", None, always(inserts=(Insert(memory("a"), vector(1)), Insert(memory("b")))))
    seen = []

    def look(view):
        seen.append({one: found.tolist() for one, found in view.vectors([MemoryId("a"), MemoryId("b")]).items()})
        return WriteBatch(action="look", actor="test")

    store.write("default", None, look)
    store.write("other", None, look)
    assert seen == [{"a": vector(1).tolist()}, {}]


def test_a_vector_of_an_unknown_memory_is_stale(store):
    store.pin_embedder("e", DIMENSIONS)
    with pytest.raises(ConcurrentModification):
        store.write("default", None, always(vectors=(SetVector(MemoryId("nobody"), vector(1)),)))


@pytest.mark.parametrize("bad", [np.ones(3, np.float32), np.full(DIMENSIONS, np.nan, np.float32)])
def test_a_vector_that_does_not_fit_is_refused(store, bad):
    store.pin_embedder("e", DIMENSIONS)
    with pytest.raises(ConstraintViolation):
        store.write("default", None, always(inserts=(Insert(memory("a"), bad),)))
    assert store.get("default", [MemoryId("a")]) == {}


def test_a_vector_without_a_pinned_embedder_is_refused(store):
    with pytest.raises(ConstraintViolation):
        store.write("default", None, always(inserts=(Insert(memory("a"), vector(1)),)))


def test_only_the_pinned_embedder_may_store_vectors(store):
    assert store.pin_embedder("e", DIMENSIONS)
    assert store.pin_embedder("e", DIMENSIONS)
    assert not store.pin_embedder("f", DIMENSIONS)
    assert not store.pin_embedder("e", DIMENSIONS + 1)
    assert (store.info().embedder, store.info().dimensions) == ("e", DIMENSIONS)


def test_an_id_cannot_be_put_twice(store):
    put(store, "a")
    with pytest.raises(ConstraintViolation):
        put(store, "a")
    with pytest.raises(ConstraintViolation):
        put(store, "b", "b")
    assert store.head("default") == 1


@pytest.mark.parametrize("content", ["half \ud800 a pair", "\udfff"])
def test_half_a_surrogate_pair_is_refused_and_the_store_goes_on(store, content):
    for broken in (memory("a", content=content), memory("a", tags=(content,)), memory("a", metadata={"a": content})):
        with pytest.raises(ConstraintViolation):
            store.write("default", None, always(inserts=(Insert(broken),)))
    put(store, "b")
    assert store.head("default") == 1


@pytest.mark.parametrize(
    "broken",
    [
        memory("a", created_at=START.replace(tzinfo=None)),
        memory("a", terms=(2**31,)),
        memory("a", metadata={"a": float("nan")}),
        memory("a", namespace="other"),
    ],
)
def test_a_memory_that_could_not_come_back_is_refused(store, broken):
    with pytest.raises(ConstraintViolation):
        store.write("default", None, always(inserts=(Insert(broken),)))


def test_a_move_changes_tier_and_revision(store):
    put(store, "a")
    written = store.write("default", None, move("a", Tier.FADED))
    assert (one(store, "a").tier, one(store, "a").rev) == (Tier.FADED, 2)
    assert [(entry.change, entry.rev) for entry in written.log] == [(ChangeType.UPDATE, 2)]
    assert written.memories["a"] == one(store, "a")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_several_moves_each_reach_their_tier(store, count):
    tiers = [Tier.SHORT_TERM, Tier.LONG_TERM, Tier.FADED]
    names = [f"m{n}" for n in range(count)]
    put(store, *names, "other")
    store.write(
        "default", None, always(tier_changes=tuple(SetTier(MemoryId(n), tiers[i % 3]) for i, n in enumerate(names)))
    )
    assert [one(store, name).tier for name in names] == [tiers[i % 3] for i in range(count)]
    assert {one(store, name).rev for name in names} == {2}
    assert one(store, "other") == memory("other")


def test_a_move_to_the_same_tier_is_no_change(store):
    put(store, "a")
    written = store.write("default", None, move("a", Tier.SENSORY))
    assert (written.log, written.position, one(store, "a").rev) == ((), 1, 1)


def test_a_memory_can_be_put_and_moved_in_one_write(store):
    steps = (SetTier(MemoryId("a"), Tier.SHORT_TERM), SetTier(MemoryId("a"), Tier.LONG_TERM))
    written = store.write("default", None, always(inserts=(Insert(memory("a")),), tier_changes=steps))
    assert [entry.rev for entry in written.log] == [1, 2, 3]
    assert (one(store, "a").tier, one(store, "a").rev) == (Tier.LONG_TERM, 3)


def test_a_move_of_an_unknown_memory_is_stale(store):
    with pytest.raises(ConcurrentModification):
        store.write("default", None, move("a", Tier.FADED))


def test_a_patch_changes_what_may_change_and_nothing_else(store):
    put(store, "full")
    wished = replace(FULL, content="other", terms=(9,), content_hash="x", created_at=LATER, rev=1)
    store.write("default", None, always(updates=(Update(wished),)))
    first = memory("full")
    kept = (
        "content",
        "terms",
        "names",
        "days",
        "aspects",
        "encoding",
        "content_hash",
        "created_at",
        "occurred_at",
        "kind",
        "agent",
        "origin",
    )
    assert one(store, "full") == replace(FULL, **{name: getattr(first, name) for name in kept}, rev=2)


def test_a_patch_of_another_revision_is_stale(store):
    put(store, "a")
    store.write("default", None, patch("a", lambda found: replace(found, pinned=True)))
    with pytest.raises(ConcurrentModification):
        store.write("default", None, always(updates=(Update(memory("a", importance=1.0)),)))
    assert (one(store, "a").importance, one(store, "a").rev) == (0.5, 2)


def test_a_patch_of_an_unknown_memory_is_stale(store):
    with pytest.raises(ConcurrentModification):
        store.write("default", None, always(updates=(Update(memory("a")),)))


def test_a_patched_memory_can_be_moved_in_the_same_write(store):
    put(store, "a")
    wished = Update(memory("a", pinned=True))
    written = store.write(
        "default", None, always(updates=(wished,), tier_changes=(SetTier(MemoryId("a"), Tier.FADED),))
    )
    assert (one(store, "a").pinned, one(store, "a").tier, one(store, "a").rev) == (True, Tier.FADED, 3)
    assert written.memories["a"] == one(store, "a")


def test_a_stale_patch_undoes_the_whole_write(store):
    put(store, "a")
    state = BufferState("s-1", "default", "[]", START)
    with pytest.raises(ConcurrentModification):
        store.write(
            "default",
            RequestKey("r", 1),
            always(inserts=(Insert(memory("b")),), updates=(Update(memory("a", rev=9)),), buffers=(state,)),
        )
    assert (store.head("default"), store.get("default", [MemoryId("b")])) == (1, {})
    assert store.result("default", RequestKey("r", 1)) is None
    store.write("default", None, lambda view: always(result={"none": view.buffer("s-1", "default") is None})(view))
    put(store, "b")
    assert store.head("default") == 2


def test_buffers_are_read_without_a_write(store):
    state = BufferState("s-1", "default", "[]", START)
    store.write("default", None, always(buffers=(state,)))
    assert store.buffer("default", "s-1", "default") == state
    assert (store.buffer("default", "s-2", "default"), store.buffer("elsewhere", "s-1", "default")) == (None, None)


def test_an_exception_of_the_decision_passes_and_changes_nothing(store):
    class Broken(RuntimeError):
        pass

    def decide(view):
        raise Broken

    with pytest.raises(Broken):
        store.write("default", RequestKey("r", 1), decide)
    put(store, "a")
    assert (store.head("default"), store.result("default", RequestKey("r", 1))) == (1, None)


def test_a_decision_can_neither_write_nor_close(store):
    def decide(view):
        with pytest.raises(ConstraintViolation):
            put(store, "b")
        with pytest.raises(ConstraintViolation):
            store.close()
        return WriteBatch(action="test", actor="tester", inserts=(Insert(memory("a")),))

    store.write("default", None, decide)
    assert store.head("default") == 1


def test_a_decision_sees_the_state_before_the_write(store, clock):
    put(store, "a", "b")
    store.touch("default", [RecordUse(MemoryId("a"), START, 2)])
    seen = {}

    def decide(view):
        seen.update(now=view.now, head=view.head, got=view.get([MemoryId("b"), MemoryId("none"), MemoryId("a")]))
        seen.update(usage=view.usage([MemoryId("a"), MemoryId("b")]), changes=[e.id for e in view.changes(1)])
        return always()(view)

    store.write("default", None, decide)
    assert (seen["now"], seen["head"], list(seen["got"])) == (clock.now(), 2, ["b", "a"])
    assert seen["usage"] == {"a": Usage(accessed_at=START, count=2)}
    assert seen["changes"] == ["b"]


def test_time_does_not_run_backwards_for_decisions_when_the_clock_is_set_back_a_little(store, clock):
    first = store.write("default", None, always(inserts=(Insert(memory("a")),))).at
    clock.advance(seconds=-200)
    assert store.write("other", None, always(inserts=(Insert(memory("b", namespace="other")),))).at == first


def test_buffers_are_stored_replaced_and_removed(store):
    def states():
        found = []
        store.write("default", None, lambda view: found.extend(view.buffers()) or always()(view))
        return found

    one_, two = BufferState("s-1", "a", "[1]", START), BufferState("s-2", "a", "[2]", LATER)
    store.write("default", None, always(buffers=(two, one_)))
    assert states() == [one_, two]
    store.write("default", None, always(buffers=(replace(one_, state="[3]"), replace(two, state=None))))
    assert states() == [replace(one_, state="[3]")]
    store.write("default", None, always(buffers=(two,)))
    assert states() == [replace(one_, state="[3]"), two]


def test_a_closed_store_refuses_every_call(store):
    store.close()
    store.close()
    calls = [
        store.info,
        store.namespaces,
        lambda: store.head("default"),
        lambda: store.get("default", [MemoryId("a")]),
        lambda: store.snapshot("default"),
        lambda: store.changes("default", 0),
        lambda: store.write("default", None, always()),
        lambda: store.touch("default", []),
        lambda: store.result("default", RequestKey("r", 1)),
        lambda: store.entries("default", "c", "message"),
    ]
    for call in calls:
        with pytest.raises(StoreClosed):
            call()


SWEPT = always(action="sweep", removals=(MemoryId("a"),))


def test_a_removed_memory_is_gone_with_its_vector_and_its_use(store):
    store.pin_embedder("hash", DIMENSIONS)
    inserts = (Insert(memory("a"), vector(1)), Insert(memory("b"), vector(2)))
    store.write("default", None, always(inserts=inserts))
    store.touch("default", [RecordUse(MemoryId("a"), LATER)])
    store.write("default", None, SWEPT)
    assert list(rows(store.snapshot("default"))) == ["b"]
    assert list(store.vectors("default", [MemoryId("a"), MemoryId("b")])) == ["b"]
    assert store.usage("default", [MemoryId("a")]) == {}


def test_the_log_tells_of_a_removal_without_the_digest_of_its_words(store):
    put(store, "a")
    store.write("default", None, SWEPT)
    last = store.changes("default", 0)[-1]
    assert (last.change, last.id, last.action, last.digest) == (ChangeType.PURGE, "a", "sweep", "")


def test_what_is_removed_is_in_no_buffer(store):
    put(store, "a", session="s", agent="a", tier=Tier.SENSORY)
    assert members(store) == ["a"]
    store.write("default", None, SWEPT)
    assert members(store) == []


def test_removing_what_is_not_there_is_refused(store):
    with pytest.raises(ConcurrentModification):
        store.write("default", None, SWEPT)
