"""Finds the parts that extras add, by the entry points of installed distributions (``pyproject.toml`` lists them).

The library and the server import no extra by name. They ask here at the moment when a part is needed, so nothing of it is
imported before.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from hybrid_memory.errors import InvalidInput


def load_extra(group: str, name: str) -> Any:
    """Return the object that an extra offers under ``name`` in the entry point group ``group``.

    Raises:
        InvalidInput: no installed distribution offers it; the message says what to install.
    """
    found = _offered(group).get(name)
    if found is None:
        raise InvalidInput(name, "is a part that is not installed: install hybrid-memory-mcp again, whose wheel has it")
    return found.load()


def names_of_extras(group: str) -> list[str]:
    """Return the names that installed extras offer in an entry point group, sorted; none of them is imported."""
    return sorted(_offered(group))


@cache
def _offered(group: str) -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=group)}
