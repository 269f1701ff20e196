"""The wire protocol of relay and hub: frames that carry a client's lines of JSON-RPC. Used by both, and by commands.

A frame is a line with kind, number, name and length, then as many bytes. A relay knows no MCP. It numbers the client's lines
and keeps each until the hub has answered it, so that it can send what is left to the next hub; the hub tells what else has to
be kept for that. The letters of the kinds are the wire protocol: relay and hub of neighbouring versions speak to each other.
"""

from __future__ import annotations

from hybrid_memory_mcp import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


PROTOCOL_VERSION = 1

# The newest schemas that this program knows, of the file and of the database. A newer program replaces the hub of an older one,
# which may not be able to open the store any more; the schema comes first because it decides about that.
SCHEMAS = (9, 9)
PROGRAM = ".".join(map(str, (*SCHEMAS, __version__)))

# Operations that a hub of any version understands, or answers with `FAILED`.
LEAVE = "leave"  # make room for another hub
TELL_PROGRAM = "program"  # the answer's name says it

# From the relay.
HELLO = b"H"  # fields: who is there
LINE = b"M"  # a line of the client
RESUBSCRIBE = b"A"  # the same line as was sent to an earlier hub, which let it wait for long
RETRY = b"B"  # a line that an earlier hub may have begun; the hub says when it begins
REPLAY = b"R"  # a kept line; its answer is not for the client
OVERSIZED_LINE = b"O"  # first and last bytes of a line over the limit; the name is how many are the first
DELIVERED = b"T"  # the lines up to the number are settled at this end too, but for those that wait for long

# From the hub.
WELCOME = b"W"  # JSON: who serves; the name is its `PROGRAM`, empty for hubs that do not tell it
ANSWER = b"a"  # the answer to a line, for the client
NOTIFICATION = b"n"  # another line for the client
NO_ANSWER = b"d"  # a line will get no answer
REMEMBER_LINE = b"k"  # keep a line for later hubs under the name: the numbered one, or the hub's own that comes along
FORGET_LINE = b"x"  # keep what is under the name no longer
WORK_STARTED = b"b"  # the work on a line that was sent before begins
STREAM_STARTED = b"p"  # a line that waits for long: it may be sent again as often as need be
SERVER_REQUEST = b"q"  # a request to the client, under the name
SERVER_REQUEST_OVER = b"c"  # the question under the name is over
LEAVING = b"g"  # the hub makes room for a newer one: milliseconds until another may be started
REFUSED = b"r"  # text for a person: why the hub does not serve; it has done nothing of what has no answer
PROGRESS = b"s"  # JSON: how far an operation is
RESULT = b"v"  # JSON: what an operation gave
FAILED = b"f"  # JSON: what an operation raised

MAX_HEADER_BYTES = 300  # kind, numbers and a short name; more is no frame
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024  # four times the longest line: an answer may be longer than its request

# A longer line of the client is refused with a JSON-RPC error. The longest memory has 100,000 characters.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_KEPT_BYTES = 4096  # of each end of a line over the limit: enough to find the id that the refusal must name


def is_older(program: str) -> bool:
    """Return True if a program is older than this one, as is one that does not tell what it is (an empty text)."""
    return _numbers(program) < _numbers(PROGRAM)


def _numbers(program: str) -> tuple[int, ...]:
    return tuple(int(part) for part in program.split(".") if part.isdigit())


class Frame:
    """One frame. ``number`` is the line's where it is about a line, ``name`` is ASCII without spaces, empty for none."""

    __slots__ = ("kind", "name", "number", "payload")

    def __init__(self, kind: bytes, number: int, name: str, payload: bytes) -> None:
        self.kind = kind
        self.number = number
        self.name = name
        self.payload = payload


class BrokenFrame(Exception):
    """What came is no frame; nothing more can be read from that end."""


def pack(kind: bytes, payload: bytes = b"", number: int = 0, name: str = "") -> bytes:
    """Return the bytes of a frame."""
    return b"%b %d %b %d\n%b" % (kind, number, name.encode("ascii") or b"-", len(payload), payload)


def pack_fields(fields: Sequence[tuple[str, str]]) -> bytes:
    """Return names and values as bytes; a name may come several times. Neither holds a zero, as no argument can."""
    # Not JSON: importing that would take a relay longer than all its other modules.
    return b"\0".join(f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in fields)


def read_fields(payload: bytes) -> list[tuple[str, str]]:
    """Return names and values, the inverse of `pack_fields`."""
    parts = (part.decode("utf-8", "surrogateescape").partition("=") for part in payload.split(b"\0"))
    return [(name, value) for name, _, value in parts]


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._header: tuple[bytes, int, str, int] | None = None

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Yield the frames that end in ``chunk``, and those that were not taken of an earlier one.

        Raises:
            BrokenFrame: it does not continue a frame.
        """
        held = self._held
        held += chunk
        while True:
            if self._header is None:
                end = held.find(b"\n", 0, MAX_HEADER_BYTES)
                if end < 0:
                    if len(held) >= MAX_HEADER_BYTES:
                        raise BrokenFrame
                    return
                self._header = _header(bytes(held[:end]))
                del held[: end + 1]
            kind, number, name, length = self._header
            if len(held) < length:
                return
            # Before the frame is given: who takes one frame need not take the next, and must not find this one again.
            self._header = None
            payload = bytes(held[:length])
            del held[:length]
            yield Frame(kind, number, name, payload)


def _header(line: bytes) -> tuple[bytes, int, str, int]:
    parts = line.split(b" ")
    try:
        kind, number, name, length = parts
        found = kind, int(number), "" if name == b"-" else name.decode("ascii"), int(length)
    except ValueError:
        raise BrokenFrame from None
    if len(kind) != 1 or not 0 <= found[3] <= MAX_PAYLOAD_BYTES or found[1] < 0:
        raise BrokenFrame
    return found


class Oversized:
    """What is left of a line over the limit: its first and last bytes."""

    __slots__ = ("head", "tail")

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head
        self.tail = tail


class LineSplitter:
    """Cuts a stream of bytes into lines; of a line over ``limit`` bytes only the ends are kept."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._length = 0
        self._head: bytes | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes | Oversized]:
        """Yield the lines that end in ``chunk``, without their line feeds."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield self._take()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._length += len(piece)
        self._parts.append(piece)
        if self._length > self._limit:
            whole = b"".join(self._parts)
            if self._head is None:
                self._head = whole[:_KEPT_BYTES]
            self._parts = [whole[-_KEPT_BYTES:]]

    def _take(self) -> bytes | Oversized:
        whole, head = b"".join(self._parts), self._head
        self._parts, self._length, self._head = [], 0, None
        return whole if head is None else Oversized(head, whole)
