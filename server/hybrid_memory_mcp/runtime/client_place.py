"""`ClientPlace`: where one client is at work, and with that on whose behalf it is served.

The hub makes one for each relay; `MemoryServer`, its views and its notifier ask it at every call. The place may change while a
client is served: its roots become known or change, or somebody writes a marker file; one that is taken away changes nothing, but that
the client is told (``former_projects.py``). Over HTTP the token decides and nothing changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import anyio
import anyio.to_thread

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.model import Scope
from hybrid_memory_mcp.former_projects import FormerProject, former_of, keep_project
from hybrid_memory_mcp.projects import FIRST_ROOT, Place

LOOK_AGAIN_SECONDS = 2.0  # a look at the folders above a working folder costs some tenths of a millisecond, in a thread
LOOK_TIMEOUT_SECONDS = 2.0  # a folder of another machine may not answer
SLOW_PAUSE_SECONDS = 30.0  # until the next look at such a folder
# Once a conversation, for the roots of a client that says it has some; it answers in milliseconds, or never.
ROOTS_TIMEOUT_SECONDS = 1.0

FindPlace: TypeAlias = Callable[[tuple[tuple[str, str], ...]], Place]
"""Finds the place of a client by its roots, each with the words for it; may block."""

_CHANGED = "what is said here goes to {now} from now on ({why}); before it went to {before}"
_SLOW = "cannot be looked for, because the folder does not answer"


class RefusedHere(HybridMemoryError):
    """The marker of the folder forbids it; the message is a sentence that says so and what to do."""


class ClientPlace:
    """The place of a client, looked for when it is first asked for and again every `LOOK_AGAIN_SECONDS`.

    ``scope`` is the person's; without ``find`` it stays as it is. Methods but the properties belong to the event loop.
    """

    def __init__(self, scope: Scope, find: FindPlace | None = None) -> None:
        self._person = scope
        self._find = find
        self._place = Place(personal=scope.namespace)
        self._found = False
        self._look_again_at = -math.inf
        self._roots: tuple[tuple[str, str], ...] = ()
        self._roots_came: anyio.Event | None = None
        self._wait_until = 0.0
        self._does_not_answer = False
        self._limiter: anyio.CapacityLimiter | None = None  # made in the event loop, which is not there yet
        self._on_move: list[Callable[[], None]] = []
        self._former: FormerProject | None = None
        self._on_project: Callable[[FormerProject], None] = _nothing
        self._used_at: Place | None = None  # where the client was when something was last done for it

    @property
    def scope(self) -> Scope:
        """On whose behalf the client is served, as far as is known at this moment."""
        return self._person if self._find is None else self._place.scoped(self._person)

    @property
    def place(self) -> Place:
        """The place as far as is known at this moment."""
        return self._place

    @property
    def is_followed(self) -> bool:
        """Whether markers and roots count for this client."""
        return self._find is not None

    @property
    def look_is_due(self) -> bool:
        """Whether the place that is known may not be the one where the client is any more; may be asked in any thread."""
        return self._find is not None and time.monotonic() >= self._look_again_at

    def on_move(self, call: Callable[[], None]) -> None:
        """Have something called when other memories are read than before; not at the first look, before which nothing is read."""
        self._on_move.append(call)

    def on_project(self, call: Callable[[FormerProject], None]) -> None:
        """Have something called with each project that comes to hand, which stays when its marker is taken away."""
        self._on_project = call

    def resume(self, former: FormerProject | None) -> None:
        """Take the project that was at hand when another hub served this client."""
        self._former = former
        self._look_again_at = -math.inf

    def note_use(self) -> None:
        """Note that something is done for the client where it is now: a later move is worth a word."""
        if self._place.refuses_writes is None:
            self._used_at = self._place

    async def current(self) -> Place:
        """Return the place, after waiting for the client's roots for a moment where they are on their way."""
        if self._find is None:
            return self._place
        if self._roots_came is not None and not self._roots_came.is_set():
            with anyio.move_on_after(max(self._wait_until - anyio.current_time(), 0)) as waiting:
                await self._roots_came.wait()
            self._does_not_answer |= waiting.cancelled_caught
        if time.monotonic() >= self._look_again_at:
            await self._look(self._find)
            if self._look_again_at == -math.inf:  # roots came meanwhile, or the project of a former hub
                await self._look(self._find)
        return self._place

    async def readable(self) -> Place:
        """Return the place.

        Raises:
            RefusedHere: nothing may be read here.
        """
        place = await self.current()
        if place.refuses_reads is not None:
            raise RefusedHere(place.refuses_reads)
        return place

    def expect_roots(self) -> None:
        """Note that the client is asked for its roots: calls wait for them, for `ROOTS_TIMEOUT_SECONDS` at most.

        A client that has not answered in time is not waited for again.
        """
        if self._does_not_answer:
            return
        if self._roots_came is None or self._roots_came.is_set():
            self._roots_came = anyio.Event()
        self._wait_until = anyio.current_time() + ROOTS_TIMEOUT_SECONDS

    def set_roots(self, folder: str | None) -> None:
        """Take the folder of the client's first root, None where there is none on this machine."""
        self._roots = () if folder is None else ((folder, FIRST_ROOT),)
        self._look_again_at = -math.inf
        if self._roots_came is not None:
            self._roots_came.set()

    def roots_unknown(self) -> None:
        """Let calls go on: the client could not tell its roots. What it told before holds."""
        if self._roots_came is not None:
            self._roots_came.set()

    async def _look(self, find: FindPlace) -> None:
        before, roots, was_known, was_former = self._place.namespaces, self._roots, self._found, self._former
        found: Place | None = None
        former: FormerProject | None = None
        if self._limiter is None:
            # Its own: a thread that hangs in a folder must take no place of anybody else's.
            self._limiter = anyio.CapacityLimiter(1)
        with anyio.move_on_after(LOOK_TIMEOUT_SECONDS):
            found, former = await anyio.to_thread.run_sync(
                _find_or_keep, find, roots, was_former, abandon_on_cancel=True, limiter=self._limiter
            )
        if found is None and not self._found:
            # Not the person's namespace for want of an answer: the folder may be a project's.
            found = Place(personal=self._person.namespace, off=True, problem=_SLOW)
        elif found is not None:
            self._found = True
        if roots != self._roots or was_former != self._former:
            return  # it was told meanwhile what decides: `current` looks again
        self._place = self._with_change(found or self._place)
        if former is not None and former != self._former:
            self._former = former
            self._on_project(former)
        pause = LOOK_AGAIN_SECONDS if found is not None and found.problem is not _SLOW else SLOW_PAUSE_SECONDS
        self._look_again_at = time.monotonic() + pause
        if was_known and self._place.namespaces != before:
            for call in self._on_move:
                call()

    def _with_change(self, place: Place) -> Place:
        """Return the place with a word about where it was before, if words go elsewhere now than those that were said."""
        before = self._used_at
        if before is None or before.namespace == place.namespace:
            return replace(place, change=None if before is None else before.change)
        return replace(place, change=_CHANGED.format(now=_whose(place), why=place.why, before=_whose(before)))


def _find_or_keep(
    find: FindPlace, roots: tuple[tuple[str, str], ...], former: FormerProject | None
) -> tuple[Place, FormerProject | None]:
    folders = tuple(folder for folder, _ in roots)
    place = keep_project(find(roots), former, folders)
    return place, former if place.is_kept else former_of(place, folders)


def _whose(place: Place) -> str:
    return "the user's own memories" if place.project is None else f"project {place.project}"


def _nothing(_: FormerProject) -> None:
    pass
