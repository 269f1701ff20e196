"""How a rule of capture is written: an expression that a sentence must begin with, and what it then is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybrid_memory.capture.model import StatementKind
from hybrid_memory.language.lazy_pattern import LazyPattern


@dataclass(frozen=True, slots=True)
class Rule:
    """Sentences that match ``pattern`` at their beginning are of a kind.

    ``asked`` says that the person asked for it to be remembered. The group ``text``, if it takes part, is all that is kept of the
    sentence. ``names`` are groups that must begin with a capital as they were written.
    """

    kind: StatementKind
    pattern: LazyPattern
    importance: float
    asked: bool = False


def expanded(source: str, macros: Mapping[str, str]) -> str:
    """Return an expression with ``<NAME>`` replaced by macros, and apostrophes that may be left out."""
    names = [name for name in macros if f"<{name}>" in source]
    while names:
        for name in names:
            source = source.replace(f"<{name}>", macros[name])
        names = [name for name in macros if f"<{name}>" in source]
    return source.replace("'", "'?")
