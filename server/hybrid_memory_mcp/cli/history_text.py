"""How one memory's life looks: on a terminal each version with what happened to it below; in a pipe a line for each, whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hybrid_memory.model import Trust
from hybrid_memory.requests import MemoryState
from hybrid_memory_mcp.cli.memory_text import marks_of, print_memory
from hybrid_memory_mcp.cli.output import cell, is_terminal, moment, note, print_line, shown
from hybrid_memory_mcp.words.client_words import client_name
from hybrid_memory_mcp.words.event_words import event_in_words
from hybrid_memory_mcp.words.session_names import session_line
from hybrid_memory_mcp.words.times_and_numbers import count

_LINKS = ("supersedes", "superseded_by", "disputes", "duplicate_of")
_INDENT = 3
_OF_THE_PROGRAM = frozenset({"embed", "repair"})  # entries that say nothing of what a memory is
_OF_THE_NEXT = "was replaced by a newer version"  # and of the former one: the versions stand below each other
_OF_THE_FORMER = "took the place of an earlier one"


def print_history(found: Mapping[str, Any]) -> None:
    """Print the versions of a memory and what happened to them, as the operation `history` tells them."""
    if not found["versions"]:
        note("purged: nothing is left but what the audit log tells")
    if not is_terminal():
        _print_lines(found)
        return
    console = Console(highlight=False, emoji=False)
    for number, one in enumerate(found["versions"], 1):
        is_current = one.get("state") == MemoryState.CURRENT.value
        console.print(Text.assemble(f"{number}  ", cell(one["id"]), "  ", cell(_remarks(one), "dim")))
        _print_indented(console, cell(one["content"], "bold" if is_current else ""))
        for line in _events_of(found["events"], one["id"]):
            _print_indented(console, line)
        if one["recalls"]:
            last = f", last {moment(one['recalled_at'])}" if one["recalled_at"] else ""
            _print_indented(console, Text(f"recalled {count(one['recalls'], 'time')}{last}"))
    known = {one["id"] for one in found["versions"]}
    for id_ in dict.fromkeys(one["id"] for one in found["events"] if one["id"] not in known):
        console.print(cell(id_))
        for line in _events_of(found["events"], id_):
            _print_indented(console, line)


def _print_indented(console: Console, text: Text) -> None:
    text.overflow = "fold"
    console.print(Padding(text, (0, 0, 0, _INDENT), expand=False))


def _remarks(memory: Mapping[str, Any]) -> str:
    """Return what is remarkable about a version, without the ids of its neighbours."""
    told = marks_of(memory)
    told += [f"said by {memory['speaker']}"] if "speaker" in memory else []
    told += ["confirmed"] if memory.get("trust") == Trust.CONFIRMED.value else []
    told += [f"disputes {memory['disputes']}"] if "disputes" in memory else []
    told += [f"same words as {memory['duplicate_of']}"] if "duplicate_of" in memory else []
    told += [f"rests on {' '.join(memory['parents'])}"] if "parents" in memory else []
    return ", ".join(told)


def _events_of(events: Sequence[Mapping[str, Any]], memory_id: str) -> Iterator[Text]:
    """Say what happened to a version, when and by whom, in words."""
    for one in events:
        if one["id"] != memory_id or one["action"] in _OF_THE_PROGRAM:
            continue
        words = event_in_words(one["action"], one["note"])
        if words["details"] == [_OF_THE_NEXT]:
            continue
        details = [part for part in words["details"] if part != _OF_THE_FORMER]
        title = words["title"].partition(":")[0]
        by = client_name(one["by"])
        yield Text.assemble(
            moment(one["at"]), "  ", cell(f"{title} by {by}"), cell(f": {'; '.join(details)}" if details else "", "dim")
        )


def _print_lines(found: Mapping[str, Any]) -> None:
    for one in found["versions"]:
        told = [f"origin {one['origin']}", f"trust {one['trust']}", f"session {session_line(one['session'])}"]
        told += [f"said by {one['speaker']}"] if "speaker" in one else []
        told += [f"{name.replace('_', ' ')} {one[name]}" for name in _LINKS if name in one]
        told += [f"evidence {' '.join(one['parents'])}"] if "parents" in one else []
        last = f", last {moment(one['recalled_at'])}" if one["recalled_at"] else ""
        told.append(f"recalled {one['recalls']} times{last}")
        print_memory(one, [*marks_of(one), *told])
    for one in found["events"]:
        parts = (one["id"], moment(one["at"]), one["action"], one["by"], one["note"])
        print_line("\t".join(map(shown, parts)))
