"""What a question says, before any memory is looked at: its words, how they are written, and its times.

`reads` and reflection parse a question once; `NamespaceIndex.search` weighs its words by what the store holds (``term_weights.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cached_property

from hybrid_memory.embedding.vocabulary import UNLISTED, english_rank
from hybrid_memory.retrieval.time_expressions import TimeExpressions, parse_time_expressions
from hybrid_memory.text import QUESTION_TERM, STOP_WORDS, spelled_terms, spellings


class WordForm(Enum):
    """How a word is written, which tells whether it is a name: of a person, a project, a ticket, a file."""

    PLAIN = "plain"
    FIRST = "capitalised, but as the first word of a sentence"
    CAPITALISED = "capitalised inside a sentence"
    IDENTIFIER = "part of a word of letters with digits, or with a slash, dot, hyphen or underscore inside"
    NUMBER = "three digits or more that are no year"
    DIGITS = "with other digits"


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """One distinct word of a question.

    ``rank``: its place among English words by frequency, `UNLISTED` for a word that is not among the first 30,000, None for a word
    of another script. ``in_time``: it stands only where the question names a time.
    """

    term: int
    count: int = 1
    form: WordForm = WordForm.PLAIN
    rank: int | None = UNLISTED
    in_time: bool = False


@dataclass(frozen=True)
class Question:
    """A parsed question.

    ``known_share``: the share of its letters that stands in words which the English vocabulary holds, from 0 to 1.
    """

    text: str = ""
    words: tuple[QuestionWord, ...] = ()
    known_share: float = 1.0
    time: TimeExpressions = field(default_factory=TimeExpressions)

    @cached_property
    def terms(self) -> tuple[int, ...]:
        """The distinct terms of its words."""
        return tuple(word.term for word in self.words)


def parse_question(text: str, now: datetime) -> Question:
    """Return what a question says; ``now`` is aware, times are relative to it and in its zone."""
    time = parse_time_expressions(text, now)
    spelled = [(surface, term) for surface, term in spelled_terms(text) if term != QUESTION_TERM]
    timeless = {term for _, term in spelled_terms(_without(text, time.spans))} if time.spans else None
    forms = word_forms(text)
    counts: dict[int, int] = {}
    surfaces: dict[int, str] = {}
    for surface, term in spelled:
        counts[term] = counts.get(term, 0) + 1
        surfaces.setdefault(term, surface)
    return Question(
        text=text,
        words=tuple(
            QuestionWord(
                term=term,
                count=count,
                form=_form_of(surfaces[term], forms),
                rank=english_rank(surfaces[term]) if surfaces[term].isascii() else None,
                in_time=timeless is not None and term not in timeless,
            )
            for term, count in counts.items()
        ),
        known_share=_known_share(text),
        time=time,
    )


def word_forms(text: str) -> Mapping[str, WordForm]:
    """Return the words (folded) that are written as names: parts of identifiers, and capitalised words but months and weekdays."""
    forms: dict[str, WordForm] = {}
    for found in _WORD.finditer(text):
        if not found[0][0].isupper():
            continue
        before = text[: found.start()].rstrip(_OPENING)
        first = not before or before[-1] in _SENTENCE_ENDS
        for word in spellings(found[0]):
            if word in STOP_WORDS or word in _CALENDAR:
                continue
            if not first:
                forms[word] = WordForm.CAPITALISED
            else:
                forms.setdefault(word, WordForm.FIRST)
    for found in _IDENTIFIER.finditer(text):
        forms.update((word, WordForm.IDENTIFIER) for word in spellings(found[0]) if word not in STOP_WORDS)
    return forms


_OPENING = " \t\"'“”‘’«»([{"
_SENTENCE_ENDS = ".!?:;\n…—。！？"
_WORD = re.compile(r"[^\W\d_]\w*(?:['’]\w+)*")
_IDENTIFIER = re.compile(
    r"[A-Za-z]+(?:[-_./]?\d+)+[A-Za-z0-9]*|\d+[A-Za-z][A-Za-z0-9]*|\w+(?:[_/]\w+)+(?:\.\w+)?|\w+\.[a-z]{1,4}(?!\w)|[a-z]+[A-Z]\w*"
)
_MIN_NUMBER = 3  # digits from which a number is one that somebody gave: of a ticket, a room, a port
_MONTHS_AND_DAYS = (
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun"
)
_CALENDAR = frozenset(_MONTHS_AND_DAYS.split())


def _form_of(surface: str, forms: Mapping[str, WordForm]) -> WordForm:
    form = forms.get(surface)
    if form is not None:
        return form
    if not any(map(str.isdigit, surface)):
        return WordForm.PLAIN
    if len(surface) >= _MIN_NUMBER and surface.isdigit() and not _is_year(surface):
        return WordForm.NUMBER
    return WordForm.PLAIN if _is_year(surface) else WordForm.DIGITS


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and digits[:2] in ("19", "20")  # noqa: PLR2004 - the digits of a year


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
