"""JSON of other programs, read as a stream: a huge, torn, deeply nested or hostile file costs no more than its own bytes.

A large array is read by ijson, item by item. Before a byte gets there it passes a guard, since the parser itself would follow
nesting and collect strings without an end. Bytes that are no UTF-8 become the replacement character.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.record import Skipped

MOST_NESTED = 256  # arrays and objects in one another; conversations need about 10
MOST_STRING_BYTES = 64 << 20
MOST_ITEM_BYTES = 256 << 20  # of one item of an array, which is held in memory
MOST_LINE_BYTES = 64 << 20  # of one line of JSON lines
_BLOCK = 1 << 18  # bytes
_BODY = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'  # of a string; possessive, so that a text of quotes costs no more than any other
_REST_OF_STRING = re.compile(_BODY + rb'"', re.DOTALL)
_IDLE = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_OPENING = frozenset(b"[{")


def json_items(stream: BinaryIO, prefix: str = "item") -> Iterator[Any]:
    """Yield the items of an array in a JSON document one after the other; numbers are int and float.

    ``prefix`` is ijson's: ``item`` are those of a document that is an array, ``messages.item`` those of an array in its field
    ``messages``, and an empty one is the document itself.

    Raises:
        InvalidInput: it is no JSON, ends early, or is nested or long beyond all measure. What came before was yielded.
    """
    import ijson

    guard, done = _Guarded(stream), 0
    try:
        for item in ijson.items(guard, prefix, use_float=True, buf_size=_BLOCK):
            guard.start_item()
            done += 1
            yield item
    except ijson.JSONError:
        # Numbers of 2^63 and more, and the NaN that Python writes, are nothing to ijson; the standard library reads them.
        if not guard.at_end and (rest := _items_at_once(stream, prefix)) is not None:
            yield from rest[done:]
            return
        where = "ends in the middle" if guard.at_end else f"is wrong shortly before byte {guard.passed:,}"
        raise InvalidInput("file", f"is no whole JSON: it {where}; export or download it again") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("file", f"has a number that cannot be read, shortly before byte {guard.passed:,}") from None


def _items_at_once(stream: BinaryIO, prefix: str) -> list[Any] | None:
    """Return the items of a document that is small enough to be held whole; None where it is not, or is no JSON for this reader either."""
    try:
        stream.seek(0)
        guard = _Guarded(stream)
        value: Any = json.loads(b"".join(iter(lambda: guard.read(_BLOCK), b"")), parse_constant=lambda _: None)
    except (ValueError, OSError, RecursionError):
        return None
    fields = prefix.removesuffix("item").strip(".")
    for field in fields.split(".") if fields else ():
        value = value.get(field) if isinstance(value, dict) else None
    if not prefix.endswith("item"):
        return [value]
    return value if isinstance(value, list) else []


def json_lines(stream: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines with the numbers of their lines, counted from 1; blank lines are passed over.

    A line that is no JSON, too long or nested too deep is a `Skipped`, so that one bad line does not lose the others.
    """
    number = 0
    while line := stream.readline(MOST_LINE_BYTES + 1):
        number += 1
        if len(line) > MOST_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = stream.readline(_BLOCK)
            yield number, Skipped("a line that is too long to be read", f"line {number}")
            continue
        if line.strip():
            yield number, _value_of(line, number)


def _value_of(line: bytes, number: int) -> Any:
    text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
    try:
        _Nesting().add(line)
        return json.loads(text)
    except InvalidInput:
        return Skipped("a line that is nested too deep", f"line {number}")
    except (ValueError, RecursionError):
        return Skipped("a line that is no JSON", f"line {number}")


class _Nesting:
    """Follows how deep a JSON text is nested and how long its strings are, block by block, without parsing it."""

    def __init__(self) -> None:
        self._depth = 0
        self._string = -1
        """How many bytes of a string have passed that has not ended, -1 outside of one."""
        self._escaped = False

    def add(self, block: bytes) -> None:
        """Look at the next bytes.

        Raises:
            InvalidInput: they are nested too deep, or a string is too long.
        """
        rest = self._after_string(block)
        # Without escapes, and as long as before, each quotation mark begins or ends a string.
        plain = rest.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in rest else rest
        parts = plain.translate(None, _IDLE).split(b'"')
        if len(parts) % 2 == 0:
            self._string = len(plain) - plain.rindex(b'"')
            self._escaped = (len(rest) - len(rest.rstrip(b"\\"))) % 2 == 1
        brackets = b"".join(parts[::2])
        if self._depth + len(brackets) <= MOST_NESTED:
            opening = brackets.count(b"[") + brackets.count(b"{")
            self._depth += 2 * opening - len(brackets)
            return
        for bracket in brackets:
            self._depth += 1 if bracket in _OPENING else -1
            if self._depth > MOST_NESTED:
                raise InvalidInput(
                    "file", f"is nested deeper than {MOST_NESTED} levels, as a hostile one; nothing was imported"
                )

    def _after_string(self, block: bytes) -> bytes:
        """Return what of a block comes behind a string that began in an earlier one."""
        if self._string < 0:
            return block
        start = 1 if self._escaped else 0
        end = _REST_OF_STRING.match(block, start)
        if end is not None:
            self._string, self._escaped = -1, False
            return block[end.end() :]
        self._string += len(block)
        if self._string > MOST_STRING_BYTES:
            raise InvalidInput("file", f"has a text of more than {MOST_STRING_BYTES >> 20} MiB; nothing was imported")
        tail = block[start:]
        self._escaped = (len(tail) - len(tail.rstrip(b"\\"))) % 2 == 1
        return b""


class _Guarded:
    """A stream for the parser: valid UTF-8 without a byte order mark, no deeper and no longer than the limits."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._nesting = _Nesting()
        self._decoder: codecs.IncrementalDecoder | None = None
        self._since_item = 0
        self.passed = 0
        """How many bytes were given to the parser."""
        self.at_end = False

    def start_item(self) -> None:
        """Note that an item was whole."""
        self._since_item = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, empty at the end."""
        while size and not self.at_end:
            raw = self._stream.read(size)
            self.at_end = not raw
            block = self._as_utf8(raw)
            if not block:
                continue
            self.passed += len(block)
            self._since_item += len(block)
            if self._since_item > MOST_ITEM_BYTES:
                raise InvalidInput(
                    "file", f"has one item of more than {MOST_ITEM_BYTES >> 20} MiB; nothing was imported"
                )
            self._nesting.add(block)
            return block
        return b""

    def _as_utf8(self, raw: bytes) -> bytes:
        if self._decoder is None:
            # Windows programs write UTF-16 at times; everything else is UTF-8, with or without a mark at its beginning.
            encoding = "utf-16" if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        return self._decoder.decode(raw, self.at_end).encode("utf-8", "replace")
