"""Times in other languages than English, made English for the grammar: "am 3. März", "24.12.", "le 3 mars", "12月24日", "gestern".

German, French, Spanish, Italian, Portuguese, Dutch and Swedish have days, months, weekdays, "yesterday", "tomorrow" and "last
week"; Danish, Norwegian, Finnish, Russian, Chinese, Japanese and Korean some of them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from hybrid_memory.language.languages import language_of

_ENGLISH_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTH_NAMES = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "jänner feber - - - - - - - - - -",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
)
FOREIGN_MONTHS: dict[str, int] = {
    name: number for names in _MONTH_NAMES for number, name in enumerate(names.split(), start=1) if name != "-"
}
"""Names of months, and where the ending changes in a date that form; from 1."""

_ENGLISH_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_WEEKDAY_NAMES = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "- - - - - sonnabend -",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira - -",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "måndag tisdag onsdag torsdag fredag lördag söndag",
)
_WEEKDAYS = {name: number for names in _WEEKDAY_NAMES for number, name in enumerate(names.split()) if name != "-"}

_PHRASES: dict[str, str] = {
    phrase: english
    for english, phrases in {
        "yesterday": "gestern, hier soir, hier matin, ayer, ieri, ontem, gisteren, igår, i går, eilen, вчера",
        "2 days ago": "vorgestern, avant-hier, anteayer, l'altro ieri, anteontem, eergisteren",
        "tomorrow": "demain, domani, amanhã, imorgon, i morgen, huomenna, завтра",
        "the day after tomorrow": "übermorgen, après-demain, pasado mañana, dopodomani, depois de amanhã, overmorgen",
        "last week": "letzte woche, letzter woche, vorige woche, la semaine dernière, la semana pasada, la settimana scorsa, a semana "
        "passada, na semana passada, semana passada, vorige week, förra veckan, sidste uge, forrige uke, на прошлой неделе",
        "this week": "diese woche, dieser woche, cette semaine, esta semana, questa settimana, nesta semana, deze week, denna vecka",
        "next week": "nächste woche, nächster woche, kommende woche, la semaine prochaine, la próxima semana, la semana que viene, "
        "la prossima settimana, la settimana prossima, na próxima semana, próxima semana, volgende week, nästa vecka, næste uge, neste "
        "uke",
        "last month": "letzten monat, vorigen monat, le mois dernier, el mes pasado, il mese scorso, o mês passado, no mês passado, "
        "vorige maand, förra månaden",
        "next month": "nächsten monat, le mois prochain, el próximo mes, il prossimo mese, il mese prossimo, o próximo mês, no próximo "
        "mês, volgende maand, nästa månad",
        "last year": "letztes jahr, voriges jahr, l'année dernière, l'an dernier, el año pasado, l'anno scorso, o ano passado, vorig "
        "jaar, förra året",
    }.items()
    for phrase in phrases.split(", ")
}
# Words that another language has with another sense: "hier" is "here" in German. Behind the words in the pattern they mean a morning.
_OF_ONE_LANGUAGE = {
    "french": (re.compile(r"\bhier\b"), "yesterday"),
    "german": (
        re.compile(r"(?<!am )(?<!jeden )(?<!guten )(?<!heute )(?<!diesen )\bmorgen\b|(?:^|(?<=[.!?] ))Morgen\b"),
        "tomorrow",
    ),
    "dutch": (re.compile(r"(?<!goede )(?<!elke )\bmorgen\b"), "tomorrow"),
    "spanish": (re.compile(r"(?<!la )(?<!esta )(?<!cada )\bmañana\b"), "tomorrow"),
}
_BOUND_WORDS = frozenset(["hier", "morgen", "mañana"])
_DENSE_PHRASES = {
    "昨日": "yesterday",
    "昨天": "yesterday",
    "어제": "yesterday",
    "明日": "tomorrow",
    "明天": "tomorrow",
    "내일": "tomorrow",
    "先週": "last week",
    "上周": "last week",
    "上週": "last week",
    "지난주": "last week",
    "来週": "next week",
    "下周": "next week",
    "下週": "next week",
    "先月": "last month",
    "上个月": "last month",
    "来月": "next month",
    "下个月": "next month",
}

FOREIGN_WORDS: frozenset[str] = frozenset(
    (
        *(max(re.findall(r"[^\W\d_]+", phrase), key=len) for phrase in _PHRASES),
        *_BOUND_WORDS,
        "feira",
        *(name for name in _WEEKDAYS if "-" not in name),
    )
)
"""A text without any of these words names no day or week by a word of those languages."""


def in_english(text: str) -> str:
    """Return a text in which times of other languages are English; everything else stays, but not at its place."""
    if not text.isascii():
        text = _CJK.sub(lambda found: f" {int(found[2])} {_month(int(found[1]))} ", text)
        text = _DENSE.sub(lambda found: f" {_DENSE_PHRASES[found[0]]} ", text)
    if _DIGITS_AND_POINT.search(text) is not None:
        text = _patterns().dotted.sub(
            lambda found: f"{found[1]}{int(found[2])} {_month(int(found[3]))} {found[4] or ''}", text
        )
    words = frozenset(_WORD.findall(text.lower()))
    if not words.isdisjoint(FOREIGN_MONTHS):
        text = _months_in_english(text, words)
    if words.isdisjoint(FOREIGN_WORDS):
        return text
    bound = None if words.isdisjoint(_BOUND_WORDS) else _OF_ONE_LANGUAGE.get(language_of(text))
    text = _patterns().phrase.sub(lambda found: _PHRASES[_key(found[0])], text)
    text = _patterns().weekday.sub(_weekday, text)
    return bound[0].sub(bound[1], text) if bound else text


def _months_in_english(text: str, words: frozenset[str]) -> str:
    if _DIGIT.search(text) is not None:
        text = _patterns().ranged.sub(lambda found: f"{found[1]}-{found[2]} {_named(found[3], found[4])}", text)
        text = _patterns().named.sub(_day_of_month, text)
    if not words.isdisjoint(_MONTH_LEADS):
        text = _patterns().month.sub(lambda found: f"{_MONTH_LEADS[_key(found[1])]} {_named(found[2], found[3])}", text)
    return text


def _key(found: str) -> str:
    """Return what a pattern has found as it is in the tables: patterns that ignore case take "ſ", "ı" and "İ" for "s" and "i"."""
    return found.casefold().replace("ı", "i").replace("\u0307", "")


def _weekday(found: re.Match[str]) -> str:
    which = (found["before"] or found["behind"] or "").lower()
    name = _ENGLISH_WEEKDAYS[_WEEKDAYS[_key(found["name"])]]
    if which in _EVERY:
        return "every " + name
    # The grammar takes a word behind a weekday for a part of a longer name, unless it knows it.
    comma = "," if _WORD_FOLLOWS.match(found.string, found.end()) else ""
    return f"{'next' if which in _NEXT else 'last' if which in _LAST else 'on'} {name}{comma}"


def _month(number: int) -> str:
    return _ENGLISH_MONTHS[number - 1]


def _day_of_month(found: re.Match[str]) -> str:
    """Return "3 March 2027"; what is English already, as "3 April, 2027", stays."""
    english = f"{found[1]} {_named(found[2], found[3])}"
    return found[0] if english.lower() == " ".join(found[0].lower().split()) else english


def _named(name: str, year: str | None) -> str:
    return f"{_month(FOREIGN_MONTHS[_key(name)])} {year or ''}".rstrip()


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


_DAY = r"(?<![\d.,/-])([0-3]?\d)"
_MONTH = _any_of(FOREIGN_MONTHS)
_DIGIT = re.compile(r"\d")
_DIGITS_AND_POINT = re.compile(r"\d\.\d")
_YEAR = r"(?:\s+(?:del?\s+)?((?:19|20)\d\d))?\b"
_MONTH_LEADS = {"im": "in", "en": "in", "em": "in", "nel": "in", "seit": "since", "ab": "since", "bis": "until"}
_CJK = re.compile(r"(?<![\d年년])(?<![年년] )(0?[1-9]|1[0-2])\s?[月월]\s?([0-2]?\d|3[01])\s?[日일号號]")
DENSE_PHRASES = _any_of(_DENSE_PHRASES)
"""The pattern of words for days and weeks in scripts without spaces."""
_DENSE = re.compile(DENSE_PHRASES)
_NEXT = frozenset(
    ["nächsten", "nächster", "kommenden", "prochain", "próximo", "prossimo", "próxima", "volgende", "nästa"]
)
_LAST = frozenset(["letzten", "letzter", "vorigen", "dernier", "pasado", "scorso", "passada", "vorige", "förra"])
_EVERY = frozenset(
    ["jeden", "zweiten", "chaque", "cada", "ogni", "elke", "varje", "le", "i", "los", "toda", "todo", "tous"]
)
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
    # Dotted: two numbers with points are a date behind a word that lets a date expect, or with two digits each at the beginning of a line.
    return _Patterns(
        named=re.compile(rf"{_DAY}(?:\.|er|º|°)?\s+(?:de\s+|d['’])?({_MONTH})\b{_YEAR}", re.IGNORECASE),
        ranged=re.compile(
            rf"{_DAY}\.?\s*(?:-|–|bis|au|al|a|tot|til|till|до)\s*(?:zum\s+)?([0-3]?\d)\.?\s+(?:de\s+)?({_MONTH})\b{_YEAR}",
            re.IGNORECASE,
        ),
        month=re.compile(rf"\b({_any_of(_MONTH_LEADS)})\s+({_MONTH})\b{_YEAR}", re.IGNORECASE),
        dotted=re.compile(
            r"((?:\b(?:am|vom|bis|zum|ab|den|seit|dem|der|le|du|au|il|al|dal|op|dne|od|do|und)\s+|[-–]\s?|(?:mo|di|mi|do|fr|sa|so)\.?,?\s+)"
            r"(?=\d)|^(?=\d\d\.\d\d\.)|\((?=\d\d?\.\d\d?\.[)\s]))([0-2]?\d|3[01])\.(0?[1-9]|1[0-2])\.((?:19|20)\d\d)?(?=$|[\s,;:)?!–-])",
            re.IGNORECASE | re.MULTILINE,
        ),
        phrase=re.compile(rf"\b(?:{_any_of(_PHRASES)})\b", re.IGNORECASE),
        weekday=re.compile(
            rf"(?:\b(?:(?P<before>{_any_of(_NEXT | _LAST | _EVERY)})|am|el|op|på|il|na|no|den)\s+)?\b(?P<name>{_any_of(_WEEKDAYS)})\b"
            rf"(?:\s+(?P<behind>{_any_of(_NEXT | _LAST)})\b)?",
            re.IGNORECASE,
        ),
    )
