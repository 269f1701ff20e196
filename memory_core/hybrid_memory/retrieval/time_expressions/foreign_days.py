"""Times in other languages than English, made English for the grammar: "am 3. März", "24.12.", "le 3 mars", "12月24日", "gestern"."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import character_codes, language_of, letter_codes
from hybrid_memory.language.lazy_pattern import LazyPattern


@functools.cache
def foreign_months() -> Mapping[str, int]:
    """Return the numbers of months by their names, and where the ending changes in a date by that form; from 1."""
    return lexicon.places("calendar.months", *letter_codes(), first=1)


@functools.cache
def foreign_words() -> frozenset[str]:
    """Return words of which one is in each text that names a day or week by words of other languages."""
    longest = (max(_WORD.findall(phrase), key=len) for phrase in _phrases())
    days = (part for name in _weekdays() for part in name.split("-")[-1:])
    return frozenset((*longest, *lexicon.words("time.ambiguous_words"), *days))


@functools.cache
def dense_phrases() -> str:
    """Return the expression for days and weeks in scripts without spaces."""
    return lexicon.any_of(_dense())


@functools.cache
def _phrases() -> Mapping[str, str]:
    return lexicon.meanings("time.phrases", *letter_codes())


@functools.cache
def _dense() -> Mapping[str, str]:
    return lexicon.meanings("time.phrases", *character_codes())


@functools.cache
def _weekdays() -> Mapping[str, int]:
    return lexicon.places("calendar.weekdays", *letter_codes())


@functools.cache
def _english(key: str) -> tuple[str, ...]:
    return tuple(name.capitalize() for name in lexicon.places(f"calendar.{key}", "en"))


@functools.cache
def _ambiguous() -> Mapping[str, tuple[re.Pattern[str], str]]:
    """Return by their languages words that another has with another sense: "hier" is "here" in German.

    Behind the words in the expression they mean a morning.
    """
    names = dict(lexicon.texts("language.name"))
    found = ((names[code], text.partition(": ")) for code, text in lexicon.texts("time.ambiguous"))
    return {name: (re.compile(form), meaning) for name, (meaning, _, form) in found}


def in_english(text: str) -> str:
    """Return a text in which times of other languages are English; everything else stays, but not at its place."""
    if not text.isascii():
        text = _CJK.sub(lambda found: f" {int(found[2])} {_month(int(found[1]))} ", text)
        text = _DENSE.sub(lambda found: f" {_dense()[found[0]]} ", text)
    if _DIGITS_AND_POINT.search(text) is not None:
        text = _patterns().dotted.sub(
            lambda found: f"{found[1]}{int(found[2])} {_month(int(found[3]))} {found[4] or ''}", text
        )
    words = frozenset(_WORD.findall(text.lower()))
    if not words.isdisjoint(foreign_months()):
        text = _months_in_english(text, words)
    if words.isdisjoint(foreign_words()):
        return text
    bound = None if words.isdisjoint(lexicon.words("time.ambiguous_words")) else _ambiguous().get(language_of(text))
    text = _patterns().phrase.sub(lambda found: _phrases()[_key(found[0])], text)
    text = _patterns().weekday.sub(_weekday, text)
    return bound[0].sub(bound[1], text) if bound else text


def _months_in_english(text: str, words: frozenset[str]) -> str:
    if _DIGIT.search(text) is not None:
        text = _patterns().ranged.sub(lambda found: f"{found[1]}-{found[2]} {_named(found[3], found[4])}", text)
        text = _patterns().named.sub(_day_of_month, text)
    if not words.isdisjoint(_before_months()):
        text = _patterns().month.sub(
            lambda found: f"{_before_months()[_key(found[1])]} {_named(found[2], found[3])}", text
        )
    return text


def _key(found: str) -> str:
    """Return what a pattern has found as it is in the tables: patterns that ignore case take "ſ", "ı" and "İ" for "s" and "i"."""
    return found.casefold().replace("ı", "i").replace("\u0307", "")


def _weekday(found: re.Match[str]) -> str:
    which = (found["before"] or found["behind"] or "").lower()
    name = _english("weekdays")[_weekdays()[_key(found["name"])]]
    if which in lexicon.words("time.every"):
        return "every " + name
    # The grammar takes a word behind a weekday for a part of a longer name, unless it knows it.
    comma = "," if _WORD_FOLLOWS.match(found.string, found.end()) else ""
    lead = "next" if which in lexicon.words("time.next") else "last" if which in lexicon.words("time.last") else "on"
    return f"{lead} {name}{comma}"


def _month(number: int) -> str:
    return _english("months")[number - 1]


def _day_of_month(found: re.Match[str]) -> str:
    """Return "3 March 2027"; what is English already, as "3 April, 2027", stays."""
    english = f"{found[1]} {_named(found[2], found[3])}"
    return found[0] if english.lower() == " ".join(found[0].lower().split()) else english


def _named(name: str, year: str | None) -> str:
    return f"{_month(foreign_months()[_key(name)])} {year or ''}".rstrip()


_DAY = r"(?<![\d.,/-])([0-3]?\d)"
_DIGIT = re.compile(r"\d")
_DIGITS_AND_POINT = re.compile(r"\d\.\d")
_YEAR = r"(?:\s+(?:del?\s+)?((?:19|20)\d\d))?\b"
_DENSE = LazyPattern(dense_phrases)
_CJK = re.compile(r"(?<![\d年년])(?<![年년] )(0?[1-9]|1[0-2])\s?[月월]\s?([0-2]?\d|3[01])\s?[日일号號]")
_WORD_FOLLOWS = re.compile(r"\s+[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")


class _Patterns(NamedTuple):
    """What is looked for; made at first need, since it takes milliseconds and most stores have no such text."""

    named: re.Pattern[str]
    ranged: re.Pattern[str]
    month: re.Pattern[str]
    dotted: re.Pattern[str]
    phrase: re.Pattern[str]
    weekday: re.Pattern[str]


@functools.cache
def _patterns() -> _Patterns:
    month = lexicon.any_of(foreign_months())
    of_week = {key: lexicon.any_of(lexicon.words(f"time.{key}")) for key in ("next", "last", "every")}
    before_day = lexicon.any_of(lexicon.words("time.before_date") | {"dne", "od", "do"})
    which = f"{of_week['next']}|{of_week['last']}"
    # Dotted: two numbers with points are a date behind a word that lets a date expect, or with two digits each at the beginning of a line.
    return _Patterns(
        named=re.compile(rf"{_DAY}(?:\.|er|º|°)?\s+(?:de\s+|d['’])?({month})\b{_YEAR}", re.IGNORECASE),
        ranged=re.compile(
            rf"{_DAY}\.?\s*(?:-|–|{lexicon.any_of(lexicon.words('time.up_to'))})\s*(?:zum\s+)?([0-3]?\d)\.?\s+(?:de\s+)?({month})\b{_YEAR}",
            re.IGNORECASE,
        ),
        month=re.compile(rf"\b({lexicon.any_of(_before_months())})\s+({month})\b{_YEAR}", re.IGNORECASE),
        dotted=re.compile(
            rf"((?:\b{before_day}\s+|[-–]\s?|{lexicon.any_of(lexicon.places('calendar.short_weekdays', 'de'))}\.?,?\s+)"
            r"(?=\d)|^(?=\d\d\.\d\d\.)|\((?=\d\d?\.\d\d?\.[)\s]))([0-2]?\d|3[01])\.(0?[1-9]|1[0-2])\.((?:19|20)\d\d)?(?=$|[\s,;:)?!–-])",
            re.IGNORECASE | re.MULTILINE,
        ),
        phrase=re.compile(rf"\b{lexicon.any_of(_phrases())}\b", re.IGNORECASE),
        weekday=re.compile(
            rf"(?:\b(?:(?P<before>{which}|{of_week['every']})|{lexicon.any_of(lexicon.words('time.on'))})\s+)?"
            rf"\b(?P<name>{lexicon.any_of(_weekdays())})\b(?:\s+(?P<behind>{which})\b)?",
            re.IGNORECASE,
        ),
    )


@functools.cache
def _before_months() -> Mapping[str, str]:
    return lexicon.meanings("time.before_month")
