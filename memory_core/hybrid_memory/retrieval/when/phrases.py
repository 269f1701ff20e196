"""From times and the words between them to windows: "since March", "between May and July", "shortly before Christmas"."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_memory.retrieval.when import almanac
from hybrid_memory.retrieval.when.almanac import HIGHEST, LOWEST, Period
from hybrid_memory.retrieval.when.counting import Quantity, ahead, quantity
from hybrid_memory.retrieval.when.reader import Reader, Thing, choose
from hybrid_memory.retrieval.when.things import thing
from hybrid_memory.retrieval.when.words import (
    NUMBERS,
    ORDINALS,
    REPEATING,
    TRIGGERS,
    UNITS,
    VAGUE_COUNTS,
    WEEKDAYS,
    word_set,
)


class Phrase(NamedTuple):
    """Periods and the tokens that say them, from ``begin`` up to ``end``; ``relation`` is the connective's, if any."""

    periods: tuple[Period, ...]
    begin: int
    end: int
    relation: str = ""


def phrases(reader: Reader) -> list[Phrase]:
    """Return all times of a text in order."""
    found: list[Phrase] = []
    at = 0
    while at < len(reader.tokens):
        phrase = _phrase(reader, at) if _may_begin(reader, at) else None
        if phrase is not None and phrase.periods:
            found.append(phrase)
        at = max(phrase.end, at + 1) if phrase is not None else at + 1
    return found


def _may_begin(reader: Reader, at: int) -> bool:
    """Say cheaply whether a time may begin at a place."""
    token = reader.tokens[at]
    if token.kind in {"mark", "junk"}:
        return False
    if token.text in _LEADS:
        return any(later.kind not in _WORDY or later.text in _TIMELY for later in reader.tokens[at + 1 : at + 4])
    return token.kind != "word" or token.text in _BEGINNINGS


def _phrase(reader: Reader, at: int) -> Phrase | None:
    word = reader.word(at)
    if word in _RANGES:
        ranged = _range(reader, at + 1, _RANGES[word], sure=True)
        if ranged is not None:
            return Phrase(ranged[0], at, ranged[1], "during")
    related = _related(reader, at) or _offset(reader, at)
    if related is not None:
        return related
    if word in _INSIDE:
        return _inside(reader, at)
    return _bare(reader, at)


_TO = frozenset({"to", "until", "till", "through", "-", "–", "and"})
_RANGES = {"between": frozenset({"and", "-", "–"}), "from": _TO - {"and"}}
_INSIDE = word_set("between in on at during over throughout within across for from of")
_WORDINGS = {
    "before": "before, prior to, earlier than, ahead of, older than, run - up to, leading up to",
    "after": "after, later than, following, newer than",
    "since": "since, ever since, no earlier than, not earlier than, not before, on or after, starting, starting in, starting from, "
    "starting on, beginning in",
    "until": "until, till, 'til, til, up to, up to and including, up until, by, no later than, not later than, on or before, "
    "not after, as of, as at, as late as, not until, through",
    "around": "around, about, circa, near, roughly, approximately, on or about, on or around, towards, almost, nearly, in around, "
    "in about, some time around, sometime around, around the time of, close to",
    "less": "less than, within the, no more than, under",
    "more": "more than, over, at least, well over",
}
_CONNECTIVES = {
    tuple(words.split()): relation for relation, wordings in _WORDINGS.items() for words in wordings.split(", ")
}
_CONNECTIVE_HEADS = frozenset(words[0] for words in _CONNECTIVES)
_BEGINNINGS = TRIGGERS | _INSIDE | _CONNECTIVE_HEADS | NUMBERS.keys() | ORDINALS.keys() | VAGUE_COUNTS.keys()
_BEGINNINGS |= word_set("the a an half shortly just right immediately soon directly some not ages long")
_TIMELY = TRIGGERS | NUMBERS.keys() | ORDINALS.keys() | VAGUE_COUNTS.keys() | {"half"}
_LEADS = (_INSIDE | {"the", "a", "an"}) - {"between"}
_WORDY = frozenset({"word", "mark", "junk"})
_RUN_UP = 30
_CLOSE = {"shortly": 14, "just": 10, "right": 7, "immediately": 7, "soon": 21, "directly": 7}
_TWO_WORD_CLOSE: dict[tuple[str, ...], int] = {
    ("a", "bit"): 21,
    ("a", "little"): 21,
    ("some", "time"): 60,
    ("not", "long"): 30,
}


def _related(reader: Reader, at: int) -> Phrase | None:
    """Read a connective and the time behind it, with "shortly" or the like in front."""
    close, place = _CLOSE.get(reader.word(at), 0), at + 1
    if not close and reader.words(at, 2) in _TWO_WORD_CLOSE:
        close, place = _TWO_WORD_CLOSE[reader.words(at, 2)], at + 2
    place = place if close else at
    if reader.word(place) not in _CONNECTIVE_HEADS:
        return None
    for length in (4, 3, 2, 1):
        relation = _CONNECTIVES.get(reader.words(place, length))
        if relation is None or (reader.word(place) == "about" and not _counts(reader, place + length)):
            continue
        found = thing(reader, place + length, sure=True)
        if found is None:
            continue
        chosen = _bound(reader, found[0], relation)
        ago = reader.word(found[1] - 1) in {"ago", "back"}
        if relation in {"less", "more"} and not ago:
            return None
        if relation == "around" and ago:
            return Phrase(tuple(p._replace(sharp=round(p.sharp * 0.8, 3)) for p in chosen), at, found[1], relation)
        close = close or (_RUN_UP if reader.word(place) in {"run", "leading"} else 0)
        periods = tuple(_apply(relation, period, reader, close) for period in chosen)
        return Phrase(_whole(periods), at, _onwards(reader, found[1]), relation)
    return None


def _counts(reader: Reader, at: int) -> bool:
    """Say whether a number follows "about": else it says what something is about."""
    token = reader.token(at)
    return token.kind in {"number", "half"} or token.text in NUMBERS or token.text in {"a", "an", "half"}


def _bound(reader: Reader, named: Thing, relation: str) -> tuple[Period, ...]:
    """Return what a connective starts from: of what recurs one alone, behind "since" a past one."""
    how = reader.lean
    if how == "either" and relation != "around":
        how = "past" if relation == "since" else "future"
    return choose(named, reader.now, how)[: 1 if named.each else None]


def _onwards(reader: Reader, at: int) -> int:
    return reader.skip(reader.skip(at, "on"), "onwards", "onward")


def _apply(relation: str, period: Period, reader: Reader, close: int) -> Period | None:
    if close and relation in {"before", "after"}:
        days = max(close, (period.end - period.start).days // 2)
        edge = period.start if relation == "before" else period.end
        near = almanac.shift(edge, -days if relation == "before" else days, "day")
        return Period(min(edge, near), max(edge, near), "day", round(period.sharp * 0.6, 3))
    if relation == "around":
        wide = almanac.widen(period)
        return wide._replace(end=min(wide.end, reader.now)) if period.end <= reader.now else wide
    if relation == "before":
        return period._replace(start=LOWEST, end=period.start)
    if relation in {"less", "more"}:
        middle = almanac.midnight(period.start + (period.end - period.start) / 2)
        return Period(middle, reader.now, "vague", 0.8) if relation == "less" else Period(LOWEST, middle, "vague", 0.8)
    if relation == "until":
        return period._replace(start=LOWEST)
    return period._replace(start=period.end if relation == "after" else period.start, end=HIGHEST)


def _whole(periods: tuple[Period | None, ...]) -> tuple[Period, ...]:
    return tuple(period for period in periods if period is not None and period.start < period.end)


def _offset(reader: Reader, at: int) -> Phrase | None:
    """Read "two weeks before Christmas", "the day after 8 May", "the Friday before Easter"."""
    place = reader.skip(at, "the")
    weekday = WEEKDAYS.get(reader.word(place))
    measured = quantity(reader, place) if weekday is None else None
    if weekday is None and measured is None:
        if reader.word(place) not in UNITS or place == at:
            return None
        measured = Quantity(1, 1, UNITS[reader.word(place)], vague=False), place + 1
    end = measured[1] if measured else place + 1
    if reader.word(end) not in {"before", "after"} or reader.word(end + 1) in {"last", "next"}:
        return None
    found = thing(reader, end + 1, sure=True)
    if found is None:
        return None
    sign = -1 if reader.word(end) == "before" else 1
    periods = []
    for period in choose(found[0], reader.now, reader.lean):
        if weekday is not None:
            periods.append(_weekday_from(period, weekday, sign))
        elif measured is not None:
            periods.append(_away(period, measured[0], sign, article=place > at))
    return Phrase(_whole(tuple(periods)), at, found[1], "during")


def _weekday_from(period: Period, weekday: int, sign: int) -> Period | None:
    if sign < 0:
        return almanac.nth_weekday(Period(almanac.shift(period.start, -7, "day"), period.start, "week"), weekday, 1)
    return almanac.nth_weekday(Period(period.end, almanac.shift(period.end, 7, "day"), "week"), weekday, 1)


def _away(period: Period, amount: Quantity, sign: int, *, article: bool) -> Period:
    """Return the time that far before or after a period; with "the", all the time in between."""
    edge = period.start if sign < 0 else almanac.shift(period.end, -1, "day")
    far = almanac.shift(edge, sign * amount.high, amount.unit)
    if amount.unit == "day" and amount.low == amount.high and not (article and amount.high > 1):
        return almanac.span(almanac.midnight(far), 1, "day")
    if article:
        outer = period.end if sign > 0 else edge
        other = almanac.shift(outer, sign * amount.high, amount.unit)
        return Period(min(outer, other), max(outer, other), "day", 0.9)
    near = almanac.shift(edge, sign * amount.low, amount.unit)
    margin = {"week": 3, "month": 10, "year": 90}.get(amount.unit, 1)
    start, end = min(far, near), max(far, near)
    return Period(almanac.shift(start, -margin, "day"), almanac.shift(end, margin + 1, "day"), "day", 0.7)


def _inside(reader: Reader, at: int) -> Phrase | None:
    """Read "in", "on", "during" and the like with a time or a range behind it."""
    word = reader.word(at)
    if word == "of" or (word == "for" and reader.word(at + 1) in REPEATING):
        return _bare(reader, at) or _bare(reader, at + 1)
    if word == "in" and reader.lean == "future":
        coming = ahead(reader, at + 1)
        if coming is not None:
            return Phrase(coming[0].periods, at, coming[1], "during")
    ranged = _range(reader, at + 1, _TO - {"and"}, sure=True)
    if ranged is not None:
        return Phrase(ranged[0], at, ranged[1], "during")
    found = _times(reader, at + 1, sure=True)
    if found is None:
        return None
    periods, end = found
    if word == "from" and reader.word(end) in {"on", "onwards", "onward", "forward"}:
        return Phrase(_whole(tuple(_apply("since", period, reader, 0) for period in periods)), at, end + 1, "since")
    return Phrase(_whole(periods), at, end, "during")


def _bare(reader: Reader, at: int) -> Phrase | None:
    ranged = _range(reader, at, _TO - {"and"}, sure=False)
    if ranged is not None:
        return Phrase(ranged[0], at, ranged[1], "during")
    found = _times(reader, at, sure=False)
    return Phrase(_whole(found[0]), at, found[1], "during") if found else None


def _times(reader: Reader, at: int, *, sure: bool) -> tuple[tuple[Period, ...], int] | None:
    """Read a time, or several as in "March, April and May 2024", of which the year of the last is that of the others."""
    found = thing(reader, at, sure=sure)
    if found is None:
        return None
    things, end = _listed(reader, *found)
    periods: tuple[Period, ...] = ()
    following = things[-1].each is None or reader.lean != "either"
    for named in reversed(things):
        alone = not (periods and following)
        chosen = choose(named, reader.now, reader.lean) if alone else choose(named, periods[0].start, "past")[:1]
        periods = (*chosen, *periods)
    return periods, end


def _listed(reader: Reader, first: Thing, at: int) -> tuple[list[Thing], int]:
    """Return the times of a list whose first has been read; after a comma alone they count only if "and" or "or" follows."""
    things, end, sure = [first], at, 1
    while (word := reader.word(at)) in _JOINTS and len(things) < _LONGEST_LIST:
        place = reader.skip(at + 1, "and", "or") if word == "," else at + 1
        joined = word != "," or place > at + 1
        place = reader.skip(place, "in", "on")
        token = reader.token(place)
        other = thing(reader, place, sure=token.capital or token.text not in {"may", "march"})
        if other is None:
            break
        things.append(other[0])
        at = other[1]
        if joined:
            end, sure = at, len(things)
    return things[:sure], end


_LONGEST_LIST = 12
_JOINTS = frozenset({",", "and", "or", "/", "&"})


def _range(reader: Reader, at: int, between: frozenset[str], *, sure: bool) -> tuple[tuple[Period, ...], int] | None:
    first = thing(reader, at, sure=sure)
    if first is None:
        return None
    place = reader.skip(first[1], "up")
    if reader.word(place) not in between:
        return None
    last = thing(reader, place + 1, sure=True)
    if last is None:
        return None
    whole = _from_to(reader, first[0], last[0])
    return ((whole,), last[1]) if whole else None


def _from_to(reader: Reader, first: Thing, last: Thing) -> Period | None:
    """Return the period from one time to another; of the one whose year is not said that which fits the other."""
    if last.each is None and first.each is not None and last.periods:
        begin = choose(first, last.periods[0].start, "past")
        end = last.periods
    else:
        begin = choose(first, reader.now, reader.lean)
        end = choose(last, begin[0].start, "coming") if begin else ()
    if not begin or not end or begin[0].start >= end[0].end:
        return None
    return Period(begin[0].start, end[0].end, begin[0].grain, min(begin[0].sharp, end[0].sharp))
