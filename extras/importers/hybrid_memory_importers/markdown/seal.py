"""The mark by which this program knows a file that it wrote, and whether anybody changed it since.

It is in the frontmatter, or in the last line where a file has none, and holds a digest of everything else in the file. Ends of
lines do not count, since git and editors change them. The mark proves nothing about who wrote a file: anybody can make one. It is
there so that an export replaces its own files alone.
"""

from __future__ import annotations

import hashlib
import re
from enum import Enum, auto

MARK = "hybrid-memory/1"
FIELD = "exported"
_OPEN = b"0" * 16
_SEAL = re.compile(rb"(?m)^(?:<!-- )?exported: hybrid-memory/1 ([0-9a-f]{16})(?: -->)?\r?$")
_CLOSING = re.compile(rb"(?m)^---\r?$")


class Written(Enum):
    """Whose a file is, as far as its mark tells."""

    FOREIGN = auto()
    AS_WRITTEN = auto()
    CHANGED = auto()


def unsealed_value() -> str:
    """Return the value of the field `FIELD` before the digest is known."""
    return f"{MARK} {_OPEN.decode()}"


def sealed_in_frontmatter(text: str) -> bytes:
    """Return the bytes of a file whose frontmatter holds the field `FIELD` with its `unsealed_value`."""
    return _sealed(text.encode("utf-8", "surrogatepass"))


def sealed_at_end(text: str) -> bytes:
    """Return the bytes of a file without frontmatter, with the mark as a comment in its last line."""
    return _sealed(f"{text}\n<!-- {FIELD}: {unsealed_value()} -->\n".encode())


def whose(data: bytes) -> Written:
    """Return whose a file is, by its bytes."""
    found = _place(data)
    if found is None:
        return Written.FOREIGN
    start, end = found
    blank = data[:start] + _OPEN + data[end:]
    return Written.AS_WRITTEN if _digest(blank) == data[start:end] else Written.CHANGED


def digest_in(data: bytes) -> bytes | None:
    """Return the digest that a file's mark holds, None where it has none: two files of ours with the same one say the same."""
    found = _place(data)
    return None if found is None else data[found[0] : found[1]]


def _sealed(data: bytes) -> bytes:
    found = _place(data)
    if found is None:
        raise ValueError("a file without a place for its mark")
    start, end = found
    return data[:start] + _digest(data) + data[end:]


def _place(data: bytes) -> tuple[int, int] | None:
    """Return where the digest is: in the frontmatter, or in the last line. What the words of a memory hold does not count."""
    if data.startswith((b"---\n", b"---\r\n")):
        closing = _CLOSING.search(data, 4)
        found = _SEAL.search(data, 0, closing.start() if closing else 0)
    else:
        found = _SEAL.search(data, data.rstrip().rfind(b"\n") + 1)
    return None if found is None else found.span(1)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data.replace(b"\r\n", b"\n"), digest_size=8).hexdigest().encode()
