"""Forgetting over a person's and a project's memories: each where it lies, both or none, and a repeat finds it done.

What forgetting one namespace's memories changes is `hybrid_memory.decisions.forgetting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hybrid_memory.decisions import result_codec
from hybrid_memory.decisions.forgetting import Lookups, decide_forget_or_restore
from hybrid_memory.errors import ConfirmationNeeded, NotFound
from hybrid_memory.service import homes
from hybrid_memory.service.acts import links_of

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import MemoryId, Scope
    from hybrid_memory.requests import ForgetRequest, ForgetResult
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.store.writing import Decision, RequestKey, WriteBatch, WriteView


def forget(
    commits: Commits, scope: Scope, request: ForgetRequest, key: RequestKey | None, now: datetime
) -> ForgetResult:
    """Do what a checked request says: forget memories, or bring them back.

    Raises:
        NotFound: an id does not exist here.
        ConfirmationNeeded: ``where`` was given without the number of memories it matches.
    """
    if request.where is not None:
        index = commits.indexes.get(scope.namespace)
        ids = index.select(request.where, now, forgotten=request.restore)
        if scope.personal is not None and request.count != len(ids):
            raise ConfirmationNeeded(len(ids), _matching_elsewhere(commits, scope, request, now))
        return _forget_here(commits, scope, request, (), key, now)
    theirs = homes.of_the_person(commits.store, scope, request.ids)
    if not theirs:
        return _forget_here(commits, scope, request, request.ids, key, now)
    person = replace(scope, namespace=scope.personal or scope.namespace, personal=None)
    ours = [one for one in request.ids if one not in theirs]
    if not ours:
        return _forget_here(commits, person, request, request.ids, key, now)
    # Both or none: what is not there is noticed before anything is done. The project's part is the one that a repeat finds
    # done; to do the person's part twice changes nothing.
    known = commits.store.get(scope.namespace, ours)
    if missing := [f"ids.{at}" for at, one in enumerate(request.ids) if one not in theirs and one not in known]:
        raise NotFound(f"{', '.join(missing)}: no such memory; nothing was changed")
    done = _forget_here(commits, person, request, [one for one in request.ids if one in theirs], None, now)
    return _forget_here(commits, scope, request, ours, key, now, beside=done)


def _matching_elsewhere(commits: Commits, scope: Scope, request: ForgetRequest, now: datetime) -> int:
    """Return how many memories of the person a filter matches, which goes for the project's alone."""
    if request.where is None or scope.personal is None or scope.personal == scope.namespace:
        return 0
    index = commits.indexes.get(scope.personal)
    return len(index.select(request.where, now, forgotten=request.restore))


def _forget_here(
    commits: Commits,
    scope: Scope,
    request: ForgetRequest,
    ids: Sequence[MemoryId],
    key: RequestKey | None,
    now: datetime,
    *,
    beside: ForgetResult | None = None,
) -> ForgetResult:
    """Forget or bring back memories of one namespace; the result tells of what was done ``beside`` that as well.

    With a filter the memories are those that it finds when it is decided.
    """
    index = commits.indexes.get(scope.namespace)
    links = links_of(commits.store, scope, index, ids if request.restore else ())

    def decide_here(view: WriteView) -> WriteBatch:
        found = ids if request.where is None else index.select(request.where, now, forgotten=request.restore)
        lookups = Lookups(partial(index.key_holders, now=now), index.replaced_by, links(view))
        return decide_forget_or_restore(request, found, scope, lookups, view)

    decide: Decision = decide_here if beside is None else homes.together(decide_here, beside, request.ids)
    result: ForgetResult = commits.commit(scope.namespace, key, decide, result_codec.FORGET, index=index).result
    return result
