"""`Writers`: the writes of this hub, grouped by namespace, each group in one transaction under the namespace's lock.

Of the calls that wait for a namespace one leads: its thread takes the lock, runs the decisions of all in the order in which they came,
and commits once. So what limits writing is the number of commits that the server's disk takes, not that of the clients.

What fails:

* A decision that raises, or says what no store keeps, fails alone: nothing of it was sent.
* When the server refuses something, the whole group is undone, and each call is run by itself.
* When the connection is lost before COMMIT, or another hub was in the way, nothing was changed: the group is run again.
* When it is lost while committing, the server is asked what became of the transaction (`outcome`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import TYPE_CHECKING

from hybrid_memory.clock import Clock, from_micros, never_back, to_micros
from hybrid_memory.errors import ConcurrentModification, ConstraintViolation, OutcomeUnknown, StoreError
from hybrid_memory.store.encoding import check_number, check_text
from hybrid_memory.store.writing import CommitResult, Decision, Prefetch, RequestKey, ResultCodec
from hybrid_memory_postgres import tables
from hybrid_memory_postgres.outcome import Traces, was_committed
from hybrid_memory_postgres.pg_errors import LOST, ConnectionLost
from hybrid_memory_postgres.prefetched import PrefetchPlan
from hybrid_memory_postgres.silence import process_of
from hybrid_memory_postgres.write_transaction import LockedNamespace, decide_and_apply, replayed

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.hints import Announcer
    from hybrid_memory_postgres.known_heads import KnownHeads
    from hybrid_memory_postgres.sql_session import PgSession

_MOST_IN_GROUP = 32  # calls; with more the lock would be held for long
_TRIES = 20  # of a group that other hubs are in the way of
_PAUSE_SECONDS = 0.01
_INTERRUPTED = "the call was interrupted; repeat it with the same request key to learn the outcome"


@dataclass(slots=True, eq=False)
class _Call:
    """One call of `Writers.write`, and what became of it. ``wakes`` is set when it is done, or ``leads``."""

    key: RequestKey | None
    decide: Decision
    codec: ResultCodec
    alone: bool
    prefetch: Prefetch | None
    result: CommitResult | None = None
    error: BaseException | None = None
    leads: bool = False
    wakes: threading.Event = field(default_factory=threading.Event)

    @property
    def is_done(self) -> bool:
        return self.result is not None or self.error is not None

    def outcome(self) -> CommitResult:
        """Return the result, or raise what the call failed with."""
        if self.error is not None:
            raise self.error
        if self.result is None:
            raise OutcomeUnknown(_INTERRUPTED)
        return self.result


@dataclass(slots=True)
class _Queue:
    """The calls that wait for a namespace; somebody leads while it exists."""

    waiting: deque[_Call] = field(default_factory=deque)


@dataclass(slots=True)
class _Attempt:
    """One transaction of a group: who shares it, by what it can be known again, and what each call would get."""

    group: list[_Call]
    joining: bool
    traces: Traces | None = None
    outcomes: list[tuple[_Call, CommitResult | BaseException]] = field(default_factory=list)


class _Thread(threading.local):
    """What a thread does: the namespace that it decides about."""

    deciding: LockedNamespace | None = None


class Writers:
    """Runs writes; safe in several threads. ``last_at`` is the time of the last write, in microseconds, as far as it is known here.

    ``store`` is the id of the store for which words are encoded here.
    """

    def __init__(
        self, connections: Connections, clock: Clock, heads: KnownHeads, announcer: Announcer, store: str
    ) -> None:
        self.last_at = 0
        self.store = store
        self._connections = connections
        self._clock = clock
        self._heads = heads
        self._announcer = announcer
        self._queues: dict[str, _Queue] = {}
        self._lock = threading.Lock()
        self._thread = _Thread()
        # So that there are always connections for readers, among which are decisions that look further than their view.
        self._room = threading.BoundedSemaphore(max(connections.size // 2, 1))

    def refuse_while_deciding(self, what: str = "a decision cannot write; give the changes back as its result") -> None:
        """Raise `ConstraintViolation` in a thread in which a decision runs: it would wait for itself."""
        if self._thread.deciding is not None:
            raise ConstraintViolation(what)

    def session_for(self, namespaces: Sequence[str]) -> PgSession | None:
        """Return the session in which a decision of this thread runs, if it is about these namespaces alone.

        What a decision reads past its view comes from there too: a second connection could be one that another decision waits for.
        """
        locked = self._thread.deciding
        return locked.session if locked is not None and list(namespaces) == [locked.name] else None

    def write(
        self,
        namespace: str,
        key: RequestKey | None,
        decide: Decision,
        codec: ResultCodec,
        *,
        alone: bool,
        prefetch: Prefetch | None = None,
    ) -> CommitResult:
        """Run a decision in a transaction, maybe together with others; see `hybrid_memory.store.base.Store.write`.

        Before an ``alone`` decision no other one runs in its transaction.
        """
        self.refuse_while_deciding()
        check_text(namespace)
        if key is not None:
            check_text(key.relay)
            check_number(key.number)
        call = _Call(key, decide, codec, alone, prefetch)
        if not self._leads_at_once(namespace, call):
            self._wait(namespace, call)
        if not call.is_done:
            self._lead(namespace, call)
        return call.outcome()

    def _leads_at_once(self, namespace: str, call: _Call) -> bool:
        """Return whether nobody is before a call; else it is among those that wait for their namespace now."""
        with self._lock:
            queue = self._queues.get(namespace)
            if queue is None:
                self._queues[namespace] = _Queue()
                return True
            queue.waiting.append(call)
            return False

    def _wait(self, namespace: str, call: _Call) -> None:
        """Wait until a call is done, or is to lead."""
        try:
            call.wakes.wait()
        except BaseException:
            # The thread is interrupted: whoever comes behind must not wait for it.
            with self._lock:
                queue = self._queues.get(namespace)
                if queue is not None and call in queue.waiting:
                    queue.waiting.remove(call)
            if call.leads:
                self._pass_on(namespace)
            raise

    def _lead(self, namespace: str, first: _Call) -> None:
        """Run a call and those that wait behind it, and give the lead to the next."""
        group = [first]
        try:
            self._run(namespace, group)
        except Exception as error:  # noqa: BLE001 - each call raises it in its own thread
            for call in group:
                if not call.is_done:
                    call.error = error
        finally:
            for call in group[1:]:
                if not call.is_done:
                    call.error = OutcomeUnknown(_INTERRUPTED)
                call.wakes.set()
            self._pass_on(namespace)

    def _pass_on(self, namespace: str) -> None:
        with self._lock:
            queue = self._queues[namespace]
            if not queue.waiting:
                del self._queues[namespace]
                return
            following = queue.waiting.popleft()
            following.leads = True
        following.wakes.set()

    def _companions(self, namespace: str, room: int) -> list[_Call]:
        """Take the calls that may follow in the transaction of the one that leads."""
        found: list[_Call] = []
        with self._lock:
            waiting = self._queues[namespace].waiting
            while waiting and len(found) < room and not waiting[0].alone:
                found.append(waiting.popleft())
        return found

    def _run(self, namespace: str, group: list[_Call]) -> None:
        """Run a group to its end; ``group`` grows by those that join it at its first try."""
        try:
            self._run_together(namespace, group, joining=True)
        except Exception as error:
            refused = isinstance(error, ConstraintViolation) or not isinstance(error, StoreError)
            if len(group) == 1 or not refused:
                raise
            # It is about what one of them wants.
            for call in group:
                try:
                    self._run_together(namespace, [call], joining=False)
                except Exception as its_own:  # noqa: BLE001 - whatever it is, it is that call's
                    call.error = its_own

    def _run_together(self, namespace: str, group: list[_Call], *, joining: bool) -> None:
        """Run a group in one transaction, again and again while that is of use, and give each call its outcome."""
        deadline = monotonic() + self._connections.wait_seconds
        attempt = _Attempt(group, joining)
        tries = 1
        while not self._committed(namespace, attempt, deadline, last=tries == _TRIES):
            sleep(_PAUSE_SECONDS)
            attempt = _Attempt(group, joining=False)
            tries += 1
        self._note(namespace, attempt)
        for call, outcome in attempt.outcomes:
            if isinstance(outcome, CommitResult):
                call.result = outcome
            else:
                call.error = outcome

    def _committed(self, namespace: str, attempt: _Attempt, deadline: float, *, last: bool) -> bool:
        """Run a group in one transaction; returns False where nothing was changed and another try may do better."""
        try:
            self._transact(namespace, attempt)
        except ConnectionLost:
            if monotonic() >= deadline:
                raise
            return False
        except ConcurrentModification:
            if last:
                raise
            return False
        except OutcomeUnknown:
            # The call may have waited long already: from here on the server has as long as ever to come back, and to do it then.
            seconds = self._connections.wait_seconds
            committed = None if attempt.traces is None else was_committed(self._connections, attempt.traces, seconds)
            if committed is None:
                raise
            if not committed and monotonic() >= deadline + seconds:
                raise ConnectionLost(LOST) from None
            return committed
        return True

    def _transact(self, namespace: str, attempt: _Attempt) -> None:
        """Run a group in one transaction."""
        group = attempt.group
        with self._room, self._connections.transaction([namespace]) as session:
            plan = PrefetchPlan(namespace, [call.prefetch for call in group])
            found = tables.lock_namespace(session, namespace, _keys_of(group), plan.statements())
            locked = LockedNamespace(session, namespace, found.head, found.embedder, dict(found.requests))
            locked.is_another_store = found.store != self.store
            plan.take(locked.prefetched, session, found.others)
            if attempt.joining and (others := self._companions(namespace, _MOST_IN_GROUP - len(group))):
                group.extend(others)
                plan = PrefetchPlan(namespace, [call.prefetch for call in others])
                requests, rows = tables.read_requests_and(session, _keys_of(others), plan.statements())
                locked.requests.update(requests)
                plan.take(locked.prefetched, session, rows)
            for call in group:
                attempt.outcomes.append((call, self._decide(locked, call)))
            attempt.traces = Traces(
                namespace=namespace,
                transaction=found.transaction,
                process=process_of(session.connection),
                head=locked.head if locked.head.position > found.head.position else None,
                requests=tuple(locked.done),
            )

    def _decide(self, locked: LockedNamespace, call: _Call) -> CommitResult | BaseException:
        """Return the outcome of one call of a group, or what it fails with alone; what concerns all is raised."""
        try:
            if call.key is not None and (done := replayed(locked, call.key, call.codec)):
                return done
            with self._deciding_in(locked):
                return decide_and_apply(
                    locked, call.key, call.decide, call.codec, self._write_time(locked.head.last_at)
                )
        except Exception as error:
            if locked.sending or locked.session.failed:
                raise
            return error

    @contextmanager
    def _deciding_in(self, locked: LockedNamespace) -> Iterator[None]:
        self._thread.deciding = locked
        try:
            yield
        finally:
            self._thread.deciding = None

    def _write_time(self, last_at: int) -> datetime:
        """Return the time of a write that happens now; not before the last one's where a clock went back by a little."""
        now = never_back(self._clock.now().astimezone(UTC), from_micros(self.last_at))
        return never_back(now, from_micros(last_at))

    def _note(self, namespace: str, attempt: _Attempt) -> None:
        """Note what a committed transaction has come to, and have the other hubs told."""
        written = [one for _, one in attempt.outcomes if isinstance(one, CommitResult) and not one.replayed]
        if written:
            with self._lock:
                self.last_at = to_micros(never_back(written[-1].at, from_micros(self.last_at)))
        if any(one.log for one in written):
            end = None if attempt.traces is None else attempt.traces.head
            self._heads.note(namespace, written[-1].position, "" if end is None else end.link)
            self._announcer.announce(namespace, written[-1].position)


def _keys_of(group: Sequence[_Call]) -> list[RequestKey]:
    return [call.key for call in group if call.key is not None]
