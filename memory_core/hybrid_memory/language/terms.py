"""Terms: what a store knows of a word is 32 bits that only the store's own secret key leads to.

A word has a hash of 64 bits, the same everywhere (`text.hash_of_word`). A store folds it to 32 bits by a multiplication
with its odd key, of which the upper half stays: multiply-shift (Dietzfelbinger, Hagerup, Katajainen and Penttonen, "A Reliable
Randomized Algorithm for the Closest-Pair Problem", 1997). For any two hashes chosen without the key, at most two of 2^32 keys
give them the same term. So nobody who writes texts can make up words that are found in place of others. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hybrid_memory.language.languages import ENGLISH
from hybrid_memory.language.text import asks_something, hash_in, hash_of_word, spelled_words, word_hashes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUESTION_TERM = 1_684_325_040
"""The term that says that a text asks something, in every store; it is not a word and scores nothing."""

KEY_BITS = 64
_MASK = (1 << KEY_BITS) - 1
_KEPT_BITS = 32
_SIGN = 1 << (_KEPT_BITS - 1)


class SpelledTerm(NamedTuple):
    """A word of a text as it is spelled: folded, and ``marked``, with its accents; and its term."""

    spelling: str
    marked: str
    term: int


class TermHasher:
    """Makes the terms of one store: signed integers of 32 bits. Immutable; equal to itself alone, and its key is shown nowhere.

    ``key`` has `KEY_BITS` random bits; the last is taken as set.
    """

    def __init__(self, key: int) -> None:
        self._key = (key | 1) & _MASK

    def fold(self, word_hash: int) -> int:
        """Return the term of the hash of a word."""
        return ((((word_hash * self._key) & _MASK) >> _KEPT_BITS) ^ _SIGN) - _SIGN

    def fold_all(self, word_hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the terms of an array of hashes, each as `fold` does."""
        import numpy as np

        folded = (word_hashes * np.uint64(self._key)) >> np.uint64(_KEPT_BITS)
        return folded.astype(np.uint32).view(np.int32)

    def terms(self, text: str, language: str = ENGLISH) -> tuple[int, ...]:
        """Return the terms of `hybrid_memory.language.text.word_hashes`; `QUESTION_TERM` follows them if the text asks something."""
        found = tuple(map(self.fold, word_hashes(text, language)))
        return (*found, QUESTION_TERM) if asks_something(text) else found

    def spelled_terms(self, text: str, language: str = ENGLISH) -> list[SpelledTerm]:
        """Return each of the words of a text, in order, as it is spelled, with its term in the language."""
        return [SpelledTerm(*one, self.term_in(language, one[1])) for one in spelled_words(text, language)]

    def term_in(self, language: str, marked: str) -> int:
        """Return the term of a word, in lower case and with its accents, in a language."""
        return self.fold(hash_in(language, marked))

    def compound_term(self, compound: str) -> int:
        """Return the term of a word of several parts, one of `hybrid_memory.language.text.compounds`."""
        return self.fold(hash_of_word(compound))
