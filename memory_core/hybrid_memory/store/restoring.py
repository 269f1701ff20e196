"""Restoring: a backup in the place of a store, which says how (`WholeStore.restorer`). A backup is a DuckDB file, whatever it is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.store.erasing import OnStep
    from hybrid_memory.store.transfer import Refusal


@dataclass(frozen=True, slots=True)
class Restored:
    """What a store was restored to, and where the files are that it replaced; None where there were none.

    ``embedder`` is that of the backup where it is another than the present store's, else None.
    """

    memories: int
    aside: Path | None
    embedder: str | None = None


class Restorer(Protocol):
    """Puts a backup in the place of one store."""

    @property
    def needs_closed_store(self) -> bool:
        """Whether nobody may have the store open meanwhile."""
        ...

    def restore(self, backup: Path, now: datetime, *, refusal: Refusal, on_step: OnStep = lambda _: None) -> Restored:
        """Read a backup whole, then put it in the place of the store; what was there is put aside. A crash leaves the one or the other.

        ``refusal`` says what an import would not take.

        Raises:
            StoreDamaged, SchemaTooNew: the backup is none that could be used; nothing was changed.
            StoreLocked: somebody has the store open who must not.
        """
        ...
