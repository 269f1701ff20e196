"""Which statements another one contains: "I live in Berlin" where "I live in Berlin, in Neukölln" comes in too. Pure."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from hybrid_memory.capture.sentences import lowered
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory_importers.otherwise_words import DENIES

_LONGEST = 2_000  # characters of a text that is looked at
_FEWEST_WORDS = 2
_NAMES = 2  # between two words of what is contained: "my wife (Hanna) is vegetarian"
_WORD = LazyPattern(r"[^\W_]+(?:['’][^\W_]+)*")
_UNLESS = LazyPattern(r"\b(?:if|unless|except)\b")

Key = TypeVar("Key", bound=Hashable)


class LongerForms(Generic[Key]):
    """Statements, each under a key, among which those are found that a longer text contains: their words in one run, but for names."""

    def __init__(self) -> None:
        self._by_start: dict[tuple[int, int], list[tuple[Key, array[int], int]]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no statement that could be found."""
        return not self._by_start

    def add(self, key: Key, text: str) -> None:
        """Take a statement."""
        words = _words(text)
        if len(words) >= _FEWEST_WORDS and len(text) <= _LONGEST:
            low = [word >> 1 for word in words]
            self._by_start.setdefault((low[0], low[1]), []).append((key, array("L", low), _denials(text)))

    def contained_in(self, text: str) -> Iterator[Key]:
        """Yield the keys of the statements that a text contains and goes beyond, if it denies nothing that they do not."""
        words = _words(text[:_LONGEST])
        low = [word >> 1 for word in words]
        for at in range(len(words) - 1):
            for key, said, denials in self._by_start.get((low[at], low[at + 1]), ()):
                if len(said) < len(words) and _follows(words, at, said) and denials == _denials(text):
                    yield key


def _words(text: str) -> list[int]:
    """Return a number for each word; the last bit says that it is written with a capital."""
    return [
        zlib.crc32(word.casefold().encode("utf-8", "replace")) << 1 | word[0].isupper() for word in _WORD.findall(text)
    ]


def _denials(text: str) -> int:
    low = lowered(text)
    return sum(1 for form in (DENIES, _UNLESS) for _ in form.finditer(low))


def _follows(words: list[int], at: int, said: array[int]) -> bool:
    for word in said:
        skipped = 0
        while at < len(words) and words[at] >> 1 != word:
            if skipped == _NAMES or not words[at] & 1:
                return False
            at, skipped = at + 1, skipped + 1
        if at == len(words):
            return False
        at += 1
    return True
