"""The frames between relay and hub: a line with kind, number, name and length, then as many bytes.

A relay knows no MCP. It numbers the client's lines and keeps each until the hub has settled it, so that it can send what
is left to the next hub; the hub tells what else has to be kept for that.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROTOCOL = 1

# From the relay.
HELLO = b"H"  # fields: who is there
LINE = b"M"  # a line of the client
AGAIN = b"A"  # the same line as was sent to an earlier hub, which let it wait for long
RETRY = b"B"  # a line that an earlier hub may have begun; the hub says when it begins
REPLAY = b"R"  # a kept line; its answer is not for the client
ENDS = b"O"  # first and last bytes of a line over the limit; the name is how many are the first
DELIVERED = b"T"  # the lines up to the number are settled at this end too, but for those that wait for long

# From the hub.
WELCOME = b"W"  # JSON: who serves
ANSWER = b"a"  # the answer to a line, for the client
NEWS = b"n"  # another line for the client
SETTLED = b"d"  # a line will get no answer
KEEP = b"k"  # keep a line for later hubs under the name
DROP = b"x"  # keep what is under the name no longer
BEGUN = b"b"  # the work on a line that was sent before begins
PATIENT = b"p"  # a line that waits for long: it may be sent again as often as need be
QUESTION = b"q"  # a request to the client, under the name
CLOSED = b"c"  # the question under the name is over
LEAVING = b"g"  # the hub makes room for a newer one: milliseconds until another may be started
REFUSED = b"r"  # text for a person: why the hub does not serve
STEP = b"s"  # JSON: how far an operation is
DONE = b"v"  # JSON: what an operation gave
FAILED = b"f"  # JSON: what an operation raised

LONGEST_HEADER = 300
LONGEST = 64 * 1024 * 1024


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
                end = held.find(b"\n", 0, LONGEST_HEADER)
                if end < 0:
                    if len(held) >= LONGEST_HEADER:
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
    if len(kind) != 1 or not 0 <= found[3] <= LONGEST or found[1] < 0:
        raise BrokenFrame
    return found
