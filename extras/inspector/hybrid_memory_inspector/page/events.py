"""What changes in the memory, told to open pages as server-sent events, at the address `PATH`.

`Events` hears of each commit, reads what the log says of it, and tells every open page; a page that lost its connection is told what it
missed, by the number of the last event that it had. No text of a memory is in an event: a page asks for what it wants to show.
"""

from __future__ import annotations

import json
import math
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import anyio
from anyio.from_thread import BlockingPortal
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from hybrid_memory.errors import LogTrimmed
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.provider import MemoryAccess

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.writing import LogEntry

PATH = "/events"
CHANGE, RELOAD, HELLO, BYE = "change", "reload", "hello", "bye"

MAX_CHANGES = 200  # of one event; where there are more, the page asks for everything again
MAX_STREAMS = 64  # at once; a browser needs one
HEARTBEAT_SECONDS = 15.0  # also finds out that a browser is gone

_KEPT_EVENTS = 256  # for pages that come back
_KEPT_SECONDS = 60.0  # so long after the last page left, changes are still noted for it
_PAUSE_SECONDS = 0.1  # between two events: what changes meanwhile is told together
_WAITING_EVENTS = 64  # that a slow page has not taken yet
_MAX_NAMESPACES = 200  # whose positions are looked up ahead
_RETRY_MS = 1000  # until a browser connects again

_BUSY = b"Too many pages are open at once."
_Event = tuple[int, str, str]


class Events:
    """Tells pages what changes; `running` must be entered. ``pause_seconds`` is that between two events."""

    def __init__(self, memory: MemoryAccess, *, pause_seconds: float = _PAUSE_SECONDS) -> None:
        self._memory = memory
        self._pause_seconds = pause_seconds
        self._run = secrets.token_hex(
            4
        )  # of which the numbers are: a page of an earlier time is not told by number what it missed
        self._number = 0
        self._kept: deque[_Event] = deque(maxlen=_KEPT_EVENTS)
        self._pages: set[MemoryObjectSendStream[_Event]] = set()
        self._last_left = -math.inf
        self._heads: dict[str, int] | None = None
        self._knowing = anyio.Lock()
        self._due: dict[str, bool] = {}  # namespaces; True where the log does not tell all
        self._due_lock = threading.Lock()
        self._has_due = anyio.Event()
        self._portal: BlockingPortal | None = None
        self._left: str | None = None

    @property
    def streams(self) -> int:
        """How many pages are connected."""
        return len(self._pages)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Tell pages while the body runs."""
        async with BlockingPortal() as portal, anyio.create_task_group() as group:
            self._portal = portal
            end = self._memory.listen(self._committed, self._wanted)
            group.start_soon(self._tell_for_ever)
            try:
                yield
            finally:
                end()
                self._portal = None
                group.cancel_scope.cancel()
                await portal.stop(cancel_remaining=True)

    def leave(self, reason: str = "ended") -> None:
        """Tell all pages that this is the end, and let their streams end."""
        self._left = self._left or reason
        self._emit(BYE, {"reason": self._left})
        for page in list(self._pages):
            page.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one page until it or this server leaves."""
        if len(self._pages) >= MAX_STREAMS:
            await send({"type": "http.response.start", "status": 503, "headers": [(b"retry-after", b"5")]})
            await send({"type": "http.response.body", "body": _BUSY})
            return
        sending, receiving = anyio.create_memory_object_stream[_Event](_WAITING_EVENTS)
        if not self._pages and time.monotonic() - self._last_left > _KEPT_SECONDS:
            self._forget()
        missed = self._missed(_last_id(scope))
        self._pages.add(sending)
        try:
            with receiving:
                await self._know_heads()
                async with anyio.create_task_group() as group:
                    group.start_soon(_until_gone, receive, group.cancel_scope)
                    await self._send_all(send, missed, receiving)
                    group.cancel_scope.cancel()
        finally:
            self._pages.discard(sending)
            sending.close()
            self._last_left = time.monotonic()

    async def _send_all(self, send: Send, missed: Sequence[_Event], coming: MemoryObjectReceiveStream[_Event]) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

        async def write(text: str) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        await write(f"retry: {_RETRY_MS}\n\n" + _as_text(HELLO, json.dumps({"heads": self._heads or {}})))
        told = 0
        for number, kind, data in missed:
            told = number
            await write(_as_text(kind, data, self._id(number)))
        ended = False
        while not ended:
            try:
                with anyio.fail_after(HEARTBEAT_SECONDS):
                    number, kind, data = await coming.receive()
            except TimeoutError:
                await write(": still here\n\n")
                continue
            except anyio.EndOfStream:
                ended = True
                continue
            if number > told:
                await write(_as_text(kind, data, self._id(number)))
        if self._left is None:
            # This page was too slow to take what came: it has to ask for everything, and begins again.
            await write(_as_text(RELOAD, json.dumps({"namespaces": []}), self._id(self._number)))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _id(self, number: int) -> str:
        return f"{self._run}-{number}"

    def _missed(self, last_id: str) -> list[_Event]:
        """Return what a page missed that had an event of some number; all it can be told may be to ask for everything again."""
        run, _, number = last_id.partition("-")
        if not last_id:
            return []
        if run == self._run and number.isascii() and number.isdigit() and len(number) < len(str(2**63)):
            had = int(number)
            first = self._kept[0][0] if self._kept else self._number + 1
            if first - 1 <= had <= self._number:
                return [one for one in self._kept if one[0] > had]
        return [(self._number, RELOAD, json.dumps({"namespaces": []}))]

    def _forget(self) -> None:
        """Begin again: changes were not noted while nobody looked."""
        self._run, self._heads = secrets.token_hex(4), None
        self._kept.clear()

    def _wanted(self) -> bool:
        """Return whether anybody may still want to hear of changes; asked in the thread of a writer."""
        return self._left is None and (bool(self._pages) or time.monotonic() - self._last_left < _KEPT_SECONDS)

    def _committed(self, namespace: str, sessions: frozenset[str]) -> None:
        """Note what changed; runs in the provider's thread of news. A change of no session is one of the whole store."""
        with self._due_lock:
            first = not self._due
            self._due[namespace] = self._due.get(namespace, False) or not sessions
        portal = self._portal
        if first and portal is not None:
            with suppress(RuntimeError):  # the server is just ending
                portal.start_task_soon(self._wake)

    async def _wake(self) -> None:
        self._has_due.set()

    async def _tell_for_ever(self) -> None:
        while True:
            await self._has_due.wait()
            self._has_due = anyio.Event()
            with self._due_lock:
                due, self._due = self._due, {}
            with log_and_continue("telling the page what changed"):
                await self._know_heads()
                await self._tell(due)
            await anyio.sleep(self._pause_seconds)

    async def _know_heads(self) -> None:
        async with self._knowing:
            if self._heads is None:
                with log_and_continue("looking where the logs end"):
                    self._heads = await self._memory.call(_heads)

    async def _tell(self, due: Mapping[str, bool]) -> None:
        heads = self._heads if self._heads is not None else {}
        found = await self._memory.call(partial(_changes, {name: heads.get(name) for name in due}))
        heads.update(found.heads)
        again = sorted(found.again | {name for name, exchanged in due.items() if exchanged})
        told = [one for one in found.told if one["namespace"] not in again]
        if again:
            self._emit(RELOAD, {"namespaces": again})
        if told:
            touched = sorted({one["namespace"] for one in told})
            self._emit(CHANGE, {"namespaces": touched, "head": max(heads[name] for name in touched), "changes": told})

    def _emit(self, kind: str, data: dict[str, Any]) -> None:
        self._number += 1
        event = (self._number, kind, json.dumps(data, ensure_ascii=True))
        if kind != BYE:
            self._kept.append(event)
        for page in list(self._pages):
            try:
                page.send_nowait(event)
            except anyio.WouldBlock:
                page.close()  # its stream ends, and it comes again
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # it is just leaving


def _as_text(kind: str, data: str, number: str = "") -> str:
    """Return an event as it is sent; the data are JSON in ASCII, on one line."""
    return (f"id: {number}\n" if number else "") + f"event: {kind}\ndata: {data}\n\n"


def _last_id(scope: Scope) -> str:
    """Return the number of the last event that a page had: a browser tells it itself, a page that takes over says it in ``after``."""
    asked = parse_qs(scope.get("query_string", b"").decode("utf-8", "replace")).get("after", [""])
    return Headers(scope=scope).get("last-event-id") or asked[0]


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _heads(service: MemoryService) -> dict[str, int]:
    names = list(service.store.namespaces())[:_MAX_NAMESPACES]
    return {name: service.store.head(name) for name in names}


@dataclass(frozen=True, slots=True)
class _Changes:
    """What logs say since positions, and where they end now; ``again`` are namespaces of which they do not tell all."""

    heads: dict[str, int]
    told: list[dict[str, Any]]
    again: frozenset[str]


def _changes(before: Mapping[str, int | None], service: MemoryService) -> _Changes:
    heads: dict[str, int] = {}
    told: list[dict[str, Any]] = []
    again: set[str] = set()
    for name, after in before.items():
        head = heads[name] = service.store.head(name)
        since = after or 0  # of a namespace that is new, all is news
        try:
            entries = service.store.changes(name, since, MAX_CHANGES + 1) if since < head else ()
        except LogTrimmed:
            again.add(name)
            continue
        if since > head or len(entries) + len(told) > MAX_CHANGES:
            again.add(name)  # the store is another one, or too much happened to tell
        elif entries:
            told += [_entry_as_json(name, entry) for entry in entries]
            heads[name] = max(head, entries[-1].position)
    return _Changes(heads, told, frozenset(again))


def _entry_as_json(namespace: str, entry: LogEntry) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "position": entry.position,
        "change": entry.change.value,
        "id": str(entry.id),
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "action": entry.action,
        "note": entry.note,
    }
