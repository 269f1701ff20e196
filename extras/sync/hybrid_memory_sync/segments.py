"""The format of a segment: JSON lines of one namespace, written once, that count only as a whole.

The first line says what the file is, the last how many lines stand before it and their digest. A file that was cut short, is still on its
way or was changed has another digest, and is as if it were not there. The digest is part of the file's name, so that a copy of it under
a longer name ("... (conflicted copy).jsonl") is known again. Line ends are not part of the digest: some carriers change them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hybrid_memory_sync.lines import FORMAT, Change, ItemChange, parse_head, parse_line, told_line

VERSION = 1
NAME = re.compile(r"(\d{8})-([0-9a-f]{32})\b.*\.jsonl")


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment that is whole. ``refused`` counts lines that no version of this program writes."""

    machine: str
    namespace: str
    changes: tuple[Change, ...]
    refused: int = 0

    @property
    def latest(self) -> int:
        """The latest stamp in it."""
        return max((stamp for one in self.changes for stamp in _stamps_of(one)), default=0)


class NotWholeError(Exception):
    """The file is no whole segment: cut short, still on its way, or changed."""


class TooFarAheadError(Exception):
    """It holds a time that no clock shows for a century: believed, it would win over all that is changed until then."""


class NewerFormatError(Exception):
    """A later version of this program wrote the segment."""


def segment_bytes(machine: str, number: int, namespace: str, changes: Iterable[Change]) -> tuple[str, bytes]:
    """Return the name of a segment and what it holds."""
    head = {"format": FORMAT, "version": VERSION, "machine": machine, "number": number, "namespace": namespace}
    lines = [_line(head), *(_line(told_line(change)) for change in changes)]
    digest = _digest(lines)
    lines.append(_line({"end": len(lines) - 1, "digest": digest}))
    return f"{number:08d}-{digest}.jsonl", b"".join(lines)


def name_of(name: str) -> str | None:
    """Return under which name the segment of a file is known, None where a file is none."""
    found = NAME.fullmatch(name)
    return None if found is None else f"{found[1]}-{found[2]}"


def ends_as(end: bytes, name: str) -> bool:
    """Return True if the end of a file is the last line of the segment of a name."""
    return end.rstrip(b"\r\n").endswith(b'"digest":"' + name.partition("-")[2].encode() + b'"}')


def is_newer(first_line: bytes) -> bool:
    """Return True if a later version of this program wrote the file of a first line."""
    head = _object(first_line)
    version = head.get("version")
    return head.get("format") == FORMAT and isinstance(version, int) and version > VERSION


def namespace_of(first_line: bytes) -> str | None:
    """Return the namespace of the file of a first line, None where it is no segment."""
    head = parse_head(first_line)
    return None if head is None else head.namespace


def read_segment(data: bytes, name: str) -> Segment:
    """Return what a segment holds.

    Raises:
        NewerFormatError: upgrade to read it.
        NotWholeError: it is not whole.
    """
    lines = [line + b"\n" for line in data.replace(b"\r\n", b"\n").split(b"\n") if line]
    if lines and is_newer(lines[0]):
        raise NewerFormatError
    if len(lines) < 2:  # noqa: PLR2004 - the first and the last
        raise NotWholeError
    head, end = parse_head(lines[0]), _object(lines[-1])
    digest = _digest(lines[:-1])
    if end.get("digest") != digest or not name.endswith(digest) or end.get("end") != len(lines) - 2:
        raise NotWholeError
    if head is None or head.version != VERSION:
        raise NotWholeError
    changes = [parse_line(line, head.namespace) for line in lines[1:-1]]
    known = tuple(one for one in changes if one is not None)
    return Segment(head.machine, head.namespace, known, len(changes) - len(known))


def lines_of(data: bytes) -> tuple[str, list[tuple[bytes, dict[str, Any]]]] | None:
    """Return the namespace of a segment and its lines, each with what it says; None for what is none."""
    lines = data.replace(b"\r\n", b"\n").splitlines(keepends=True)
    namespace = namespace_of(lines[0]) if lines else None
    return None if namespace is None else (namespace, [(line, _object(line)) for line in lines[1:-1]])


def rewritten(machine: str, number: int, namespace: str, lines: Sequence[bytes]) -> tuple[str, bytes]:
    """Return name and contents of a segment of some lines that another one had."""
    head = {"format": FORMAT, "version": VERSION, "machine": machine, "number": number, "namespace": namespace}
    whole = [_line(head), *lines]
    digest = _digest(whole)
    return f"{number:08d}-{digest}.jsonl", b"".join([*whole, _line({"end": len(lines), "digest": digest})])


def _stamps_of(change: Change) -> tuple[int, ...]:
    if isinstance(change, ItemChange):
        return (change.state.stamp,)
    return (change.state.born, change.state.gone, *change.state.stamps.values())


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _digest(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()[:32]


def parts(changes: Iterable[Change], most: int) -> Iterator[list[Change]]:
    """Yield changes by ``most``."""
    part: list[Change] = []
    for change in changes:
        part.append(change)
        if len(part) == most:
            yield part
            part = []
    if part:
        yield part
