"""The handshake at the hub, in two steps, called by `Hub._handle_connection`.

1. `authenticate`: over loopback each side proves that it knows the token of the store's folder. A Unix socket needs no proof.
2. `read_hello`: the first frame says who connects, a relay (`read_client_info`) or a command with an operation.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import anyio
from pydantic import BaseModel, Field, ValidationError

from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import unnamed_session
from hybrid_memory.settings import PREFIX, StoreSettings
from hybrid_memory_mcp.hooks.program import switched_off
from hybrid_memory_mcp.projects import PROJECT_FOLDER, Place, place_of
from hybrid_memory_mcp.relay.connecting import NONCE_BYTES, PROOF_BYTES, proof
from hybrid_memory_mcp.relay.protocol import PROTOCOL_VERSION, Frame, FrameReader, read_fields
from hybrid_memory_mcp.runtime.client_options import Options, read_options

_CHUNK_BYTES = 1 << 16  # 64 KiB: what a read of a socket gives at most
AUTHENTICATION_TIMEOUT_SECONDS = 5.0  # a relay proves itself in microseconds; whoever connects by mistake says nothing


class Hello(BaseModel):
    """The first frame of a relay, or of a command that wants an operation done.

    ``connection`` counts the hubs that the relay had before. ``operation``, ``given`` (its arguments) and ``namespace`` are a
    command's, the rest of the fields but the first four a relay's.
    """

    protocol: int = Field(ge=1, le=PROTOCOL_VERSION)
    version: str = Field(max_length=50)
    program: str = Field(default="", max_length=100)
    relay: str = Field(pattern="^[0-9a-f]{32}$")
    pid: int
    connection: int = 0
    arguments: list[str] = []
    environment: dict[str, str] = {}
    folder: str = "/"
    operation: str | None = None
    given: dict[str, Any] = {}
    namespace: str = "default"

    @classmethod
    def of_fields(cls, fields: Sequence[tuple[str, str]]) -> Hello:
        """Return the hello of a frame's fields.

        Raises:
            ValueError: a field is missing or wrong (pydantic's `ValidationError` is one too).
        """
        values: dict[str, Any] = dict(fields)
        values["arguments"] = [value for name, value in fields if name == "argument"]
        values["environment"] = dict(value.split("=", 1) for name, value in fields if name == "variable")
        values["given"] = json.loads(values.get("given", "{}"))
        return cls.model_validate(values)


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """A relay and its client. ``relay`` is the relay's own name, 32 hex digits; ``connection`` counts the hubs it had before.

    ``ignored_settings`` are variables of the client about the store which have no effect, because the hub runs with others; ``hooks_off``
    says that one switches off what hooks do. ``folder`` is where the relay was started, None for one that does not tell;
    ``project_folder`` what its client says of a project.
    """

    relay: str
    pid: int
    version: str
    connection: int
    options: Options
    ignored_settings: tuple[str, ...] = ()
    folder: str | None = None
    project_folder: str | None = None
    hooks_off: bool = False

    def place(self, roots: tuple[tuple[str, str], ...] = ()) -> Place:
        """Return where the client is at work, by its roots (each with the words for it) and its folders; looks at files."""
        if self.project_folder is not None:
            roots = (*roots, (self.project_folder, PROJECT_FOLDER))
        return place_of(self.folder, self.options, roots=roots)

    @property
    def session(self) -> str:
        """The conversation's name where the client gave none: the same for every hub that the relay comes to."""
        return unnamed_session(int(self.relay, 16))


async def authenticate(stream: socket.socket, token: bytes) -> bool:
    """Return True if who connected knows the token, and prove that this hub does. It blocks no thread, however long they take.

    The other side sends a nonce; this one answers with its proof and a nonce of its own; the other side answers with its proof.
    """
    stream.settimeout(0)
    try:
        with anyio.move_on_after(AUTHENTICATION_TIMEOUT_SECONDS):
            theirs, ours = await _read_exactly(stream, NONCE_BYTES), secrets.token_bytes(NONCE_BYTES)
            stream.sendall(proof(token, theirs, b"hub") + ours)  # fits into the buffer of a connection that is new
            return secrets.compare_digest(await _read_exactly(stream, PROOF_BYTES), proof(token, ours, b"relay"))
    except OSError:
        pass
    return False


async def read_frames(connection: socket.socket, reader: FrameReader) -> AsyncIterator[Frame]:
    """Yield what a relay sends, to its end; first what the reader still holds.

    Raises:
        BrokenFrame: it does not speak as a relay does.
    """
    for frame in reader.feed(b""):
        yield frame
    while True:
        try:
            chunk = connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            await anyio.wait_readable(connection)
            continue
        except OSError:
            return
        if not chunk:
            return
        for frame in reader.feed(chunk):
            yield frame


def read_hello(payload: bytes) -> Hello:
    """Return what a first frame says.

    Raises:
        InvalidInput: it is of another protocol, or no hello.
    """
    try:
        return Hello.of_fields(read_fields(payload))
    except (ValidationError, ValueError, RecursionError):
        raise InvalidInput(
            "hello", "is of another version; close all clients of this memory and start them again"
        ) from None


def read_client_info(hello: Hello) -> ClientInfo:
    """Return the client that a hello announces.

    Raises:
        InvalidInput: an option or variable of the client cannot be used.
    """
    options = read_options(hello.arguments, hello.environment, Path(hello.folder))
    if options.zone is None:
        options = options.in_zone(zone_of(hello.environment))
    ignored = find_ignored_settings(hello.environment)
    folder = hello.folder if "folder" in hello.model_fields_set else None
    project_folder = hello.environment.get("CLAUDE_PROJECT_DIR") or None
    if project_folder is not None and not Path(project_folder).is_absolute():
        project_folder = None
    return ClientInfo(
        hello.relay,
        hello.pid,
        hello.version,
        hello.connection,
        options,
        ignored,
        folder,
        project_folder,
        switched_off(hello.environment),
    )


def find_ignored_settings(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of a client's variables about the store whose values are not those that this process has."""
    # What the hooks of a client may do its own variable says; the hub never sees it.
    # Which store it means was compared before it was served (`store_choice`).
    of_the_store = {PREFIX + name.upper() for name in StoreSettings.model_fields if name not in ("hooks", "store")}
    ours = os.environ  # noqa: TID251 - what the hub was started with is compared with what a client wants
    return tuple(
        sorted(name for name, value in environment.items() if name in of_the_store and ours.get(name) != value)
    )


def zone_of(environment: Mapping[str, str]) -> tzinfo | None:
    """Return the zone of the client's process, None for that of the machine."""
    name = environment.get("TZ", "").removeprefix(":")
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


async def _read_exactly(stream: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        await anyio.wait_readable(stream)
        part = stream.recv(count - len(found))
        if not part:
            raise ConnectionResetError("the other side left")
        found += part
    return found
