"""Which words of a text are those of a question: where each is. Pure.

For a person who is shown why a memory was found. Words are told apart as search does (`language.terms`): by their stems in the
text's language and in English.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from hybrid_memory.language.languages import ENGLISH, language_of
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.text import compounds, has_unspaced_script, whole_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid_memory.language.terms import TermHasher
    from hybrid_memory.retrieval.understanding import UnderstoodWord

READ_CHARACTERS = 10_000  # of a text; behind them nothing is marked
_TOKEN = LazyPattern(r"[^\W_]+(?:[-_./:#@+'’]{1,2}[^\W_]+)*")
_PART = LazyPattern(r"[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters ``begin`` to ``end`` of a text are a ``word`` of the question."""

    begin: int
    end: int
    word: str


def word_marks(text: str, asked: Sequence[UnderstoodWord], hasher: TermHasher) -> list[Mark]:
    """Return the places of a text at which words of a question stand, in order and apart from each other."""
    own = {one.term: one.word for one in asked if one.share > 0}
    if not own:
        return []
    languages = tuple(dict.fromkeys((language_of(text), ENGLISH)))

    @cache
    def meant(spelled: str) -> str | None:
        return _first(_terms(spelled, languages, hasher), own)

    found: list[Mark] = []
    for begin, end in _places(text[:READ_CHARACTERS]):
        if found and begin < found[-1].end:
            continue
        if (one := meant(text[begin:end])) is not None:
            found.append(Mark(begin, end, one))
    return found


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the words of a text stand; a word of several parts before its parts, and pairs of characters where none are apart."""
    for token in _TOKEN.finditer(text):
        if has_unspaced_script(token[0]):
            for at in range(token.start(), token.end() - 1):
                yield at, whole_characters(text, at + 2, at) if at + 2 < len(text) else at + 2
            continue
        if compounds(token[0]):
            yield token.span()
        for part in _PART.finditer(token[0]):
            yield token.start() + part.start(), token.start() + part.end()


def _terms(word: str, languages: Sequence[str], hasher: TermHasher) -> list[int]:
    whole = [hasher.compound_term(one) for one in compounds(word)]
    if whole:
        return whole
    return [one.term for language in languages for one in hasher.spelled_terms(word, language)]


def _first(terms: Sequence[int], asked: Mapping[int, str]) -> str | None:
    return next((asked[term] for term in terms if term in asked), None)
