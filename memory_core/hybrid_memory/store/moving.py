"""Moving a whole store elsewhere: where it may come from and go to (`hybrid_memory.admin.migrate` does it).

Both sides of a move are `MoveSource`s in the end: one moment of a store, read row by row and exported, whose sums and exports must be
the same. Nobody uses the target before it is whole; until then it says whose unfinished copy it is.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from hybrid_memory.store.row_copy import STORE

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.clock import Clock
    from hybrid_memory.store.row_copy import RowSource, RowTarget
    from hybrid_memory.store.transfer import StoreContents

NOT_EMPTY = "holds memories already; nothing was changed. Name an empty place; what is to be added to others, `export` and `import` move"
OF_ANOTHER = "holds the unfinished move of another store; finish that one, or remove what is there and begin again"


class MoveSource(Protocol):
    """One moment of a store."""

    @property
    def rows(self) -> RowSource:
        """All its rows."""
        ...

    def contents(self) -> StoreContents:
        """Return what an export of it holds, without vectors; read once."""
        ...


class MoveTarget(Protocol):
    """A place for a store, which nobody uses until `finish`."""

    @property
    def rows(self) -> RowTarget:
        """What takes the rows."""
        ...

    def begin(self, store_id: str) -> None:
        """Make the tables, or find those of an unfinished move of the same store.

        Raises:
            InvalidInput: something else is there; nothing was changed.
        """
        ...

    def written(self) -> AbstractContextManager[MoveSource]:
        """Give what is there now, read again from where it lies."""
        ...

    def discard(self) -> None:
        """Remove what is there: the place is empty again."""
        ...

    def finish(self, now: datetime) -> None:
        """Let what is there be a store from now on."""
        ...


def id_of_store(source: MoveSource) -> str:
    """Return the id by which a store knows itself again."""
    ((row,),) = source.rows.chunks(STORE)
    return str(row[0])


def copy_of_folder(home: Path, clock: Clock, file: Path) -> None:
    """Copy the store in a folder, which nobody has open, to a new file in its folder of backups.

    Raises:
        StoreLocked: somebody has it open.
    """
    from hybrid_memory.settings import DATABASE
    from hybrid_memory.store.duck.store import DuckStore

    store = DuckStore.open(home / DATABASE, clock)
    try:
        store.transfer.copy_to(file)
    finally:
        store.close()


def file_source(file: Path) -> AbstractContextManager[MoveSource]:
    """Give a copy of a store in a file that nobody has open."""
    from hybrid_memory.store.duck.moving_files import file_source as source

    return source(file)


def folder_target(home: Path, now: datetime) -> AbstractContextManager[MoveTarget]:
    """Give a folder as a place for a store; it is locked meanwhile.

    Raises:
        StoreLocked: somebody has the store in it open.
    """
    from hybrid_memory.store.duck.moving_files import folder_target as target

    return target(home, now)
