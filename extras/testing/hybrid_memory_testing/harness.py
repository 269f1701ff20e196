"""`memory_for_tests`: a memory that belongs to one test, and all that a test does with it."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, tzinfo
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import ValidationError

from hybrid_memory.embedding.registry import choose_embedders, make_embedder
from hybrid_memory.ids import is_unnamed_session, new_session
from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeRandomSource
from hybrid_memory_mcp.mcp_api.errors import argument_problems, as_tool_errors
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.mcp_api.schemas import WriteArguments, names_taken
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext
from hybrid_memory_mcp.mcp_api.views import Views
from hybrid_memory_testing.checks import Checks
from hybrid_memory_testing.clock import STEP, MovableClock
from hybrid_memory_testing.connection import held_open
from hybrid_memory_testing.providers import OffProvider, OrderedProvider
from hybrid_memory_testing.recording import Event, RecordMode
from hybrid_memory_testing.replay import Tape, replayed
from hybrid_memory_testing.server import ObservedServer, Observer
from hybrid_memory_testing.settings import is_switched_off, settings_of_test
from hybrid_memory_testing.transcript import GET_PROMPT, READ_RESOURCE, Call, Transcript, text_of

if TYPE_CHECKING:
    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory_mcp.runtime.provider import ServiceProvider

Transport: TypeAlias = Literal["memory", "stdio"]

EARLIER = "earlier"
"""The session of what a test prepares with `MemoryForTests.remember`."""

_ALL = 10_000_000  # more changes than a test makes
_TEST = "test"  # the session, agent and actor of what a test itself asks


def memory_for_tests(
    *,
    transport: Transport = "memory",
    namespace: str = "default",
    timezone: str = "UTC",
    start: datetime | str | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    recorded: str | Path | None = None,
    record_mode: RecordMode = "once",
    off: bool | None = None,
) -> MemoryForTests:
    """Return a memory for one test, empty, to be used in a ``with`` or ``async with`` block.

    It is the product with its real ranking, over a store in this process; nothing is read from or written to disk, no process and no
    thread of the program's is started, and environment and umask are left alone.

    - ``transport="stdio"``: clients start the program as a process of its own, over a store in a temporary folder. The rest is the same.
    - ``namespace``, ``timezone``: those of all clients; dates without a zone are of ``timezone`` (a name as ``Europe/Berlin``).
    - ``start``: what the clock shows first, a moment or ISO 8601; 2026-01-10 12:00 UTC when not given. ``seed``: another number, other ids.
    - ``settings``: settings of the store by their names in ``config.toml``, as ``{"secrets": "refuse"}``; not the machine's.
    - ``recorded``: a file to compare the run with at the end of the block, or to record it in (see `RecordMode`, docs/testing.md).
    - ``off``: True for a memory that keeps nothing: a test that passes with it does not test the memory. None: as the variable
      ``HYBRID_MEMORY_TEST_OFF`` says.

    Raises:
        ValueError: an option cannot be used.
    """
    if transport not in ("memory", "stdio"):
        raise ValueError(f"transport: {transport!r} is neither 'memory' nor 'stdio'")
    if recorded is not None and transport == "stdio":
        raise ValueError(
            "recorded: a recording is of transport='memory', where the order of all that happens is certain"
        )
    switched_off = is_switched_off() if off is None else off
    tape = None if recorded is None else Tape(Path(recorded), record_mode, seed, namespace, timezone)
    return MemoryForTests(
        transport=transport,
        namespace=namespace,
        timezone=timezone,
        start=start,
        seed=seed,
        settings=settings_of_test(dict(settings or {})),
        tape=tape,
        off=switched_off,
    )


class MemoryForTests(Checks):
    """A memory that belongs to one test; `memory_for_tests` makes it.

    ``clock`` is its time, ``transcript`` what the agent did, ``memories`` what is remembered; `client` connects to it, `remember` prepares
    it, and the methods that begin with ``assert_`` check it. ``is_off`` says that it keeps nothing. ``service`` is the library's
    `MemoryService` below, for what is not here.
    """

    def __init__(
        self,
        *,
        transport: Transport,
        namespace: str,
        timezone: str,
        start: datetime | str | None,
        seed: int,
        settings: StoreSettings,
        tape: Tape | None,
        off: bool,
    ) -> None:
        self.clock = MovableClock(start)
        self.is_off = off
        self._calls = Transcript()
        self._transport = transport
        self._namespace = namespace
        self._timezone = timezone
        self._zone = _zone(timezone)
        self._seed = seed
        self._settings = settings
        self._tape = tape
        self._events: list[Event] = []
        self._ids = FakeRandomSource(seed)
        self._other = FakeRandomSource(seed + 1_000_003)  # names and nonces: what is shown must not change the ids
        self._observer = Observer(self.clock, self._on_call)
        self._provider: OrderedProvider | OffProvider | None = None
        self._stdio: _StdioParts | None = None

    # --- a block

    def __enter__(self) -> Self:
        if self._provider is not None:
            raise RuntimeError("this memory was used before; make another one with memory_for_tests()")
        if self._transport == "stdio":
            self._stdio = _StdioParts()
        open_service = partial(_open, self._stdio, self.clock, self._ids, self._settings, is_off=self.is_off)
        self._provider = OffProvider(open_service) if self.is_off else OrderedProvider(open_service)
        if self._stdio is not None:
            nonces = FakeRandomSource(self._seed + 2_000_003)
            self._stdio.start(self._provider, self._observer, self.clock, nonces)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if kind is None and self._tape is not None:
            __tracebackhide__ = True
            self._tape.finish(self._events, is_off=self.is_off)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def discard_recording(self) -> None:
        """Neither write nor compare the recording at the end of the block: the test has failed otherwise."""
        self._tape = None

    # --- ways to it

    @asynccontextmanager
    async def client(
        self, *, session: str | None = None, agent: str = "default", **options: Any
    ) -> AsyncIterator[Client]:
        """Connect a client of the MCP SDK, as a new conversation.

        ``session`` names the conversation, which then goes on when another client names it too; without a name it ends with the client, as
        everywhere. ``agent`` is the name of the agent that remembers. ``options`` are those of `mcp.Client`, as ``sampling_callback`` or
        ``mode="legacy"``.
        """
        session = session or self._new_session()
        server = self.server if self._stdio is None else self.server_parameters
        connected = Client(server(session=session, agent=agent), **options)
        try:
            async with held_open(lambda: connected) as client:
                yield client
        finally:
            if is_unnamed_session(session) and any(event.session == session for event in self._events):
                self._end(session, agent)

    def server(self, *, session: str | None = None, agent: str = "default") -> MCPServer[Any]:
        """Return a server of the MCP SDK over this memory, in this process: one conversation.

        It is for what connects to a server by itself: ``pydantic_ai.mcp.MCPToolset(memory.server())``, ``fastmcp.Client(memory.server())``.
        """
        provider = self._opened()
        scope = Scope(namespace=self._namespace, session=session or self._new_session(), agent=agent)
        views = Views(provider, scope, self._zone, self._other)
        return ObservedServer(self._observer, provider, scope, self._zone, views)

    def command(self, *, session: str | None = None, agent: str = "default") -> list[str]:
        """Return the command by which a client starts the memory over stdio, for agents that start it themselves.

        Raises:
            RuntimeError: the memory is not one of ``transport="stdio"``.
        """
        self._opened()
        if self._stdio is None:
            raise RuntimeError('a command needs memory_for_tests(transport="stdio")')
        session = session or self._new_session()
        return self._stdio.command(namespace=self._namespace, session=session, agent=agent, timezone=self._timezone)

    def server_parameters(self, *, session: str | None = None, agent: str = "default") -> StdioServerParameters:
        """Return the `command` as the MCP SDK's parameters of a server."""
        command, *arguments = self.command(session=session, agent=agent)
        return StdioServerParameters(command=command, args=arguments)

    def mcp_config(self, *, session: str | None = None, agent: str = "default") -> dict[str, Any]:
        """Return the `command` as a file ``mcp.json`` has it: ``{"mcpServers": {"memory": {"command": ..., "args": [...]}}}``."""
        command, *arguments = self.command(session=session, agent=agent)
        return {"mcpServers": {"memory": {"command": command, "args": arguments}}}

    # --- to prepare and to look

    def remember(self, content: str, /, **fields: Any) -> str:
        """Store a memory before the agent begins, and return its id.

        ``fields`` are the arguments of ``write_memory``: ``tags=["health"]``, ``importance=0.9``, ``occurred_at="2025-11-03"``,
        ``session="monday"``. It counts as said by the user in the session "earlier" unless they say otherwise, and is in no transcript.

        Raises:
            HybridMemoryError: a field cannot be used; says which.
            pydantic.ValidationError: likewise.
        """
        given = {"origin": "user", "session": EARLIER} | {name: _as_argument(value) for name, value in fields.items()}
        at = self.clock.now()
        request = WriteArguments.model_validate({"content": content, **given}).to_request(CallTime(self._zone, at))
        written = self._opened().run(lambda service: service.write(self._scope(EARLIER), request))
        self._opened().catch_up()
        arguments = {"content": content, **{name: _as_argument(value) for name, value in fields.items()}}
        self._events.append(Event(does="remember", at=at, arguments=arguments, answer={"id": written.id}))
        self.clock.advance(seconds=STEP.total_seconds())
        return str(written.id)

    @property
    def transcript(self) -> Transcript:
        """What the agent did with the memory: its calls, in order."""
        return self._calls

    @property
    def service(self) -> MemoryService:
        """The library's service below, for what is not here."""
        return self._opened().ensure_open()

    @property
    def memories(self) -> list[Memory]:
        """All current memories, newest first, as they are stored: neither forgotten nor replaced nor expired; of all namespaces."""
        return [one for one in self._all() if self._is_current(one)]

    @property
    def former_memories(self) -> list[Memory]:
        """What was forgotten or replaced, or has expired, newest first."""
        return [one for one in self._all() if not self._is_current(one)]

    def recall(self, question: str, *, limit: int | None = None) -> list[Memory]:
        """Return what a question brings up, best first, as ``read_memories`` gives it to an agent; an empty one asks for a brief.

        It counts as no use of the memories and is in no transcript.
        """
        request = ReadRequest(query=question, limit=limit, concise=True, recalls=False, zone=self._zone)
        found = self._opened().run(lambda service: service.read(self._scope(_TEST), request))
        return [hit.memory for hit in found.hits]

    # --- recordings

    def save_recording(self, file: str | Path) -> None:
        """Write all that happened so far to a file, for `replay` or for ``recorded``."""
        Tape(Path(file), "rewrite", self._seed, self._namespace, self._timezone).write(self._events)

    def replay(self, file: str | Path) -> None:
        """Do again what a recording holds, without the agent, and check that each answer is the recorded one.

        It prepares, calls and ends conversations as recorded and lets the clock show the times of then. Afterwards the memory is as the
        agent left it, and the other assertions go on from there.

        Raises:
            AssertionError: an answer differs; shows how.
            ValueError: the file is no recording.
        """
        __tracebackhide__ = True
        replayed(self, Path(file))

    def do_again(self, event: Event, arguments: dict[str, Any]) -> Event:
        """Do what happened in another run, with ``arguments`` of this one, and return what happens now; for `replay`."""
        if event.does == "remember":
            self.remember(arguments.pop("content"), **arguments)
        elif event.does == "end":
            self._end(event.session, event.agent)
        else:
            self._call(event, arguments)
        return self._events[-1]

    # --- private

    def _call(self, event: Event, arguments: dict[str, Any]) -> None:
        """Do a call as a server does, without one."""
        scope = Scope(namespace=self._namespace, session=event.session, agent=event.agent, actor=_TEST)
        at = self.clock.now()
        answer: dict[str, Any] = {}
        try:
            done = self._opened().run(partial(_answered, event.tool, arguments, CallContext(scope, self._zone)))
            self._opened().catch_up()
            answer, text, failed = done.structured_content or {}, text_of(done), bool(done.is_error)
        except ToolError as error:
            text, failed = str(error), True
        self._on_call(
            Call(
                tool=event.tool,
                arguments=arguments,
                answer=answer,
                text=text,
                failed=failed,
                session=event.session,
                agent=event.agent,
                client=event.client,
                at=at,
            )
        )
        self.clock.advance(seconds=STEP.total_seconds())

    def _scope(self, session: str) -> Scope:
        return Scope(namespace=self._namespace, session=session, actor=_TEST)

    def _new_session(self) -> str:
        return new_session(self._other)

    def _opened(self) -> OrderedProvider | OffProvider:
        if self._provider is None:
            raise RuntimeError("use the memory in a block: with memory_for_tests() as memory:")
        return self._provider

    def _all(self) -> list[Memory]:
        def work(service: MemoryService) -> list[Memory]:
            store = service.store
            found: dict[MemoryId, Memory] = {}
            for namespace in store.namespaces():
                found |= store.get(namespace, [entry.id for entry in store.changes(namespace, 0, _ALL)])
            return sorted(found.values(), key=lambda one: (one.created_at, one.id), reverse=True)

        return self._opened().run(work)

    def _is_current(self, memory: Memory) -> bool:
        expired = memory.expires_at is not None and memory.expires_at <= self.clock.now()
        return memory.forgotten_at is None and memory.superseded_by is None and not expired

    def _on_call(self, call: Call) -> None:
        self._calls.add(call)
        self._events.append(
            Event(
                does="call",
                at=call.at,
                tool=call.tool,
                client=call.client,
                session=call.session,
                agent=call.agent,
                arguments=call.arguments,
                failed=call.failed,
                answer=call.answer,
                text="" if call.tool in (READ_RESOURCE, GET_PROMPT) else call.text,  # of this moment, version and draw
            )
        )

    def _end(self, session: str, agent: str) -> None:
        """End a conversation whose client has left, as the hub does; over stdio wait until it has done it."""
        if self._stdio is not None:
            self._stdio.wait_for_end(session)
            return
        scope = Scope(namespace=self._namespace, session=session, agent=agent)
        self._opened().run(lambda service: service.end_session(scope))
        self._events.append(Event(does="end", at=self.clock.now(), session=session, agent=agent))

    def _close(self) -> None:
        provider = self._opened()
        if self._stdio is not None:
            self._stdio.close()
        else:
            provider.close(None)


class _StdioParts:
    """What the stdio form has alongside: the folder and the hub."""

    def __init__(self) -> None:
        from hybrid_memory_testing.stdio import TemporaryHome

        self.home = TemporaryHome()

    def start(
        self,
        provider: ServiceProvider,
        observer: Observer,
        clock: MovableClock,
        random_source: FakeRandomSource,
    ) -> None:
        """Start the hub."""
        from hybrid_memory_testing.stdio import HubInThread

        try:
            provider.ensure_open()
            self._hub = HubInThread(self.home.path, provider, observer, clock=clock, random_source=random_source)
        except BaseException:
            provider.close(None)
            self.home.remove()
            raise

    def command(self, **given: str) -> list[str]:
        """Return the command of a client."""
        from hybrid_memory_testing.stdio import relay_command

        return relay_command(self.home.path, **given)

    def wait_for_end(self, session: str) -> None:
        """Wait until the hub has ended the conversation of a client that left."""
        self._hub.wait_for_end(session)

    def close(self) -> None:
        """End the hub and remove the folder."""
        self._hub.close()
        self.home.remove()


def build_server(
    *,
    namespace: str = "default",
    timezone: str = "UTC",
    start: datetime | str | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> MCPServer[Any]:
    """Return an MCP server over an empty memory of its own, in this process, for a look at the tools: ``Client(build_server())``.

    It is there as long as it is used. For tests `memory_for_tests` gives more: what was called, and what is remembered.
    """
    memory = memory_for_tests(
        namespace=namespace, timezone=timezone, start=start, seed=seed, settings=settings, off=False
    )
    server = memory.__enter__().server()
    weakref.finalize(server, memory._close)  # noqa: SLF001 - its own class
    return server


def _open(
    stdio: _StdioParts | None,
    clock: MovableClock,
    random_source: FakeRandomSource,
    settings: StoreSettings,
    *,
    is_off: bool,
) -> MemoryService:
    if stdio is not None and not is_off:
        return MemoryService.open(stdio.home.path, clock=clock, random_source=random_source, settings=settings)
    spec = settings.embedder
    return MemoryService(
        MemoryStore(clock, random_source),
        _embedder(spec) if spec in ("static", "multilingual") else choose_embedders(settings, None)[0],
        clock=clock,
        random_source=random_source,
        settings=settings,
    )


@cache
def _embedder(spec: str) -> Embedder:
    """Return a built-in embedder, whose table the tests of a process share."""
    return make_embedder(spec)


def _zone(name: str) -> tzinfo:
    """Return the zone of a name.

    Raises:
        ValueError: there is none.
    """
    if name == "UTC":  # where the system has no zones, as Windows
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"timezone: {name!r} is not a known time zone; write it as Europe/Berlin") from None


def _answered(name: str, arguments: dict[str, Any], call: CallContext, service: MemoryService) -> CallToolResult:
    """Return what a tool answers.

    Raises:
        ToolError: it refuses.
    """
    tool = next((one for one in TOOLS if one.name == name), None)
    if tool is None:
        raise ToolError("unknown tool")
    try:
        given = tool.takes.model_validate(arguments)
    except ValidationError as error:
        raise ToolError(argument_problems(error, name, names_taken(tool.takes))) from None
    with as_tool_errors(name):
        return tool.run(service, call, given)


def _as_argument(value: Any) -> Any:
    """Return a value as a client would send it."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, tuple | set | frozenset):
        return sorted(value) if isinstance(value, set | frozenset) else list(value)
    return value
