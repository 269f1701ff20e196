"""Lines of prose to sentences as they are matched: in small letters, without fillers in front and requests behind. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH_CODE, character_codes, letter_codes
from hybrid_memory.language.lazy_pattern import LazyPattern

_LONGEST = 1_000  # characters; nobody says so much without an end
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "'"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it was written, and ``low``: the same in small letters with plain apostrophes, character for character.

    ``words`` are those of the whole sentence, also where this is a part of it: what has none of a rule's words need not be matched.
    ``dense`` says that it is written in Chinese or Japanese.
    """

    raw: str
    low: str
    asks: bool
    words: frozenset[str]
    dense: bool

    def behind(self, place: int) -> Sentence:
        """Return the rest from a place on."""
        return replace(self, raw=self.raw[place:], low=self.low[place:])

    def before(self, place: int) -> Sentence:
        """Return what comes before a place; whatever was asked, was asked behind it."""
        raw = self.raw[:place].rstrip(" ,;:-–—")
        return replace(self, raw=raw, low=self.low[: len(raw)], asks=False)


def sentence_of(raw: str, *, asks: bool = False) -> Sentence:
    """Return a sentence of what was written."""
    low = lowered(raw)
    return Sentence(raw, low, asks, frozenset(_WORD.findall(low)), not low.isascii() and _DENSE.search(low) is not None)


def lowered(text: str) -> str:
    """Return a text in small letters, each character at its place."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return "".join(low if len(low := one.lower()) == 1 else one for one in text).translate(_APOSTROPHES)


def sentences(line: str) -> Iterator[Sentence]:
    """Yield the sentences of a line. A dot behind a number or an abbreviation ends none."""
    start = 0
    for end in _ends(line):
        yield from _sentence(line[start : end.start()], end[0])
        start = end.end()
    yield from _sentence(line[start:], "")


def pieces_of(line: str) -> list[str]:
    """Return the sentences of a line as they were written, with their ends."""
    places = [0, *(end.end() for end in _ends(line)), len(line)]
    return [piece for start, end in pairwise(places) if (piece := line[start:end].strip())]


def _ends(line: str) -> Iterator[re.Match[str]]:
    start = 0
    for end in _END.finditer(line):
        last = end.end() >= len(line.rstrip())
        if not last and end[0][0] == "." and _is_no_end(line, max(start, end.start() - 16), end.start()):
            continue
        yield end
        start = end.end()


def _is_no_end(line: str, start: int, end: int) -> bool:
    """Return True for the dot of an abbreviation or of a German day; "August 12." and "she is 34." may end a sentence."""
    return _NO_END.search(line, start, end) is not None and _COUNTED.search(line, start, end) is None


def _sentence(raw: str, end: str) -> Iterator[Sentence]:
    raw = raw.strip(" \t\u3000*_#")
    if raw and len(raw) <= _LONGEST:
        sentence = sentence_of(raw, asks="?" in end or "？" in end)
        if not lexicon.words("sentences.stutters").isdisjoint(sentence.words):
            sentence = sentence_of(_STUTTER.sub("", raw), asks=sentence.asks)
        yield sentence


def without_fillers(sentence: Sentence) -> Sentence:
    """Return a sentence without what people begin with: "ok so um", "btw", "ach übrigens"."""
    found = FILLERS.match(sentence.low)
    return sentence.behind(found.end()) if found is not None and found.end() else sentence


_WORD = LazyPattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_DENSE = LazyPattern("[\u3040-\u30ff\u3400-\u9fff]")
# "um" and "er" are words of other languages.
_STUTTER = LazyPattern(
    r"\b(i|we|the|my|you|so|and|that) (?:uh|um+|uhm|erm|hmm),* (?=\1\b)|(?<=\bi )um+,* "
    r"|(?<=\band )um+,* |(?<=\bso )um+,* |\bum,\s*"
    r"|\b(?:uh|uhm|umm+|erm|hmm|ähm|äh|euh)\b[,.]*\s*",
    re.IGNORECASE,
)
_END = LazyPattern(r"[.!?…]+[\"')\]]*(?=\s|$)|[。！？]+|;(?=\s)")
_NO_END = LazyPattern(
    lambda: (
        rf"(?:(?:^|[\s(])(?:{lexicon.any_of(lexicon.words('sentences.no_end'))}"
        rf"|{lexicon.any_of(lexicon.places('calendar.short_months', 'en'))}|[a-z])|(?:^|\s)\d{{1,2}})$"
    ),
    re.IGNORECASE,
)
_COUNTED = LazyPattern(
    lambda: (
        rf"\b(?:{lexicon.any_of(lexicon.places('calendar.months', 'en'))}"
        rf"|{lexicon.any_of(lexicon.places('calendar.short_months', 'en'))}|{lexicon.pattern('sentences.counting')}) \d{{1,2}}$"
    ),
    re.IGNORECASE,
)
FILLERS = LazyPattern(
    lambda: (
        rf"(?:(?:{lexicon.pattern('sentences.fillers', ENGLISH_CODE, *letter_codes())})\b[\s,:.!…–—-]*"
        rf"|(?:{lexicon.pattern('sentences.fillers', *character_codes())})[，,、。:：\s]*|[,:–—\s.…-]+)*"
    )
)


def leans(low: str) -> bool:
    """Return True if a sentence means something only behind the one before: its subject is "he", "it", "both", its place "there"."""
    return _LEANS.match(low) is not None or _LEANS_AT_END.search(low) is not None


_LEANS = LazyPattern(
    lambda: (
        rf"(?:(?:and|but|so|also|plus|then|und|aber|et|mais|y|pero|e|mas)[, ]+)?"
        rf"(?:{lexicon.pattern('sentences.leaning', ENGLISH_CODE, *letter_codes())})\b(?! (?:rain|snow)\w*)"
        rf"|(?:{lexicon.pattern('sentences.leaning', *character_codes())})|(?:{lexicon.pattern('sentences.leaning_verbs')})\b"
    )
)
"""A subject that is somebody or something named before, or none at all."""
_LEANS_AT_END = LazyPattern(lambda: rf"\w {lexicon.any_of(lexicon.words('sentences.leaning_places'))}(?: now| too)?$")
"""A place that was named before: "my sister lives there"."""
