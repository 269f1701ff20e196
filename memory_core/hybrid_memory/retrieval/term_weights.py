"""How much each word of a question counts, and which of its words are names."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybrid_memory.language.text import word_hashes
from hybrid_memory.retrieval.bm25 import QueryTerms, idf
from hybrid_memory.retrieval.question import QuestionWord, WordForm

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher
    from hybrid_memory.retrieval.arrays import Mask
    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.question import Question
    from hybrid_memory.retrieval.ranking_parameters import RankingParameters

_TIME_ALONE = 0.2  # what is left of words and meaning of a question that names a time alone
_SAYS_NOTHING = (
    "happen happened do did done doing go going went talk talked talking discuss discussed say said tell told note noted write wrote "
    "plan planned schedule scheduled due event events thing things anything something new up on day week month year today"
)
"""Words that say of what happened only that it did."""
_RANKS_PER_STEP, _STEPS = 1_000.0, 31.0  # a word behind the 30,000 of the vocabulary counts 1 + the floor
_USUALLY = 0.5  # the share of memories that write a word as a name from which a question that does so means the name
_MOSTLY = 0.7  # ... from which a capital that may come from its place tells a name
_NEARLY_ALWAYS = 0.9  # ... and from which a word is a name though the question writes it small


@dataclass(frozen=True, slots=True)
class Name:
    """A word of the question that is a name: its term, and how sure that is, from 0 to 1."""

    term: int
    strength: float


@dataclass(frozen=True, slots=True)
class WeighedQuestion:
    """A question's words as a search counts them.

    ``unknown_share``: the share of their rarity that no visible memory holds, from 0 to 1. ``worded_share``: how much words and
    meaning count alongside all else: less than 1 for a question of nothing but a time, which its words must not decide. ``names``
    are those that the store holds, ``unknown_names`` those that it does not.
    """

    query_terms: QueryTerms
    unknown_share: float
    worded_share: float = 1.0
    names: tuple[Name, ...] = ()
    unknown_names: tuple[Name, ...] = ()


def weigh(question: Question, lexical: LexicalIndex, counted: Mask, parameters: RankingParameters) -> WeighedQuestion:
    """Return the words weighed by their rarity, and the names among them."""
    number, mean_length = lexical.statistics(counted)
    if not number or not question.words:
        return WeighedQuestion(QueryTerms((), (), 1.0), 1.0)
    held = lexical.document_frequencies(question.terms, counted)
    rarities = [idf(number, holding) for holding in held]
    strengths = [
        name_strength(word.form, share)
        for word, share in zip(question.words, name_shares(lexical, question.terms), strict=True)
    ]
    weights = [
        rarity * _word_weight(word, strength, parameters)
        for word, rarity, strength in zip(question.words, rarities, strengths, strict=True)
    ]
    total = sum(weights)
    names = [
        (Name(word.term, strength), holding)
        for word, strength, holding in zip(question.words, strengths, held, strict=True)
        if strength
    ]
    return WeighedQuestion(
        QueryTerms(question.terms, tuple(weight / total for weight in weights), mean_length),
        sum(rarity for rarity, holding in zip(rarities, held, strict=True) if not holding) / sum(rarities),
        _TIME_ALONE if asks_for_a_time_alone(question, lexical.hasher) else 1.0,
        names=tuple(name for name, holding in names if holding),
        unknown_names=tuple(name for name, holding in names if not holding),
    )


def name_strength(form: WordForm, share: float | None) -> float:
    """Return how surely a word of a question is a name, from 0 to 1.

    ``share``: in how many of the memories that hold it, and tell, the word is written as a name; None where none tells.
    """
    if form is WordForm.NAME and (share is None or share > _USUALLY):
        return 1.0
    if share is not None and share > (_MOSTLY if form is WordForm.UNDECIDED else _NEARLY_ALWAYS):
        return 1.0 if form is WordForm.UNDECIDED else 0.8
    return 0.5 if form is WordForm.DIGITS else 0.0


def name_shares(lexical: LexicalIndex, terms: Sequence[int]) -> list[float | None]:
    """Return for some terms in how many of the memories that hold them, and tell, they are names; None where none tells."""
    telling, named = (counts.tolist() for counts in lexical.name_frequencies(terms))
    return [name / telling if telling else None for telling, name in zip(telling, named, strict=True)]


def asks_for_a_time_alone(question: Question, hasher: TermHasher) -> bool:
    """Return True if a question names a time and nothing else: "What happened yesterday?", "What did we talk about in March?"."""
    if not question.time.windows:
        return False
    eventless = frozenset(map(hasher.fold, _eventless()))
    return all(word.in_time or word.term in eventless for word in question.words)


@functools.cache
def _eventless() -> frozenset[int]:
    return frozenset(word_hashes(_SAYS_NOTHING))


def _word_weight(word: QuestionWord, strength: float, parameters: RankingParameters) -> float:
    """Return by what the rarity of a word is multiplied."""
    factor = 1 + parameters.name_weight * strength
    factor *= parameters.time_word_weight if word.in_time else 1
    if word.rank is not None and parameters.rarity_power:
        rarity = parameters.rarity_floor + math.log1p(word.rank / _RANKS_PER_STEP) / math.log(_STEPS)
        factor *= rarity**parameters.rarity_power
    return factor
