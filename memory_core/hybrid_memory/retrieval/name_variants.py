"""Other ways in which a memory may write a name that a question writes: umlauts, nicknames, initials, digits joined or apart. Pure.

What is told here only keeps a claim from being made, so it may be wide: two names that begin alike count as one person's.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterator, Mapping

from hybrid_memory.embedding.vocabulary import row_of_piece
from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

MIN_SHORT = 3  # letters of a longer name with which a short one begins: Kate, Katharina
MIN_SHARED = 4  # letters with which two names of any form begin that may be one person's: Kathrin, Katharina
MIN_ABBREVIATED = 5  # letters of a word that is abbreviated by a number: k8s

_RUNS = LazyPattern(r"\d+|[^\W\d_]+")
_NUMERONYM = LazyPattern(r"[a-z]\d{1,2}[a-z]")
_UMLAUTS = (("ae", "a"), ("oe", "o"), ("ue", "u"))
_SHORT_ENDINGS = ("", "y", "i", "ie", "a", "e", "o")
_SAME_FIRST = {"c": "k", "k": "c", "f": "ph", "j": "y", "y": "j", "i": "y"}


def digits_apart(name: str) -> list[str]:
    """Return the runs of letters and digits of a folded name, without leading noughts: server, 01 and 1 for "server01" are two runs."""
    return _RUNS.findall(name)


def is_abbreviated(name: str) -> bool:
    """Return True for a word like "k8s" or "i18n", which stands for a longer one that nobody can tell from it."""
    return _NUMERONYM.fullmatch(name) is not None


def spellings_of_name(name: str, written: str) -> Iterator[str]:
    """Yield other spellings of a folded name, ``written`` so in the question: all of them are the same name for sure."""
    plain = name
    for double, single in _UMLAUTS:
        plain = plain.replace(double, single)
        if single in name:
            yield name.replace(single, double)
    yield plain
    if name.isalpha() and len(name) >= MIN_ABBREVIATED:
        yield f"{name[0]}{len(name) - 2}{name[-1]}"
    capitals = "".join(filter(str.isupper, written))
    if 1 < len(capitals) < len(written):
        yield capitals.lower()


def names_alike(name: str) -> tuple[str, ...]:
    """Return words that may be names of the same person: nicknames, short forms, and what begins with the same letters."""
    return _names_alike(name) if name.isalpha() and name.isascii() and len(name) >= MIN_SHORT else ()


@functools.lru_cache(256)
def _names_alike(name: str) -> tuple[str, ...]:
    beginnings = [name]
    if name[0] in _SAME_FIRST:
        beginnings.append(_SAME_FIRST[name[0]] + name[1:])
    found: dict[str, None] = {}
    for begins in beginnings:
        listed = words_beginning_with(begins[:MIN_SHORT])
        found |= dict.fromkeys(
            word for word in listed if word.startswith(begins[:MIN_SHARED]) or _is_short_for(begins, word)
        )
        found |= dict.fromkeys(_short_forms(begins))
    found |= dict.fromkeys(_nicknames().get(name, ()))
    found.pop(name, None)
    return tuple(found)


def _short_forms(name: str) -> Iterator[str]:
    """Yield the short forms that a name may have: "kat", "kath", "kathi", "katy"; "deb" and "debbie" of Deborah."""
    for at in range(MIN_SHORT, len(name) + 1):
        cut = name[:at]
        yield from (begins + ending for begins in (cut, cut + cut[-1]) for ending in _SHORT_ENDINGS)


def _is_short_for(name: str, word: str) -> bool:
    return name in _short_forms(word)


def words_beginning_with(letters: str) -> list[str]:
    """Return the words of the shipped vocabulary, a good part of which are names, that begin with some letters."""
    words = _sorted_vocabulary()
    return words[bisect.bisect_left(words, letters) : bisect.bisect_left(words, letters + "\uffff")]


@functools.cache
def _sorted_vocabulary() -> list[str]:
    return sorted(
        lexicon.words("names.long_names").union(
            piece for piece in row_of_piece() if piece.isalpha() and piece.isascii()
        )
    )


@functools.cache
def _nicknames() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in (frozenset(line.split()) for line in lexicon.phrases("names.nicknames")):
        for name in group:
            found[name] = found.get(name, frozenset()) | group
    return found
