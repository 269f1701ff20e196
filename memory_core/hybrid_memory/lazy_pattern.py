"""Regular expressions that are compiled when they are first used: hundreds of them at import would be a tenth of a second of the start."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from hybrid_memory.pattern_needs import first_characters, needed_texts

_READ_AFTER = 200
"""Matches of an expression after which it is asked what it needs: reading it takes as long as compiling it, and most match seldom."""


class LazyPattern:
    """A regular expression with the methods of `re.Pattern`, compiled at the first call.

    One that is used often looks first whether a text has what every match needs (`pattern_needs`), which gives the same in less time.
    """

    __slots__ = ("_compiled", "_flags", "_matched", "_searched", "_source", "_texts", "first")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None
        self._matched = self._searched = 0
        self._texts: tuple[str, ...] | None = None
        self.first: frozenset[str] | None = None
        """The characters with which each match begins, None while that is not known."""

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match from ``pos`` on and before ``endpos``."""
        if self._texts is not None:
            for one in self._texts:
                if one in text:
                    break
            else:
                return None
        elif self._searched < _READ_AFTER:
            self._searched += 1
            if self._searched == _READ_AFTER:
                self._texts = needed_texts(self._source, self._flags)
        return (self._compiled or self.compiled).search(text, pos, endpos)

    def match(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """Return the match at ``pos``."""
        if self.first is not None:
            if text[pos : pos + 1] not in self.first:
                return None
        elif self._matched < _READ_AFTER:
            self._count_match()
        return (self._compiled or self.compiled).match(text, pos)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text."""
        if self.first is not None:
            if text[:1] not in self.first:
                return None
        elif self._matched < _READ_AFTER:
            self._count_match()
        return (self._compiled or self.compiled).fullmatch(text)

    def finditer(self, text: str, pos: int = 0) -> Iterator[re.Match[str]]:
        """Return all matches, one after the other."""
        return (self._compiled or self.compiled).finditer(text, pos)

    def findall(self, text: str, pos: int = 0) -> list[Any]:
        """Return what the groups of all matches hold."""
        return (self._compiled or self.compiled).findall(text, pos)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """Return the text with the matches replaced."""
        return (self._compiled or self.compiled).sub(replacement, text, count)

    def split(self, text: str, maxsplit: int = 0) -> list[Any]:
        """Return the text cut at the matches, at the first ``maxsplit`` of them if that is given."""
        return (self._compiled or self.compiled).split(text, maxsplit=maxsplit)

    def _count_match(self) -> None:
        self._matched += 1
        if self._matched == _READ_AFTER:
            self.first = first_characters(self._source, self._flags)
