"""The order of the memories of an export: by time, of one moment what others rest on first, then by id. Pure.

It follows from the memories alone, so that stores with the same memories have the same export, however these came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from hybrid_memory.store.memory_fields import texts_from_json

Row: TypeAlias = tuple[int, int, str]
"""The place of a memory's row, its time and its id."""


def in_order(rows: Sequence[Row], links: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """Yield rows, which come by time and id; of one moment those first to which another one links."""
    if not links:
        yield from rows
        return
    for _, group in groupby(rows, key=lambda row: row[1]):
        yield from _after_links({row[2]: row for row in group}, links)


def _after_links(moment: Mapping[str, Row], links: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    done: set[str] = set()
    for first in moment:
        pending = [first]
        entered: set[str] = set()
        while pending:
            id_ = pending[-1]
            # A circle of links, which nobody writes, ends where it is entered again.
            before = [
                one for one in sorted(links.get(id_, ())) if one in moment and one not in done and one not in entered
            ]
            entered.add(id_)
            if before:
                pending += reversed(before)
                continue
            pending.pop()
            if id_ not in done:
                done.add(id_)
                yield moment[id_]


def readable_texts(stored: str | None) -> tuple[str, ...]:
    """Return the texts of a stored list; none where it cannot be read."""
    try:
        return texts_from_json(stored)
    except ValueError:
        return ()
