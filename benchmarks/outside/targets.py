"""The servers: how each is started over a folder, written to, asked, and how all that it holds is listed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from benchmarks.outside import machine
from benchmarks.outside.marks import marks_in, refuses
from benchmarks.outside.wire import Answer, Server

STAND_IN = Path(__file__).with_name("stand_in.py")
HYBRID = "hybrid-memory-mcp"
_TIMEOUT_SECONDS = 30
Request = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A memory server.

    ``program`` is its executable below the folder of the peers. ``start`` gives the command from the executable and the store's
    folder, ``environment`` the variables. ``write`` takes a mark and its sentence, ``read`` a question.
    ``listing`` takes a page's number from 0 and the answer before it, and gives nothing where that was the last page;
    ``counting`` are variables for the process that counts. ``helper`` gives the command of a process that its user starts by
    hand alongside the store, from the executable, the folder and a free port; the store is used once it listens there.
    """

    name: str
    program: str
    start: Callable[[Path, Path], Sequence[str]]
    write: Callable[[str, str], Request]
    read: Callable[[str], Request]
    listing: Callable[[int, Answer | None], Request | None]
    environment: Callable[[Path], Mapping[str, str]] = field(default=lambda _: {})
    counting: Mapping[str, str] = field(default_factory=dict)
    helper: Callable[[Path, Path, int], Sequence[str]] | None = None
    note: str = ""


class Store:
    """A new folder with a store of one server in it, and all processes over it."""

    def __init__(self, target: Target, program: Path) -> None:
        self.target, self._program = target, program
        self._temporary = tempfile.TemporaryDirectory(prefix="outside-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.home = self.folder / "store"
        self.home.mkdir()
        self._spawned: list[Server] = []
        self._helper: Server | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_helper()
        for one in self._spawned:
            one.kill()
        machine.kill_all(self.processes())
        self._temporary.cleanup()

    def spawn(self, variables: Mapping[str, str] | None = None) -> Server:
        """Start a server process over the store."""
        self._start_helper()
        server = self._run(self.target.start(self._program, self.home), variables or {})
        self._spawned.append(server)
        return server

    def end_helper(self) -> None:
        """End the process that its user would have started by hand, if there is one."""
        if self._helper:
            self._helper.kill()

    def _start_helper(self) -> None:
        if not self.target.helper or (self._helper and self._helper.process.poll() is None):
            return
        port = machine.free_port()
        self._helper = self._run(self.target.helper(self._program, self.home, port), {})
        machine.until(lambda: machine.listens(port), _TIMEOUT_SECONDS)

    def _run(self, command: Sequence[str], variables: Mapping[str, str]) -> Server:
        environment = {"HOME": str(self.folder), **self.target.environment(self.home), **variables}
        return Server(command, environment, self.folder / "errors.txt")

    def processes(self) -> set[int]:
        """Return the ids of all living processes over this store."""
        return machine.processes_of(str(self.folder))

    def is_left(self) -> bool:
        """Return True if no process over this store lives any more."""
        return not self.processes()

    def survivors(self) -> set[str]:
        """Return the marks that a fresh process lists."""
        server = self.spawn(self.target.counting)
        server.initialize()
        found: set[str] = set()
        answer: Answer | None = None
        page = 0
        while request := self.target.listing(page, answer):
            answer = server.call(*request, timeout_seconds=120)
            new = marks_in(answer.text) - found
            found |= new
            page += 1
            if not new:
                break
        server.close()
        return found


def acknowledged(answer: Answer) -> bool:
    """Return True if an answer to a write tells the client that the memory is kept."""
    return not answer.error and not refuses(answer.text)


def installed(peers: Path | None, names: Sequence[str]) -> list[tuple[Target, Path]]:
    """Return this server and those of the others that are in the folder, with their executables."""
    places = [(OURS, Path(sys.executable).with_name(OURS.program))]
    places += [(one, peers / one.program) for one in PEERS] if peers else []
    return [(one, place) for one, place in places if place.exists() and (not names or one.name in names)]


def _ours_listing(_page: int, before: Answer | None) -> Request | None:
    wanted: dict[str, Any] = {"limit": 100, "token_budget": 200_000}
    if before is None:
        return "read_memories", wanted
    cursor = before.structured.get("cursor")
    return ("read_memories", wanted | {"cursor": cursor}) if cursor else None


def _python(program: Path, function: str, *arguments: str) -> Sequence[str]:
    """Start a peer's function in the peer's Python with the stand-in for its model."""
    return [str(program.with_name("python")), "-P", str(STAND_IN), function, *arguments]


def _palace(home: Path) -> Sequence[str]:
    return ["--palace", str(home / "palace")]


OURS = Target(
    name=HYBRID,
    program=HYBRID,
    start=lambda program, home: [str(program), "--home", str(home)],
    write=lambda _mark, text: ("write_memory", {"content": text}),
    read=lambda query: ("read_memories", {"query": query}),
    listing=_ours_listing,
)

_MEMPALACE = Target(
    name="mempalace",
    program="mempalace/bin/mempalace-mcp",
    start=lambda program, home: _python(program, "mempalace.mcp_proxy:main", *_palace(home)),
    environment=lambda home: {"MEMPALACE_CONFIG_DIR": str(home / "config"), "MEMPALACE_EMBEDDING_MODEL": "minilm"},
    write=lambda _mark, text: ("mempalace_add_drawer", {"wing": "notes", "room": "general", "content": text}),
    read=lambda query: ("mempalace_search", {"query": query}),
    listing=lambda page, _before: ("mempalace_list_drawers", {"limit": 100, "offset": 100 * page}),
    note="stand-in for its model; without its hub, which is started by hand",
)

PEERS = (
    Target(
        name="server-memory",
        program="server-memory/node_modules/.bin/mcp-server-memory",
        start=lambda program, _home: [str(program)],
        environment=lambda home: {"MEMORY_FILE_PATH": str(home / "memory.jsonl")},
        write=lambda mark, text: (
            "create_entities",
            {"entities": [{"name": mark, "entityType": "note", "observations": [text]}]},
        ),
        read=lambda query: ("search_nodes", {"query": query}),
        listing=lambda page, _before: ("read_graph", {}) if page == 0 else None,
        note="no vectors; a search is a substring of the whole question",
    ),
    Target(
        name="mcp-memory-service",
        program="mcp-memory-service/bin/memory",
        start=lambda program, _home: [str(program), "server"],
        environment=lambda home: {
            "MCP_MEMORY_BASE_DIR": str(home),
            "MCP_MEMORY_SQLITE_PATH": str(home / "memory.db"),
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
            "MCP_MEMORY_OFFLINE": "1",
        },
        write=lambda _mark, text: ("memory_store", {"content": text}),
        read=lambda query: ("memory_search", {"query": query}),
        listing=lambda page, _before: ("memory_list", {"page": page + 1, "page_size": 100}),
        note="its own hashed vectors, no model",
    ),
    Target(
        name="mcp-server-qdrant",
        program="mcp-server-qdrant/bin/mcp-server-qdrant",
        start=lambda program, _home: _python(program, "mcp_server_qdrant.main:main"),
        environment=lambda home: {"QDRANT_LOCAL_PATH": str(home), "COLLECTION_NAME": "notes"},
        write=lambda _mark, text: ("qdrant-store", {"information": text}),
        read=lambda query: ("qdrant-find", {"query": query}),
        listing=lambda page, _before: ("qdrant-find", {"query": "note"}) if page == 0 else None,
        counting={"QDRANT_SEARCH_LIMIT": "100000"},
        note="stand-in for its model",
    ),
    Target(
        name="chroma-mcp",
        program="chroma-mcp/bin/chroma-mcp",
        start=lambda program, home: _python(
            program, "chroma_mcp:main", "--client-type", "persistent", "--data-dir", str(home)
        ),
        environment=lambda _home: {"ANONYMIZED_TELEMETRY": "False"},
        write=lambda mark, text: (
            "chroma_add_documents",
            {"collection_name": "notes", "documents": [text], "ids": [mark]},
        ),
        read=lambda query: ("chroma_query_documents", {"collection_name": "notes", "query_texts": [query]}),
        listing=lambda page, _before: (
            ("chroma_get_documents", {"collection_name": "notes", "include": ["documents"]}) if page == 0 else None
        ),
        note="stand-in for its model; pydantic below 2.11",
    ),
    _MEMPALACE,
    replace(
        _MEMPALACE,
        name="mempalace with its hub",
        helper=lambda program, home, port: _python(
            program, "mempalace.mcp_server:main", *_palace(home), "--transport", "http", "--port", str(port)
        ),
        note="stand-in for its model; the hub was started by hand before",
    ),
    Target(
        name="basic-memory",
        program="basic-memory/bin/basic-memory",
        start=lambda program, _home: [str(program), "mcp"],
        environment=lambda home: {
            "BASIC_MEMORY_HOME": str(home / "notes"),
            "BASIC_MEMORY_CONFIG_DIR": str(home / "config"),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
            "BASIC_MEMORY_NO_PROMOS": "1",
        },
        write=lambda mark, text: ("write_note", {"title": mark, "directory": "notes", "content": text}),
        read=lambda query: ("search_notes", {"query": query}),
        listing=lambda page, _before: (
            "list_directory",
            {"dir_name": "/notes", "page": page + 1, "page_size": 200, "sort": "title_asc"},
        ),
        note="words alone",
    ),
)
