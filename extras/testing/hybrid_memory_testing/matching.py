"""When a text says something, and when the arguments of a call are those that a test expects. Pure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hybrid_memory.language.text import holds_words

Wanted: TypeAlias = "str | re.Pattern[str]"
"""What a text is to say: words, or a regular expression that is to be found in it."""

SENTENCES = frozenset(("content", "query", "focus", "text"))
"""Arguments that hold sentences: they are to say the words of a test, where every other argument is to be equal."""


def says(text: str, wanted: Wanted) -> bool:
    """Return whether a text holds the words of ``wanted``, as `holds_words` has it, or what a regular expression finds."""
    if isinstance(wanted, re.Pattern):
        return wanted.search(text) is not None
    if not wanted.strip():
        raise ValueError("say which words are looked for: an empty text is in every text")
    return holds_words(text, wanted)


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
