"""Everything that names a time, with its parts: "early June", "the first week of March", "the morning of 8 May", "8 May, 5 pm"."""

from __future__ import annotations

from hybrid_memory.retrieval.when import almanac
from hybrid_memory.retrieval.when.almanac import Period
from hybrid_memory.retrieval.when.counting import counted, day_word, quantity, relative, vague
from hybrid_memory.retrieval.when.naming import calendar_name
from hybrid_memory.retrieval.when.reader import Found, Reader, Thing, choose, fixed, past_ones
from hybrid_memory.retrieval.when.words import (
    CALENDAR_UNITS,
    DAY_PARTS,
    DAY_WORDS,
    EDGES,
    ORDINALS,
    REPEATING,
    THIRDS,
    UNITS,
    WEEKDAYS,
)

_DEEPEST = 6
_LAST_HOUR = 23
_NOON = 12
_MONTHS_A_YEAR = 12


def thing(reader: Reader, at: int, *, sure: bool) -> Found | None:
    """Return what is named at a place; ``sure`` says that a time is expected there, as after "in" or "since"."""
    if (at, sure) not in reader.known:
        if len(reader.nested) >= _DEEPEST:
            return None
        reader.nested.append(at)
        reader.known[at, sure] = _read(reader, at, sure=sure)
        reader.nested.pop()
    return reader.known[at, sure]


def _read(reader: Reader, at: int, *, sure: bool) -> Found | None:
    if reader.word(at - 1) in REPEATING:
        return None
    place = reader.skip(at, "the")
    found = (
        _part(reader, place)
        or day_word(reader, place)
        or vague(reader, at)
        or relative(reader, place, sure=sure)
        or counted(reader, place)
        or _part_of_day(reader, place)
        or _clock_first(reader, place)
        or (calendar_name(reader, reader.skip(place, "year"), sure=sure) if place == at or sure else None)
        or (calendar_name(reader, place, sure=False))
        or (_day_of_month(reader, place) if sure and place > at else None)
        or (_present_unit(reader, place) if sure and place > at else None)
    )
    if found is None or not (found[0].periods or found[0].each):
        return None
    if found[0].each and reader.words(found[1], 2) == ("before", "last"):
        return fixed(*past_ones(found[0], reader.now)[-2:-1]), found[1] + 2
    return _hour_of(reader, *found)


def _part(reader: Reader, at: int) -> Found | None:
    """Read a part of a longer time."""
    word = reader.word(at)
    if word in THIRDS:
        return _changed(reader, reader.skip(at + 1, "-", "in", "on"), THIRDS[word])
    if word in EDGES and reader.word(at + 1) == "of":
        return _changed(reader, at + 2, EDGES[word])
    if word in {"earlier", "later"}:
        return _beside_now(reader, at)
    if word in {"week", "weekend", "month"}:
        return _unit_named(reader, at)
    return _numbered(reader, at) if word in ORDINALS else None


def _changed(reader: Reader, at: int, which: str) -> Found | None:
    found = thing(reader, at, sure=True)
    return (found[0].map(lambda whole: almanac.part(whole, which)), found[1]) if found else None


def _unit_named(reader: Reader, at: int) -> Found | None:
    """Read "week 12 of 2024", "week of 10 February" as the week that holds it, and "month of May" as May."""
    word = reader.word(at)
    place = reader.skip(at + 2, "of", "in", ",")
    if word == "week" and reader.token(at + 1).kind == "number" and reader.token(place).kind == "year":
        return fixed(almanac.iso_week(reader.token(place).numbers[0], reader.token(at + 1).numbers[0])), place + 1
    found = thing(reader, at + 2, sure=True) if reader.word(at + 1) == "of" else None
    if found is None or word == "month":
        return found
    return (
        (found[0].map(lambda whole: almanac.unit_of(whole.start, word)), found[1])
        if _is_day(found[0], reader)
        else None
    )


def _beside_now(reader: Reader, at: int) -> Found | None:
    """Read "earlier this year" and "later today": what lies before or behind the moment."""
    if reader.word(at + 1) not in {"this", "today", "in"}:
        return None
    found = thing(reader, reader.skip(at + 1, "in"), sure=True)
    if found is None:
        return None
    if reader.word(at + 1) == "in":
        half = "first half" if reader.word(at) == "earlier" else "second half"
        return found[0].map(lambda whole: almanac.part(whole, half)), found[1]
    if reader.word(at) == "earlier":
        return found[0].map(lambda whole: whole._replace(end=min(whole.end, reader.now))), found[1]
    return found[0].map(lambda whole: whole._replace(start=max(whole.start, reader.now))), found[1]


def _numbered(reader: Reader, at: int) -> Found | None:
    """Read "first week of March", "last three days of June", "second half of 2024", "first Monday in May"."""
    nth, place = ORDINALS[reader.word(at)], at + 1
    if reader.word(place) == "half" and nth in {1, 2, -1} and reader.word(place + 1) in {"of", "in"}:
        return _changed(reader, place + 2, "first half" if nth == 1 else "second half")
    if reader.word(place) in {"half", "quarter"} and nth > 0 and reader.token(place + 1).kind == "year":
        size = 6 if reader.word(place) == "half" else 3
        year = reader.token(place + 1).numbers[0]
        return fixed(almanac.months(year, (nth - 1) * size + 1, size, "quarter")), place + 2
    weekday = WEEKDAYS.get(reader.word(place))
    measured = quantity(reader, place)
    unit = UNITS.get(reader.word(place))
    if measured is not None:
        amount, place = measured[0].high, measured[1]
        unit = measured[0].unit
    elif weekday is not None or unit is not None:
        amount, place = 1, place + 1
    if (unit is None and weekday is None) or reader.word(place) not in {"of", "in"}:
        return None
    whole = thing(reader, place + 1, sure=True)
    if whole is None or unit in {"second", "minute", "hour", "night", "fortnight", "decade"}:
        return None

    def change(period: Period) -> Period | None:
        if weekday is not None:
            return almanac.nth_weekday(period, weekday, nth)
        return almanac.first_or_last(period, amount, unit or "day", nth)

    return whole[0].map(change), whole[1]


def _part_of_day(reader: Reader, at: int) -> Found | None:
    """Read "morning of 8 May", "noon today"."""
    name = DAY_PARTS.get(reader.word(at))
    if name is None or (reader.word(at + 1) not in {"of", "on"} and reader.word(at + 1) not in DAY_WORDS):
        return None
    found = thing(reader, reader.skip(at + 1, "of", "on"), sure=True)
    if found is None or not _is_day(found[0], reader):
        return None
    return found[0].map(lambda whole: almanac.part_of_day(whole, name)), found[1]


def _is_day(named: Thing, reader: Reader) -> bool:
    periods = choose(named, reader.now, "past")
    return bool(periods) and all(period.grain == "day" for period in periods)


def _day_of_month(reader: Reader, at: int) -> Found | None:
    """Read "8th" behind "on the" as a day that every month has; "the 8th floor" is none."""
    token = reader.token(at)
    if token.kind != "ordinal":
        return None
    number = token.numbers[0]
    place = at + 1
    if reader.words(place, 2) == ("of", "the") or reader.word(place) == "of":
        for words, offset in (("of last month", -1), ("of this month", 0), ("of the month", 0), ("of next month", 1)):
            if reader.words(place, 3) == tuple(words.split()):
                month = almanac.unit_of(reader.now, "month", offset)
                return fixed(almanac.day(month.start.year, month.start.month, number) if month else None), place + 3
        return None
    if not reader.ends(place):
        return None
    return (
        Thing((), lambda i: almanac.day(i // _MONTHS_A_YEAR, i % _MONTHS_A_YEAR + 1, number), "month"),
        place,
    )


def _present_unit(reader: Reader, at: int) -> Found | None:
    """Read "the weekend" as the latest, and "the month" behind "end of" or "since" as this one."""
    word = reader.word(at)
    if word == "weekend" and reader.ends(at + 1) and reader.word(at + 1) not in {"of", "before", "after"}:
        return Thing((), lambda index: almanac.week(index, 5, 2, "weekend"), "week"), at + 1
    if word in CALENDAR_UNITS and reader.words(at - 2, 2) == ("of", "the") and reader.ends(at + 1):
        return fixed(almanac.unit_of(reader.now, UNITS[word])), at + 1
    return None


def _hour_of(reader: Reader, named: Thing, at: int) -> Found:
    """Take what follows a day into account: "Monday morning", "8 May in the evening", "yesterday at 5 pm"."""
    if not _is_day(named, reader):
        return named, at
    place = reader.skip(at, ",")
    name = DAY_PARTS.get(reader.word(reader.skip(reader.skip(place, "in", "at"), "the")))
    if name is not None and reader.word(at) != "the":
        end = reader.skip(reader.skip(place, "in", "at"), "the") + 1
        return named.map(lambda whole: almanac.part_of_day(whole, name)), end
    clock = _clock(reader, reader.skip(place, "at", "around", "about"))
    if clock is None:
        return named, at
    hour, minute, end = clock
    return named.map(lambda whole: almanac.span(whole.start.replace(hour=hour, minute=minute), 1, "hour")), end


def _clock_first(reader: Reader, at: int) -> Found | None:
    """Read "1:56 pm on 8 May, 2023"."""
    clock = _clock(reader, at)
    if clock is None:
        return None
    hour, minute, place = clock
    found = thing(reader, reader.skip(reader.skip(place, ","), "on"), sure=True)
    if found is None or not _is_day(found[0], reader):
        return None
    return found[0].map(lambda whole: almanac.span(whole.start.replace(hour=hour, minute=minute), 1, "hour")), found[1]


def _clock(reader: Reader, at: int) -> tuple[int, int, int] | None:
    """Return hour, minute and the place behind a time of day: "17:30", "5pm", "5 pm", "5 o'clock"."""
    token, after = reader.token(at), reader.word(at + 1)
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
