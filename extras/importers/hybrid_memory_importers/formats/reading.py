"""What readers of chats share: moments as programs write them, words out of message parts, one document or many in a file. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.json_stream import json_items
from hybrid_memory_importers.record import Record, Skipped

if TYPE_CHECKING:
    from hybrid_memory_importers.source import SourceFile

NOT_READABLE = "cannot be read"
NO_WORDS = "no words (a picture, a file or nothing)"
REPLACED = "an earlier version of a message that was edited or answered again"
OF_A_PROGRAM = "said by a tool or by the program itself"
HIDDEN = "hidden by the program"

HEAD = 1 << 16
"""Bytes by which a file's format is known."""
_MILLISECONDS = 100_000_000_000  # a number above is no seconds: they would lie in the year 5138


def begins_as(head: bytes, opening: bytes) -> bool:
    """Return True if a file's first character but for blanks is one of some."""
    stripped = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(stripped) and stripped[:1] in opening


def documents(files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, int, Any]]:
    """Yield the items of the JSON arrays in some files, or the one value of a file, with the file and their place in it.

    A file that cannot be read is a `Skipped` among others.

    Raises:
        InvalidInput: the only file cannot be read.
    """
    for file in files:
        many = begins_as(file.head(256), b"[")
        try:
            with file.open() as stream:
                for place, told in enumerate(json_items(stream, "item" if many else "")):
                    yield file, place, told
        except InvalidInput as error:
            if len(files) == 1:
                raise
            yield file, -1, Skipped(f"a file that cannot be read: {error.problem}", file.path)


def name_of(path: str) -> str:
    """Return the last part of a path, in small letters."""
    return path.rsplit("/", 1)[-1].lower()


def moment(value: object) -> datetime | None:
    """Return a moment out of ISO 8601 text, or of seconds or milliseconds since 1970; None for anything else.

    Text without a zone is UTC.
    """
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
        seconds = float(value)
        if not math.isfinite(seconds) or seconds <= 0:
            return None
        return datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object, as the parser gives it, or an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[Any]:
    """Return a JSON array, or an empty one in the place of anything else."""
    return value if isinstance(value, list) else ()


def text_of(value: object) -> str:
    """Return text without blanks around it; nothing for what is no text."""
    return value.strip() if isinstance(value, str) else ""


def digest(*parts: object) -> str:
    """Return a short name for some values, always the same."""
    return sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:20]


@dataclass(slots=True)
class Keys:
    """Keys of records, none given twice: a second record with the same one gets a number behind it."""

    _given: dict[str, int] = field(default_factory=dict)

    def unique(self, key: str) -> str:
        """Return the key, or for a repeated one the key with a number."""
        count = self._given.get(key, 0)
        self._given[key] = count + 1
        return key if not count else self.unique(f"{key}#{count + 1}")


Read = Record | Skipped
"""What a reader yields."""
