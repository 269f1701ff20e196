"""Regular expressions that are compiled when they are first used.

The library has about 490 of them, and compiling all at import takes 120 ms, which the start of each hub would wait for
(2 cores at 2 GHz, Python 3.11). A module-level `re.compile` would pay that; `re.search` with its cache takes longer at each call.
Sources that come from the lexicon are functions, so that importing a module reads no language file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any


class LazyPattern:
    """A regular expression with the methods of `re.Pattern`, compiled at the first call.

    A source that is a function is called then, too.
    """

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str | Callable[[], str], flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            source = self._source if isinstance(self._source, str) else self._source()
            self._compiled = re.compile(source, self._flags)
        return self._compiled

    def search(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match from ``pos`` on and before ``endpos``."""
        return (self._compiled or self.compiled).search(text, pos, endpos)

    def match(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """Return the match at ``pos``."""
        return (self._compiled or self.compiled).match(text, pos)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text."""
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
