"""Whether a memory really bears on a prompt, so that it may be shown without being asked for. Pure.

A search always finds something; what comes unasked must be about the same thing. `bears_on` decides it from what the ranking knows of one
hit: which telling words it shares with the prompt, how much of the prompt these are, whether they are names, and how near the meanings are.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH
from hybrid_memory.language.text import stem_in
from hybrid_memory.retrieval.plain_question import NOTHING_ASKED, Asked
from hybrid_memory.retrieval.question import WordForm

if TYPE_CHECKING:
    from hybrid_memory.retrieval.question import Question, QuestionWord

# Set on the development prompts of `python -m benchmarks.quiet_recall`; see docs/benchmarks.md.
_COMMONEST, _RAREST = 2_000, 30_000  # ranks of English words between which a word comes to tell something
_TELLS_ELSEWHERE = 0.5  # of a word in another language or script, whose rarity nobody knows
_ASKED, _ASKED_PLAINLY = 0.6, 0.4  # what a common word tells in a question of one's own things, and in one of others
_ORDER_BESIDE = 0.2  # what an order tells in a question that has another topic
_FEW = 3  # memories that hold a word, from which on it tells less of each
_SURE_NAME = 0.8  # the strength from which a word is a name
_TELLING, _SHARE, _COSINE, _FIRST, _WEAK, _OWN = 1.4, 2.4, 2.5, 1.3, -1.5, 0.3
LEAST_TOLD = 0.6  # what a prompt tells at least: of one that hardly tells anything no word is the whole
_MOST_TELLING = 2.0  # what several words tell together at most
_ENOUGH = 4.1


@dataclass(frozen=True, slots=True)
class SharedWord:
    """A word that a prompt and a memory share, and how much it tells of the memory, from 0 to 1."""

    telling: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearing:
    """What speaks for a memory: the ``shared`` words, which ``share`` of what the prompt tells these are, and the ``cosine``.

    ``first``: it is the best hit. ``weak``: it lies below the relevance floor. ``own``: the prompt speaks of its writer ("my", "we").
    """

    shared: Sequence[SharedWord]
    share: float
    cosine: float
    first: bool = False
    weak: bool = False
    own: bool = False


def bears_on(bearing: Bearing) -> bool:
    """Return True if a memory bears on a prompt: a preference about the thing named, a decision about it, the person named.

    It shares a word that tells something. Words and their share count most, then being the best hit; meaning alone never does it,
    since every prompt is near to something. More of anything but weakness never makes it False.
    """
    if not any(word.telling > 0 for word in bearing.shared):
        return False
    telling = min(sum(word.telling for word in bearing.shared), _MOST_TELLING)
    points = (
        _TELLING * telling
        + _SHARE * bearing.share
        + _COSINE * max(bearing.cosine, 0.0)
        + _FIRST * bearing.first
        + _WEAK * bearing.weak
        + _OWN * bearing.own
    )
    return points >= _ENOUGH


def telling_of(word: QuestionWord, language: str, name: float = 0.0, asked: Asked = NOTHING_ASKED) -> float:
    """Return how much a word of a prompt tells of its subject, from 0 to 1: nothing if it only orders something.

    A word in which nobody knows how rare it is (of another language or script) tells half, as a name all; not one that is common and
    written as any word. What is ``asked`` plainly is no order, so that common words are its topic.
    """
    if not word.marked or word.marked in lexicon.words("bearing.no_topics"):
        return 0.0
    if asked.own or asked.plain:
        if word.marked in lexicon.words("bearing.no_topics_of_own"):
            return 0.0
        return max(_rarity(word, language, name), _ASKED if asked.own else _ASKED_PLAINLY)
    return 0.0 if stem_in(ENGLISH, word.marked) in _order_stems() else _rarity(word, language, name)


def tellings_of(question: Question, names: Mapping[int, float], asked: Asked = NOTHING_ASKED) -> dict[int, float]:
    """Return `telling_of` for each term of a question. Alongside another topic an order tells little: "where do I report an incident?"."""
    found = {
        word.term: telling_of(word, question.language, names.get(word.term, 0.0), asked) for word in question.words
    }
    orders = {word.term for word in question.words if stem_in(ENGLISH, word.marked) in _order_stems()}
    beside = any(telling > 0 for term, telling in found.items() if term not in orders)
    return {
        term: min(telling, _ORDER_BESIDE) if beside and term in orders else telling for term, telling in found.items()
    }


def _rarity(word: QuestionWord, language: str, name: float) -> float:
    is_common = word.form is WordForm.PLAIN and word.rank is not None and word.rank < _COMMONEST
    if name >= _SURE_NAME and not is_common:
        return 1.0
    if word.rank is None or language != ENGLISH:
        return _TELLS_ELSEWHERE
    return min(
        max(math.log1p(max(word.rank - _COMMONEST, 0) / 1_000) / math.log1p((_RAREST - _COMMONEST) / 1_000), 0.0), 1.0
    )


def shared_words(
    question: Question,
    tellings: Mapping[int, float],
    held: Mapping[int, int],
    terms: Collection[int],
) -> tuple[SharedWord, ...]:
    """Return the words of a prompt that a memory with some ``terms`` holds. ``held``: in how many memories each stands.

    What is in many of them tells less of each: the name of the user himself, the company's.
    """
    return tuple(
        SharedWord(tellings[term] / (1 + math.log2(max(held.get(term, 0), _FEW) / _FEW)))
        for term in question.terms
        if tellings[term] > 0 and term in terms
    )


def speaks_of_own(gist: str) -> bool:
    """Return True if a prompt speaks of its writer, as "my dentist" does."""
    return not lexicon.words("bearing.own").isdisjoint(gist.casefold().replace("'", " ").split())


@functools.cache
def _order_stems() -> frozenset[str]:
    return frozenset(stem_in(ENGLISH, word) for word in lexicon.words("bearing.orders"))
