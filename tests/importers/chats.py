"""Small exports of other assistants, as files; and what a reader makes of them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hybrid_memory_importers.formats import find_format, format_named
from hybrid_memory_importers.record import Author, Chosen, Record, Skipped
from hybrid_memory_importers.selection import Choice, select
from hybrid_memory_importers.source import Source, open_source


def folder(path: Path, files: Mapping[str, Any]) -> Source:
    """Write files (text as it is, anything else as JSON; ``.jsonl`` as lines) and open their folder."""
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(as_text(name, content), encoding="utf-8")
    return open_source(path)


def archive(path: Path, files: Mapping[str, Any]) -> Source:
    """Write files into a zip and open it."""
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(name, as_text(name, content))
    return open_source(path)


def as_text(name: str, content: Any) -> str:
    """Return what a file holds."""
    if isinstance(content, str):
        return content
    if name.endswith(".jsonl"):
        return "".join(json.dumps(one) + "\n" for one in content)
    return json.dumps(content)


def read(source: Source, name: str) -> list[Record | Skipped]:
    """Return what the format of that name reads, which must be the one that is recognised."""
    found = find_format(source)
    assert found is not None
    assert name == found.NAME
    return list(found.read(source))


def read_as(source: Source, name: str) -> list[Record | Skipped]:
    """Return what a format reads that was named by the person."""
    return list(format_named(name).read(source))


def said(found: Iterable[Record | Skipped], author: Author = Author.PERSON) -> list[str]:
    """Return what somebody said, as it was read."""
    return [one.text for one in found if isinstance(one, Record) and one.author is author]


def reasons(found: Iterable[Record | Chosen | Skipped]) -> list[str]:
    """Return why things were left out."""
    return [one.reason for one in found if isinstance(one, Skipped)]


def chosen(found: Iterable[Record | Skipped], choice: Choice | None = None) -> list[Chosen]:
    """Return what comes in of what was read."""
    return [one for one in select(found, choice or Choice()) if isinstance(one, Chosen)]
