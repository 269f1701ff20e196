"""The names that stand in memories: people, places, projects, files; how often each, and when. Pure.

What a single text leaves open is decided by all of them: a word that opens its sentence is a name if it is written as one
elsewhere, or if it is no common word and never stands there in small letters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.vocabulary import english_rank
from hybrid_memory.languages import FUNCTION_WORDS, word_set
from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.names import written_names
from hybrid_memory.overview.titled_names import titled_names
from hybrid_memory.retrieval.arrays import GrowableArray

Shares = Callable[[Sequence[str]], Sequence[float | None]]
"""Returns for some words in how many of the memories that hold them, and tell, they are names; None where none tells."""

BUCKETS = 24
"""The time from the first memory to the last is counted in so many equal parts."""
_MOST_NAMES_READ = 200  # of one memory; a pasted table has thousands
_LONGEST = 60  # characters
_USUALLY = 0.5
_COMMON = 9_000  # words of this rank and below are as good as never names where only their place gives them a capital
_SWALLOWED = 0.8  # a word that stands so often within one longer name is no name of its own
_ENDINGS = ("s", "es", "ed", "d", "ing", "ly")
_NEVER = frozenset().union(*FUNCTION_WORDS.values()) | word_set(
    "user users assistant let yep yeah hi hello hey thanks bye tv pm am"
)
_AROUND = LazyPattern(r"^[^\w]+|[^\w]+$")
_CONTRACTED = LazyPattern(r"['’](?:re|m|ll|ve|d|t|s)$", re.IGNORECASE)
_BRACKETS = LazyPattern(r"[【】「」『』《》〈〉（）()\[\]{}]")


class NameKind(StrEnum):
    """What a name is, as far as its writing tells: who speaks in memories; a word or words; a code, a file, a ticket."""

    SPEAKER = "speaker"
    NAME = "name"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Name:
    """A name: in how many memories it stands, when the first and the last of them came (in microseconds), and how many in each bucket."""

    name: str
    kind: NameKind
    count: int
    first: int
    last: int
    over_time: tuple[int, ...]


class NameTable:
    """Collects names text by text; not safe in several threads. A place is the number of a text, in the order of reading."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._spellings: list[Counter[str]] = []
        self._sure: list[int] = []
        self._speakers: set[int] = set()
        self._codes = GrowableArray(np.int32)
        self._places = GrowableArray(np.int32)
        self.texts = 0

    def read(self, content: str, speaker: str | None) -> None:
        """Add the names of the next text."""
        names = written_names(content, speaker)
        names |= dict.fromkeys(titled_names(content), True)
        for name, sure in list(names.items())[-_MOST_NAMES_READ:]:
            plain = _AROUND.sub("", name)
            if not _may_be_name(plain):
                continue
            code = self._code(plain)
            self._spellings[code][plain] += 1
            self._sure[code] += sure
            if speaker and name == " ".join(speaker.split()):
                self._speakers.add(code)
            self._codes.append(code)
            self._places.append(self.texts)
        self.texts += 1

    def listed(self, counts: NDArray[np.bool_], at: NDArray[np.int64], shares: Shares) -> list[Name]:
        """Return the names in the texts that count, the most frequent first, then the latest.

        ``counts`` and ``at`` (microseconds) have an element for each text.
        """
        codes, places = self._codes.values, self._places.values
        kept = counts[places]
        codes, moments = codes[kept], at[places[kept]]
        if not len(codes):
            return []
        size = len(self._spellings)
        number = np.bincount(codes, minlength=size)
        first, last = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
        np.minimum.at(first, codes, moments)
        np.maximum.at(last, codes, moments)
        begin, end = int(at[counts].min()), int(at[counts].max())
        bucket = ((moments - begin) * (BUCKETS / max(end - begin, 1))).astype(np.int64).clip(0, BUCKETS - 1)
        is_name = self._are_names(number, shares)
        found = np.flatnonzero(is_name)
        row_of = np.full(size, -1)
        row_of[found] = np.arange(len(found))
        listed = row_of[codes] >= 0
        spread = np.bincount(row_of[codes[listed]] * BUCKETS + bucket[listed], minlength=len(found) * BUCKETS)
        order = np.lexsort((-last[found], -number[found]))
        return [
            Name(
                self._written(int(found[row])),
                self._kind(int(found[row])),
                int(number[found[row]]),
                int(first[found[row]]),
                int(last[found[row]]),
                tuple(spread[row * BUCKETS : (row + 1) * BUCKETS].tolist()),
            )
            for row in order.tolist()
        ]

    def _code(self, name: str) -> int:
        folded = name.casefold()
        code = self._code_of.get(folded)
        if code is None:
            code = self._code_of[folded] = len(self._spellings)
            self._spellings.append(Counter())
            self._sure.append(0)
        return code

    def _written(self, code: int) -> str:
        spellings = self._spellings[code]
        return min(spellings, key=lambda one: (-spellings[one], one))

    def _kind(self, code: int) -> NameKind:
        if code in self._speakers:
            return NameKind.SPEAKER
        return NameKind.CODE if _is_code(self._written(code)) else NameKind.NAME

    def _are_names(self, number: NDArray[np.int64], shares: Shares) -> NDArray[np.bool_]:
        is_name = np.zeros(len(number), np.bool_)
        singles = [code for code in np.flatnonzero(number).tolist() if " " not in self._written(code)]
        words = [self._written(code) for code in singles]
        for code, word, share in zip(singles, words, shares(words), strict=True):
            is_name[code] = code in self._speakers or self._is_name(word, self._sure[code], int(number[code]), share)
        longer: list[tuple[int, list[int]]] = []
        for folded, code in self._code_of.items():
            if number[code] and " " in folded:
                parts = [self._code_of.get(part, -1) for part in folded.split()]
                is_name[code] = code in self._speakers or all(part >= 0 and is_name[part] for part in parts)
                if is_name[code]:
                    longer.append((code, parts))
        for code, parts in longer:
            for part in parts:
                if part >= 0 and part not in self._speakers and number[code] >= _SWALLOWED * number[part]:
                    is_name[part] = False
        return is_name

    def _is_name(self, word: str, sure: int, number: int, share: float | None) -> bool:
        if _is_code(word) or (not word.isascii() and not (word[0].isupper() or word[0].islower())):
            return sure > 0
        if sure:
            return share is None or share > _USUALLY
        return (share is None or share > _USUALLY) and number > 1 and not _is_common(word)


def _may_be_name(name: str) -> bool:
    """Return False for what is none however it is written: too long or short, a number, a common word, "you're", brackets inside."""
    if not 1 < len(name) <= _LONGEST or name.isdigit() or name.casefold() in _NEVER:
        return False
    return _CONTRACTED.search(name) is None and _BRACKETS.search(name) is None


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) or any(mark in word for mark in "_/.:@")


def _is_common(word: str) -> bool:
    low = word.casefold()
    forms = [low, *(low.removesuffix(ending) for ending in _ENDINGS if low.endswith(ending))]
    return any(english_rank(form) <= _COMMON for form in forms)


def others_named(
    texts: Iterable[tuple[str, str | None]], name: str, known: Callable[[str], bool]
) -> list[tuple[str, int]]:
    """Return the names that stand in some texts beside ``name``, and in how many, the most frequent first.

    ``known`` says whether a word of which a text leaves it open is a name.
    """
    asked = set(name.casefold().split())
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for content, speaker in texts:
        found = written_names(content, speaker) | dict.fromkeys(titled_names(content), True)
        together = {part for one in found if " " in one for part in one.split()}
        for one, sure in found.items():
            folded = one.casefold()
            if asked & set(folded.split()) or one in together or not _may_be_name(one):
                continue
            if sure or known(one):
                counts[folded] += 1
                spelled.setdefault(folded, one)
    return [(spelled[one], count) for one, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
