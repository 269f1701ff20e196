"""When a text says something, and when the arguments of a call are those that a test expects. Pure."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hybrid_memory.languages import ENGLISH
from hybrid_memory.text import has_unspaced_script, spellings, stem_in

Wanted: TypeAlias = "str | re.Pattern[str]"
"""What a text is to say: words, or a regular expression that is to be found in it."""

SENTENCES = frozenset(("content", "query", "focus", "text"))
"""Arguments that hold sentences: they are to say the words of a test, where every other argument is to be equal."""

_PLAIN = re.compile(r"""[\w\s.,;:!?'’"“”()/-]*""")
"""What words are made of, with what separates them; another sign ("C++", "a@b.com") tells words apart and is to be there itself."""


def says(text: str, wanted: Wanted) -> bool:
    """Return whether the words of ``wanted`` stand in a text one after the other.

    Case, accents, punctuation and English endings do not count ("peanut" is in "Peanuts!"); half a word is no word ("rat" is not in
    "separate"). Signs that tell words apart ("C++") and scripts without spaces are looked for as they are written.
    """
    if isinstance(wanted, re.Pattern):
        return wanted.search(text) is not None
    if not wanted.strip():
        raise ValueError("say which words are looked for: an empty text is in every text")
    looked_for = [] if not _PLAIN.fullmatch(wanted) or has_unspaced_script(wanted) else spellings(wanted)
    if not looked_for:
        return _folded(wanted) in _folded(text)
    found, stems, width = spellings(text), _stems(looked_for), len(looked_for)
    return any(
        found[at : at + width] == looked_for or _stems(found[at : at + width]) == stems
        for at in range(len(found) - width + 1)
    )


def fits(given: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Return whether the arguments of a call are those that are expected; arguments that nobody mentions may be anything.

    An expected value is one of: ``...`` (given, whatever it is), None (not given, or null), a regular expression (found in the text), a
    function (called with the value), a mapping (its names alone are compared), a sequence (each in its place), and for `SENTENCES` words
    that the text `says`. Everything else is to be equal.
    """
    return all(_fits(name, given.get(name), value) for name, value in expected.items())


def _fits(name: str, given: Any, expected: Any) -> bool:
    if expected is ...:
        return given is not None
    if isinstance(expected, re.Pattern) or (name in SENTENCES and isinstance(expected, str) and expected.strip()):
        return isinstance(given, str) and (given == expected or says(given, expected))
    if isinstance(expected, Mapping):
        return isinstance(given, Mapping) and fits(given, expected)
    if isinstance(expected, list | tuple):
        return _are_all(name, given, expected)
    if inspect.isroutine(expected):
        return given is not None and bool(expected(given))
    return bool(given == expected)


def _are_all(name: str, given: Any, expected: Sequence[Any]) -> bool:
    if not isinstance(given, list | tuple) or len(given) != len(expected):
        return False
    return all(_fits(name, one, other) for one, other in zip(given, expected, strict=True))


def _stems(words: Sequence[str]) -> list[str]:
    return [stem_in(ENGLISH, word) for word in words]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
