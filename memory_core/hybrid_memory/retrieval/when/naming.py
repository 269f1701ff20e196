"""Names of times that recur or stand in a calendar: days, months, weekdays, seasons, feasts, years, decades."""

from __future__ import annotations

import functools

from hybrid_memory.retrieval.when import almanac
from hybrid_memory.retrieval.when.almanac import Period
from hybrid_memory.retrieval.when.dates import CENTURY, WRITTEN, full_year, softer, written_date
from hybrid_memory.retrieval.when.reader import Each, Found, Reader, Thing, fixed
from hybrid_memory.retrieval.when.words import (
    CLEAR_MONTHS,
    COUNTED,
    DECADES,
    DOUBTFUL_DAYS,
    HOLIDAY_HEADS,
    HOLIDAY_PHRASES,
    MONTHS,
    NUMBERED,
    NUMBERS,
    ORDINALS,
    SEASONS,
    STREETS,
    WEEKDAYS,
)

_LONGEST_MONTH = 31


def calendar_name(reader: Reader, at: int, *, sure: bool) -> Found | None:
    """Return what is named at a place, with the year that follows it. ``sure`` says that a time is expected there."""
    token = reader.token(at)
    if token.kind in WRITTEN:
        return written_date(reader, at)
    if token.kind in {"year", "years", "decade", "short"} or token.text in DECADES:
        return _years(reader, at, sure=sure)
    if token.text in WEEKDAYS:
        return _weekday(reader, at, sure=sure)
    found = yearly(reader, at, sure=sure)
    return _with_year(reader, *found) if found else None


def yearly(reader: Reader, at: int, *, sure: bool) -> tuple[Each, int] | None:
    """Return what is named at a place and comes once a year, without a year that may follow."""
    token = reader.token(at)
    if token.kind in {"number", "ordinal", "days"} or token.text in ORDINALS or token.text in {"twenty", "thirty"}:
        return _day_month(reader, at)
    if token.text in MONTHS:
        return _month(reader, at, sure=sure)
    if token.text in SEASONS:
        return _season(reader, at, sure=sure)
    if token.text in HOLIDAY_HEADS:
        return _holiday(reader, at, sure=sure)
    return _part_of_year(reader, at, sure=sure)


def with_year_of(reader: Reader, thing: Thing, at: int) -> Found:
    """Return "last year" as a thing, or what follows it within that year, as in "last year in July"."""
    place = reader.skip(reader.skip(at, ","), "in", "at", "on", "over", "during", "around")
    named = yearly(reader, reader.skip(place, "the"), sure=place > at) if thing.periods else None
    if named is None or reader.token(named[1]).kind == "year":
        return thing, at
    return fixed(named[0](thing.periods[0].start.year)), named[1]


def year_at(reader: Reader, at: int) -> int | None:
    """Return the year that is written at a place, with four digits or as in '22."""
    token = reader.token(at)
    if token.kind == "year":
        return token.numbers[0]
    if token.kind == "short":
        return full_year(token.numbers[0], reader.now)
    return None


def _with_year(reader: Reader, each: Each, at: int) -> Found:
    abbreviated = reader.word(at - 1) in MONTHS and len(reader.word(at - 1)) < len("april")
    place = reader.skip(reader.skip(at, "."), ",") if abbreviated else reader.skip(at, ",", "of", "in")
    place = reader.skip(place, "of", "in")
    year = year_at(reader, place)
    if year is None and reader.token(place).kind == "winter":
        return fixed(each(reader.token(place).numbers[0])), place + 1
    if year is not None and reader.word(place + 1) not in COUNTED:
        return _in_year(reader, at, each, year), place + 1
    if _short_year_follows(reader, at):
        return fixed(each(full_year(reader.token(at).numbers[0], reader.now))), at + 1
    offset = _YEAR_WORDS.get(reader.words(place, 2))
    if offset is not None:
        return fixed(each(reader.now.year + offset)), place + 2
    return Thing((), each), at


def _short_year_follows(reader: Reader, at: int) -> bool:
    """Say whether a place holds the "23" of "8 May 23"."""
    token, day = reader.token(at), reader.token(at - 2)
    dated = reader.word(at - 1) in MONTHS and day.kind in {"number", "ordinal"}
    return dated and token.kind == "number" and token.end - token.start == len("23") and reader.ends(at + 1)


def _in_year(reader: Reader, at: int, each: Each, year: int) -> Thing:
    """Return the year's period; "winter 2024" may be either of two, unless its other year follows."""
    if reader.word(at - 1) != "winter":
        return fixed(each(year))
    return fixed(*(softer(each(begun), 0.7) for begun in (year - 1, year)))


def _day_month(reader: Reader, at: int) -> tuple[Each, int] | None:
    """Read "8 May", "8th of May", "3-7 May", "3 to 7 May"."""
    days = _days(reader, at)
    if days is None:
        return None
    first, last, place = days
    after = reader.skip(place, "of", ".", "-", "–")
    month = MONTHS.get(reader.word(after))
    if month is None or not _is_month(reader, after) or reader.word(after + 1) in STREETS:
        return None
    return functools.partial(_in_month, month=month, first=first, last=last), after + 1


def _days(reader: Reader, at: int) -> tuple[int, int, int] | None:
    """Return the first and last day of the month written at a place, and the place behind them."""
    token = reader.token(at)
    if token.kind == "days":
        return token.numbers[0], token.numbers[1], at + 1
    first, place = _day_number(reader, at)
    if not first:
        return None
    if reader.word(place) in {"to", "-", "–", "until", "till", "and", "or", "through"}:
        last, end = _day_number(reader, reader.skip(place + 1, "the"))
        if last > first:
            return first, last, end
    return first, first, place


def _day_number(reader: Reader, at: int) -> tuple[int, int]:
    """Return the day of the month written at a place, 0 for none, and the place behind it."""
    token = reader.token(at)
    tens = NUMBERS.get(token.text, 0)
    if tens in {20, 30}:
        ones = ORDINALS.get(reader.word(reader.skip(at + 1, "-")), 0)
        number, end = (tens + ones if 0 < ones < 10 else 0), reader.skip(at + 1, "-") + 1  # noqa: PLR2004 - "twenty-first"
    else:
        number = token.numbers[0] if token.kind in {"number", "ordinal"} else ORDINALS.get(token.text, 0)
        end = at + 1
    return (number if 1 <= number <= _LONGEST_MONTH else 0), end


def _in_month(year: int, *, month: int, first: int, last: int) -> Period | None:
    begin, end = almanac.day(year, month, first), almanac.day(year, month, last)
    return Period(begin.start, end.end, "day") if begin and end else None


def _is_month(reader: Reader, at: int) -> bool:
    """Say whether "may" or "march" behind a number is the month."""
    token = reader.token(at)
    if token.text not in {"may", "march"} or token.capital:
        return True
    return (
        reader.token(at + 1).kind in {"year", "short"}
        or _short_year_follows(reader, at + 1)
        or (
            reader.ends(at + 1)
            and reader.word(at + 1) not in {"be", "have", "not", "i", "we", "you", "he", "she", "they"}
        )
    )


def _month(reader: Reader, at: int, *, sure: bool) -> tuple[Each, int] | None:
    """Read "May 8th", "May 3-7", "May the 8th" and "May"."""
    month = MONTHS[reader.word(at)]
    place = reader.skip(reader.skip(at + 1, ".", "-", "–"), "the")
    days = _days(reader, place)
    if days is not None and _day_follows(reader, at, days[2], sure=sure):
        return functools.partial(_in_month, month=month, first=days[0], last=days[1]), days[2]
    after = at + 2 if reader.word(at + 1) == "." and len(reader.word(at)) < len("april") else at + 1
    return (functools.partial(almanac.months, month=month), after) if _alone(reader, at, sure=sure) else None


def _day_follows(reader: Reader, at: int, after: int, *, sure: bool) -> bool:
    """Say whether the number behind a month is its day: "march 5 km" and "may 2 people" count something."""
    if reader.word(after) in {":", "%"} or reader.word(after) in COUNTED or reader.token(after).kind == "junk":
        return False
    return sure or reader.token(at).capital or reader.word(at) in CLEAR_MONTHS or reader.ends(after)


def _alone(reader: Reader, at: int, *, sure: bool) -> bool:
    """Say whether a month's name without a day is the month."""
    token = reader.token(at)
    year = reader.skip(at + 1, ",", "of", ".")
    if token.text in CLEAR_MONTHS or (year_at(reader, year) is not None and reader.word(year + 1) not in COUNTED):
        return True
    if reader.words(year, 2) in _YEAR_WORDS:
        return sure or token.capital or token.text not in {"may", "march"}
    if reader.word(at + 1) in {"-", "–", "to", "/"} and reader.word(at + 2) in MONTHS:
        return True
    return sure and _expected(reader, at)


def _expected(reader: Reader, at: int) -> bool:
    """Say whether a name that is also a word or a person's is a month where a time is expected."""
    token, before = reader.token(at), reader.word(at - 1)
    if before == "from":
        return reader.word(at + 1) in {"to", "until", "till", "through", "on", "onwards", "onward", "-", "–"}
    if token.text == "may" and before == "this" and not token.capital:
        return reader.token(at + 1).kind in {"none", "mark"}
    plain = token.text not in {"march", "may"} or token.capital or reader.ends(at + 1)
    return plain and before not in {"the", "for"}


def _season(reader: Reader, at: int, *, sure: bool) -> tuple[Each, int] | None:
    name = reader.word(at)
    place = reader.skip(at + 1, "of", ",")
    dated = year_at(reader, place) is not None or reader.token(place).kind == "winter"
    told = reader.words(place, 2) in _YEAR_WORDS or reader.told(at)
    if name == "fall" and not (dated or told or reader.words(at - 2, 2) == ("in", "the")):
        sure = sure and reader.word(at - 1) == "in"
    if not dated and (reader.word(at + 1) == "of" or not (told or (sure and reader.ends(at + 1)))):
        return None
    sharp = 0.9 if dated or told else 0.65
    return (lambda year: softer(almanac.season(year, SEASONS[name]), sharp)), at + 1


def _holiday(reader: Reader, at: int, *, sure: bool) -> tuple[Each, int] | None:
    length = next((length for length in (3, 2, 1) if reader.words(at, length) in HOLIDAY_PHRASES), 0)
    if not length:
        return None
    days = almanac.HOLIDAYS[HOLIDAY_PHRASES[reader.words(at, length)]]
    end = at + length
    year = reader.skip(end, "of", ",")
    dated = year_at(reader, year) is not None or reader.words(year, 2) in _YEAR_WORDS or reader.told(at)
    if not dated and not (reader.ends(end) and (sure or length > 1)) and not (sure and length > 1):
        return None
    return (lambda each: softer(days(each), 0.9)), end


def _part_of_year(reader: Reader, at: int, *, sure: bool) -> tuple[Each, int] | None:
    """Read "Q3"; a year glued to it is read with it as a year that every year has."""
    token = reader.token(at)
    if token.kind not in {"quarter", "halves"} or reader.word(at - 1) in NUMBERED:
        return None
    if (
        token.kind == "halves"
        and len(token.numbers) == 1
        and not sure
        and year_at(reader, reader.skip(at + 1, "of", ",")) is None
    ):
        return None
    size = 6 if token.kind == "halves" else 3
    first = (min(token.numbers) - 1) * size + 1
    glued = max(token.numbers) if len(token.numbers) > 1 else None
    return (lambda year: almanac.months(glued or year, first, size, "quarter")), at + 1


def _weekday(reader: Reader, at: int, *, sure: bool) -> Found | None:
    """Read "Monday", "Monday, 8 May 2023" (the date alone counts) and "Monday of last week"."""
    token = reader.token(at)
    place = reader.skip(reader.skip(at + 1, ".", ","), "the")
    after = reader.token(place)
    if after.kind in {"number", "ordinal", *WRITTEN} or after.text in MONTHS:
        dated = calendar_name(reader, place, sure=False)
        if dated is not None and all(period.grain == "day" for period in dated[0].periods):
            return dated
    weekday = WEEKDAYS[token.text]
    if after.kind == "ordinal" and reader.word(place - 1) == "the" and reader.ends(place + 1):
        return _weekday_and_day(weekday, after.numbers[0]), place + 1
    offset = _WEEK_WORDS.get(reader.words(reader.skip(at + 1, "of", ","), 2))
    doubtful = token.text in DOUBTFUL_DAYS and not token.capital
    if offset is not None and not doubtful:
        index = almanac.week_index(reader.now) + offset
        return fixed(almanac.week(index, weekday, 1, "day")), reader.skip(at + 1, "of", ",") + 2
    told = reader.told(at)
    full = token.text.endswith("day")
    if doubtful or not (told or ((sure or (full and reader.word(at - 1) != "the")) and reader.ends(at + 1))):
        return None
    return Thing((), lambda index: almanac.week(index, weekday, 1, "day"), "week"), at + 1


def _weekday_and_day(weekday: int, number: int) -> Thing:
    """Return "Friday the 13th", which some months have."""

    def each(index: int) -> Period | None:
        found = almanac.day(index // 12, index % 12 + 1, number)
        return found if found and found.start.weekday() == weekday else None

    return Thing((), each, "month")


def _years(reader: Reader, at: int, *, sure: bool) -> Found | None:
    token = reader.token(at)
    before = reader.word(at - 1)
    if reader.word(at + 1) in COUNTED or before in NUMBERED or reader.token(at - 1).kind == "junk":
        return None
    if token.kind == "years":
        first, last = token.numbers
        whole = almanac.years(first, last - first + 1) if first < last <= first + CENTURY else None
        return (fixed(whole), at + 1) if whole else None
    if token.kind == "decade" or token.text in DECADES:
        return _decade(reader, at)
    year = year_at(reader, at)
    if year is None or (token.kind == "short" and not sure) or reader.word(at + 1) in {":", "%"}:
        return None
    certain = sure and (reader.ends(at + 1) or reader.token(at + 1).capital)
    if not certain and not reader.now.year - 80 < year <= reader.now.year + 2:
        return None
    return fixed(softer(almanac.years(year), 1.0 if certain or before == "year" else 0.6)), at + 1


def _decade(reader: Reader, at: int) -> Found | None:
    token = reader.token(at)
    first = token.numbers[0] if token.numbers else DECADES[token.text]
    if first < CENTURY:
        if reader.word(at - 1) not in {"the", "early", "mid", "late", "-"} or (
            not token.numbers and not reader.ends(at + 1)
        ):
            return None
        first = full_year(first, reader.now)
    return fixed(softer(almanac.years(first, 10), 0.9)), at + 1


_YEAR_WORDS: dict[tuple[str, ...], int] = {
    ("last", "year"): -1,
    ("this", "year"): 0,
    ("next", "year"): 1,
    ("previous", "year"): -1,
}
_WEEK_WORDS: dict[tuple[str, ...], int] = {("last", "week"): -1, ("this", "week"): 0, ("next", "week"): 1}
