"""Names of exported files and folders: the same for a memory at every export, readable, and good on every file system.

``default/2026-11/2026-11-22-i-am-allergic-to-peanuts-01kaz….md``: namespace, month, day, first words, id. Words and times of a memory never
change, so the name does not. Letters of all scripts stay; two names never differ in case alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hybrid_memory.ids import id_of

if TYPE_CHECKING:
    from hybrid_memory.model import Memory

_SLUG_BYTES = 48  # of the words: with day and id a name stays below 100 bytes, far from the 255 that file systems take
_LOOKED_AT = 400  # characters of a text that may become words of a name
_PLAIN_ID = re.compile(r"[0-9a-z]{1,40}")
_MEMORY_FILE = re.compile(r"\d{4}-\d\d-\d\d-.+\.md")
_MONTH = re.compile(r"\d{4}-\d\d")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|index|log|readme)")  # names that Windows or the layout keep


def file_name(memory: Memory) -> str:
    """Return the name of a memory's file."""
    parts = (f"{_utc(memory.created_at):%d}", slug(memory.content), _id_part(memory.id))
    return f"{month_of(memory.created_at)}-" + "-".join(part for part in parts if part) + ".md"


def month_of(moment: datetime) -> str:
    """Return the name of a month's folder."""
    at = _utc(moment)
    return f"{at.year:04}-{at.month:02}"


def folder_name(namespace: str) -> str:
    """Return the name of a namespace's folder: the namespace itself where that is a name, else made of it."""
    readable = slug(namespace)
    if readable and readable == namespace and _RESERVED.fullmatch(readable) is None:
        return namespace
    digest = hashlib.blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{readable}-{digest}" if readable else digest


def is_memory_file(name: str) -> bool:
    """Return True if a file may be one of a memory, by its name."""
    return _MEMORY_FILE.fullmatch(name) is not None


def is_month(name: str) -> bool:
    """Return True if a folder may be one of a month, by its name."""
    return _MONTH.fullmatch(name) is not None


def slug(text: str) -> str:
    """Return the first words of a text in small letters with dashes between them; nothing where there are none."""
    folded = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).casefold()
    kept = "".join(one if one.isalnum() or unicodedata.category(one) in ("Mn", "Mc") else " " for one in folded)
    chosen = ""
    for word in unicodedata.normalize("NFC", kept).split():
        longer = f"{chosen}-{word}" if chosen else word
        if len(longer.encode()) > _SLUG_BYTES:
            return chosen or word.encode()[:_SLUG_BYTES].decode(errors="ignore")
        chosen = longer
    return chosen


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _id_part(memory_id: str) -> str:
    return memory_id if _PLAIN_ID.fullmatch(memory_id) else str(id_of("file\n" + memory_id))
