"""How memories look in a terminal and in a pipe.

On a terminal each has a line with its id, its time and what is remarkable about it, and its text below, indented: so an id is never cut,
any width will do, and text of any script stays on lines of its own. In a pipe each is one line, whole: id, time, remarks and text with
tabs between.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hybrid_memory.project_names import namespace_name, project_of, shown_project
from hybrid_memory_mcp.cli.output import cell, is_terminal, moment, print_line, shown
from hybrid_memory_mcp.memory_words import KIND_NAMES, TIER_NAMES

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.text import Text

_SHOWN_CHARACTERS = 600  # of a text in a list on a terminal; a whole page of a book would hide the others
_INDENT = 2
_OTHERS = 3  # namespaces that are named
_DAY = len("2026-01-10")  # of a moment

# As operations tell them: values of `Kind`, `MemoryState` and `Trust`, whose modules take longer to import than all else here.
OBSERVATION, CURRENT, UNTRUSTED = "observation", "current", "untrusted"

MemoryJson = Mapping[str, Any]


def print_memories(memories: Iterable[MemoryJson]) -> None:
    """Print memories, as operations tell them, below each other."""
    for one in memories:
        print_memory(one, marks_of(one))


def print_memory(memory: MemoryJson, marks: Sequence[str]) -> None:
    """Print one memory with some remarks, and the time of its writing."""
    told = moment(memory.get("created_at"))
    text = shown(memory.get("content", ""))
    if not is_terminal():
        print_line("\t".join((shown(memory.get("id", "")), told, shown(", ".join(marks)), text)))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, emoji=False)
    head = Text.assemble(cell(memory.get("id", ""), "bold"), "  ", told)
    remarks = cell(", ".join(marks), "dim")
    if head.cell_len + len("  ") + remarks.cell_len <= console.width:
        console.print(Text.assemble(head, "  ", remarks))
    else:
        console.print(head)
        console.print(_indented(remarks))
    console.print(_indented(_cut(text)))


def _indented(text: Text) -> Padding:
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, _INDENT), expand=False)


def _cut(text: str) -> Text:
    from rich.text import Text

    if len(text) <= _SHOWN_CHARACTERS:
        return Text(text, overflow="fold")
    more = len(text) - _SHOWN_CHARACTERS
    return Text.assemble(
        (text[:_SHOWN_CHARACTERS] + "…", ""), (f" {more:,} more characters; `show` has them", "dim"), overflow="fold"
    )


def tier_name(memory: MemoryJson) -> str:
    """Return what the part of memory is called that a memory is in."""
    tier = str(memory.get("tier", ""))
    return TIER_NAMES.get(tier, tier)


def marks_of(memory: MemoryJson) -> list[str]:
    """Return what is remarkable about a memory: its tier or kind, how it is, whose word it is, its project, its tags."""
    kind = str(memory.get("kind", OBSERVATION))  # of a hit a hub that was started before an upgrade does not tell it
    marks = [tier_name(memory) if kind == OBSERVATION else KIND_NAMES.get(kind, kind)]
    if memory.get("state") not in (None, CURRENT):
        marks.append(str(memory["state"]))
    happened = moment(memory.get("occurred_at"))[:_DAY]
    marks += [f"happened {happened}"] if happened not in ("", moment(memory.get("created_at"))[:_DAY]) else []
    marks += ["pinned"] if memory.get("pinned") else []
    if memory.get("trust") == UNTRUSTED:
        marks.append(f"untrusted, from {memory.get('origin')}")
    project = project_of(str(memory.get("namespace", "")))
    marks += [f"project {shown_project(project)}"] if project else []
    return [*marks, *(f"#{tag}" for tag in memory.get("tags", ()))]


def others_in_words(counts: Mapping[str, int]) -> str:
    """Return how many memories are in other namespaces than those at hand, and how one looks there; the fullest first."""
    fullest = sorted(counts, key=lambda one: -counts[one])
    told = [f"{counts[one]:,} in {namespace_name(one)}" for one in fullest[:_OTHERS]]
    told += ["..."] if len(fullest) > _OTHERS else []
    where = f"in {namespace_name(fullest[0])}" if len(fullest) == 1 else f"elsewhere: {', '.join(told)}"
    return f"{sum(counts.values()):,} more {where} (`list --namespace {shlex.quote(fullest[0])}`)"


def print_whole(memory: MemoryJson) -> None:
    """Print all that is known of a memory: its id, its text with its lines, then a line for each field.

    The text is indented, so that no line of it looks like a field.
    """
    from rich.console import Console
    from rich.text import Text

    terminal = is_terminal()
    console = Console(highlight=False, emoji=False, soft_wrap=not terminal)
    console.print(cell(memory["id"], "bold"))
    for line in shown(memory.get("content", ""), lines=True).split("\n"):
        whole = Text(line, overflow="fold")
        console.print(_indented(whole) if terminal else Text(" " * _INDENT) + whole)
    for name, value in fields_of(memory):
        console.print(Text.assemble((f"{name}: ", "dim"), cell(value)))


def fields_of(memory: MemoryJson) -> list[tuple[str, str]]:
    """Return the fields of a memory in words, those that say something."""
    from hybrid_memory_mcp.words.session_names import session_line

    recalls = f"{memory.get('recalls', 0)} times" + (
        f", last {moment(memory['recalled_at'])}" if memory.get("recalled_at") else ""
    )
    whose = f"{memory.get('origin')}, trust {memory.get('trust')}"
    fields: list[tuple[str, Any]] = [
        ("state", memory.get("state")),
        ("written", moment(memory.get("created_at"))),
        ("happened", moment(memory.get("occurred_at"))),
        ("expires", moment(memory.get("expires_at"))),
        ("forgotten", moment(memory.get("forgotten_at"))),
        ("kind", f"{memory.get('kind')}, {tier_name(memory)}" + (", pinned" if memory.get("pinned") else "")),
        ("importance", _rounded(memory.get("importance"))),
        ("whose word", whose),
        ("said by", memory.get("speaker")),
        ("tags", ", ".join(memory.get("tags", ()))),
        ("source", memory.get("source")),
        ("session", session_line(memory.get("session", ""))),
        ("namespace", memory.get("namespace")),
        ("key", memory.get("key")),
        ("metadata", _metadata(memory.get("metadata"))),
        ("replaces", memory.get("supersedes")),
        ("replaced by", memory.get("superseded_by")),
        ("same words as", memory.get("duplicate_of")),
        ("disputes", memory.get("disputes")),
        ("disputed by", " ".join(memory.get("disputed_by", ()))),
        ("rests on", " ".join(memory.get("parents", ()))),
        ("recalled", recalls),
    ]
    return [(name, str(value)) for name, value in fields if value not in (None, "")]


def _rounded(number: float | None) -> str:
    return "" if number is None else f"{number:.2g}"


def _metadata(metadata: Mapping[str, Any] | None) -> str:
    return json.dumps(metadata, ensure_ascii=False) if metadata else ""
