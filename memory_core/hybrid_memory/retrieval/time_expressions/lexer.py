"""Text to tokens: the words of time, the tokenizer, and the cursor with which the grammar's rules read tokens.

Only what is wholly a date, number or word counts as one; anything else that holds digits is one token of the kind ``junk``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal, NamedTuple

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from hybrid_memory.retrieval.time_expressions.calendar_math import Parsed


MONTHS = {
    name: number
    for key in ("calendar.months", "calendar.short_months")
    for name, number in lexicon.places(key, "en", first=1).items()
}
CLEAR_MONTHS = lexicon.words("calendar.clear_months", "en")
"""The months that are neither another word nor a person's name."""
WEEKDAYS = {
    name: number
    for key in ("calendar.weekdays", "calendar.short_weekdays")
    for name, number in lexicon.places(key, "en").items()
}
DOUBTFUL_DAYS = lexicon.words("calendar.doubtful_weekdays", "en")
SEASONS = lexicon.meanings("calendar.seasons", "en")
UNITS = {name + ending: name for name in lexicon.words("calendar.units", "en") for ending in ("", "s")}
CALENDAR_UNITS = lexicon.words("calendar.long_units", "en")
NUMBERS = dict(lexicon.places("numbers.counts", "en", first=1)) | {
    word: number * 10 for word, number in lexicon.places("numbers.tens", "en", first=3).items()
}
ORDINALS = dict(lexicon.places("numbers.ranks", "en", first=1)) | dict.fromkeys(lexicon.words("numbers.last", "en"), -1)
VAGUE_COUNTS = {
    word: (int(low), int(high))
    for word, counts in lexicon.meanings("numbers.vague", "en").items()
    for low, high in [counts.split()]
}
EDGES = lexicon.meanings("time.edges", "en")
THIRDS = {word: word for word in lexicon.words("time.thirds", "en")}
DAY_PARTS = lexicon.meanings("calendar.day_parts", "en")
DAY_WORDS = {word: int(days) for word, days in lexicon.meanings("calendar.days", "en").items()}
RELATIVES = lexicon.meanings("time.relatives", "en")
TELLING = RELATIVES.keys() | THIRDS.keys()
"""Before a name of a time they say that it is one, and which."""
DECADES = {word: number * 10 for word, number in lexicon.places("calendar.decades", "en", first=2).items()}
HOLIDAY_PHRASES = {tuple(phrase.split()): name for phrase, name in lexicon.meanings("calendar.holidays", "en").items()}
HOLIDAY_HEADS = frozenset(phrase[0] for phrase in HOLIDAY_PHRASES)
REPEATING = lexicon.words("time.repeating", "en")
"""Before a name of a time they say that no single one is meant."""
NOT_NOUNS = lexicon.words("time.not_nouns", "en")
"""Words that do not make the word before them part of a longer name, as "boot" does in "spring boot"."""
COUNTED = lexicon.words("time.counted", "en")
"""After a number they say that it counts something and is no year."""
NUMBERED = lexicon.words("time.numbered", "en")
"""Before a number they say that it is a name or an amount and no date."""
PAPERS = lexicon.words("time.papers", "en")
"""Those of them before which a whole date is one nevertheless."""
STREETS = lexicon.words("time.streets", "en")
"""After a month they say that it is an address."""
TRIGGERS = lexicon.words("time.triggers", "en") | frozenset(
    word
    for known in (
        *(MONTHS, WEEKDAYS, SEASONS, UNITS, EDGES, THIRDS, DAY_PARTS, DAY_WORDS, RELATIVES, DECADES),
        HOLIDAY_HEADS,
    )
    for word in known
)
"""A question without any of these words and without a digit holds nothing that `phrases` and `anchors` understand."""


class Token(NamedTuple):
    """A word, number or mark: its text in lower case, its place, what sort it is and the numbers it holds."""

    text: str
    start: int
    end: int
    kind: str
    numbers: tuple[int, ...] = ()
    capital: bool = False


NONE = Token("", 0, 0, "none")


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text. What holds digits but is no date or number is one token of the kind ``junk``."""
    found: list[Token] = []
    for chunk in _CHUNK.finditer(text):
        raw, start = chunk[0], chunk.start()
        if raw.isalpha():
            found.append(Token(raw.lower(), start, start + len(raw), "word", (), raw[0].isupper()))
        elif _DIGIT.search(raw) is None:
            found.extend(_words(raw, start))
        elif len(raw) > _MAX_DATE_CHARACTERS:
            found.append(Token("", start, start + len(raw), "junk"))
        elif raw.isascii() or _FOREIGN.search(raw) is None:
            found.extend(_numeric(raw, start))
        else:
            found.extend(_embedded(raw, start))
    return found


_CHUNK = LazyPattern(r"\d{4}\s?[年년]\s?\d\d?\s?[月월](?:\s?\d\d?\s?[日일])?[^\s—…]*|[^\s—…]+")
_MAX_DATE_CHARACTERS = 200  # a longer run without a space holds no date that anyone would ask by
_DIGIT = LazyPattern(r"\d")
_FOREIGN = LazyPattern(r"[^\x00-\x7f\W\d_]")
_WORD = LazyPattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\s\w]")
_GLUED = LazyPattern(r"[_@\\]|://|\w\.\w")
_PEEL = LazyPattern(r"""([(\[{"“„«¿~]*)(.*?)((?:['’]s)?[)\]}"”»'’.,;:!?]*)""", re.DOTALL)
_YEAR = r"(?:1[89]|20|21)\d\d"
_MONTH = lexicon.any_of({month[:3] for month in MONTHS}) + "[a-z]*"
_FORMS = LazyPattern(
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
_EMBEDDED = LazyPattern(
    rf"(?P<cjk>{_YEAR}\s?[年년]\s?\d\d?\s?[月월](?:\s?\d\d?\s?[日일])?)"
    rf"|(?<![0-9A-Za-z.\-/])(?:(?P<iso>{_YEAR}-\d\d?-\d\d?)|(?P<ymd>{_YEAR}/\d\d?/\d\d?))(?![0-9A-Za-z\-/]|\.\d)"
)
_INTEGER = LazyPattern(r"\d+")
_PIECE = LazyPattern(r"['’]?\d+s?|[^\W\d_]+|.")


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
    digits = text.strip("Tt").replace(":", "")
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


Direction = Literal["past", "future", "either", "stated"]


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
        if 0 <= at <= len(self.tokens) - count:
            return tuple([token.text for token in self.tokens[at : at + count]])
        return tuple(self.word(place) for place in range(at, at + count))

    def place(self, begin: int, end: int) -> tuple[int, int]:
        """Return where in the text the tokens from ``begin`` up to ``end`` are."""
        return self.tokens[begin].start, self.tokens[end - 1].end

    def skip(self, at: int, *texts: str) -> int:
        """Return the place behind the token if it is one of these, else the place."""
        return at + 1 if self.word(at) in texts else at

    def is_specified(self, at: int) -> bool:
        """Return True if the word before a name, or "before last" behind it, tells which one of several times is meant."""
        before = self.word(at - 1)
        named = before in TELLING or (before == "-" and self.word(at - 2) in THIRDS)
        return named or self.words(at + 1, 2) == ("before", "last")

    def name_may_end(self, at: int) -> bool:
        """Return True if a name may end before this place: nothing there makes a longer name of it."""
        token = self.token(at)
        return token.kind in {"none", "mark"} or token.text in NOT_NOUNS
