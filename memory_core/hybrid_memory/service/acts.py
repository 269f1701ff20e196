"""What a person does to memories: edit, pin, forget, restore, merge, split, judge, and undo of any of these; many at once.

`MemoryService.acts` is the one of a service. Each act is one transaction in each namespace that it touches, is decided by a pure function
of `hybrid_memory.decisions`, and is kept with what undoes it. Words that a person gives are the person's (origin user), whatever they
correct. Times, secrets and checks are as in `MemoryService`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hybrid_memory import validation
from hybrid_memory.decisions.adopt import Adopted, check_adoptable, decide_adopt
from hybrid_memory.decisions.edit import PreparedUpdate, decide_update, taking_the_key
from hybrid_memory.decisions.forgetting import Lookups, decide_forget, decide_restore
from hybrid_memory.decisions.judge import decide_judge
from hybrid_memory.decisions.merge import NewWords, decide_merge, decide_split
from hybrid_memory.decisions.settle import decide_settle
from hybrid_memory.decisions.tier_context import buffers_without
from hybrid_memory.decisions.undo import NO_LONGER, check_unchanged, decide_undo, ids_in, undoable
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import Memory, MemoryId, Origin, Scope
from hybrid_memory.requests import (
    ActResult,
    ForgetResult,
    JudgeRequest,
    MergeRequest,
    PastAct,
    Settlement,
    SplitRequest,
    UpdateRequest,
    UpdateResult,
)
from hybrid_memory.service import person_and_project
from hybrid_memory.service.rwlock import ReadWriteLock, shared
from hybrid_memory.store.writing import CommitResult, Decision, WriteBatch

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.index_cache import IndexCache
    from hybrid_memory.secret_detection.secret_policy import SecretPolicy
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import WriteView


_MOST_LINKS = 10_000


@dataclass(frozen=True, slots=True)
class Writer:
    """What of a service the acts need: its ways to commit, to make ids and to tell the time.

    An act is committed with the index that its decision looks things up in.
    """

    commit: Callable[[str, Decision, NamespaceIndex], CommitResult]
    new_id: Callable[[datetime], MemoryId]
    now: Callable[[], datetime]


Links = Callable[["WriteView"], list["MemoryId"]]
"""Gives what names some memories, at the moment that a decision sees."""


def links_of(store: Store, home: Scope, index: NamespaceIndex, coming: Collection[MemoryId]) -> Links:
    """Return what gives the memories that name those that are to come back, and maybe some that do not."""
    if not coming:
        return lambda _: []
    seen = index.head
    found = [one for _, one in store.linked_to([home.namespace], coming, _MOST_LINKS)]

    def links(view: WriteView) -> list[MemoryId]:
        changed = view.changes(seen) if view.head > seen else ()
        return list(dict.fromkeys([*found, *(entry.id for entry in changed)]))

    return links


class Acts:
    """The acts of persons on the memories of one store. Safe to call from several threads; a call that raised has changed nothing."""

    def __init__(
        self,
        store: Store,
        encoder: TextEncoder,
        indexes: IndexCache,
        lock: ReadWriteLock,
        secrets: SecretPolicy,
        writer: Writer,
    ) -> None:
        self.lock = lock
        self._store = store
        self._encoder = encoder
        self._indexes = indexes
        self._secrets = secrets
        self._writer = writer

    @shared
    def edit(self, scope: Scope, request: UpdateRequest) -> ActResult:
        """Change a memory as `MemoryService.update` does: new words are the person's, and make a new version.

        Raises:
            InvalidInput: an argument is wrong, or the version was superseded.
            NotFound: no such memory.
        """
        now = self._writer.now()
        validation.check_scope(scope)
        request, secrets = self._secrets.update(validation.check_update(replace(request, origin=Origin.USER), now))
        home = person_and_project.home_of(self._store, scope, request.id)
        encoded = None
        if request.content is not None and (old := self._there(home, request.id)) is not None:
            encoded = self._encoder.encode(request.content, old.speaker, old.occurred_at, now, old.key)
        prepared = PreparedUpdate(id=self._writer.new_id(now), scope=home, request=request, encoded=encoded)
        decide = _as_act(partial(decide_update, prepared), _updated)
        done = self._do([home], lambda _, index: self._with_its_key(index, decide))
        return replace(done, secrets=secrets)

    @shared
    def pin(self, scope: Scope, ids: Sequence[MemoryId], *, pinned: bool = True) -> ActResult:
        """Put memories at the head of each brief, or take them from there.

        Raises:
            InvalidInput: an argument is wrong, or a version was superseded.
            NotFound: a memory does not exist here, or is forgotten.
        """
        return self._do_to_each(scope, ids, lambda home, here, _: partial(_decide_pins, here, pinned, home))

    @shared
    def forget(self, scope: Scope, ids: Sequence[MemoryId]) -> ActResult:
        """Forget memories, so that nothing finds them; see `decide_forget`.

        Raises:
            InvalidInput: an argument is wrong.
            NotFound: a memory does not exist here.
        """
        return self._do_to_each(
            scope,
            ids,
            lambda home, here, index: _as_act(
                partial(decide_forget, here, home, self.lookups(index)), _forgotten("forget")
            ),
        )

    @shared
    def restore(self, scope: Scope, ids: Sequence[MemoryId]) -> ActResult:
        """Bring forgotten memories back; see `decide_restore`.

        Raises:
            InvalidInput: an argument is wrong.
            NotFound: a memory does not exist here.
        """
        return self._do_to_each(scope, ids, self._restoring)

    @shared
    def merge(self, scope: Scope, request: MergeRequest) -> ActResult:
        """Say several memories in one from now on; see `decide_merge`.

        Raises:
            InvalidInput: an argument is wrong, a version was superseded, or they lie in two namespaces.
            NotFound: a memory does not exist here, or is forgotten.
        """
        validation.check_scope(scope)
        request = validation.check_merge(request)
        content, secrets = self._checked(request.ids[0], "content", request.content)
        by_home = self._by_home(scope, request.ids)
        if len(by_home) > 1:
            raise InvalidInput("ids", "some are yours and some the project's; only memories of one place become one")
        (home,) = by_home
        words = self._new_words(home, request.ids, content)
        done = self._do(
            [home], lambda _, index: self._with_its_key(index, partial(decide_merge, request.ids, words, home))
        )
        return replace(done, secrets=secrets)

    @shared
    def split(self, scope: Scope, request: SplitRequest) -> ActResult:
        """Say one memory in several from now on; see `decide_split`.

        Raises:
            InvalidInput: an argument is wrong, or the version was superseded.
            NotFound: no such memory.
        """
        validation.check_scope(scope)
        request = validation.check_split(request)
        home = person_and_project.home_of(self._store, scope, request.id)
        checked = [self._checked(request.id, f"parts.{at}", part) for at, part in enumerate(request.parts)]
        parts = [self._new_words(home, [request.id], content) for content, _ in checked]
        done = self._do([home], lambda *_: partial(decide_split, request.id, parts, home))
        return replace(done, secrets=tuple(dict.fromkeys(kind for _, kinds in checked for kind in kinds)))

    @shared
    def judge(self, scope: Scope, request: JudgeRequest) -> ActResult:
        """Call memories true, untrue, or over; see `decide_judge`.

        Raises:
            InvalidInput: an argument is wrong, or a version was superseded.
            NotFound: a memory does not exist here, or is forgotten.
        """
        request = validation.check_judge(request, self._writer.now())
        return self._do_to_each(
            scope,
            request.ids,
            lambda home, here, index: partial(
                decide_judge, replace(request, ids=tuple(here)), home, self.lookups(index)
            ),
        )

    @shared
    def settle(self, scope: Scope, settlement: Settlement) -> ActResult:
        """Do what a model of the person's own decided, which the scope's ``actor`` names; see `decide_settle`.

        Raises:
            InvalidInput: it decided nothing, or an id is none.
            NotFound: a memory does not exist here any more.
        """
        return self._do_to_each(scope, settlement.ids, lambda home, *_: partial(decide_settle, settlement, home))

    @shared
    def adopt(self, scope: Scope, ids: Sequence[MemoryId]) -> ActResult:
        """Move memories of the person into the project that the scope is of; in the person's own they are forgotten.

        Raises:
            InvalidInput: the scope is of no project, or a memory cannot move: see `check_adoptable`.
            NotFound: a memory does not exist among the person's own.
        """
        validation.check_scope(scope)
        if scope.personal is None:
            raise InvalidInput("project", "there is none here; go into the folder of one")
        ids = validation.check_acted("ids", ids)
        theirs = self._store.get(scope.personal, ids)
        if missing := [f"ids.{at}" for at, one in enumerate(ids) if one not in theirs]:
            raise NotFound(f"{', '.join(missing)}: no such memory of your own; nothing was changed")
        olds = [theirs[one] for one in ids]
        check_adoptable(olds)
        now = self._writer.now()
        adopted = [
            Adopted(
                one,
                self._writer.new_id(now),
                self._encoder.encode(one.content, one.speaker, one.occurred_at, one.created_at),
            )
            for one in olds
        ]
        project = replace(scope, personal=None)
        person = replace(scope, namespace=scope.personal, personal=None)

        def decide(home: Scope, index: NamespaceIndex) -> Decision:
            if home == project:
                return partial(decide_adopt, adopted, home)
            return _as_act(
                partial(decide_forget, ids, home, self.lookups(index)), lambda *_: ActResult(action="adopt", ids=())
            )

        # First where they come to: one that is killed between the two leaves a memory in both, and loses none.
        return self._do([project, person], decide)

    @shared
    def undo(self, scope: Scope, undo: str) -> ActResult:
        """Undo an act of the scope's namespaces; the result names what undoes that.

        Raises:
            NotFound: it is not kept any more.
            ChangedSince: what it changed was changed since.
        """
        validation.check_scope(scope)
        validation.check_text("undo", undo, limit=validation.NAME_LIMIT)
        records = self._store.undo_records(scope.namespaces, len(scope.namespaces), undo)
        if not records:
            raise NotFound(NO_LONGER)
        if any(one.action == "adopt" for one in records) and len(records) < 2:  # noqa: PLR2004 - the person's and the project's
            raise NotFound("undo: it moved memories into a project; undo it in that project's folder")
        for record in records:  # all or none, where it touched two namespaces
            check_unchanged(record, self._store.get(record.namespace, ids_in(record)))
        found = {record.namespace for record in records}
        touched = [replace(scope, namespace=one, personal=None) for one in scope.namespaces if one in found]
        return self._do(touched, lambda home, index: partial(decide_undo, undo, home, self.lookups(index)))

    def recent(self, scope: Scope, *, limit: int = 20) -> tuple[PastAct, ...]:
        """Return the newest acts that can be undone, unless something has changed since; the newest first."""
        records = self._store.undo_records(scope.namespaces, limit)
        return tuple(
            PastAct(
                undo=one.id, namespace=one.namespace, at=one.at, actor=one.actor, action=one.action, ids=ids_in(one)
            )
            for one in records
            if one.at is not None
        )

    def lookups(self, index: NamespaceIndex) -> Lookups:
        """Return what decisions about acts look up in an index."""
        return Lookups(partial(index.key_holders, now=self._writer.now()), index.replaced_by)

    # --- private ------------------------------------------------------------------------------------------------------

    def _do_to_each(
        self, scope: Scope, ids: Sequence[MemoryId], decide: Callable[[Scope, list[MemoryId], NamespaceIndex], Decision]
    ) -> ActResult:
        """Do something to memories where each lies: both places or none, as far as can be seen before."""
        validation.check_scope(scope)
        by_home = self._by_home(scope, validation.check_acted("ids", ids))
        return self._do(list(by_home), lambda home, index: decide(home, by_home[home], index))

    def _by_home(self, scope: Scope, ids: Sequence[MemoryId]) -> dict[Scope, list[MemoryId]]:
        """Return the namespaces that memories lie in, each as a scope, with those that lie there.

        Raises:
            NotFound: names the positions of those that do not exist here.
        """
        theirs = person_and_project.of_the_person(self._store, scope, ids)
        ours = self._store.get(scope.namespace, [one for one in ids if one not in theirs])
        if missing := [f"ids.{at}" for at, one in enumerate(ids) if one not in theirs and one not in ours]:
            raise NotFound(f"{', '.join(missing)}: no such memory; nothing was changed")
        places: dict[Scope, list[MemoryId]] = {}
        for one in ids:
            namespace = scope.personal if one in theirs and scope.personal is not None else scope.namespace
            places.setdefault(replace(scope, namespace=namespace, personal=None), []).append(one)
        return places

    def _do(self, touched: Sequence[Scope], decide: Callable[[Scope, NamespaceIndex], Decision]) -> ActResult:
        """Commit an act in the namespaces that it touches, under one id that undoes all of it."""
        undo = str(self._writer.new_id(self._writer.now()))
        done: list[ActResult] = []
        for home in touched:
            index = self._indexes.get(home.namespace)
            act = undoable(decide(home, index), undo, self.lookups(index))
            done.append(self._writer.commit(home.namespace, act, index).result)
        return done[0] if len(done) == 1 else _together(done)

    def _restoring(self, home: Scope, here: Sequence[MemoryId], index: NamespaceIndex) -> Decision:
        links = links_of(self._store, home, index, here)

        def restore(view: WriteView) -> WriteBatch:
            return decide_restore(here, home, replace(self.lookups(index), linked_to=links(view)), view)

        return _as_act(restore, _forgotten("restore"))

    def _checked(self, memory_id: MemoryId, field: str, words: str) -> tuple[str, tuple[str, ...]]:
        """Return words as they are to be stored, and the kinds of secrets in them."""
        try:
            request, kinds = self._secrets.update(UpdateRequest(id=memory_id, content=words))
        except InvalidInput as error:
            raise InvalidInput(field, error.problem) from None
        return request.content or words, kinds

    def _new_words(self, home: Scope, ids: Sequence[MemoryId], content: str) -> NewWords:
        """Return words with what search knows of them; times in them are meant as in the memories that they replace."""
        now = self._writer.now()
        olds = self._store.get(home.namespace, ids).values()
        speakers = {one.speaker for one in olds}
        said_at = min((one.occurred_at for one in olds if one.occurred_at is not None), default=None)
        speaker = speakers.pop() if len(speakers) == 1 else None
        return NewWords(self._writer.new_id(now), content, self._encoder.encode(content, speaker, said_at, now))

    def _there(self, home: Scope, memory_id: MemoryId) -> Memory | None:
        return self._store.get(home.namespace, [memory_id]).get(memory_id)

    def _with_its_key(self, index: NamespaceIndex, decide: Decision) -> Decision:
        """Return a decision whose new version is the only one of its authority under its key."""
        holders_of = self.lookups(index).holders_of
        return lambda view: taking_the_key(decide(view), holders_of, view)


def _decide_pins(ids: Sequence[MemoryId], pinned: bool, home: Scope, view: WriteView) -> WriteBatch:
    """Return what it changes that some memories are pinned, or not."""
    batches = [
        decide_update(PreparedUpdate(id=one, scope=home, request=UpdateRequest(id=one, pinned=pinned)), view)
        for one in ids
    ]
    changed = [one for one, batch in zip(ids, batches, strict=True) if batch.updates]
    return WriteBatch(
        action="update",
        actor=home.actor,
        updates=tuple(update for batch in batches for update in batch.updates),
        buffers=buffers_without(view, [one for one in view.get(changed).values() if pinned and one.is_episode]),
        result=ActResult(
            action="pin" if pinned else "unpin",
            ids=tuple(changed),
            unchanged=tuple(one for one in ids if one not in changed),
        ),
    )


def _as_act(decide: Decision, result_of: Callable[[Any, WriteBatch], ActResult]) -> Decision:
    def act(view: WriteView) -> WriteBatch:
        batch = decide(view)
        return replace(batch, result=result_of(batch.result, batch))

    return act


def _updated(result: UpdateResult, batch: WriteBatch) -> ActResult:
    changed = bool(batch.inserts or batch.updates)
    return ActResult(
        action="edit",
        ids=(result.id,) if changed else (),
        unchanged=() if changed else (result.id,),
        before=() if result.supersedes is None or not batch.inserts else (result.supersedes,),
    )


def _forgotten(action: str) -> Callable[[ForgetResult, WriteBatch], ActResult]:
    def result_of(result: ForgetResult, batch: WriteBatch) -> ActResult:
        del batch
        return ActResult(
            action=action, ids=result.ids, unchanged=result.unchanged, revived=result.revived, held=result.held
        )

    return result_of


def _together(results: Sequence[ActResult]) -> ActResult:
    """Return what an act has done in several namespaces."""
    return ActResult(
        action=results[0].action,
        ids=tuple(id_ for one in results for id_ in one.ids),
        undo=next((one.undo for one in results if one.undo is not None), None),
        before=tuple(id_ for one in results for id_ in one.before),
        unchanged=tuple(id_ for one in results for id_ in one.unchanged),
        revived=tuple(id_ for one in results for id_ in one.revived),
        held={id_: by for one in results for id_, by in one.held.items()},
    )
