"""The formats of other programs, each a module of its own; `find_format` knows which one a source is in.

A module has ``NAME`` (what ``--format`` calls it), ``TITLE`` (what people call it), ``recognises(source)`` (cheap: names and first bytes)
and ``read(source)``, which yields records in the order of the source and never raises for one that is bad.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.record import Record, Skipped
from hybrid_memory_importers.source import Source

_NAMES = (
    "chatgpt",
    "claude",
    "gemini",
    "claude-code",
    "codex",
    "letta",
    "mem0",
    "zep",
    "memory-server",
    "okf",
    "markdown",
)
"""In the order in which they are asked: the plainest, which take almost anything, come last. `pyproject.toml` lists them for the server."""


class Format(Protocol):
    """What a module of a format has."""

    NAME: str
    TITLE: str

    def recognises(self, source: Source) -> bool:
        """Return whether a source is in this format, by names and first bytes."""
        ...

    def read(self, source: Source) -> Iterator[Record | Skipped]:
        """Yield what a source holds.

        Raises:
            InvalidInput: it is not in this format at all.
        """
        ...


def format_names() -> list[str]:
    """Return what ``--format`` takes."""
    return list(_NAMES)


def format_named(name: str) -> Format:
    """Return a format by its name.

    Raises:
        InvalidInput: there is none of that name.
    """
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in _NAMES:
        raise InvalidInput("format", f"is none that can be read; name one of {', '.join(_NAMES)}")
    return cast("Format", import_module(f"{__name__}.{wanted.replace('-', '_')}"))


def find_format(source: Source) -> Format | None:
    """Return the format that a source is in, None where none is recognised."""
    return next((found for found in map(format_named, _NAMES) if found.recognises(source)), None)
