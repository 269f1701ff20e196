"""Cutting a client's bytes into lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGE_LIMIT = 16 * 1024 * 1024

_KEPT_ENDS = 4096


class Oversized:
    """What is left of a line over the limit: its first and last bytes."""

    __slots__ = ("head", "tail")

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head
        self.tail = tail


class LineSplitter:
    """Cuts a stream of bytes into lines; of a line over ``limit`` bytes only the ends are kept."""

    def __init__(self, limit: int = MESSAGE_LIMIT) -> None:
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
                self._head = whole[:_KEPT_ENDS]
            self._parts = [whole[-_KEPT_ENDS:]]

    def _take(self) -> bytes | Oversized:
        whole, head = b"".join(self._parts), self._head
        self._parts, self._length, self._head = [], 0, None
        return whole if head is None else Oversized(head, whole)
