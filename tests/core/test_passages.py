"""Passages of long texts: what they are, and that a memory gets, keeps and loses them with its vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.embedding.passages import MOST_PASSAGES, packed, passages_of, unpacked
from hybrid_memory.model import MemoryId
from hybrid_memory.requests import ReadRequest, UpdateRequest, WriteRequest
from hybrid_memory.testing import START, HashEmbedder

LONG = (
    "The kitchen is being renovated until the end of March. We cook in the garage for as long as that takes. "
    "My sister lends us her second fridge, which stands on the balcony."
)
SENTENCES = st.lists(
    st.sampled_from(["Yes.", "No!", "What?", "one two three " * 4 + "end.", "長い文です。", "a line\n"])
)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)


@given(st.text(st.sampled_from("ab .!?。\n")) | SENTENCES.map(" ".join))
def test_passages_hold_all_of_a_text_in_its_order(text):
    found = passages_of(text)
    assert not found or "".join("".join(found).split()) == "".join(text.split())


@given(SENTENCES.map(" ".join))
def test_a_text_has_none_or_two_to_sixteen(text):
    assert len(passages_of(text)) in {0, *range(2, MOST_PASSAGES + 1)}


@given(st.lists(st.integers(40, 60), min_size=17, max_size=80))
def test_of_very_many_sentences_neighbours_are_joined_evenly(lengths):
    found = passages_of(" ".join("x" * length + "." for length in lengths))
    joined = [passage.count(".") for passage in found]
    assert len(found) == MOST_PASSAGES
    assert max(joined) - min(joined) <= 1


def test_a_sentence_is_a_passage():
    assert passages_of(LONG) == [sentence.strip() for sentence in LONG.replace(". ", ".|").split("|")]


@pytest.mark.parametrize("text", ["", "One sentence, however long it is " * 40, "Short. Very short. All of it."])
def test_a_text_of_one_passage_has_none(text):
    assert passages_of(text) == []


def test_a_short_sentence_belongs_to_the_one_before():
    first = "It took us all of the afternoon to find the place"
    assert passages_of(f"{first}. Really! And then it was closed, as it is every Monday.") == [
        f"{first}. Really!",
        "And then it was closed, as it is every Monday.",
    ]


def test_lines_are_told_apart():
    assert (
        len(passages_of("the address of the new office in Hamburg\nthe code of the door to the garage is in the safe"))
        == 2
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([8, 64, 256, 384]), st.integers(1, MOST_PASSAGES))
def test_a_stored_passage_points_where_its_vector_does(seed, dimensions, count):
    rows = unit(np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32))
    found = unpacked([packed(rows)], dimensions)
    asked = unit(np.random.default_rng(seed + 1).standard_normal(dimensions).astype(np.float32))
    assert np.abs(found.steps @ asked * found.scales - rows @ asked).max() < 0.01


def test_a_passage_without_a_vector_is_like_nothing():
    found = unpacked([packed(np.array([[0, 0], [np.nan, 1]], np.float32))], 2)
    assert (found.steps * found.scales[:, None]).tolist() == [[0, 0], [0, 1]]


@each(
    "damage",
    [
        lambda stored: stored[:-1],
        lambda stored: stored + b"\0",
        lambda stored: stored[:0],
        lambda stored: stored * 20,
        lambda stored: np.float32("nan").tobytes() + stored[4:],
        lambda stored: stored[:-12] + np.float32(9).tobytes() + stored[-8:],
    ],
)
def test_of_bytes_that_are_no_passages_nothing_is_taken_and_the_others_stay(damage):
    sound = packed(np.eye(8, dtype=np.float32)[:3])
    found = unpacked([sound, damage(sound), sound], 8)
    assert found.owners.tolist() == [0, 0, 0, 2, 2, 2]


def counts(service):
    """Return how many passages each memory has in the store, by its first word."""
    memories = {
        one: service.store.get("default", [MemoryId(one)])[MemoryId(one)].content.split()[0]
        for part in service.store.snapshot("default").ids
        for one in map(bytes.decode, part.tolist())
    }
    return {
        memories[part.ids[place].decode()]: len(unpacked([stored], part.matrix.shape[1]).owners)
        for part in service.store.snapshot("default").vectors
        for place, stored in part.passages.items()
    }


def test_a_long_note_gets_passages_and_a_short_one_none(service, scope):
    service.write(scope, WriteRequest(content=LONG))
    service.write(scope, WriteRequest(content="Ana likes tea."))
    assert counts(service) == {"The": 3}


def test_a_turn_of_a_conversation_has_none(service, scope):
    service.write(scope, WriteRequest(content=LONG, speaker="Ana", occurred_at=START))
    service.write(scope, WriteRequest(content=LONG.replace("The", "That"), speaker="Ana"))
    assert counts(service) == {"That": 3}


def test_a_secret_is_in_no_passage(service, scope, monkeypatch):
    seen = []
    embed = HashEmbedder.embed
    monkeypatch.setattr(HashEmbedder, "embed", lambda self, texts: (seen.extend(texts), embed(self, texts))[1])
    service.write(
        scope, WriteRequest(content=f"{LONG} The key of the gate is AKIAIOSFODNN7EXAMPLE, as long as we stay.")
    )
    assert len(seen) > 3
    assert not any("AKIAIOSFODNN7EXAMPLE" in text for text in seen)


def test_new_words_have_passages_of_their_own(service, scope):
    written = service.write(scope, WriteRequest(content=LONG))
    service.update(scope, UpdateRequest(id=written.id, content=f"Again: {LONG} {LONG.replace('garage', 'attic')}"))
    assert counts(service) == {"The": 3, "Again:": 6}


def test_passages_are_not_counted_and_not_shown(service, scope):
    service.write(scope, WriteRequest(content=LONG))
    found = service.read(scope, ReadRequest(query="what does my sister lend us?"))
    assert [one.memory.content for one in found.hits] == [LONG]
    assert service.store.info().memories == 1
