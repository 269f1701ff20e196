"""Which earlier statement a new one likely changes, asked before it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.changes.pairs import ChangeModel, Statement, Usual
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.model import Memory, MemoryId, MemoryType, Origin
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.decisions.write import PreparedWrite
    from hybrid_memory.requests import WriteRequest
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.service.profile import Fetch

_LONGEST = 600  # characters of a statement that changes one thing, or that one thing changes
_SPOKEN = (Origin.USER, Origin.AGENT)  # what tools and files say changes nothing that was told
_MOST_ANSWERED = 300  # characters of what was said before
_SENTENCE = LazyPattern(r"[.!?。？！]\s+(?=\S)|\n+(?=\S)")
_TYPES = (MemoryType.SHORT_TERM, MemoryType.LONG_TERM)


@dataclass(frozen=True, slots=True)
class LikelyChange:
    """An earlier ``memory`` that a new statement changes with a ``chance`` (0..1), and the cosine of the two.

    ``is_sure`` says that who writes the statement should hear of it.
    """

    memory: Memory
    chance: float
    similarity: float
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Near:
    """The ``memories`` that a new statement may change, as the model sees them, how rare each of their terms is (0..1), `Usual` cosines."""

    memories: tuple[Memory, ...]
    statements: tuple[Statement, ...]
    rarity: Mapping[int, float]
    usual: Usual


def likely_changes(
    model: ChangeModel,
    prepared: PreparedWrite,
    index: NamespaceIndex,
    fetch: Fetch,
    now: datetime,
    vector_of: Callable[[str], NDArray[np.float32] | None],
    terms_of: Callable[[str], Iterable[int]],
) -> list[LikelyChange]:
    """Return the earlier memories that a prepared write likely changes, the likeliest first.

    Who answers the assistant ("it's Thursdays now") often leaves out what it is about: then what both said is looked for too.
    """
    request = prepared.request
    vector = prepared.encoded.vector
    if not may_change(request) or vector is None:
        return []
    answers = _last_words(request.answers)
    new = Statement(
        text=request.content,
        vector=vector,
        terms=frozenset(prepared.encoded.words.terms),
        at=request.occurred_at or now,
        session=prepared.session,
        answers=answers,
        answered=frozenset(terms_of(answers)) if answers else frozenset(),
        behind=vector_of(f"{answers} {request.content}") if answers else None,
    )
    least = model.corrected if request.corrects else model.linked
    likely: list[LikelyChange] = []
    for in_passing in (False, True):  # what was kept is changed rather than what was said in passing
        near = earlier_statements(index, fetch, new, now, in_passing=in_passing)
        if in_passing and not near.statements:
            break
        try:
            chances = model.judged(new, near.statements, near.rarity, near.usual)
        except EmbedderUnavailable:  # a damaged installation; the write matters more
            return []
        likely = [
            LikelyChange(memory, chance, float(old.vector @ new.vector), chance >= model.hinted)
            for memory, old, chance in zip(near.memories, near.statements, chances, strict=True)
            if chance >= least and memory.id not in prepared.repeats
        ]
        if likely:
            break
    return sorted(likely, key=lambda one: -one.chance)


def _last_words(text: str) -> str:
    """Return the end of what was said, from where a sentence begins: it is what one answers."""
    text = text.strip()
    end = text[-_MOST_ANSWERED:]
    begins = _SENTENCE.search(end) if len(text) > len(end) else None
    return end if begins is None else end[begins.end() :]


def may_change(request: WriteRequest) -> bool:
    """Return True if a statement may change an earlier one: it is told to be kept, by nobody else, and says of itself no other."""
    return (
        request.memory_type in _TYPES
        and request.origin in _SPOKEN
        and request.supersedes is None
        and request.speaker is None
        and request.key is None
        and len(request.content) <= _LONGEST
    )


def earlier_statements(index: NamespaceIndex, fetch: Fetch, new: Statement, now: datetime, *, in_passing: bool) -> Near:
    """Return the short statements, told before a new one, that are nearest to it."""
    found = index.nearest_statements(
        new.vector, new.behind, new.terms | new.answered, new.session, now, in_passing=in_passing
    )
    memories: Mapping[MemoryId, Memory] = index.memories(found.ids, fetch) if found.ids else {}
    kept: list[Memory] = []
    statements: list[Statement] = []
    for one, vector, terms in zip(found.ids, found.vectors, found.terms, strict=True):
        memory = memories.get(one)
        if memory is None or len(memory.content) > _LONGEST or (in_passing and not _said_by_oneself(memory)):
            continue
        at = memory.occurred_at or memory.created_at
        if at <= new.at:
            kept.append(memory)
            statements.append(Statement(text=memory.content, vector=vector, terms=terms, at=at, session=memory.session))
    return Near(tuple(kept), tuple(statements), found.rarity, found.usual)


def _said_by_oneself(memory: Memory) -> bool:
    return memory.origin in _SPOKEN and not (memory.source or "").endswith(BESIDE_OTHERS)
