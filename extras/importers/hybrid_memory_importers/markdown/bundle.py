"""What is stored with the files of memories in an exported folder: overviews for people, and for the Open Knowledge Format (OKF 0.2).

OKF (https://github.com/GoogleCloudPlatform/knowledge-catalog, ``okf/SPEC.md``) is a folder of Markdown files, one concept each, whose
frontmatter has at least a ``type``; ``index.md`` lists what a folder holds, ``log.md`` what happened, by days, newest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import quote

from hybrid_memory.model import Kind, Origin
from hybrid_memory_importers.markdown import seal
from hybrid_memory_importers.markdown.inert import first_line, inert_line

if TYPE_CHECKING:
    from hybrid_memory.model import Json, Memory

VERSION = "0.2"
TITLE = 80  # characters of a title, cut between words
_DESCRIPTION = 200
_TYPES = {
    Kind.OBSERVATION: "Observation",
    Kind.INSIGHT: "Insight",
    Kind.SUMMARY: "Summary",
    Kind.TASK: "Task",
    Kind.EPISODE: "Episode",
}
_PERSON = "human:user"
_BY = {
    Origin.USER: _PERSON,
    Origin.TOOL: "process:tool",
    Origin.IMPORT: "process:import",
    Origin.DERIVED: "process:reflection",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an overview: the path that it leads to, relative to the overview, what it is called, and what that says."""

    path: str
    title: str
    description: str = ""


def concept_head(memory: Memory, places: Mapping[str, Entry]) -> dict[str, Json]:
    """Return the fields of OKF for a memory. ``places`` are the files of memories in the bundle, by their ids, from the bundle's root.

    Insights name what they rest on as their sources. A memory that is forgotten or superseded is deprecated.
    """
    title = first_line(memory.content, TITLE)
    description = first_line(memory.content, _DESCRIPTION)
    gone = memory.forgotten_at is not None or memory.superseded_by is not None
    sources: list[Json] = [
        {"id": one, "resource": "/" + places[one].path, "title": places[one].title}
        for one in memory.parents
        if one in places
    ]
    return {
        "type": _TYPES[memory.kind],
        "title": title,
        "description": description if description != title else None,
        "generated": {"by": _actor(memory), "at": memory.created_at.isoformat()},
        "status": "deprecated" if gone else "stable",
        "stale_after": None if memory.expires_at is None else memory.expires_at.isoformat(),
        "sources": sources or None,
    }


def index_file(sections: Iterable[tuple[str, Sequence[Entry]]], *, root: bool = False) -> bytes:
    """Return an ``index.md``: a heading for each section, a line for each entry. That of the bundle's ``root`` names the version."""
    parts = [f"# {heading}\n\n" + "".join(map(_line, entries)) for heading, entries in sections]
    text = "\n".join(parts)
    if not root:
        return seal.sealed_at_end(text)
    head = f'---\nokf_version: "{VERSION}"\n{seal.FIELD}: {seal.unsealed_value()}\n---\n'
    return seal.sealed_in_frontmatter(head + "\n" + text)


def log_file(days: Mapping[date, Mapping[str, int]]) -> bytes:
    """Return a ``log.md``: for each day, newest first, how many memories were made, and how many were withdrawn."""
    parts = ["# History\n"]
    for day in sorted(days, reverse=True):
        told = "".join(f"* **{what}**: {_count(count)}\n" for what, count in sorted(days[day].items()))
        parts.append(f"\n## {day.isoformat()}\n\n{told}")
    return seal.sealed_at_end("".join(parts))


def readme_file(folders: Sequence[Entry]) -> bytes:
    """Return the ``README.md`` of a folder of Markdown files."""
    return seal.sealed_at_end(
        "# Memories\n\n"
        "One file for each memory, written by `hybrid-memory-mcp export --markdown`. The same command brings the folder up to date.\n"
        "`hybrid-memory-mcp import` of this folder brings the memories back, with their times and links.\n\n"
        + "".join(map(_line, folders))
    )


def entry_of(memory: Memory, path: str) -> Entry:
    """Return the line of an overview for a memory's file."""
    title, description = first_line(memory.content, TITLE), first_line(memory.content, _DESCRIPTION)
    return Entry(path, title, description if description != title else "")


def counted(path: str, title: str, memories: int) -> Entry:
    """Return the line of an overview for a folder that holds so many memories."""
    return Entry(path, title, _count(memories))


def _line(entry: Entry) -> str:
    described = f" - {inert_line(entry.description, _DESCRIPTION)}" if entry.description else ""
    return f"* [{inert_line(entry.title, TITLE) or '(no words)'}]({quote(entry.path)}){described}\n"


def _count(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"


def _actor(memory: Memory) -> str:
    return _BY.get(memory.origin) or f"agent/{memory.agent}"
