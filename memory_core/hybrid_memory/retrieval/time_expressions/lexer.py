"""From characters to the tokens of which times are made. Only what is wholly a date, number or word counts as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """A word, number or mark: its text in lower case, its place, what sort it is and the numbers it holds."""

    text: str
    start: int
    end: int
    kind: str
    numbers: tuple[int, ...] = ()
    capital: bool = False


NONE = Token("", 0, 0, "none")


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text. What holds digits but is no date or number is one token of the kind ``junk``."""
    found: list[Token] = []
    for chunk in _CHUNK.finditer(text):
        raw, start = chunk[0], chunk.start()
        if _DIGIT.search(raw) is None:
            found.extend(_words(raw, start))
        elif len(raw) > _LONGEST:
            found.append(Token("", start, start + len(raw), "junk"))
        elif raw.isascii() or _FOREIGN.search(raw) is None:
            found.extend(_numeric(raw, start))
        else:
            found.extend(_embedded(raw, start))
    return found


_CHUNK = re.compile(r"\d{4}\s?[年년]\s?\d\d?\s?[月월](?:\s?\d\d?\s?[日일])?[^\s—…]*|[^\s—…]+")
_LONGEST = 200
"""Longer runs without a space hold no date that anyone would ask by."""
_DIGIT = re.compile(r"\d")
_FOREIGN = re.compile(r"[^\x00-\x7f\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\s\w]")
_GLUED = re.compile(r"[_@\\]|://|\w\.\w")
_PEEL = re.compile(r"""([(\[{"“„«¿~]*)(.*?)((?:['’]s)?[)\]}"”»'’.,;:!?]*)""", re.DOTALL)
_YEAR = r"(?:1[89]|20|21)\d\d"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_FORMS = re.compile(
    rf"""
    (?P<year>{_YEAR})
    |(?P<number>\d{{1,3}})
    |(?P<half>\d{{1,2}}\.5)
    |(?P<ordinal>\d\d?)(?:st|nd|rd|th)
    |(?P<short>['’]\d\d)
    |(?P<clock>[01]?\d:[0-5]\d(?::\d\d)?|2[0-4]:[0-5]\d(?::\d\d)?|\d\d?)(?P<meridiem>[ap]m)?
    |(?P<iso>{_YEAR}-\d\d?-\d\d?)(?P<time>T\d\d:?\d\d)?(?P<rest>:?\d\d(?:[.,]\d+)?)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?
    |(?P<month>{_YEAR}-(?:0[1-9]|1[0-2]))
    |(?P<isos>{_YEAR}-\d\d-\d\d(?:[/–]|\.\.){_YEAR}-\d\d-\d\d)
    |(?P<slashed>(?:0?[1-9]|1[0-2])/{_YEAR})
    |(?P<week>{_YEAR}-?W\d\d)
    |(?P<ymd>{_YEAR}/\d\d?/\d\d?|{_YEAR}\.\d\d?\.\d\d?)
    |(?P<dots>\d\d?\.\d\d?\.{_YEAR}|\d\d\.\d\d\.\d\d)
    |(?P<dmy>\d\d?/\d\d?/(?:{_YEAR}|\d\d)|\d\d?-\d\d?-{_YEAR})
    |(?P<decade>(?:['’]|18|19|20)?\d0)['’]?s
    |(?P<quarter>q[1-4](?:[-/]{_YEAR})?|{_YEAR}[-/]?q[1-4])|(?P<halves>h[12](?:[-/]{_YEAR})?|{_YEAR}[-/]?h[12])
    |(?P<days>\d\d?(?:st|nd|rd|th)?[-–]\d\d?)(?:st|nd|rd|th)?
    |(?P<years>{_YEAR}[-–]{_YEAR})
    |(?P<winter>{_YEAR}/\d\d)
    |(?P<glued>\d\d?-{_MONTH}(?:-{_YEAR})?|{_MONTH}[-–]\d\d?|{_MONTH}-{_YEAR}|(?:mid|early|late)-(?:{_YEAR}|['’]?\d0s|\d{{4}}s))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EMBEDDED = re.compile(
    rf"(?P<cjk>{_YEAR}\s?[年년]\s?\d\d?\s?[月월](?:\s?\d\d?\s?[日일])?)"
    rf"|(?<![0-9A-Za-z.\-/])(?:(?P<iso>{_YEAR}-\d\d?-\d\d?)|(?P<ymd>{_YEAR}/\d\d?/\d\d?))(?![0-9A-Za-z\-/]|\.\d)"
)
_INTEGER = re.compile(r"\d+")
_PIECE = re.compile(r"['’]?\d+s?|[^\W\d_]+|.")


def _words(raw: str, start: int) -> Iterator[Token]:
    glued = _GLUED.search(raw)
    if glued is not None and raw.lower().strip(".,;:!?") not in {"a.m", "p.m"}:
        yield Token(raw.lower(), start, start + len(raw), "junk")
        return
    if glued is not None:
        yield Token(raw[0].lower() + "m", start, start + len(raw), "word")
        return
    for match in _WORD.finditer(raw):
        text = match[0].lower().replace("’", "'")
        kind = "word" if text[0].isalpha() else "mark"
        text = text.removesuffix("'s")
        yield Token(text, start + match.start(), start + match.end(), kind, (), match[0][0].isupper())


def _numeric(raw: str, start: int) -> Iterator[Token]:
    peeled = _PEEL.fullmatch(raw)
    lead, body, tail = peeled.groups() if peeled else ("", raw, "")
    begin, end = start + len(lead), start + len(lead) + len(body)
    form = _FORMS.fullmatch(body)
    if form is None:
        yield Token(body.lower(), begin, end, "junk")
    elif form["glued"]:
        yield from _apart(body, begin)
    else:
        yield _token(form, begin, end)
    for at, mark in enumerate(tail):
        if mark in ",.;:!?)":
            yield Token(mark, end + at, end + at + 1, "mark")


def _apart(body: str, start: int) -> Iterator[Token]:
    """Yield the parts of "8-May-2023" or "mid-2023" without what joins them."""
    for piece in _PIECE.finditer(body):
        if piece[0] in "-–":
            continue
        yield from (_numeric if _DIGIT.search(piece[0]) else _words)(piece[0], start + piece.start())


def _token(form: re.Match[str], start: int, end: int) -> Token:
    kind = next(name for name in form.re.groupindex if form[name] is not None)
    numbers = tuple(int(digits) for digits in _INTEGER.findall(form[kind])) if kind != "half" else (int(form[0][:-2]),)
    if kind == "iso" and form["time"]:
        kind, numbers = "instant", (*numbers, *_clock(form["time"]), *_zone(form["zone"]))
    elif kind == "clock":
        numbers = _hour(numbers, form["meridiem"])
        kind = "clock" if numbers else "junk"
    elif kind == "days" and not 0 < numbers[0] < numbers[1] <= 31:  # noqa: PLR2004 - no month is longer
        kind = "junk"
    return Token(form[0].lower(), start, end, kind, numbers)


def _clock(text: str) -> tuple[int, int]:
    digits = text.strip("T").replace(":", "")
    return int(digits[:2]), int(digits[2:4])


def _zone(text: str | None) -> tuple[int, ...]:
    """Return the minutes east of Greenwich, nothing if no zone is given."""
    if text is None:
        return ()
    if text in "Zz":
        return (0,)
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-minutes if text[0] == "-" else minutes,)


def _hour(numbers: tuple[int, ...], meridiem: str | None) -> tuple[int, ...]:
    hour, minute = numbers[0], (*numbers, 0)[1]
    if meridiem is None:
        return (hour % 24, minute)
    if not 1 <= hour <= 12:  # noqa: PLR2004 - the clock's face
        return ()
    return (hour % 12 + (12 if meridiem[0] in "pP" else 0), minute)


def _embedded(raw: str, start: int) -> Iterator[Token]:
    """Yield the dates inside a run of other scripts, and the rest as junk."""
    at = 0
    for match in _EMBEDDED.finditer(raw):
        if match.start() > at:
            yield Token("", start + at, start + match.start(), "junk")
        numbers = tuple(int(digits) for digits in _INTEGER.findall(match[0]))
        whole = len(numbers) == 3  # noqa: PLR2004 - year, month and day
        kind = ("iso" if whole else "month") if match["cjk"] else ("iso" if match["iso"] else "ymd")
        yield Token(match[0], start + match.start(), start + match.end(), kind, numbers)
        at = match.end()
    if at < len(raw):
        yield Token("", start + at, start + len(raw), "junk")
