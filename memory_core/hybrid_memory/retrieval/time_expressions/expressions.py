"""All expressions of a period in a text, built of names and distances.

`parse_time` reads one time with its parts: "early June", "the first week of March", "the morning of 8 May", "8 May, 5 pm".
`find_phrases` goes through a text and reads these with the words between them: "since March", "between May and July", "shortly
before Christmas".
"""

from __future__ import annotations

from typing import NamedTuple

from hybrid_memory.language import lexicon
from hybrid_memory.retrieval.time_expressions import calendar_math
from hybrid_memory.retrieval.time_expressions.calendar_math import (
    HIGHEST,
    LOWEST,
    Parsed,
    Period,
    TimeSpec,
    known_times,
    past_ones,
    resolve,
)
from hybrid_memory.retrieval.time_expressions.calendar_names import parse_calendar_name
from hybrid_memory.retrieval.time_expressions.lexer import (
    CALENDAR_UNITS,
    DAY_PARTS,
    DAY_WORDS,
    EDGES,
    NUMBERS,
    ORDINALS,
    REPEATING,
    THIRDS,
    TRIGGERS,
    UNITS,
    VAGUE_COUNTS,
    WEEKDAYS,
    TokenCursor,
)
from hybrid_memory.retrieval.time_expressions.relative_times import (
    Quantity,
    parse_ahead,
    parse_counted,
    parse_day_word,
    parse_quantity,
    parse_relative,
    parse_vague,
)

_MAX_NESTING = (
    6  # times within times, as in "the morning of the first Monday of March"; a crafted text would nest without end
)
_LAST_HOUR = 23
_NOON = 12
_MONTHS_PER_YEAR = 12


def parse_time(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    """Return what is named at a place; ``time_expected`` says that a time is expected there, as after "in" or "since"."""
    if (at, time_expected) not in cursor.known:
        if len(cursor.nested) >= _MAX_NESTING:
            return None
        cursor.nested.append(at)
        cursor.known[at, time_expected] = _read(cursor, at, time_expected=time_expected)
        cursor.nested.pop()
    return cursor.known[at, time_expected]


def _read(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    if cursor.word(at - 1) in REPEATING:
        return None
    place = cursor.skip(at, "the")
    found = (
        _part(cursor, place)
        or parse_day_word(cursor, place)
        or parse_vague(cursor, at)
        or parse_relative(cursor, place, time_expected=time_expected)
        or parse_counted(cursor, place)
        or _part_of_day(cursor, place)
        or _clock_first(cursor, place)
        or (
            parse_calendar_name(cursor, cursor.skip(place, "year"), time_expected=time_expected)
            if place == at or time_expected
            else None
        )
        or (parse_calendar_name(cursor, place, time_expected=False))
        or (_day_of_month(cursor, place) if time_expected and place > at else None)
        or (_present_unit(cursor, place) if time_expected and place > at else None)
    )
    if found is None or not (found[0].periods or found[0].each):
        return None
    if found[0].each and cursor.words(found[1], 2) == ("before", "last"):
        return known_times(*past_ones(found[0], cursor.now)[-2:-1]), found[1] + 2
    return _hour_of(cursor, *found)


def _part(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read a part of a longer time."""
    word = cursor.word(at)
    if word in THIRDS:
        return _changed(cursor, cursor.skip(at + 1, "-", "in", "on"), THIRDS[word])
    if word in EDGES and cursor.word(at + 1) == "of":
        return _changed(cursor, at + 2, EDGES[word])
    if word in {"earlier", "later"}:
        return _beside_now(cursor, at)
    if word in {"week", "weekend", "month"}:
        return _unit_named(cursor, at)
    return _numbered(cursor, at) if word in ORDINALS else None


def _changed(cursor: TokenCursor, at: int, which: str) -> Parsed | None:
    found = parse_time(cursor, at, time_expected=True)
    return (found[0].map(lambda whole: calendar_math.part(whole, which)), found[1]) if found else None


def _unit_named(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "week 12 of 2024", "week of 10 February" as the week that holds it, and "month of May" as May."""
    word = cursor.word(at)
    place = cursor.skip(at + 2, "of", "in", ",")
    if word == "week" and cursor.token(at + 1).kind == "number" and cursor.token(place).kind == "year":
        return known_times(
            calendar_math.iso_week(cursor.token(place).numbers[0], cursor.token(at + 1).numbers[0])
        ), place + 1
    found = parse_time(cursor, at + 2, time_expected=True) if cursor.word(at + 1) == "of" else None
    if found is None or word == "month":
        return found
    return (
        (found[0].map(lambda whole: calendar_math.unit_of(whole.start, word)), found[1])
        if _is_day(found[0], cursor)
        else None
    )


def _beside_now(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "earlier this year" and "later today": what lies before or behind the moment."""
    if cursor.word(at + 1) not in {"this", "today", "in"}:
        return None
    found = parse_time(cursor, cursor.skip(at + 1, "in"), time_expected=True)
    if found is None:
        return None
    if cursor.word(at + 1) == "in":
        half = "first half" if cursor.word(at) == "earlier" else "second half"
        return found[0].map(lambda whole: calendar_math.part(whole, half)), found[1]
    if cursor.word(at) == "earlier":
        return found[0].map(lambda whole: whole._replace(end=min(whole.end, cursor.now))), found[1]
    return found[0].map(lambda whole: whole._replace(start=max(whole.start, cursor.now))), found[1]


def _numbered(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "first week of March", "last three days of June", "second half of 2024", "first Monday in May"."""
    nth, place = ORDINALS[cursor.word(at)], at + 1
    if cursor.word(place) == "half" and nth in {1, 2, -1} and cursor.word(place + 1) in {"of", "in"}:
        return _changed(cursor, place + 2, "first half" if nth == 1 else "second half")
    if cursor.word(place) in {"half", "quarter"} and nth > 0 and cursor.token(place + 1).kind == "year":
        size = 6 if cursor.word(place) == "half" else 3
        year = cursor.token(place + 1).numbers[0]
        return known_times(calendar_math.months(year, (nth - 1) * size + 1, size, "quarter")), place + 2
    weekday = WEEKDAYS.get(cursor.word(place))
    measured = parse_quantity(cursor, place)
    unit = UNITS.get(cursor.word(place))
    if measured is not None:
        amount, place = measured[0].high, measured[1]
        unit = measured[0].unit
    elif weekday is not None or unit is not None:
        amount, place = 1, place + 1
    if (unit is None and weekday is None) or cursor.word(place) not in {"of", "in"}:
        return None
    whole = parse_time(cursor, place + 1, time_expected=True)
    if whole is None or unit in {"second", "minute", "hour", "night", "fortnight", "decade"}:
        return None

    def change(period: Period) -> Period | None:
        if weekday is not None:
            return calendar_math.nth_weekday(period, weekday, nth)
        return calendar_math.first_or_last(period, amount, unit or "day", nth)

    return whole[0].map(change), whole[1]


def _part_of_day(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "morning of 8 May", "noon today"."""
    name = DAY_PARTS.get(cursor.word(at))
    if name is None or (cursor.word(at + 1) not in {"of", "on"} and cursor.word(at + 1) not in DAY_WORDS):
        return None
    found = parse_time(cursor, cursor.skip(at + 1, "of", "on"), time_expected=True)
    if found is None or not _is_day(found[0], cursor):
        return None
    return found[0].map(lambda whole: calendar_math.part_of_day(whole, name)), found[1]


def _is_day(named: TimeSpec, cursor: TokenCursor) -> bool:
    periods = resolve(named, cursor.now, "past")
    return bool(periods) and all(period.grain == "day" for period in periods)


def _day_of_month(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "8th" behind "on the" as a day that every month has; "the 8th floor" is none."""
    token = cursor.token(at)
    if token.kind != "ordinal":
        return None
    number = token.numbers[0]
    place = at + 1
    if cursor.words(place, 2) == ("of", "the") or cursor.word(place) == "of":
        for words, offset in (("of last month", -1), ("of this month", 0), ("of the month", 0), ("of next month", 1)):
            if cursor.words(place, 3) == tuple(words.split()):
                month = calendar_math.unit_of(cursor.now, "month", offset)
                return known_times(
                    calendar_math.day(month.start.year, month.start.month, number) if month else None
                ), place + 3
        return None
    if not cursor.name_may_end(place):
        return None
    return (
        TimeSpec((), lambda i: calendar_math.day(i // _MONTHS_PER_YEAR, i % _MONTHS_PER_YEAR + 1, number), "month"),
        place,
    )


def _present_unit(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "the weekend" as the latest, and "the month" behind "end of" or "since" as this one."""
    word = cursor.word(at)
    if word == "weekend" and cursor.name_may_end(at + 1) and cursor.word(at + 1) not in {"of", "before", "after"}:
        return TimeSpec((), lambda index: calendar_math.week(index, 5, 2, "weekend"), "week"), at + 1
    if word in CALENDAR_UNITS and cursor.words(at - 2, 2) == ("of", "the") and cursor.name_may_end(at + 1):
        return known_times(calendar_math.unit_of(cursor.now, UNITS[word])), at + 1
    return None


def _hour_of(cursor: TokenCursor, named: TimeSpec, at: int) -> Parsed:
    """Take what follows a day into account: "Monday morning", "8 May in the evening", "yesterday at 5 pm"."""
    if not _is_day(named, cursor):
        return named, at
    place = cursor.skip(at, ",")
    name = DAY_PARTS.get(cursor.word(cursor.skip(cursor.skip(place, "in", "at"), "the")))
    if name is not None and cursor.word(at) != "the":
        end = cursor.skip(cursor.skip(place, "in", "at"), "the") + 1
        return named.map(lambda whole: calendar_math.part_of_day(whole, name)), end
    clock = _clock(cursor, cursor.skip(place, "at", "around", "about"))
    if clock is None:
        return named, at
    hour, minute, end = clock
    return named.map(lambda whole: calendar_math.span(whole.start.replace(hour=hour, minute=minute), 1, "hour")), end


def _clock_first(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "1:56 pm on 8 May, 2023"."""
    clock = _clock(cursor, at)
    if clock is None:
        return None
    hour, minute, place = clock
    found = parse_time(cursor, cursor.skip(cursor.skip(place, ","), "on"), time_expected=True)
    if found is None or not _is_day(found[0], cursor):
        return None
    return found[0].map(
        lambda whole: calendar_math.span(whole.start.replace(hour=hour, minute=minute), 1, "hour")
    ), found[1]


def _clock(cursor: TokenCursor, at: int) -> tuple[int, int, int] | None:
    """Return hour, minute and the place behind a time of day: "17:30", "5pm", "5 pm", "5 o'clock"."""
    token, after = cursor.token(at), cursor.word(at + 1)
    if token.kind == "clock":
        hour, minute = token.numbers
        if after in {"am", "pm"} and hour <= _NOON:
            return hour % _NOON + (_NOON if after == "pm" else 0), minute, at + 2
        return hour, minute, at + 1
    if token.kind != "number" or token.numbers[0] > _LAST_HOUR:
        return None
    hour = token.numbers[0]
    if after == "o'clock":
        return hour, 0, at + 2
    if after in {"am", "pm"} and 1 <= hour <= _NOON:
        return hour % _NOON + (_NOON if after == "pm" else 0), 0, at + 2
    return None


class Phrase(NamedTuple):
    """Periods and the tokens that say them, from ``begin`` up to ``end``; ``relation`` is the connective's, if any."""

    periods: tuple[Period, ...]
    begin: int
    end: int
    relation: str = ""


def find_phrases(cursor: TokenCursor) -> list[Phrase]:
    """Return all times of a text in order."""
    found: list[Phrase] = []
    at = 0
    while at < len(cursor.tokens):
        phrase = _phrase(cursor, at) if _may_begin(cursor, at) else None
        if phrase is not None and phrase.periods:
            found.append(phrase)
        at = max(phrase.end, at + 1) if phrase is not None else at + 1
    return found


def _may_begin(cursor: TokenCursor, at: int) -> bool:
    """Return True, cheaply, if a time may begin at a place."""
    token = cursor.tokens[at]
    if token.kind in {"mark", "junk"}:
        return False
    if token.text in _LEADS:
        return any(later.kind not in _WORDY or later.text in _TIMELY for later in cursor.tokens[at + 1 : at + 4])
    return token.kind != "word" or token.text in _BEGINNINGS


def _phrase(cursor: TokenCursor, at: int) -> Phrase | None:
    word = cursor.word(at)
    if word in _RANGES:
        ranged = _range(cursor, at + 1, _RANGES[word], time_expected=True)
        if ranged is not None:
            return Phrase(ranged[0], at, ranged[1], "during")
    related = _related(cursor, at) or _offset(cursor, at)
    if related is not None:
        return related
    if word in _INSIDE:
        return _inside(cursor, at)
    return _bare(cursor, at)


_TO = frozenset({"to", "until", "till", "through", "-", "–", "and"})
_RANGES = {"between": frozenset({"and", "-", "–"}), "from": _TO - {"and"}}
_INSIDE = lexicon.words("time.inside", "en")
_CONNECTIVES = {tuple(words.split()): relation for words, relation in lexicon.meanings("time.relations", "en").items()}
_CONNECTIVE_HEADS = frozenset(words[0] for words in _CONNECTIVES)
_BEGINNINGS = TRIGGERS | _INSIDE | _CONNECTIVE_HEADS | NUMBERS.keys() | ORDINALS.keys() | VAGUE_COUNTS.keys()
_BEGINNINGS |= lexicon.words("time.beginnings", "en")
_TIMELY = TRIGGERS | NUMBERS.keys() | ORDINALS.keys() | VAGUE_COUNTS.keys() | {"half"}
_LEADS = (_INSIDE | {"the", "a", "an"}) - {"between"}
_WORDY = frozenset({"word", "mark", "junk"})
_RUN_UP_DAYS = 30  # "the run-up to Easter", where nothing says how long it is
# How many days before or after a time such words mean, at least.
_CLOSE = {"shortly": 14, "just": 10, "right": 7, "immediately": 7, "soon": 21, "directly": 7}
_TWO_WORD_CLOSE: dict[tuple[str, ...], int] = {
    ("a", "bit"): 21,
    ("a", "little"): 21,
    ("some", "time"): 60,
    ("not", "long"): 30,
}


def _related(cursor: TokenCursor, at: int) -> Phrase | None:
    """Read a connective and the time behind it, with "shortly" or the like in front."""
    close, place = _CLOSE.get(cursor.word(at), 0), at + 1
    if not close and cursor.words(at, 2) in _TWO_WORD_CLOSE:
        close, place = _TWO_WORD_CLOSE[cursor.words(at, 2)], at + 2
    place = place if close else at
    if cursor.word(place) not in _CONNECTIVE_HEADS:
        return None
    for length in (4, 3, 2, 1):
        relation = _CONNECTIVES.get(cursor.words(place, length))
        if relation is None or (cursor.word(place) == "about" and not _counts(cursor, place + length)):
            continue
        found = parse_time(cursor, place + length, time_expected=True)
        if found is None:
            continue
        chosen = _bound(cursor, found[0], relation)
        ago = cursor.word(found[1] - 1) in {"ago", "back"}
        if relation in {"less", "more"} and not ago:
            return None
        if relation == "around" and ago:
            return Phrase(
                tuple(p._replace(certainty=round(p.certainty * 0.8, 3)) for p in chosen), at, found[1], relation
            )
        close = close or (_RUN_UP_DAYS if cursor.word(place) in {"run", "leading"} else 0)
        periods = tuple(_apply(relation, period, cursor, close) for period in chosen)
        return Phrase(_whole(periods), at, _onwards(cursor, found[1]), relation)
    return None


def _counts(cursor: TokenCursor, at: int) -> bool:
    """Return True if a number follows "about": else it says what something is about."""
    token = cursor.token(at)
    return token.kind in {"number", "half"} or token.text in NUMBERS or token.text in {"a", "an", "half"}


def _bound(cursor: TokenCursor, named: TimeSpec, relation: str) -> tuple[Period, ...]:
    """Return what a connective starts from: of what recurs one alone, behind "since" a past one."""
    how = cursor.direction
    if how == "either" and relation != "around":
        how = "past" if relation == "since" else "future"
    return resolve(named, cursor.now, how)[: 1 if named.each else None]


def _onwards(cursor: TokenCursor, at: int) -> int:
    return cursor.skip(cursor.skip(at, "on"), "onwards", "onward")


def _apply(relation: str, period: Period, cursor: TokenCursor, close: int) -> Period | None:
    if close and relation in {"before", "after"}:
        days = max(close, (period.end - period.start).days // 2)
        edge = period.start if relation == "before" else period.end
        near = calendar_math.shift(edge, -days if relation == "before" else days, "day")
        return Period(min(edge, near), max(edge, near), "day", round(period.certainty * 0.6, 3))
    if relation == "around":
        wide = calendar_math.widen(period)
        return wide._replace(end=min(wide.end, cursor.now)) if period.end <= cursor.now else wide
    if relation == "before":
        return period._replace(start=LOWEST, end=period.start)
    if relation in {"less", "more"}:
        middle = calendar_math.midnight(period.start + (period.end - period.start) / 2)
        return Period(middle, cursor.now, "vague", 0.8) if relation == "less" else Period(LOWEST, middle, "vague", 0.8)
    if relation == "until":
        return period._replace(start=LOWEST)
    return period._replace(start=period.end if relation == "after" else period.start, end=HIGHEST)


def _whole(periods: tuple[Period | None, ...]) -> tuple[Period, ...]:
    return tuple(period for period in periods if period is not None and period.start < period.end)


def _offset(cursor: TokenCursor, at: int) -> Phrase | None:
    """Read "two weeks before Christmas", "the day after 8 May", "the Friday before Easter"."""
    place = cursor.skip(at, "the")
    weekday = WEEKDAYS.get(cursor.word(place))
    measured = parse_quantity(cursor, place) if weekday is None else None
    if weekday is None and measured is None:
        if cursor.word(place) not in UNITS or place == at:
            return None
        measured = Quantity(1, 1, UNITS[cursor.word(place)], vague=False), place + 1
    end = measured[1] if measured else place + 1
    if cursor.word(end) not in {"before", "after"} or cursor.word(end + 1) in {"last", "next"}:
        return None
    found = parse_time(cursor, end + 1, time_expected=True)
    if found is None:
        return None
    sign = -1 if cursor.word(end) == "before" else 1
    periods = []
    for period in resolve(found[0], cursor.now, cursor.direction):
        if weekday is not None:
            periods.append(_weekday_from(period, weekday, sign))
        elif measured is not None:
            periods.append(_away(period, measured[0], sign, article=place > at))
    return Phrase(_whole(tuple(periods)), at, found[1], "during")


def _weekday_from(period: Period, weekday: int, sign: int) -> Period | None:
    if sign < 0:
        return calendar_math.nth_weekday(
            Period(calendar_math.shift(period.start, -7, "day"), period.start, "week"), weekday, 1
        )
    return calendar_math.nth_weekday(Period(period.end, calendar_math.shift(period.end, 7, "day"), "week"), weekday, 1)


def _away(period: Period, amount: Quantity, sign: int, *, article: bool) -> Period:
    """Return the time that far before or after a period; with "the", all the time in between."""
    edge = period.start if sign < 0 else calendar_math.shift(period.end, -1, "day")
    far = calendar_math.shift(edge, sign * amount.high, amount.unit)
    if amount.unit == "day" and amount.low == amount.high and not (article and amount.high > 1):
        return calendar_math.span(calendar_math.midnight(far), 1, "day")
    if article:
        outer = period.end if sign > 0 else edge
        other = calendar_math.shift(outer, sign * amount.high, amount.unit)
        return Period(min(outer, other), max(outer, other), "day", 0.9)
    near = calendar_math.shift(edge, sign * amount.low, amount.unit)
    margin = {"week": 3, "month": 10, "year": 90}.get(amount.unit, 1)
    start, end = min(far, near), max(far, near)
    return Period(calendar_math.shift(start, -margin, "day"), calendar_math.shift(end, margin + 1, "day"), "day", 0.7)


def _inside(cursor: TokenCursor, at: int) -> Phrase | None:
    """Read "in", "on", "during" and the like with a time or a range behind it."""
    word = cursor.word(at)
    if word == "of" or (word == "for" and cursor.word(at + 1) in REPEATING):
        return _bare(cursor, at) or _bare(cursor, at + 1)
    if word == "in" and cursor.direction in {"future", "stated"}:
        coming = parse_ahead(cursor, at + 1)
        if coming is not None:
            return Phrase(coming[0].periods, at, coming[1], "during")
    ranged = _range(cursor, at + 1, _TO - {"and"}, time_expected=True)
    if ranged is not None:
        return Phrase(ranged[0], at, ranged[1], "during")
    found = _times(cursor, at + 1, time_expected=True)
    if found is None:
        return None
    periods, end = found
    if word == "from" and cursor.word(end) in {"on", "onwards", "onward", "forward"}:
        return Phrase(_whole(tuple(_apply("since", period, cursor, 0) for period in periods)), at, end + 1, "since")
    return Phrase(_whole(periods), at, end, "during")


def _bare(cursor: TokenCursor, at: int) -> Phrase | None:
    ranged = _range(cursor, at, _TO - {"and"}, time_expected=False)
    if ranged is not None:
        return Phrase(ranged[0], at, ranged[1], "during")
    found = _times(cursor, at, time_expected=False)
    return Phrase(_whole(found[0]), at, found[1], "during") if found else None


def _times(cursor: TokenCursor, at: int, *, time_expected: bool) -> tuple[tuple[Period, ...], int] | None:
    """Read a time, or several as in "March, April and May 2024", of which the year of the last is that of the others."""
    found = parse_time(cursor, at, time_expected=time_expected)
    if found is None:
        return None
    things, end = _listed(cursor, *found)
    periods: tuple[Period, ...] = ()
    following = things[-1].each is None or cursor.direction != "either"
    for named in reversed(things):
        alone = not (periods and following)
        chosen = resolve(named, cursor.now, cursor.direction) if alone else resolve(named, periods[0].start, "past")[:1]
        periods = (*chosen, *periods)
    return periods, end


def _listed(cursor: TokenCursor, first: TimeSpec, at: int) -> tuple[list[TimeSpec], int]:
    """Return the times of a list whose first has been read; after a comma alone they count only if "and" or "or" follows."""
    things, end, time_expected = [first], at, 1
    while (word := cursor.word(at)) in _JOINTS and len(things) < _MAX_LIST:
        place = cursor.skip(at + 1, "and", "or") if word == "," else at + 1
        joined = word != "," or place > at + 1
        place = cursor.skip(place, "in", "on")
        token = cursor.token(place)
        other = parse_time(cursor, place, time_expected=token.capital or token.text not in {"may", "march"})
        if other is None:
            break
        things.append(other[0])
        at = other[1]
        if joined:
            end, time_expected = at, len(things)
    return things[:time_expected], end


_MAX_LIST = 12  # times in one list; more are not asked for
_JOINTS = frozenset({",", "and", "or", "/", "&"})


def _range(
    cursor: TokenCursor, at: int, between: frozenset[str], *, time_expected: bool
) -> tuple[tuple[Period, ...], int] | None:
    first = parse_time(cursor, at, time_expected=time_expected)
    if first is None:
        return None
    place = cursor.skip(first[1], "up")
    if cursor.word(place) not in between:
        return None
    last = parse_time(cursor, place + 1, time_expected=True)
    if last is None:
        return None
    whole = _from_to(cursor, first[0], last[0])
    return ((whole,), last[1]) if whole else None


def _from_to(cursor: TokenCursor, first: TimeSpec, last: TimeSpec) -> Period | None:
    """Return the period from one time to another; of the one whose year is not said that which fits the other."""
    if last.each is None and first.each is not None and last.periods:
        begin = resolve(first, last.periods[0].start, "past")
        end = last.periods
    else:
        begin = resolve(first, cursor.now, cursor.direction)
        end = resolve(last, begin[0].start, "coming") if begin else ()
    if not begin or not end or begin[0].start >= end[0].end:
        return None
    return Period(begin[0].start, end[0].end, begin[0].grain, min(begin[0].certainty, end[0].certainty))
