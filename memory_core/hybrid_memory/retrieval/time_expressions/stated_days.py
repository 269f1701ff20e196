"""The days that a memory speaks of: "from 1 December", "on the 14th", "2026-12-24", "am 24.12.", "le 3 mars", "12月24日".

`stated_days` reads the sentences that may hold a day with the grammar of questions. Of what is written in other languages it
reads days with the name of their month or in digits, made English before. A name without a year means the one that the tense
says, else the nearest, of weekdays the coming one.

Not days: a year, season or quarter alone, "recently" and other vague words, versions, prices, numbers of telephones, and what
lies a year or more away by a count ("five years ago").
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.time_expressions.calendar_math import HIGHEST, LOWEST, Period
from hybrid_memory.retrieval.time_expressions.expressions import Phrase, find_phrases
from hybrid_memory.retrieval.time_expressions.foreign_days import (
    dense_phrases,
    foreign_months,
    foreign_words,
    in_english,
)
from hybrid_memory.retrieval.time_expressions.lexer import MONTHS, WEEKDAYS, TokenCursor, tokenize
from hybrid_memory.retrieval.time_expressions.tense import stated_direction_of

MAX_DAYS = 8
_MAX_SENTENCES = 32  # that may hold a day; a long text is told apart by its first days
_MAX_SENTENCE_CHARACTERS = 2_000
_MAX_CHARACTERS = 32_000
_LEAST_CERTAINTY = 0.6
_LONGEST_RANGE_DAYS = 366
_LONGEST_UNIT_DAYS = 35  # of a period that was not named by its first and last day
_DAY_GRAINS = frozenset({"day", "hour", "week", "weekend", "fortnight", "month", "night"})
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall-clock time in UTC


def stated_days(text: str, when: datetime) -> tuple[int, ...]:
    """Return the days that a text speaks of, in days since 1970-01-01, rising, at most `MAX_DAYS`.

    ``when`` is the aware moment that "yesterday" is relative to; days are those of UTC. A period gives its first and its last
    day, an open one ("from 1 December") the day at its end.
    """
    text = text[:_MAX_CHARACTERS]
    # Twice: most texts have none of the words at all, which a set says sooner than the pattern.
    if not _has_head(text.lower()):
        return ()
    text = in_english(text)
    if not _may_hold_day(text):
        return ()
    now = when.astimezone(UTC).replace(tzinfo=None)
    found: dict[int, None] = {}
    for sentence in _sentences(_plainer(text)):
        lower = sentence.lower()
        direction = stated_direction_of(lower, _WORD.findall(lower))
        for phrase in find_phrases(TokenCursor(tokenize(sentence), now, UTC, direction)):
            found.update(dict.fromkeys(_days(phrase)))
        if len(found) >= MAX_DAYS:
            break
    return tuple(sorted(list(found)[:MAX_DAYS]))


def _has_head(lower: str) -> bool:
    """Return True if a text in lower case has a word or digits with which a day may begin."""
    return (
        not _heads().isdisjoint(_LETTERS.findall(lower))
        or _NUMERIC.search(lower) is not None
        or (not lower.isascii() and _DENSE.search(lower) is not None)
    )


def _may_hold_day(text: str) -> bool:
    # In lower case, since patterns that ignore case take four times as long.
    return _MAY_HOLD_DAY.search(text.lower()) is not None


def _plainer(text: str) -> str:
    """Return a text in words that questions have too: "is the 14th" as "is on the 14th", "a Sunday" and the like as "every Sunday"."""
    text = _BARE_ORDINAL.sub(r"\1 on the ", text) if " the " in text else text
    return _ANY_WEEKDAY.sub("every ", text) if "day" in text.lower() else text


def _sentences(text: str) -> Iterator[str]:
    count = 0
    for sentence in _SENTENCE_END.split(text):
        if _may_hold_day(sentence):
            yield sentence[:_MAX_SENTENCE_CHARACTERS]
            count += 1
            if count == _MAX_SENTENCES:
                return


def _days(phrase: Phrase) -> list[int]:
    """Return the days of a phrase's most certain periods."""
    best = max(period.certainty for period in phrase.periods)
    return [day for period in phrase.periods if period.certainty == best for day in _edges(period, phrase.relation)]


def _edges(period: Period, relation: str) -> list[int]:
    """Return the first and the last day of a period; of an open one the day at its end."""
    is_open = period.start == LOWEST, period.end >= HIGHEST
    if period.certainty < _LEAST_CERTAINTY or period.grain not in _DAY_GRAINS or all(is_open):
        return []
    if is_open[0]:
        return [_day(period.end, behind=relation != "before")]
    if is_open[1]:
        return [_day(period.start, behind=relation == "after")]
    if (period.end - period.start).days > (_LONGEST_RANGE_DAYS if period.grain == "day" else _LONGEST_UNIT_DAYS):
        return []
    return sorted({_day(period.start), _day(period.end, behind=True)})


def _day(moment: datetime, *, behind: bool = False) -> int:
    """Return the number of a moment's day; of a midnight ``behind`` a period that of the day before."""
    return (moment - _EPOCH).days - (behind and moment.time() == _EPOCH.time())


_WORD = LazyPattern("[a-z]+")
_ANY_WEEKDAY = LazyPattern(
    lambda: (
        r"\b(?:every (?:other|first|second|third|fourth|last)|(?<!half )(?<!in )an?) "
        f"(?={lexicon.any_of(lexicon.places('calendar.weekdays', 'en'))})"
    ),
    re.IGNORECASE,
)
_BARE_ORDINAL = LazyPattern(
    r"\b(is|was|be|due|to|for) the "
    r"(?=\d\d?(?:st|nd|rd|th)(?:\s*[.,;:!?)]|\s*$|\s(?:and|at|or|in|of)\b))",
    re.MULTILINE,
)
_SENTENCE_END = LazyPattern(r"[\r\n]+|[!?;]\s+|(?<=[^\W\d_]{2}\.)\s+(?=[^\W\d_])")
_NUMERIC = LazyPattern(r"\d(?:\d?(?:st|nd|rd|th)\b|\d?[./-]\d\d?[./-]|\d{3}[-/.]\d|\s?[年月년월])")
_DENSE = LazyPattern(dense_phrases)
_LETTERS = LazyPattern(r"[^\W\d_]+")


def _may_hold_day_pattern() -> str:
    months, short = (lexicon.places(f"calendar.{key}", "en") for key in ("months", "short_months"))
    days, short_days = (lexicon.places(f"calendar.{key}", "en") for key in ("weekdays", "short_weekdays"))
    names = "|".join([*months, *days, *lexicon.phrases("time.day_names", "en")])
    return (
        rf"\b(?:{names}|\d\d?(?:st|nd|rd|th)?[-\s]{lexicon.any_of(short)}\b|{lexicon.any_of(short)}\.?\s\d"
        rf"|{lexicon.any_of(short_days)}\b"
        r"|(?:days?|weeks?|months?) (?:ago|from|before|after|later)\b|(?:last|next|this|past|coming|previous|the) (?:week|month)\b"
        r"|in [\w ]{1,12}\s(?:days?|weeks?)\b|\d\d?(?:st|nd|rd|th)\b)"
        r"|\d(?:\d?[./-]\d\d?[./-]|\d{3}[-/.]\d|\s?[年月년월])"
    )


_MAY_HOLD_DAY = LazyPattern(_may_hold_day_pattern)


@functools.cache
def _heads() -> frozenset[str]:
    """Return words in lower case of which one is in every text with a day that is not in digits."""
    named = " ".join(lexicon.phrases("time.day_names", "en")).split()
    plain = ("days", "week", "weeks", "month", "months", "valentines", "patricks")
    return frozenset([*named, *MONTHS, *WEEKDAYS, *foreign_months(), *foreign_words(), *plain]) - {"new", "day", "good"}
