"""Finds the parts that extras add, by the entry points of installed distributions (``pyproject.toml`` lists them).

The library and the server import no extra by name. They ask here at the moment when a part is needed, so nothing of it is
imported before.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load_extra(group: str, name: str) -> Any:
    """Return the object that an extra offers under ``name`` in the entry point group ``group``.

    Raises:
        InvalidInput: no installed distribution offers it; the message says what to install.
    """
    return _entry_point(group, name).load()


def check_extra(group: str, name: str) -> None:
    """Raise what `load_extra` raises where no installed distribution offers the part; nothing is imported."""
    _entry_point(group, name)


def names_of_extras(group: str) -> list[str]:
    """Return the names that installed extras offer in an entry point group, sorted; none of them is imported."""
    return sorted(_offered(group))


def _entry_point(group: str, name: str) -> EntryPoint:
    found = _offered(group).get(name)
    if found is None:
        raise InvalidInput(name, "is a part that is not installed: install hybrid-memory-mcp again, whose wheel has it")
    return found


@cache
def _offered(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # ten milliseconds, which a start without extras saves

    return {one.name: one for one in entry_points(group=group)}
