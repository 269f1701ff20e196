"""What moving memories of the person into a project changes. Pure.

`service.acts.Acts.adopt` hands `decide_adopt` to the store for the project's namespace; in the person's the memories are forgotten,
so that one undo brings them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import BUFFER_TIERS, Tier
from hybrid_memory.requests import ActResult
from hybrid_memory.store.writing import Insert, WriteBatch

if TYPE_CHECKING:
    from hybrid_memory.model import EncodedText, Memory, MemoryId, Scope
    from hybrid_memory.store.writing import WriteView


@dataclass(frozen=True, slots=True)
class Adopted:
    """A memory of the person, and what it is in the project: another id, and the words as search knows them."""

    old: Memory
    id: MemoryId
    encoded: EncodedText


def check_adoptable(memories: Sequence[Memory]) -> None:
    """Check that memories stand alone, so that they can move without what they are linked to.

    Raises:
        InvalidInput: names the first that is forgotten or superseded, is a conclusion, or is part of a task.
    """
    for at, one in enumerate(memories):
        if one.forgotten_at is not None or one.superseded_by is not None:
            raise InvalidInput(f"ids.{at}", "is not current; only current memories can move")
        if one.key is not None or one.parents:
            raise InvalidInput(
                f"ids.{at}", "is part of a task, or rests on other memories; it cannot move without them"
            )


def decide_adopt(adopted: Sequence[Adopted], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what it changes in the project that memories come into it; they keep times, trust and origin."""
    del view
    return WriteBatch(
        action="adopt",
        actor=scope.actor,
        inserts=tuple(Insert(_moved(one, scope), one.encoded.vector, one.encoded.passages) for one in adopted),
        result=ActResult(
            action="adopt", ids=tuple(one.id for one in adopted), before=tuple(one.old.id for one in adopted)
        ),
    )


def _moved(one: Adopted, scope: Scope) -> Memory:
    words = one.encoded.words
    return replace(
        one.old,
        id=one.id,
        namespace=scope.namespace,
        content_hash=one.encoded.content_hash,
        terms=words.terms,
        names=words.names,
        days=words.days,
        aspects=words.aspects,
        encoding=words.encoding,
        tier=Tier.LONG_TERM if one.old.tier in BUFFER_TIERS else one.old.tier,
        supersedes=None,
        duplicate_of=None,
        disputes=None,
        reflected_at=None,
        rev=1,
    )
