"""Dates in arguments: ISO 8601, or words as a model hears them ("yesterday", "last Friday", "3 November", "in 3 days").

Words are relative to the moment of the call, in the client's zone, and read by the same grammar as those of a question. What could mean
two moments ("3/11/2026", "Friday or Saturday"), or a longer time where one moment is wanted, is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, TypeAlias

from hybrid_memory.errors import InvalidInput
from hybrid_memory.moments import wrong_clock

Meaning: TypeAlias = Literal["begin", "moment", "through", "end"]
"""Which moment of a named time is meant: the first of any ("since"), the first of a day at most, the first behind it ("until": a day is
meant whole), or the last of any ("expires_at")."""

_NO_DATE = "is not a date; write 2026-01-31 or 2026-01-31T09:30"
_TOO_LONG = "names a longer time; write one day, as 2026-01-31"

_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {name: number for number, name in enumerate(_COUNTS, 1)} | {"a": 1, "an": 1}
_DISTANCE = re.compile(
    rf"(?P<ahead>in )?(?P<count>\d{{1,5}}|{'|'.join(_NUMBERS)}) (?P<unit>minute|hour|day|week|month|year)s?"
    r"(?P<past> ago)?(?P<later> from now)?"
)
_SMALL_UNITS = ("minute", "hour")
_FILLERS = frozenset(("at", "on", "in", "the", "of", "by"))
# A bare name of a month or a feast is read as a time only where one is expected.
_CARRIERS = ("", "in ", "at ")
_AHEAD = "it will be "  # lets names without a year mean the next to come
_SURE = 0.8  # certainty from which one reading of several counts as the one that is meant
_LONGEST_DAY = timedelta(hours=25)  # with an hour that is put back
_HOUR = timedelta(hours=1)
_WEEKDAY_ASIDE = re.compile(r"\((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\)")  # "2026-11-03 (Tuesday)"


@dataclass(frozen=True, slots=True)
class CallTime:
    """When a call is made, and the zone of dates without one, which is this process's own when None."""

    zone: tzinfo | None
    now: datetime

    def moment(self, field: str, text: str | None, meaning: Meaning = "moment") -> datetime | None:
        """Return the moment that an argument names. A date alone is its first moment, for "through" the first of the day behind it.

        Raises:
            InvalidInput: the text is no date, could mean several, or the calendar does not hold it.
        """
        if text is None:
            return None
        if wrong := wrong_clock(text):
            raise InvalidInput(field, wrong)
        said = " ".join(_WEEKDAY_ASIDE.sub(" ", text.casefold()).split()).rstrip(".")
        found = (
            _iso(text.strip(), self.zone, meaning) or self._distant(said, meaning) or self._named(field, said, meaning)
        )
        if found is None:
            raise InvalidInput(field, _NO_DATE)
        return found

    def _distant(self, said: str, meaning: Meaning) -> datetime | None:
        """Return what a count of units from now names; it is a whole day unless minutes, hours or an end are counted."""
        from hybrid_memory.retrieval.time_expressions.calendar_math import midnight, shift

        if said in ("now", "right now"):
            return self.now
        form = _DISTANCE.fullmatch(said)
        if form is None:
            return None
        ahead = form["ahead"] or form["later"] or (meaning == "end" and not form["past"])  # "30 days" to live
        if bool(form["past"]) == bool(ahead):
            return None
        count = _NUMBERS[form["count"]] if form["count"] in _NUMBERS else int(form["count"])
        local = self.now.astimezone(self.zone).replace(tzinfo=None, fold=0)
        there = shift(local, -count if form["past"] else count, form["unit"])
        whole_day = form["unit"] not in _SMALL_UNITS and meaning != "end"
        if whole_day:
            there = midnight(shift(there, 1, "day") if meaning == "through" else there)
        return _aware(there, self.zone)

    def _named(self, field: str, said: str, meaning: Meaning) -> datetime | None:
        """Return the moment that names of days, months or parts of the day mean.

        Raises:
            InvalidInput: they name a longer time, and one moment is wanted.
        """
        from hybrid_memory.retrieval.time_expressions.parsing import parse_time_expressions

        local = self.now.astimezone(self.zone)
        for carrier in _CARRIERS:
            before = (_AHEAD if meaning == "end" else "") + carrier
            found = parse_time_expressions(before + said, local)
            if not found.windows or found.anchors or not _all_of_it(before + said, found.spans, len(before)):
                continue
            first, *others = found.windows
            if first.certainty < _SURE or any(other.certainty >= first.certainty for other in others):
                continue
            since, until = first.since, first.until
            length = None if since is None or until is None else until - since
            if meaning == "end" and until is not None and length != _HOUR:
                return until - timedelta(seconds=1)
            if meaning in ("moment", "through") and (length is None or length > _LONGEST_DAY):
                raise InvalidInput(field, _TOO_LONG)
            if meaning == "through" and length != _HOUR:
                return until
            return since
        return None


def _all_of_it(text: str, spans: tuple[tuple[int, int], ...], begin: int) -> bool:
    """Return True if a text from ``begin`` on consists of time words alone."""
    rest = list(text)
    for start, end in spans:
        rest[start:end] = " " * (end - start)
    return _FILLERS.issuperset("".join(rest[begin:]).replace(",", " ").split())


def _iso(text: str, zone: tzinfo | None, meaning: Meaning) -> datetime | None:
    try:
        given = datetime.fromisoformat(text)
        if meaning == "through" and _is_date(text):
            given += timedelta(days=1)
    except (ValueError, OverflowError):
        return None
    return _aware(given, zone)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _aware(moment: datetime, zone: tzinfo | None) -> datetime | None:
    """Return a moment with its zone; None where the calendar does not hold it."""
    try:
        if moment.tzinfo is None:
            moment = moment.astimezone() if zone is None else moment.replace(tzinfo=zone)
        moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment
