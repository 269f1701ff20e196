"""Days in other languages than English, made English for the grammar: "am 3. März", "24.12.", "le 3 mars", "12月24日", "gestern"."""

from __future__ import annotations

import re

from hybrid_memory.languages import language_of

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

_WORDS = {
    "german": "gestern=yesterday vorgestern=2_days_ago übermorgen=day_after_tomorrow montag=Monday dienstag=Tuesday mittwoch=Wednesday "
    "donnerstag=Thursday freitag=Friday samstag=Saturday sonnabend=Saturday sonntag=Sunday nächsten=next nächste=next letzten=last "
    "letzte=last kommenden=coming kommende=coming woche=week wochenende=weekend am=on bis=until seit=since ab=from",
}
FOREIGN_WORDS: dict[str, str] = {
    pair.partition("=")[0]: pair.partition("=")[2].replace("_", " ")
    for words in _WORDS.values()
    for pair in words.split()
    if not pair.startswith(("am=", "bis=", "seit=", "ab=", "nächste", "letzte", "kommende"))
}
"""Words that name a day or a week."""


def in_english(text: str) -> str:
    """Return a text in which days of other languages are English; everything else stays, but not at its place."""
    if not text.isascii():
        text = _CJK.sub(lambda found: f" {int(found[2])} {_month(int(found[1]))} ", text)
    if _DIGITS_AND_POINT.search(text) is not None:
        text = _DOTTED.sub(lambda found: f"{found[1]}{int(found[2])} {_month(int(found[3]))} {found[4] or ''}", text)
    words = frozenset(_WORD.findall(text.lower()))
    if not words.isdisjoint(FOREIGN_MONTHS):
        text = _RANGE.sub(lambda found: f"{found[1]}-{found[2]} {_named(found[3])} {found[4] or ''}", text)
        text = _NAMED.sub(lambda found: f"{found[1]} {_named(found[2])} {found[3] or ''}", text)
    if words.isdisjoint(FOREIGN_WORDS):
        return text
    translations = _TRANSLATIONS.get(language_of(text))
    if translations is None:
        return text
    return _WORD.sub(lambda found: translations.get(found[0].lower(), found[0]), text)


def _month(number: int) -> str:
    return _ENGLISH_MONTHS[number - 1]


def _named(name: str) -> str:
    return _month(FOREIGN_MONTHS[name.lower()])


_DAY = r"(?<![\d.,/-])([0-3]?\d)"
_MONTH = "|".join(sorted(FOREIGN_MONTHS, key=len, reverse=True))
_DIGITS_AND_POINT = re.compile(r"\d\.\d")
_YEAR = r"(?:\s+(?:del?\s+)?((?:19|20)\d\d))?\b"
_NAMED = re.compile(rf"{_DAY}(?:\.|er|º|°)?\s+(?:de\s+|d['’])?({_MONTH})\b{_YEAR}", re.IGNORECASE)
_RANGE = re.compile(
    rf"{_DAY}\.?\s*(?:-|–|bis|au|al|a|tot|til|till|до)\s*(?:zum\s+)?([0-3]?\d)\.?\s+(?:de\s+)?({_MONTH})\b{_YEAR}",
    re.IGNORECASE,
)
# Two numbers with points are a date behind a word that lets a date expect, or with two digits each at the beginning of a line.
_DOTTED = re.compile(
    r"((?:\b(?:am|vom|bis|zum|ab|den|seit|dem|der|le|du|au|il|al|dal|den|op|dne|od|do|und)\s+|[-–]\s?|(?:mo|di|mi|do|fr|sa|so)\.?,?\s+)"
    r"(?=\d)|^(?=\d\d\.\d\d\.)|\((?=\d\d?\.\d\d?\.[)\s]))([0-2]?\d|3[01])\.(0?[1-9]|1[0-2])\.((?:19|20)\d\d)?(?=$|[\s,;:)–-])",
    re.IGNORECASE | re.MULTILINE,
)
_CJK = re.compile(r"(?<![\d年년])(?<![年년] )(0?[1-9]|1[0-2])\s?[月월]\s?([0-2]?\d|3[01])\s?[日일号號]")
_WORD = re.compile(r"[^\W\d_]+")
_TRANSLATIONS: dict[str, dict[str, str]] = {
    language: {pair.partition("=")[0]: pair.partition("=")[2].replace("_", " ") for pair in words.split()}
    for language, words in _WORDS.items()
}
