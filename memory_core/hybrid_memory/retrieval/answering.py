"""Whether what is trusted answers a question, so that what is not has to stand behind it (``shares.py``).

Judged by the trusted memories alone: an echo of a question covers all of its words, so what a tool wrote may not tell what the user
left open. Nothing answers where what is asked for is unknown (``unknown.py``); where none of the names that the question gives is
anywhere, or a number, and little else of it; and where the best hits hold no more of it than the name of the subject. In doubt a hit
above the floor answers: a right answer in second place costs less than that a planted one comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.retrieval.newer import number_terms
from hybrid_memory.retrieval.term_weights import name_shares, name_strength
from hybrid_memory.retrieval.unknown import are_nowhere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.retrieval.arrays import Floats, Mask
    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.question import Question, QuestionWord

# Set by hand, on paraphrases and on notes that share a name with the question.
JUDGED_HITS = 5  # of the best above the floor: what a reader looks at
MOSTLY_COVERED = 0.5  # the same where the number asked for is nowhere: "15:30" may be called 1530, order 12 not 4711
COVERED = 0.15  # of what a question asks of its subject, from which a hit tells it
TELLING = 0.1  # coverage by words: from it on a name is rare enough here to tell its memory from others
MEANT = 0.35  # cosine from which a hit that holds no word of the question may mean it
MEANT_OF_NAMED = 0.6  # the same where the question names whom it is about
STANDS_OUT = 0.07  # by how much more than the next about the same name a hit is like the question that means it
FAMILIAR = 10  # memories of a subject, from which who told them has probably told what is asked, in whatever words
MIN_DIGITS = 3  # of a number that names a thing: an order, a ticket, a room


def answers(
    question: Question,
    lexical: LexicalIndex,
    visible: Mask,
    rows: NDArray[np.intp],
    cosines: Floats,
    coverages: Floats,
) -> bool:
    """Return True if one of the best hits above the floor may answer a question.

    ``rows`` are those hits, best first, with their ``cosines`` and their coverage by words; ``visible`` are the rows that count.
    """
    names = _names_of(question, lexical)
    words = _as_written([word for word in names if not word.marked.isdigit()], question)
    if words and are_nowhere(words, lexical, visible, question.language):
        return False
    asked = [word for word in question.words if word not in names and not word.in_time]
    if not asked:
        return len(rows) > 0
    held = [frozenset(one.tolist()) for one in lexical.terms_of_rows(rows)]
    named = np.array([any(word.term in one for word in names) for one in held], np.bool_)
    best = np.arange(len(rows)) < JUDGED_HITS
    # Where nothing holds the number, few words tell of another one.
    strange = not named.any() and _names_a_person(names, question)
    other = _number_is_nowhere(question, lexical, visible)
    least = MOSTLY_COVERED if other else COVERED
    if any(_share_told(asked, one) >= least for one in held[:JUDGED_HITS]):
        return True
    if other or (not strange and np.any(best & ~named & (cosines >= (MEANT_OF_NAMED if names else MEANT)))):
        return not other
    if _is_familiar(names, lexical, visible) or any(map(_is_number, names)):
        return bool(named.any())
    telling = coverages[named & best].max(initial=0.0) >= TELLING
    return telling and _stands_out(
        [one for one, holds in zip(held, named, strict=True) if holds], cosines[named], question, lexical
    )


def _names_of(question: Question, lexical: LexicalIndex) -> tuple[QuestionWord, ...]:
    """Return the words of a question that are names, or numbers."""
    shares = name_shares(lexical, question.terms)
    return tuple(
        word
        for word, share in zip(question.words, shares, strict=True)
        if name_strength(word.form, share) and not word.in_time
    )


def _as_written(names: Sequence[QuestionWord], question: Question) -> list[str]:
    """Return names with the letters of the question: capitals tell more."""
    lowered = question.text.lower()
    found = ((word.marked, lowered.find(word.marked)) for word in names)
    return [question.text[at : at + len(marked)] if at >= 0 and marked else marked for marked, at in found]


def _number_is_nowhere(question: Question, lexical: LexicalIndex, visible: Mask) -> bool:
    """Return True if a question names a thing by a number that nothing holds as it is written."""
    numbers = [one.term for one in question.words if _is_number(one)]
    return bool(numbers) and 0 in lexical.document_frequencies(numbers, visible)


def _is_number(word: QuestionWord) -> bool:
    is_year = len(word.marked) == 4 and word.marked[:2] in ("19", "20")  # noqa: PLR2004 - the digits of a year
    return word.marked.isdigit() and len(word.marked) >= MIN_DIGITS and not is_year and not word.in_time


def _share_told(asked: Sequence[QuestionWord], held: frozenset[int]) -> float:
    """Return how much of some words, weighed by their rarity in English, a row holds, from 0 to 1."""
    weights = [1.0 if word.rank is None else 0.3 + math.log1p(word.rank / 1_000) / math.log(31) for word in asked]
    return sum(weight for weight, word in zip(weights, asked, strict=True) if word.term in held) / sum(weights)


def _is_familiar(names: Sequence[QuestionWord], lexical: LexicalIndex, visible: Mask) -> bool:
    """Return True if many of what counts name the subject."""
    held = lexical.document_frequencies([word.term for word in names], visible)
    return max(held, default=0) >= FAMILIAR


def _stands_out(held: Sequence[frozenset[int]], cosines: Floats, question: Question, lexical: LexicalIndex) -> bool:
    """Return True if one of some hits that hold the subject's name alone may mean the question.

    It is clearly nearer to it than the next; where there is but one, it tells a name or a number.
    """
    if len(held) == 1:
        return _tells_something(held[0], question, lexical)
    nearest = np.sort(cosines)[::-1]
    return bool(nearest[0] - nearest[1] >= STANDS_OUT)


def _names_a_person(names: Sequence[QuestionWord], question: Question) -> bool:
    """Return True if all names of a question are written as those of people and places are: "Rui", not "PIN", not "4711"."""
    return bool(names) and all(one.istitle() for one in _as_written(names, question))


def _tells_something(held: frozenset[int], question: Question, lexical: LexicalIndex) -> bool:
    """Return True if a row holds a name or a number that the question does not: "Heron runs on Postgres 16", not "Rui said hello"."""
    others = [term for term in held if term not in question.terms]
    if np.isin(others, number_terms(lexical.hasher)).any():
        return True
    return any(share is not None and share > 0 for share in name_shares(lexical, others))
