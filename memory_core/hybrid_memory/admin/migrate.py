"""Migrate: a whole store moved to another place, a folder or a PostgreSQL server, either way; called by the command ``postgres migrate``.

The source is one moment of a store, which goes on being used and is not changed. Rows are copied in chunks; a move that was killed is
done again, and what is there already is passed over (`hybrid_memory.store.row_copy`). It counts when all tables have the same sums on
both sides and both exports are the same, byte by byte.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from hybrid_memory.admin.jsonl import header_line, item_line
from hybrid_memory.errors import StoreDamaged
from hybrid_memory.store.moving import id_of_store
from hybrid_memory.store.row_copy import copy_rows, row_sums

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from hybrid_memory.admin.export_import import OnProgress
    from hybrid_memory.store.erasing import OnStep
    from hybrid_memory.store.moving import MoveSource, MoveTarget
    from hybrid_memory.store.transfer import StoreContents

_LINES_AT_ONCE = 1000
_EXPORTED = ("memory", "buffer", "conversation", "entry")  # tables whose rows are lines of an export


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move brought over: memories, their namespaces, rows of all tables, and the SHA-256 of the export that both sides have."""

    memories: int
    namespaces: tuple[str, ...]
    rows: int
    export: str


def migrate(
    source: MoveSource,
    target: MoveTarget,
    now: datetime,
    *,
    on_progress: OnProgress = lambda _done, _total: None,
    on_step: OnStep = lambda _: None,
) -> Moved:
    """Copy a store to a place that is empty, or holds an unfinished copy of it, and compare the two before the copy counts.

    Raises:
        InvalidInput: something else is there; nothing was changed.
        StoreDamaged: what was written is not what was read; the copy does not count.
        StoreError: one of the two sides failed; done again, it goes on from there.
    """
    counts = source.rows.counts()
    rows, lines = sum(counts.values()), sum(counts[name] for name in _EXPORTED)
    total = 2 * (rows + lines)
    target.begin(id_of_store(source))
    on_step("begun")
    sums = copy_rows(source.rows, target.rows, lambda done, _: on_progress(done, total))
    on_step("copied")
    with target.written() as written:
        same = row_sums(written.rows, lambda done, _: on_progress(rows + done, total)) == sums
        on_step("compared")
        contents = source.contents()
        export = _digest(contents, lambda done: on_progress(2 * rows + done, total))
        same = same and _digest(written.contents(), lambda done: on_progress(2 * rows + lines + done, total)) == export
    if not same:
        target.discard()
        raise StoreDamaged(
            "the copy is not what was read from the store, so it was removed; the store is as it was. Try again; if it persists, report it"
        )
    on_step("checked")
    target.finish(now)
    on_step("finished")
    return Moved(sums["memory"][0], contents.namespaces, rows, export)


def _digest(contents: StoreContents, on_lines: Callable[[int], None]) -> str:
    """Return the SHA-256 of the export of all that a store holds, secrets included; vectors are compared with the rows."""
    digest, done = hashlib.sha256(header_line(contents)), 0
    while part := list(islice(contents.items, _LINES_AT_ONCE)):
        digest.update(b"".join(map(item_line, part)))
        done += len(part)
        on_lines(done)
    return digest.hexdigest()
