"""Google's "My Activity" as a page of HTML: its cells, and days as the account's language writes them. Reads a stream in pieces."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from html.parser import HTMLParser
from typing import BinaryIO

_CHUNK = 1 << 16  # bytes
_LONGEST_CELL = 2_000_000  # characters of one activity; of a longer one only its beginning is read
_DEEPEST = 400  # elements within one another that are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One thing that somebody did: the product, the verb with the prompt, when, the answer as plain text, a link of the prompt."""

    product: str
    title: str
    at: datetime | None
    answer: str
    link: str = ""


def activities(stream: BinaryIO) -> Iterator[Activity]:
    """Yield the activities of a page in its order."""
    page = _Page()
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    while chunk := stream.read(_CHUNK):
        page.feed(decoder.decode(chunk))
        yield from page.taken()
    page.feed(decoder.decode(b"", final=True))
    page.close()
    page.end_cell()
    yield from page.taken()


def plain_text(html: str) -> str:
    """Return the words of a piece of HTML, a line for each block of it."""
    page = _Words()
    page.feed(html[:_LONGEST_CELL])
    page.close()
    return page.text()


class _Words(HTMLParser):
    """Collects words; blocks begin a new line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._length = 0
        self._silent = 0

    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return "\n".join(line for line in lines if line)

    def empty(self) -> None:
        self._parts, self._length, self._silent = [], 0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its base asks for it
        if tag in _BLOCKS:
            self._parts.append("\n")
        if tag in _UNREAD:
            self._silent += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS and tag != "br":
            self._parts.append("\n")
        if tag in _UNREAD and self._silent:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent and self._length < _LONGEST_CELL:
            self._parts.append(data.replace("\xa0", " ").replace("\u202f", " "))
            self._length += len(data)


class _Page(_Words):
    """Follows the cells of a page: ``outer-cell`` holds an activity, ``header-cell`` its product, the first text cell the rest."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[Activity] = []
        self._within = ""
        self._depth = 0
        self._product = ""
        self._told = ""
        self._link = ""

    def taken(self) -> list[Activity]:
        found, self._found = self._found, []
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and self._within == "body" and not self._link:
            self._link = dict(attrs).get("href") or ""
        if tag == "div":
            self._depth = min(self._depth + 1, _DEEPEST)
            kind = (dict(attrs).get("class") or "").split()
            if "outer-cell" in kind:
                self.end_cell()
            elif "header-cell" in kind:
                self._begin("header")
            elif "content-cell" in kind:
                is_body = "mdl-typography--text-right" not in kind and "mdl-typography--caption" not in kind
                self._begin("body" if is_body and not self._told else "beside")
        super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        if tag == "div" and self._within:
            self._depth -= 1
            if self._depth <= 0:
                self._keep()

    def handle_data(self, data: str) -> None:
        if self._within:
            super().handle_data(data)

    def end_cell(self) -> None:
        """Take what was read of an activity."""
        self._keep()
        if self._told:
            self._found.append(_activity(self._product, self._told, self._link))
        self._product = self._told = self._link = ""

    def _begin(self, part: str) -> None:
        self._keep()
        self._within, self._depth = part, 1
        self.empty()

    def _keep(self) -> None:
        if self._within == "header":
            self._product = self.text()
        elif self._within == "body":
            self._told = self.text()
        self._within = ""
        self.empty()


def _activity(product: str, told: str, link: str) -> Activity:
    """Take the words of a cell apart: the prompt, a line with the time, the answer."""
    lines = told.split("\n")
    for place, line in enumerate(lines):
        if _TIME.search(line) is None or len(line) > _LONGEST_DAY:
            continue
        at = moment_of_page(line)
        if at is not None:
            answer = "\n".join(lines[place + 1 :])
            return Activity(product=product, title="\n".join(lines[:place]), at=at, answer=answer, link=link)
    return Activity(product=product, title=told, at=None, answer="", link=link)


def moment_of_page(line: str) -> datetime | None:
    """Return the moment that a line tells: "Jul 25, 2026, 11:07:57 PM PDT", "25.07.2026, 23:07:57 MESZ", "2026年7月25日 23:07:57 JST".

    A zone that is not known is UTC.
    """
    clock = _TIME.search(line)
    day = _day_of(line[: clock.start()] if clock is not None else line)
    if clock is None or day is None:
        return None
    hour, minute, second = (int(clock[part] or 0) for part in ("hour", "minute", "second"))
    half = (clock["after"] or clock["before"] or "").lower().replace(".", "").replace(" ", "")
    if half in _AFTERNOON and hour < 12:  # noqa: PLR2004 - noon
        hour += 12
    elif half in _MORNING and hour == 12:  # noqa: PLR2004 - midnight
        hour = 0
    try:
        return datetime(*day, hour, minute, second, tzinfo=_zone_of(line[clock.end() :], line)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _day_of(text: str) -> tuple[int, int, int] | None:
    """Return year, month and day: as numbers, or with the month as a word."""
    low = text.lower()
    for form, order in ((_YEAR_FIRST, (1, 2, 3)), (_DAY_FIRST, (3, 2, 1))):
        found = form.search(low)
        if found is not None:
            year, month, day = (int(found[place]) for place in order)
            return (year, day, month) if month > 12 >= day else (year, month, day)  # noqa: PLR2004 - months of a year
    year_found, numbers = _YEAR.search(low), _SMALL.findall(_YEAR.sub(" ", low))
    word = next((number for one in _WORD.findall(low) if (number := _month(one))), None)
    if year_found is None or word is None or not numbers:
        return None
    return int(year_found[0]), word, int(numbers[0])


def _month(word: str) -> int | None:
    return next((number for start, number in _MONTHS if word.startswith(start)), None)


def _zone_of(text: str, line: str) -> timezone:
    offset = _OFFSET.search(text)
    if offset is not None:
        minutes = int(offset["hours"]) * 60 + int(offset["minutes"] or 0)
        if minutes >= 24 * 60:
            return UTC
        return timezone(timedelta(minutes=minutes if offset["sign"] == "+" else -minutes))
    name = next(iter(_ZONE.findall(text)), "")
    if name == "CST" and "年" in line:
        name = "CST in China"
    return timezone(timedelta(minutes=round(_ZONES.get(name, 0) * 60)))


_LONGEST_DAY = 60  # characters of a line that is a day and a time
_BLOCKS = frozenset(
    {"br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr", "table", "blockquote"}
)
_UNREAD = frozenset({"script", "style"})
_TIME = re.compile(
    r"(?:(?P<before>오전|오후|上午|下午|午前|午後|am|pm)\s?)?\b(?P<hour>\d{1,2})[:.](?P<minute>\d{2})[:.](?P<second>\d{2})\b"
    r"(?:\s?(?P<after>[ap]\.?\s?m\b\.?))?",
    re.IGNORECASE,
)
_AFTERNOON = frozenset({"pm", "오후", "下午", "午後"})
_MORNING = frozenset({"am", "오전", "上午", "午前"})
_YEAR_FIRST = re.compile(r"\b(20\d\d)\s?[年./-]\s?(\d{1,2})\s?[月./-]\s?(\d{1,2})")
_DAY_FIRST = re.compile(r"\b(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(20\d\d)\b")
_YEAR = re.compile(r"\b20\d\d\b")
_SMALL = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MONTHS = tuple(
    (start, number)
    for number, starts in enumerate(
        (
            "jan ene gen янв sty",
            "feb fév fev фев lut",
            "mar mär maa mrt мар",
            "apr avr abr апр kwi",
            "may mai mei mag maj мая май",
            "jun juin giu июн cze",
            "jul juil lug июл lip",
            "aug aoû ago авг sie",
            "sep set сен wrz",
            "oct okt out ott окт paź",
            "nov ноя lis",
            "dec dez déc dic дек gru",
        ),
        start=1,
    )
    for start in starts.split()
)
"""How the names of the months begin in the languages of Takeout that write them as words."""
_OFFSET = re.compile(r"(?:GMT|UTC)?(?P<sign>[+-−])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?")
_ZONE = re.compile(r"\b[A-Z]{2,5}\b")
_ZONES = {
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "AKST": -9,
    "AKDT": -8,
    "HST": -10,
    "BRT": -3,
    "BRST": -2,
    "ART": -3,
    "CLT": -4,
    "CLST": -3,
    "COT": -5,
    "PET": -5,
    "GMT": 0,
    "UTC": 0,
    "WET": 0,
    "WEST": 1,
    "BST": 1,
    "IST": 5.5,
    "CET": 1,
    "CEST": 2,
    "MEZ": 1,
    "MESZ": 2,
    "EET": 2,
    "EEST": 3,
    "MSK": 3,
    "TRT": 3,
    "GST": 4,
    "PKT": 5,
    "WIB": 7,
    "ICT": 7,
    "SGT": 8,
    "HKT": 8,
    "PHT": 8,
    "AWST": 8,
    "CST in China": 8,
    "JST": 9,
    "KST": 9,
    "AEST": 10,
    "AEDT": 11,
    "NZST": 12,
    "NZDT": 13,
    "SAST": 2,
    "EAT": 3,
    "WAT": 1,
}
