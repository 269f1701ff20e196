"""Terms: whose hash of a word they are, and that nobody can make up words that are found in place of others."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.retrieval.memories import EMBEDDER, NOW, memory, put

from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.language.terms import QUESTION_TERM, TermHasher
from hybrid_memory.language.text import word_hashes, words
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import HASHER, FakeClock, FakeRandomSource, HashEmbedder

KEYS = st.integers(0, 2**64 - 1)
HASHES = st.integers(0, 2**64 - 1)
SAME_CRC = ("plumless", "buckeroo")  # no longer one term, as they were until terms had a key
SCOPE = Scope(session="s-1")


@given(KEYS, HASHES)
def test_a_term_is_a_signed_integer_of_32_bits(key, one):
    assert -(2**31) <= TermHasher(key).fold(one) < 2**31


@given(KEYS, st.lists(HASHES, max_size=9))
def test_an_array_is_folded_as_each_of_its_hashes(key, hashes):
    hasher = TermHasher(key)
    folded = hasher.fold_all(np.array(hashes, np.uint64))
    assert (folded.dtype, folded.tolist()) == (np.dtype(np.int32), [hasher.fold(one) for one in hashes])


@given(KEYS, HASHES, st.integers(1, 2**32 - 1))
def test_hashes_that_differ_in_their_upper_half_alone_never_share_a_term(key, one, other):
    assert TermHasher(key).fold(one) != TermHasher(key).fold((one + (other << 32)) % 2**64)


@given(KEYS, HASHES)
def test_who_knows_one_key_has_made_up_nothing_for_another(key, one):
    known = TermHasher(key)
    odd = key | 1
    made_up = next(
        other
        for step in (1, -1, 2)
        if (other := (one * odd + step) * pow(odd, -1, 2**64) % 2**64) != one and known.fold(other) == known.fold(one)
    )
    others = [TermHasher(FakeRandomSource(seed).bits(64)) for seed in range(20)]
    assert sum(other.fold(one) == other.fold(made_up) for other in others) <= 1


def test_a_question_ends_with_a_term_of_its_own_in_every_store():
    for key in range(5):
        assert TermHasher(key).terms("who is it?")[-1] == QUESTION_TERM
        assert len(TermHasher(key).terms("who is it?")) == len(words("who is it?")) + 1
        assert QUESTION_TERM not in TermHasher(key).terms("a statement; with a semicolon.")


def test_terms_stand_in_the_order_of_the_words():
    cat, dog = map(HASHER.fold, word_hashes("cat dog"))
    assert HASHER.terms("cats dog cats") == (cat, dog, cat)


def test_the_key_is_not_shown():
    assert "12345678901234567" not in repr(TermHasher(12345678901234567))


@pytest.mark.parametrize(("said", "asked"), [SAME_CRC, SAME_CRC[::-1]])
def test_words_of_equal_checksum_do_not_find_each_other(said, asked):
    assert zlib.crc32(said.encode()) == zlib.crc32(asked.encode())
    clock = FakeClock()
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    service.write(SCOPE, WriteRequest(content=f"The {said} is {said}: {said} and {said}."))
    service.write(SCOPE, WriteRequest(content=f"I keep the {asked} in the cellar."))
    hits = service.read(SCOPE, ReadRequest(query=f"Where is the {asked}?")).hits
    assert hits[0].memory.content == f"I keep the {asked} in the cellar."
    assert not any(said in hit.memory.content and not hit.weak for hit in hits)
    service.close()


TEXTS = st.lists(
    st.lists(st.sampled_from(["Ada", "cat", "dog", "lamp", "oak", "tea"]), min_size=1, max_size=6), max_size=6
)


@given(KEYS, TEXTS, st.lists(st.sampled_from(["Ada", "cat", "dog", "lamp", "oak", "tea"]), min_size=1, max_size=3))
def test_a_ranking_does_not_depend_on_the_key(key, texts, asked):
    rankings = []
    for hasher in (HASHER, TermHasher(key)):
        index = NamespaceIndex(hasher, 16)
        put(
            index,
            *(
                with_encoded_words(memory(f"m{at}", " ".join(text), minutes=at), hasher)
                for at, text in enumerate(texts)
            ),
        )
        vector = EMBEDDER.embed([" ".join(asked)])[0]
        ranking = index.search(
            SearchQuery(question=parse_question(" ".join(asked), NOW, hasher), vector=vector, now=NOW)
        )
        rankings.append((ranking.ids.tolist(), ranking.scores.round(4).tolist(), ranking.weak.tolist()))
    assert rankings[0] == rankings[1]
