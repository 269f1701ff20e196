"""How a sentence is searched for the words that show its aspects; these are in the lexicon, as `aspects.fold` leaves them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybrid_memory.language import lexicon

if TYPE_CHECKING:
    from hybrid_memory.retrieval.aspects import Sentence

BEGINNING_LETTERS = 4  # by which beginnings of words are looked up; none is shorter


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of an aspect: whole words, beginnings of words, phrases between blanks, and character strings of dense scripts.

    Most sentences have none of its ``triggers`` (`_triggers_of`), and then no word, beginning or phrase.
    """

    words: frozenset[str]
    beginnings: tuple[str, ...]
    phrases: tuple[str, ...]
    characters: tuple[str, ...]
    triggers: frozenset[str]

    def first(self, sentence: Sentence) -> int | None:
        """Return the place of the first word that is a mark, 0 for a phrase or characters, None without any."""
        if not self.triggers.isdisjoint(sentence.triggers):
            place = self._first_word(sentence.words)
            place = self._phrase(sentence.flat) if place is None else place
            if place is not None:
                return place
        if sentence.dense and any(one in sentence.text for one in self.characters):
            return 0
        return None

    def _first_word(self, words: Sequence[str]) -> int | None:
        for place, word in enumerate(words):
            if word in self.words or (self.beginnings and word.startswith(self.beginnings)):
                return place
        return None

    def _phrase(self, flat: str) -> int | None:
        for phrase in self.phrases:
            at = flat.find(phrase)
            if at >= 0:
                return flat.count(" ", 0, at)
        return None

    def within(self, sentence: Sentence) -> bool:
        """Return True if a mark is in the sentence."""
        return self.first(sentence) is not None


@functools.cache
def marks(name: str) -> Marks:
    """Return the marks of an aspect, by the name of its table in the lexicon."""
    words, beginnings, characters = (
        lexicon.words(f"aspects.{name}.{part}") for part in ("words", "beginnings", "characters")
    )
    phrases = lexicon.phrases(f"aspects.{name}.phrases")
    triggers = {
        *words,
        *(beginning[:BEGINNING_LETTERS] for beginning in beginnings),
        *(" ".join(phrase.split()[:2]) for phrase in phrases),
    }
    return Marks(
        words,
        tuple(sorted(beginnings)),
        tuple(f" {phrase} " for phrase in phrases),
        tuple(sorted(characters)),
        frozenset(triggers),
    )


@functools.cache
def triggers() -> frozenset[str]:
    """Return the triggers of all marks; most sentences have none."""
    return frozenset().union(*(marks(name).triggers for name in lexicon.tables("aspects")))
