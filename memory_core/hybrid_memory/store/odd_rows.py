"""Rows that every reader takes, but that do not fit, whichever store they are in. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Origin, Trust
from hybrid_memory.store.transfer import MemoryItem

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.store.transfer import Refusal, TransferItem

RowKey: TypeAlias = tuple[str, str]
"""Namespace and id of a memory."""

_OUTSIDERS = (Origin.TOOL, Origin.IMPORT)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def takes_all(_item: TransferItem) -> None:
    """Refuse nothing: for callers that know no import."""


@dataclass(frozen=True, slots=True)
class OddRows:
    """The memories that do not fit; keys are namespace and id, values row ids.

    ``refused`` an import would not take (row ids, with the reason), ``changed`` have other words than the digest alongside them or in the
    log says, ``raised`` come from a tool or an import and are trusted as more, ``unprintable`` (how many) hold control characters or
    no words at all.
    """

    refused: dict[int, str] = field(default_factory=dict)
    changed: dict[RowKey, int] = field(default_factory=dict)
    raised: dict[RowKey, int] = field(default_factory=dict)
    unprintable: int = 0

    @property
    def rowids(self) -> list[int]:
        """The rows of all but the unprintable ones."""
        return sorted({*self.refused, *self.changed.values(), *self.raised.values()})


def find_odd_rows(
    memories: Iterable[tuple[int, Memory]],
    noted_otherwise: Iterable[Sequence[str]],
    imported_as_told: Iterable[Sequence[str]],
    confirmed: Iterable[Sequence[str]],
    refusal: Refusal,
) -> OddRows:
    """Return what does not fit of some memories with their row ids.

    The keys are of memories of which the log noted another digest, which came in as what the person told other assistants, and of which a
    person said that they are true.
    """
    refused: dict[int, str] = {}
    changed: dict[RowKey, int] = {}
    raised: dict[RowKey, int] = {}
    unprintable = 0
    noted = {(namespace, id_) for namespace, id_ in noted_otherwise}
    told = {(namespace, id_) for namespace, id_ in imported_as_told}
    vouched = {(namespace, id_) for namespace, id_ in confirmed}
    for rowid, memory in memories:
        key = (memory.namespace, memory.id)
        why = refusal(MemoryItem(memory, None, None))
        if why is not None:
            refused[rowid] = why
        if key in noted or content_hash(memory.content) != memory.content_hash:
            changed[key] = rowid
        allowed = (Trust.UNTRUSTED, Trust.AGENT) if key in told else (Trust.UNTRUSTED,)
        of_a_person = memory.trust is Trust.CONFIRMED and key in vouched
        if memory.origin in _OUTSIDERS and memory.trust not in allowed and not of_a_person:
            raised[key] = rowid
        unprintable += not memory.content.strip() or _CONTROL.search(memory.content) is not None
    return OddRows(refused, changed, raised, unprintable)
