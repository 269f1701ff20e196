"""What the grammar's rules share: the tokens with the moment, and times that still need to be told which one is meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Literal, NamedTuple

from hybrid_memory.retrieval.time_expressions import calendar_math
from hybrid_memory.retrieval.time_expressions.calendar_math import Period
from hybrid_memory.retrieval.time_expressions.lexer import NONE, Token
from hybrid_memory.retrieval.time_expressions.vocabulary import NOT_NOUNS, TELLING, THIRDS

Direction = Literal["past", "future", "either"]
Each = Callable[[int], Period | None]


@dataclass(frozen=True, slots=True)
class TokenCursor:
    """A text as tokens, the moment it is relative to as a wall clock shows it, and where a name without a year is sought."""

    tokens: list[Token]
    now: datetime
    zone: tzinfo
    direction: Direction = "past"
    known: dict[tuple[int, bool], Parsed | None] = field(default_factory=dict, compare=False)
    """What has been read at a place already; several rules ask."""
    nested: list[int] = field(default_factory=list, compare=False)
    """Where the things begin that are being read, each a part of the one before."""

    def token(self, at: int) -> Token:
        """Return the token at a place, an empty one outside."""
        return self.tokens[at] if 0 <= at < len(self.tokens) else NONE

    def word(self, at: int) -> str:
        """Return the token's text, an empty one outside."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def words(self, at: int, count: int) -> tuple[str, ...]:
        """Return the texts of that many tokens from a place on, empty ones behind the end."""
        return tuple(self.word(place) for place in range(at, at + count))

    def place(self, begin: int, end: int) -> tuple[int, int]:
        """Return where in the text the tokens from ``begin`` up to ``end`` are."""
        return self.tokens[begin].start, self.tokens[end - 1].end

    def skip(self, at: int, *texts: str) -> int:
        """Return the place behind the token if it is one of these, else the place."""
        return at + 1 if self.word(at) in texts else at

    def told(self, at: int) -> bool:
        """Say whether the word before a name, or "before last" behind it, tells which one of several times is meant."""
        before = self.word(at - 1)
        named = before in TELLING or (before == "-" and self.word(at - 2) in THIRDS)
        return named or self.words(at + 1, 2) == ("before", "last")

    def ends(self, at: int) -> bool:
        """Say whether a name may end before this place: nothing there makes a longer name of it."""
        token = self.token(at)
        return token.kind in {"none", "mark"} or token.text in NOT_NOUNS


class TimeSpec(NamedTuple):
    """Periods that are known, or (``each``) one that recurs every year, month or week."""

    periods: tuple[Period, ...] = ()
    each: Each | None = None
    cycle: str = "year"

    def map(self, change: Callable[[Period], Period | None]) -> TimeSpec:
        """Return the spec with its periods changed, before it is told which one is meant."""
        each = self.each
        if each is not None:
            return TimeSpec((), lambda index: change(whole) if (whole := each(index)) else None, self.cycle)
        return TimeSpec(tuple(found for period in self.periods if (found := change(period))))


Parsed = tuple[TimeSpec, int]
"""A spec and the place behind its last token."""


def fixed(*periods: Period | None) -> TimeSpec:
    """Return a spec of which all is known."""
    return TimeSpec(tuple(period for period in periods if period is not None))


def index_of(now: datetime, cycle: str) -> int:
    """Return the number of the year, month or week that holds the moment."""
    if cycle == "week":
        return calendar_math.week_index(now)
    return now.year * 12 + now.month - 1 if cycle == "month" else now.year


def choose(spec: TimeSpec, now: datetime, how: str) -> tuple[Period, ...]:
    """Return the periods of a thing; of one that recurs the ``how`` one.

    "past" is the latest that has begun, "last" the latest that is over; where that is only just so, the one before follows
    with less certainty. "this" is the present year's, month's or week's, "future" and "coming" the first that is not over,
    "next" the first that has not begun, "either" the "past" and the "coming" one, "nearest" the one in the middle of which
    the moment is closest.
    """
    if spec.each is None:
        return spec.periods
    base = index_of(now, spec.cycle)
    if how == "this":
        found = spec.each(base)
        return (found,) if found else ()
    for reach in _REACHES:
        near = [found for index in range(base - reach, base + reach + 1) if (found := spec.each(index))]
        chosen = _CHOICES[how](near, now)
        if chosen:
            return tuple(chosen)
    return ()


def past_ones(spec: TimeSpec, now: datetime) -> tuple[Period, ...]:
    """Return the latest ten or fewer periods of what recurs that are over, in order."""
    if spec.each is None:
        return ()
    base = index_of(now, spec.cycle)
    near = [found for index in range(base - 10, base + 1) if (found := spec.each(index))]
    return tuple(found for found in near if found.end <= now)


def _softer(periods: list[Period], factor: float) -> list[Period]:
    return [period._replace(certainty=round(period.certainty * factor, 3)) for period in periods]


def _past(near: list[Period], now: datetime) -> list[Period]:
    begun = [period for period in near if period.start <= now]
    latest = begun[-1:]
    if latest and latest[0].grain in _LONG and now - latest[0].start < (latest[0].end - latest[0].start) / 4:
        return latest + _softer(begun[-2:-1], 0.5)
    return latest


def _last(near: list[Period], now: datetime) -> list[Period]:
    over = [period for period in near if period.end <= now]
    if over and over[-1].grain in _RECENT and now - over[-1].end < _RECENT[over[-1].grain]:
        return over[-1:] + _softer(over[-2:-1], 0.5)
    return over[-1:]


def _coming(near: list[Period], now: datetime) -> list[Period]:
    return [period for period in near if period.end > now][:1]


def _next(near: list[Period], now: datetime) -> list[Period]:
    return [period for period in near if period.start > now][:1]


def _nearest(near: list[Period], now: datetime) -> list[Period]:
    return sorted(near, key=lambda period: abs(period.start + (period.end - period.start) / 2 - now))[:1]


def _either(near: list[Period], now: datetime) -> list[Period]:
    past = _past(near, now)[:1]
    coming = _coming(near, now)
    return past if past == coming else _softer(past + coming, 0.7)


_REACHES = (2, 14)
"""How many years, months or weeks away is looked; few of them lack the day, as 29 February and Friday the 13th."""
_RECENT = {"month": timedelta(days=31), "day": timedelta(days=2)}
_LONG = frozenset({"month", "quarter", "season"})
_CHOICES: dict[str, Callable[[list[Period], datetime], list[Period]]] = {
    "past": _past,
    "last": _last,
    "coming": _coming,
    "future": _coming,
    "next": _next,
    "nearest": _nearest,
    "either": _either,
}
