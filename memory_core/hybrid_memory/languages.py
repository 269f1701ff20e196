"""Which language a text is in, as far as its function words tell. Pure; no model, no list of ordinary words."""

from __future__ import annotations

import re
from collections.abc import Mapping


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    language: word_set(words)
    for language, words in {
        "english": "the of and to in is was for that with on at by from are were be has have had it its this not but or an as he she "
        "his her they we you your our my will would can which who what when where how do does did been there their i a",
        "german": "der die das und ist nicht ein eine einen einem einer mit für auf zu im den dem des ich wir sie er es hat haben "
        "war sind bei von vom zum zur am als auch noch nur wie was wer wo wann aber oder wenn dass über nach aus um bis kein keine "
        "mein meine sein seine ihr ihre wird werden kann muss will soll an in",
    }.items()
}
"""Some of the most frequent words of each language, in lower case."""

_LEAST_WORDS = 2  # function words that a text must have before it counts as of another language than English
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """Return the language of a text by its Snowball name; ``english`` where nothing tells otherwise."""
    words = [word.casefold() for word in _WORD.findall(text[:_LOOKED_AT])]
    found = {language: sum(word in known for word in words) for language, known in FUNCTION_WORDS.items()}
    best = max(found, key=found.__getitem__)
    return best if found[best] >= _LEAST_WORDS and found[best] > found["english"] else "english"


_LOOKED_AT = 1_000  # characters; more tell no more
