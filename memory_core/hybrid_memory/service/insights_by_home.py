"""Insights of a person and a project: each is stored where its evidence lies, and what it rests on elsewhere is reflected upon too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.decisions import result_codec
from hybrid_memory.decisions.reflect import PreparedInsight, decide_insights, decide_reflected
from hybrid_memory.errors import StoreError
from hybrid_memory.service import person_and_project

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId, Scope
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.store.writing import Decision, RequestKey, WriteBatch, WriteView


Act: TypeAlias = Callable[["Decision", "NamespaceIndex"], "Decision"]
"""Makes a decision an act that can be undone."""


def commit_insights(
    commits: Commits,
    scope: Scope,
    by_home: Mapping[Scope, Sequence[PreparedInsight]],
    key: RequestKey | None,
    act: Act | None = None,
) -> tuple[MemoryId, ...]:
    """Store insights where each lies, as an ``act`` if one is given; what they rest on elsewhere counts as reflected upon too.

    The part of the project is the one that a repeat finds done; the same insight on the same evidence is not stored twice.
    """
    in_order = sorted(by_home, key=lambda one: one.namespace == scope.namespace)
    ids: dict[int, MemoryId] = {}
    for home in in_order:
        prepared = by_home[home]
        last = home is in_order[-1]
        index = commits.indexes.get(home.namespace)
        stored: Decision = partial(_decide, commits, prepared, home, index)
        decide = person_and_project.with_ids(
            stored if act is None else act(stored, index),
            [one.at for one in prepared],
            ids if last else {},
        )
        found = commits.commit(home.namespace, key if last else None, decide, result_codec.INSIGHTS, index=index).result
        places = sorted((*ids, *(one.at for one in prepared))) if last else [one.at for one in prepared]
        ids |= dict(zip(places, found, strict=True))
        elsewhere = {one.id: one for each in prepared for one in each.elsewhere}
        for namespace in {one.namespace for one in elsewhere.values()}:
            theirs = [one for one, memory in elsewhere.items() if memory.namespace == namespace]
            # The insight is stored: that what it rests on is offered once more is all that a failure leads to.
            with suppress(StoreError):
                commits.commit(namespace, None, partial(decide_reflected, theirs, home))
    return tuple(ids[at] for at in sorted(ids))


def _decide(
    commits: Commits, prepared: Sequence[PreparedInsight], home: Scope, index: NamespaceIndex, view: WriteView
) -> WriteBatch:
    now = commits.time.now()
    known = [replace(one, repeats=tuple(index.repeats(one.encoded.content_hash, now))) for one in prepared]
    return decide_insights(known, home, view)
