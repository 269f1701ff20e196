"""What commands on memories are given: texts and ids, also from stdin, times in words, insights as JSON. What is wrong is exit code 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory_mcp.cli.output import can_ask, note

_DASH_OF_TEXT = LazyPattern(r"-+[\s\d]")
_TEXT_MARK = "\0"  # no argument of a process can hold it


class TextCommand(TyperCommand):
    """A command that takes a text in words: one that begins as no option does, as ``- buy milk`` or ``-5 degrees``, is text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a dash that belongs to the text is marked, so that it passes for no option's."""
        end = args.index("--") if "--" in args else len(args)
        values = {at + 1 for at, one in enumerate(args) if one.startswith("--")}  # perhaps an option's
        marked = [
            _TEXT_MARK + one if at < end and at not in values and _DASH_OF_TEXT.match(one) else one
            for at, one in enumerate(args)
        ]
        return super().parse_args(ctx, marked)


def text_of(parts: Sequence[str]) -> str:
    """Return the text that a command was given: its words, or what stdin holds."""
    return _read_stdin("the statement") if list(parts) == ["-"] else unmarked(" ".join(parts))


def unmarked(text: str) -> str:
    """Return a text as it was typed, without what `TextCommand` marks in it."""
    return text.replace(_TEXT_MARK, "")


def ids_of(given: Sequence[str], *, may_be_none: bool = False) -> list[str]:
    """Return ids from the command line, or from stdin: the first word of each line, so that what `list` prints will do."""
    if list(given) != ["-"]:
        return list(given)
    lines = (line.split() for line in _read_stdin("the ids").splitlines())
    found = [words[0] for words in lines if words]
    if not found and not may_be_none:
        raise typer.BadParameter("stdin holds no ids", param_hint="ID")
    return found


def _read_stdin(what: str) -> str:
    if sys.stdin is None:
        raise typer.BadParameter(f"stdin is closed; {what} would come from there", param_hint="-")
    if can_ask():
        note(f"reading {what} from the keyboard; Ctrl-D at the beginning of a line ends it")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError:
        raise typer.BadParameter("stdin is no text in UTF-8", param_hint="-") from None


def moment_of(option: str, text: str | None, meaning: Any) -> str | None:
    """Return the moment that an option names, with its zone; words such as "last Friday" are meant as of now."""
    if text is None:
        return None
    from hybrid_memory.clock import SystemClock
    from hybrid_memory_mcp.mcp_api.moments import CallTime

    try:
        found = CallTime(None, SystemClock().now()).moment(option, text, meaning)
    except InvalidInput as error:
        words = ', or words as "last Friday"' if error.problem.startswith("is not a date") else ""
        given = json.dumps(text, ensure_ascii=False)
        raise typer.BadParameter(f"{given} {error.problem}{words}", param_hint=option) from None
    return None if found is None else found.isoformat()


def insights_of(given: str) -> list[dict[str, Any]]:
    """Return the insights that an option holds, names the file of, or that stdin holds.

    Raises:
        typer.BadParameter: they are not of the form that is told in the help.
    """

    def wrong(problem: str) -> typer.BadParameter:
        return typer.BadParameter(problem, param_hint="--insights")

    text = given
    if given == "-":
        text = _read_stdin("the insights")
    elif given.lstrip()[:1] not in ("[", "{"):
        try:
            text = Path(given).expanduser().read_text("utf-8-sig")
        except (OSError, ValueError):
            raise wrong(f"there is no file {given} that can be read as text") from None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong("is no JSON") from None
    found = [value] if isinstance(value, dict) else value
    if not isinstance(found, list) or not found or not all(map(_is_insight, found)):
        raise wrong(
            'give a list of {"text": "...", "evidence": ["ID", ...]}, each perhaps with "importance" from 0 to 1'
        )
    return found


def _is_insight(value: Any) -> bool:
    if not isinstance(value, dict) or not {"text", "evidence"} <= set(value) <= {"text", "evidence", "importance"}:
        return False
    evidence, importance = value["evidence"], value.get("importance")
    return (
        isinstance(value["text"], str)
        and isinstance(evidence, list)
        and bool(evidence)
        and all(isinstance(one, str) for one in evidence)
        and (importance is None or (isinstance(importance, (int, float)) and not isinstance(importance, bool)))
    )
