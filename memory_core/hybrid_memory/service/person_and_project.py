"""Where something is done when a person's and a project's namespace are read together (`Scope.personal`).

What is done to a memory is done where it lies, so that a correction of a personal memory stays the person's wherever it is made.
A new memory goes to the project, unless the person plainly speaks of themselves in it; so does an insight of which any evidence is the
project's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.capture.oneself import is_about_oneself
from hybrid_memory.model import Memory, MemoryId, Origin, Scope
from hybrid_memory.service.reads import fetch_of

if TYPE_CHECKING:
    from hybrid_memory.requests import ForgetResult, Insight, WriteRequest
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import Decision, WriteBatch, WriteView


def of_the_person(store: Store, scope: Scope, ids: Sequence[MemoryId]) -> frozenset[MemoryId]:
    """Return those of some ids whose memories lie in the person's namespace alongside that of a project, and not in the project's."""
    if len(scope.namespaces) == 1 or not ids:
        return frozenset()
    project, person = scope.namespaces
    ours = store.get(project, ids)
    return frozenset(store.get(person, [one for one in ids if one not in ours]))


def home_of(store: Store, scope: Scope, memory_id: MemoryId | None) -> Scope:
    """Return the scope of the one namespace that a memory lies in; where it is nowhere, or None, that of what is new."""
    if scope.personal is None:
        return scope
    theirs = memory_id is not None and bool(of_the_person(store, scope, [memory_id]))
    return replace(scope, namespace=scope.personal if theirs else scope.namespace, personal=None)


def home_of_new(store: Store, scope: Scope, request: WriteRequest) -> Scope:
    """Return where a new memory lies: what corrects a memory where that lies, else with the person what is plainly about them.

    What a tool or a third person says, and what belongs to a task, is the project's.
    """
    if scope.personal is None or request.supersedes is not None or not scope.about_me_is_personal:
        return home_of(store, scope, request.supersedes)
    said = request.origin in (Origin.USER, Origin.AGENT) and request.speaker is None and request.key is None
    theirs = said and is_about_oneself(request.content)
    return replace(scope, namespace=scope.personal if theirs else scope.namespace, personal=None)


def home_of_insight(store: Store, scope: Scope, insight: Insight) -> Scope:
    """Return where an insight lies: with the person if all its evidence does, else in the project."""
    theirs = of_the_person(store, scope, insight.evidence)
    return home_of(store, scope, insight.evidence[0] if theirs.issuperset(insight.evidence) else None)


def elsewhere(store: Store, scope: Scope, home: Scope, ids: Sequence[MemoryId]) -> tuple[Memory, ...]:
    """Return those of some memories that the reader sees and that do not lie where something is written."""
    if scope.personal is None or not ids:
        return ()
    return tuple(one for one in fetch_of(store, scope)(ids).values() if one.namespace != home.namespace)


def together(decide: Decision, beside: ForgetResult, order: Sequence[MemoryId]) -> Decision:
    """Return a decision to forget whose result tells of what was done in another namespace too, in the order that was asked for."""

    def of_both(view: WriteView) -> WriteBatch:
        batch = decide(view)
        here: ForgetResult = batch.result
        done, unchanged = {*here.ids, *beside.ids}, {*here.unchanged, *beside.unchanged}
        asked = dict.fromkeys(order)
        result = replace(
            here,
            ids=tuple(one for one in asked if one in done),
            unchanged=tuple(one for one in asked if one in unchanged),
            revived=(*here.revived, *beside.revived),
            held={**here.held, **beside.held},
        )
        return replace(batch, result=result)

    return of_both


def with_ids(decide: Decision, places: Sequence[int], others: Mapping[int, MemoryId]) -> Decision:
    """Return a decision whose result holds the ids of insights that were stored elsewhere too, each at its place in the call."""
    if not others:
        return decide

    def with_others(view: WriteView) -> WriteBatch:
        batch = decide(view)
        found = dict(zip(places, batch.result, strict=True)) | dict(others)
        return replace(batch, result=tuple(found[at] for at in sorted(found)))

    return with_others
