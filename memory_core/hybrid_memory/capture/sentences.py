"""Lines of prose to sentences as they are matched: in small letters, without fillers in front and requests behind. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

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
        if not _STUTTERS.isdisjoint(sentence.words):
            sentence = sentence_of(_STUTTER.sub("", raw), asks=sentence.asks)
        yield sentence


def without_fillers(sentence: Sentence) -> Sentence:
    """Return a sentence without what people begin with: "ok so um", "btw", "ach übrigens"."""
    found = FILLERS.match(sentence.low)
    return sentence.behind(found.end()) if found is not None and found.end() else sentence


_WORD = LazyPattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_DENSE = LazyPattern("[\u3040-\u30ff\u3400-\u9fff]")
_STUTTERS = frozenset({"uh", "um", "uhm", "umm", "erm", "hmm", "ähm", "äh", "euh"})
# "um" and "er" are words of other languages.
_STUTTER = LazyPattern(
    r"\b(i|we|the|my|you|so|and|that) (?:uh|um+|uhm|erm|hmm),* (?=\1\b)|(?<=\bi )um+,* "
    r"|(?<=\band )um+,* |(?<=\bso )um+,* |\bum,\s*"
    r"|\b(?:uh|uhm|umm+|erm|hmm|ähm|äh|euh)\b[,.]*\s*",
    re.IGNORECASE,
)
_END = LazyPattern(r"[.!?…]+[\"')\]]*(?=\s|$)|[。！？]+|;(?=\s)")
_NO_END = LazyPattern(
    r"(?:(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|no|nr|vs|approx|ca|bzw|usw|etc|inc|jr|sr|e\.g|i\.e|z\.b|d\.h|p\.s|sra?|sres"
    r"|mme|m|a\.m|p\.m|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-z])|(?:^|\s)\d{1,2})$",
    2,
)
_COUNTED = LazyPattern(
    r"(?i)\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|is|i am|i'm|are|turn(?:s|ed)?|aged?|to|at|than|by|room|chapter|step) \d{1,2}$"
)
FILLERS = LazyPattern(
    r"(?:(?:ok(?:ay)?|k|so+|well|u+h+m*|um+(?=,|\s+(?:i|we|so|yeah|the|my|ok|and|no|can)\b)|er+m+"
    r"|ah+|oh+|hm+|yeah|yep|yes|hey|hi|hello|btw"
    r"|by the way|also|and|but|plus|just|then|anyways?"
    r"|alright|all right|right|honestly|basically|you know|i mean|like|look|listen|for context"
    r"|quick note|one more thing|first(?: of all)?"
    r"|thanks|thank you|thx|ty|great|cool|perfect|sure|nice|good|fine|lol|ha(?:ha)+|ps|p\.s\.?"
    r"|in fact|of course|ah right|oh right|see"
    r"|again|quick thing|small thing|additionally|besides|finally|lastly|second(?:ly)?"
    r"|third(?:ly)?|today|because|since|cause|cuz|as"
    r"|also|übrigens|ach|na ja|naja|ja|gut|achtung|und|aber|hallo|danke|super|prima|genau|ok dann"
    r"|dann|außerdem|alors|bon|ben|euh|au fait"
    r"|et|mais|merci|oui|salut|bonjour|du coup|d'ailleurs|en fait|donc|bueno|pues|vale|por cierto"
    r"|y|e|pero|gracias|sí|hola|además|entonces"
    r"|bom|então|olha|aliás|a propósito|por sinal|mas|obrigad[oa]|sim|oi|olá|também)\b[\s,:.!…–—-]*"
    r"|(?:对了|那个|嗯+|哦|好的|好|另外|还有|顺便说一下|那么|谢谢|そういえば|えっと|あの|ちなみに|はい|あと|それと)[，,、。:：\s]*"
    r"|[,:–—\s.…-]+)*"
)


def leans(low: str) -> bool:
    """Return True if a sentence means something only behind the one before: its subject is "he", "it", "both", its place "there"."""
    return _LEANS.match(low) is not None or _LEANS_AT_END.search(low) is not None


_LEANS = LazyPattern(
    r"(?:(?:and|but|so|also|plus|then|und|aber|et|mais|y|pero|e|mas)[, ]+)?(?:he|she|he's|she's|they|they're|him|her|his|their"
    r"|it|it's|its|that|that's|both|neither|either|the (?:other|older|younger|eldest"
    r"|oldest|youngest|latter|former|first|second)(?: one)?|er|sie|ihre?|ihr|beide|dort|der andere|il|elle|ils|elles|son|sa|ses"
    r"|leur|c'est|elle s'appelle|él|ella|ellos|ellas|su|sus|ele|ela|eles|elas|dele|dela"
    r"|lui|lei|loro|hij|zij|ze|zijn|haar)\b(?! (?:rain|snow)\w*)|(?:他|她|它|他们|她们|彼|彼女|それ|その|那|这)"
    r"|(?:runs?|lives?|works?|lies|starts?|ends?|costs?|loves?|hates?|likes?|plays?|goes|comes|is|was|has|got|turns?|turned"
    r"|called|named)\b"
)
"""A subject that is somebody or something named before, or none at all."""
_LEANS_AT_END = LazyPattern(r"\w (?:there|dort|là-bas|allí|lá)(?: now| too)?$")
"""A place that was named before: "my sister lives there"."""
