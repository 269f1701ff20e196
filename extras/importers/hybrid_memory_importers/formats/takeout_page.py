"""Google's "My Activity" as a page of HTML: its cells, and days as the account's language writes them. Reads a stream in pieces."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import BinaryIO

_CHUNK = 1 << 16  # bytes
_LONGEST_CELL = 2_000_000  # characters of one activity; of a longer one only its beginning is read
_LONGEST_TAG = 4_000  # characters; what is longer between "<" and ">" is no tag


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
    for token in _tokens(_pieces(stream)):
        page.take(token)
        yield from page.taken()
    page.end_cell()
    yield from page.taken()


def plain_text(markup: str) -> str:
    """Return the words of a piece of HTML, a line for each block of it."""
    words = _Words()
    for token in _tokens(iter([markup[:_LONGEST_CELL]])):
        words.take(token)
    return words.text()


def _pieces(stream: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    while chunk := stream.read(_CHUNK):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _tokens(pieces: Iterator[str]) -> Iterator[re.Match[str] | str]:
    """Yield tags, and what is between them as it is written. Each character is looked at a bounded number of times.

    The parser of the standard library begins again at each "<" that is never closed, so that a hostile page would hold it for hours.
    """
    rest = ""
    for piece in pieces:
        text = rest + piece
        cut = text.rfind("<", max(len(text) - _LONGEST_TAG, 0))
        rest = text[cut:] if cut >= 0 and ">" not in text[cut:] else ""
        yield from _whole_tokens(text[: len(text) - len(rest)])
    yield from _whole_tokens(rest)


def _whole_tokens(text: str) -> Iterator[re.Match[str] | str]:
    at = 0
    for tag in _TAG.finditer(text):
        if tag.start() > at:
            yield text[at : tag.start()]
        yield tag
        at = tag.end()
    if at < len(text):
        yield text[at:]


class _Words:
    """Collects words; blocks begin a new line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._silent = ""

    def text(self) -> str:
        """Return what was collected."""
        told = html.unescape("".join(self._parts)).replace("\xa0", " ").replace("\u202f", " ")
        lines = (" ".join(line.split()) for line in told.split("\n"))
        return "\n".join(line for line in lines if line)

    def empty(self) -> None:
        """Begin again."""
        self._parts, self._length, self._silent = [], 0, ""

    def take(self, token: re.Match[str] | str) -> None:
        """Take the next tag or words."""
        if isinstance(token, str):
            self.take_words(token)
        elif self._silent:
            self._silent = "" if token["end"] and (token["name"] or "").lower() == self._silent else self._silent
        elif token["name"]:
            self.take_tag(token["name"].lower(), token["rest"], ends=bool(token["end"]))

    def take_tag(self, tag: str, rest: str, *, ends: bool) -> None:  # noqa: ARG002 - what builds on it looks at the rest
        """Take a tag."""
        if tag in _BLOCKS:
            self._parts.append("\n")
        if tag in _UNREAD and not ends:
            self._silent = tag

    def take_words(self, words: str) -> None:
        """Take words."""
        if not self._silent and self._length < _LONGEST_CELL:
            self._parts.append(words)
            self._length += len(words)


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
        """Return the activities that have ended, once."""
        found, self._found = self._found, []
        return found

    def take_tag(self, tag: str, rest: str, *, ends: bool) -> None:
        """Take a tag, which may begin or end a cell."""
        if ends:
            super().take_tag(tag, rest, ends=True)
            if tag == "div" and self._within:
                self._depth -= 1
                if self._depth <= 0:
                    self._keep()
            return
        if tag == "a" and self._within == "body" and not self._link:
            link = _HREF.search(rest)
            self._link = html.unescape(link[1]) if link is not None else ""
        if tag == "div":
            self._begin_cell(rest)
        if self._within:
            super().take_tag(tag, rest, ends=False)

    def take_words(self, words: str) -> None:
        """Take words that stand in a cell."""
        if self._within:
            super().take_words(words)

    def end_cell(self) -> None:
        """Take what was read of an activity."""
        self._keep()
        if self._told:
            self._found.append(_activity(self._product, self._told, self._link))
        self._product = self._told = self._link = ""

    def _begin_cell(self, rest: str) -> None:
        found = _CLASS.search(rest)
        kind = (found[1] if found is not None else "").split()
        self._depth += 1
        if "outer-cell" in kind:
            self.end_cell()
        elif "header-cell" in kind:
            self._begin("header")
        elif "content-cell" in kind:
            is_body = "mdl-typography--text-right" not in kind and "mdl-typography--caption" not in kind
            self._begin("body" if is_body and not self._told else "beside")

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
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,20})(?P<rest>[^<>]{0,4000})>|<![^<>]{0,4000}>")
_HREF = re.compile(r"\bhref\s*=\s*[\"']([^\"']{1,2000})")
_CLASS = re.compile(r"\bclass\s*=\s*[\"']([^\"']{1,400})")
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
