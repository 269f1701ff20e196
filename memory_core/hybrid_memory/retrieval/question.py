"""What a question says, before any memory is looked at: its words, how they are written, and its times.

`reads` and reflection parse a question once; `NamespaceIndex.search` weighs its words by what the store holds (``term_weights.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from hybrid_memory.embedding.vocabulary import UNLISTED, english_rank
from hybrid_memory.language.languages import ENGLISH, language_of
from hybrid_memory.language.names import name_entries, undecided
from hybrid_memory.language.terms import SpelledTerm
from hybrid_memory.language.text import compounds, spellings
from hybrid_memory.retrieval.time_expressions.foreign_days import in_english
from hybrid_memory.retrieval.time_expressions.parsing import TimeExpressions, parse_time_expressions

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher


class WordForm(Enum):
    """How a word is written, which tells whether it is a name: of a person, a project, a ticket, a file (`language.names`)."""

    PLAIN = "plain"
    NAME = "as a name"
    UNDECIDED = "with a capital that may come from its place"
    DIGITS = "with digits, but no name"


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """One distinct word of a question; ``marked`` is its first spelling in lower case, with its accents.

    ``rank``: its place among English words by frequency, `UNLISTED` for a word that is not among the first 30,000, None for a word
    of another script. ``in_time``: it is only where the question names a time.
    """

    term: int
    marked: str = ""
    count: int = 1
    form: WordForm = WordForm.PLAIN
    rank: int | None = UNLISTED
    in_time: bool = False


@dataclass(frozen=True)
class Question:
    """A parsed question.

    ``known_share``: the share of its letters that is in words which the English vocabulary holds, from 0 to 1. ``language``:
    the one it seems to be in, by which its words have their stems.
    """

    text: str = ""
    words: tuple[QuestionWord, ...] = ()
    known_share: float = 1.0
    language: str = ENGLISH
    time: TimeExpressions = field(default_factory=TimeExpressions)

    @cached_property
    def terms(self) -> tuple[int, ...]:
        """The distinct terms of its words."""
        return tuple(word.term for word in self.words)


def parse_question(text: str, now: datetime, hasher: TermHasher) -> Question:
    """Return what a question says; ``now`` is aware, times are relative to it and in its zone. ``hasher`` is the asked store's."""
    time = _time_of(text, now)
    language = language_of(text)
    whole = [SpelledTerm(one, "", hasher.compound_term(one)) for one in compounds(text)]
    spelled = [*hasher.spelled_terms(text, language), *whole]
    elsewhere = _without(text, time.spans)
    timeless = {one.term for one in hasher.spelled_terms(elsewhere, language)}
    timeless.update(map(hasher.compound_term, compounds(elsewhere)))
    names = frozenset(name_entries(text, language=language, hasher=hasher))
    counts: dict[int, int] = {}
    surfaces: dict[int, str] = {}
    marked: dict[int, str] = {}
    for one in spelled:
        counts[one.term] = counts.get(one.term, 0) + 1
        surfaces.setdefault(one.term, one.spelling)
        marked.setdefault(one.term, one.marked)
    return Question(
        text=text,
        words=tuple(
            QuestionWord(
                term=term,
                marked=marked[term],
                count=count,
                form=_form_of(term, surfaces[term], names),
                rank=english_rank(surfaces[term]) if surfaces[term].isascii() else None,
                in_time=bool(time.spans) and term not in timeless,
            )
            for term, count in counts.items()
        ),
        known_share=_known_share(text),
        language=language,
        time=time,
    )


def _time_of(text: str, now: datetime) -> TimeExpressions:
    """Return what a question says about time; of another language than English the days, and not where they stand."""
    time = parse_time_expressions(text, now)
    if time.windows or (translated := in_english(text)) == text:
        return time
    return replace(parse_time_expressions(translated, now), spans=())


def _form_of(term: int, surface: str, names: frozenset[int]) -> WordForm:
    if term in names:
        return WordForm.NAME
    if undecided(term) in names:
        return WordForm.UNDECIDED
    is_year = len(surface) == 4 and surface[:2] in ("19", "20")  # noqa: PLR2004 - the digits of a year
    return WordForm.DIGITS if any(map(str.isdigit, surface)) and not is_year else WordForm.PLAIN


def _known_share(text: str) -> float:
    words = spellings(text)
    letters = sum(map(len, words))
    return sum(len(word) for word in words if english_rank(word) < UNLISTED) / letters if letters else 1.0


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """Return the text with blanks in place of some spans."""
    pieces, last = [], 0
    for begin, end in spans:
        pieces += [text[last:begin], " " * (end - begin)]
        last = end
    return "".join((*pieces, text[last:]))
