"""What a person changes by saying several memories in one, or one in several. Pure.

`hybrid_memory.service.acts.Acts` hands `decide_merge` and `decide_split` to the store, which calls them in its transaction.

The new words are the person's, as those of an edit are, and what was said before is kept as older versions: of a merge all of them lead
to the merged text, and the one that weighs most is the version before it; of a split the first part is the next version, and all of them
have what was split among their parents, because one memory has one next version on all machines (the extra `sync` settles it so).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.edit import current, trust_of_new_words
from hybrid_memory.decisions.tier_context import buffers_without, joined
from hybrid_memory.decisions.write import superseded
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import BUFFER_TIERS, TRUST_ORDER, Kind, Memory, MemoryId, Origin, Scope, Tier, Trust, Verdict
from hybrid_memory.requests import ActResult
from hybrid_memory.store.writing import Insert, Update, WriteBatch

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import EncodedText
    from hybrid_memory.store.writing import WriteView


@dataclass(frozen=True, slots=True)
class NewWords:
    """Words of the person that become a memory under an id."""

    id: MemoryId
    content: str
    encoded: EncodedText


def decide_merge(ids: Sequence[MemoryId], words: NewWords, scope: Scope, view: WriteView) -> WriteBatch:
    """Return what it changes that some memories are said in one from now on.

    It takes the session of the one that is trusted most, of equal ones the newest; tags, evidence and pins of all; kind and key
    where all are of one kind.

    Raises:
        NotFound: one of them does not exist here, or is forgotten.
        InvalidInput: one of them is not the newest version.
    """
    olds = [current(view, one, f"ids.{at}") for at, one in enumerate(ids)]
    first = max(olds, key=lambda one: (TRUST_ORDER.index(one.trust), one.created_at, one.id))
    alike = len({one.kind for one in olds}) == 1
    merged = replace(
        _in_new_words(first, words, view),
        kind=first.kind if alike else Kind.OBSERVATION,
        key=first.key if alike else None,
        tier=first.tier if alike and first.tier in (Tier.WORKING, Tier.EPISODIC) else Tier.LONG_TERM,
        importance=max(one.importance for one in olds),
        pinned=any(one.pinned for one in olds),
        tags=tuple(dict.fromkeys(tag for one in (first, *olds) for tag in one.tags)),
        metadata={name: value for one in (*olds, first) for name, value in one.metadata.items()},
        source=_said_by_all([one.source for one in olds]),
        speaker=_said_by_all([one.speaker for one in olds]),
        trust=max((trust_of_new_words(Origin.USER, one.trust) for one in olds), key=TRUST_ORDER.index),
        occurred_at=min((one.occurred_at for one in olds if one.occurred_at is not None), default=None),
        expires_at=_latest_end([one.expires_at for one in olds]),
        parents=tuple(one for one in joined((), [up for old in olds for up in old.parents]) if one not in ids),
        verdict=_verdict_of(olds),
    )
    return WriteBatch(
        action="merge",
        actor=scope.actor,
        inserts=(Insert(merged, words.encoded.vector, words.encoded.passages),),
        updates=tuple(Update(superseded(one, merged.id)) for one in olds),
        buffers=buffers_without(view, olds),
        result=ActResult(action="merge", ids=(merged.id,), before=tuple(one.id for one in olds)),
    )


def decide_split(memory_id: MemoryId, parts: Sequence[NewWords], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what it changes that one memory is said in several from now on.

    Raises:
        NotFound: it does not exist here, or is forgotten.
        InvalidInput: it is not the newest version, or holds the key of a task, of which there is one.
    """
    old = current(view, memory_id)
    if old.key is not None:
        raise InvalidInput("id", "it is kept under a key, which only one statement can have; edit it instead")
    news = []
    for at, part in enumerate(parts):
        new = _in_new_words(old, part, view)
        # The first is the next version.
        new = replace(new, supersedes=None if at else old.id, parents=joined(old.parents, [old.id]))
        news.append(Insert(new, part.encoded.vector, part.encoded.passages))
    return WriteBatch(
        action="split",
        actor=scope.actor,
        inserts=tuple(news),
        updates=(Update(superseded(old, parts[0].id)),),
        buffers=buffers_without(view, [old]),
        result=ActResult(action="split", ids=tuple(part.id for part in parts), before=(old.id,)),
    )


def _in_new_words(old: Memory, words: NewWords, view: WriteView) -> Memory:
    """Return the next version of a memory in the person's words, which are kept: they stand in no buffer."""
    encoded = words.encoded.words
    trust = trust_of_new_words(Origin.USER, old.trust)
    return replace(
        old,
        id=words.id,
        content=words.content,
        content_hash=words.encoded.content_hash,
        terms=encoded.terms,
        names=encoded.names,
        days=encoded.days,
        aspects=encoded.aspects,
        encoding=encoded.encoding,
        tier=Tier.LONG_TERM if old.tier in (*BUFFER_TIERS, Tier.FADED) else old.tier,
        created_at=view.now,
        supersedes=old.id,
        duplicate_of=None,
        disputes=None,
        reflected_at=None,
        origin=Origin.USER,
        trust=trust,
        verdict=_verdict_of([old]) if trust is Trust.CONFIRMED or old.verdict is Verdict.ENDED else None,
        rev=1,
    )


def _verdict_of(olds: Sequence[Memory]) -> Verdict | None:
    """Return what the person judged of all of them; what only some have ended has not."""
    verdicts = {one.verdict for one in olds}
    if verdicts == {Verdict.ENDED}:
        return Verdict.ENDED
    return Verdict.TRUE if any(one.trust is Trust.CONFIRMED and one.verdict is Verdict.TRUE for one in olds) else None


def _latest_end(ends: Sequence[datetime | None]) -> datetime | None:
    """Return until when a merged text holds: as long as any of its parts."""
    known = [one for one in ends if one is not None]
    return max(known) if len(known) == len(ends) else None


def _said_by_all(names: Sequence[str | None]) -> str | None:
    return names[0] if len(set(names)) == 1 else None
