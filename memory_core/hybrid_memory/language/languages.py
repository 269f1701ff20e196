"""Languages of texts: which one a text is in, its function words, and the stems of its words. Pure; no model, no dictionary.

A language goes by its Snowball name (https://snowballstem.org) if it has a stemmer there. Function words and letters tell it; where
they do not, a text counts as English, which costs little: a memory has the English stems of its words in any case
(`hybrid_memory.language.text.terms`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

ENGLISH = "english"
ENGLISH_CODE = "en"
"""The file of English in the lexicon."""
CHARACTER_LANGUAGES = ("chinese", "japanese", "korean")
"""The languages that are recognised by their characters and have no stemmer: to `language_of` they are English."""


@functools.cache
def function_words(language: str = ENGLISH) -> frozenset[str]:
    """Return the most frequent words of a language, in lower case: they tell it, and say nothing of what a text is about."""
    code = _codes().get(language)
    return lexicon.words("language.function_words", code) if code else frozenset()


@functools.cache
def all_function_words() -> frozenset[str]:
    """Return the function words of all languages."""
    return lexicon.words("language.function_words")


@functools.cache
def languages() -> tuple[str, ...]:
    """Return the languages other than English that `language_of` tells apart."""
    return tuple(sorted({*_codes()} - {ENGLISH, *CHARACTER_LANGUAGES}))


@functools.cache
def letter_codes() -> tuple[str, ...]:
    """Return the codes in the lexicon of languages with letters, but English."""
    return tuple(code for name, code in _codes().items() if name not in (ENGLISH, *CHARACTER_LANGUAGES))


@functools.cache
def character_codes() -> tuple[str, ...]:
    """Return the codes in the lexicon of `CHARACTER_LANGUAGES`."""
    return tuple(code for name, code in _codes().items() if name in CHARACTER_LANGUAGES)


@functools.cache
def _codes() -> Mapping[str, str]:
    return {name: code for code, name in lexicon.texts("language.name")}


_WORD = LazyPattern(r"(?<![\w./@])[^\W\d_]+(?!\w)")
_KANA = LazyPattern("[\u3041-\u30ff\uff66-\uff9f]")
_HANGUL = LazyPattern("[\u1100-\u11ff\uac00-\ud7a3]")
_CHARACTER = LazyPattern("[\u1100-\u11ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff66-\uff9f]")
_LOOKED_AT = 1_000  # characters; more tell no more
_ENOUGH = 1.0  # a sure function word, or two doubtful ones
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")  # what is left of "l'eau", but also a unit or a list's mark
_DOUBTFUL_WEIGHT = 0.5
_LETTER_WEIGHT = 0.5  # of a letter that English has not


@functools.cache
def _languages_of_words() -> Mapping[str, tuple[tuple[str, float], ...]]:
    # Words that are English ones as well, or occur in names and phrases ("El Paso", "de facto"): alone they tell nothing.
    doubtful = function_words() | lexicon.words("language.doubtful")
    found: dict[str, list[tuple[str, float]]] = {}
    for language in _codes():
        for word in function_words(language) - _CONSONANTS:
            weight = _DOUBTFUL_WEIGHT if language != ENGLISH and word in doubtful else 1.0
            found.setdefault(word, []).append((language, weight))
    return {word: tuple(languages) for word, languages in found.items()}


@functools.cache
def _languages_of_letters() -> Mapping[str, tuple[str, ...]]:
    letters = {
        language: dict(lexicon.texts("language.letters", code)).get(code, "") for language, code in _codes().items()
    }
    return {one: tuple(name for name in letters if one in letters[name]) for one in set("".join(letters.values()))}


@functools.cache
def _by_script() -> tuple[tuple[str, str, str], ...]:
    names = {code: name for name, code in _codes().items()}
    return tuple((names[code], script[0], script[1]) for code, script in lexicon.texts("language.script"))


def language_of(text: str) -> str:
    """Return the language of a text; ``english`` where nothing tells otherwise.

    Another one needs a function word that is no English word as well, or two, and more of them than of English ones; letters that
    English has not count half a word.
    """
    text = text[:_LOOKED_AT].lower()
    scores: dict[str, float] = {}
    of_words = _languages_of_words()
    # In their order, so that of two languages with as many words each process takes the same one.
    for word in dict.fromkeys(_WORD.findall(text)):
        for language, weight in of_words.get(word, ()):
            scores[language] = scores.get(language, 0.0) + weight
    if not text.isascii():
        letters = set(text)
        for language, first, last in _by_script():
            if sum(first <= letter <= last for letter in letters) * 2 > sum(map(str.isalpha, letters)):
                return language
        of_letters = _languages_of_letters()
        for letter in sorted(letters & of_letters.keys()):
            for language in of_letters[letter]:
                scores[language] = scores.get(language, 0.0) + _LETTER_WEIGHT
    best, english = (
        max(scores, key=lambda one: (scores[one], one == ENGLISH), default=ENGLISH),
        scores.get(ENGLISH, 0.0),
    )
    return best if scores.get(best, 0.0) >= _ENOUGH and scores[best] > english else ENGLISH


def character_language(text: str) -> str | None:
    """Return which of `CHARACTER_LANGUAGES` a text is in, None where it is in none.

    It is in one if it has more of their characters than words in other letters, an English function word counting three times:
    "我用 Postgres 和 Redis" is Chinese, "My name is 李小龙" English.
    """
    if text.isascii():
        return None
    text = text[:_LOOKED_AT].lower()
    characters = _CHARACTER.findall(text)
    if not characters:
        return None
    words = _WORD.findall(_CHARACTER.sub(" ", text))
    if len(characters) <= len(words) + 2 * sum(word in function_words() for word in words):
        return None
    # Japanese has Chinese characters too, and some Korean has.
    if _KANA.search(text):
        return "japanese"
    return "korean" if _HANGUL.search(text) else "chinese"


@functools.cache
def stemmer(language: str) -> Callable[[str], str]:
    """Return the function that gives the stem of a word in lower case, with its accents where the language has them.

    In German "ae", "oe" and "ue" are the umlauts that they are often written for. In a language without a stemmer each word is its stem.
    """
    from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]  # it has no stubs

    try:
        stem: Callable[[str], str] = SnowballStemmer(language).stem_word
    except ValueError:
        return str
    if language == "german":
        return lambda word: stem(_UMLAUT.sub(_as_umlaut, word))
    return stem


_UMLAUT = LazyPattern("(?<![aeq])[aou]e")


def _as_umlaut(found: re.Match[str]) -> str:
    return {"a": "ä", "o": "ö", "u": "ü"}[found[0][0]]
