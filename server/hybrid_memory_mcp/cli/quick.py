"""`recall` and `remember` as people mostly type them, without typer: half of the time of such a command would be importing it.

`run` takes a command line only if all of it is plain, and says so otherwise: then the typer application reads it from its beginning, and
says what is wrong with it. A test holds the options here to those of the application.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hybrid_memory.errors import InvalidInput, error_code
from hybrid_memory.project_names import PERSON, check_namespace
from hybrid_memory_mcp.admin.hub_client import HubEnded, call_hub
from hybrid_memory_mcp.cli.exit_codes import DONE, FAILED, INTERRUPTED
from hybrid_memory_mcp.cli.output import note, print_error, print_error_value, set_wants_json, told_error
from hybrid_memory_mcp.cli.told import place_again, print_recalled, print_remembered, there
from hybrid_memory_mcp.hooks.program import has_store
from hybrid_memory_mcp.projects import place_of
from hybrid_memory_mcp.relay import paths

FLAGS, VALUES = "flags", "values"
OPTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "recall": {FLAGS: ("--json", "--reveal"), VALUES: ("--home", "--namespace", "--limit", "--session", "--tag")},
    "remember": {FLAGS: ("--json", "--pin"), VALUES: ("--home", "--namespace", "--importance", "--tag")},
}
"""The options of each command that are plain; all others, as times in words, are typer's."""

DEFAULT_LIMIT, BRIEF_LIMIT, MOST = 8, 20, 100
_LONGEST_NAMESPACE = 200
# What a person chose by these is read with all other settings.
_CHOSEN = frozenset(
    f"HYBRID_MEMORY_{name}" for name in ("NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "PROJECT")
)
_REPEATED = "--tag"


class NotPlain(Exception):
    """The typer application is to read this command line."""


@dataclass
class _Line:
    """A plain command line: its words, its flags, and the values of its options."""

    words: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Person:
    """What a client chooses that chooses nothing."""

    namespace: str = PERSON
    project: str | None = None


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Do a command that is plain and return its exit code; None if it is not, or no hub can do it: nothing is done then."""
    try:
        return _run(arguments, environment)
    except NotPlain:
        return None
    except KeyboardInterrupt:
        print_error_value("interrupted", code="interrupted", exit_code=INTERRUPTED)
        return INTERRUPTED
    except Exception as error:
        said = told_error(error)
        if said is None:
            raise
        print_error(said, code=error_code(said))
        return FAILED


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    command, *rest = arguments or [""]
    if command not in OPTIONS or any(value and name.upper() in _CHOSEN for name, value in environment.items()):
        raise NotPlain
    line = read_line(rest, OPTIONS[command])
    given = given_of(command, line)
    home, namespace = line.values.get("--home"), line.values.get("--namespace")
    folder = Path(paths.store_folder([] if home is None else ["--home", home], environment))
    writes = command == "remember"
    if not writes and not has_store(str(folder), environment):
        raise NotPlain
    as_json = "--json" in line.flags
    set_wants_json(as_json)
    if namespace is None:
        namespace = there(place_of(Path.cwd(), _Person()), given, writes=writes)
    done = _done(folder, namespace or PERSON, command, given)
    if writes:
        print_remembered(
            done,
            as_json=as_json,
            again=place_again(None if home is None else Path(home), line.values.get("--namespace")),
        )
    else:
        print_recalled(done, as_json=as_json, brief=not given["query"].strip())
    return DONE


def _done(folder: Path, namespace: str, operation: str, given: Mapping[str, Any]) -> dict[str, Any]:
    def ask() -> dict[str, Any]:
        done = call_hub(folder, namespace, operation, given, lambda *_: None, note, may_start=True)
        if done is None:  # this process opens the store
            raise NotPlain
        return done

    try:
        return ask()
    except HubEnded:
        if operation != "recall":
            raise
        note("the memory's hub ended before it was done; asking again")
        return ask()


def read_line(arguments: Sequence[str], options: Mapping[str, Sequence[str]]) -> _Line:
    """Return a plain command line.

    Raises:
        NotPlain: something in it is not.
    """
    line, left = _Line(), list(arguments)
    while left:
        one = left.pop(0)
        if not one.startswith("-"):
            line.words.append(one)
            continue
        if one in options[FLAGS]:
            line.flags.add(one)
            continue
        name, equals, value = one.partition("=")
        if name not in options[VALUES] or not (equals or left):
            raise NotPlain
        value = value if equals else left.pop(0)
        if not value or value.startswith("-"):
            raise NotPlain
        if name == _REPEATED:
            line.tags.append(value)
        line.values[name] = value
    _check_namespace(line.values.get("--namespace"))
    return line


def _check_namespace(namespace: str | None) -> None:
    if namespace is None:
        return
    try:
        check_namespace(namespace)
    except InvalidInput:
        raise NotPlain from None
    if len(namespace) > _LONGEST_NAMESPACE:
        raise NotPlain


def given_of(command: str, line: _Line) -> dict[str, Any]:
    """Return the arguments of the operation that a command line asks for.

    Raises:
        NotPlain: a value cannot be used; typer says so.
    """
    return _recall(line) if command == "recall" else _remember(line)


def _recall(line: _Line) -> dict[str, Any]:
    query = " ".join(line.words)
    limit = line.values.get("--limit", str(DEFAULT_LIMIT if query.strip() else BRIEF_LIMIT))
    if not limit.isascii() or not limit.isdigit() or not 1 <= int(limit) <= MOST:
        raise NotPlain
    return {
        "query": query,
        "limit": int(limit),
        "reveal": "--reveal" in line.flags,
        "tags": line.tags,
        "session": line.values.get("--session"),
        "since": None,
        "until": None,
    }


def _remember(line: _Line) -> dict[str, Any]:
    if not line.words:
        raise NotPlain
    try:
        importance = float(line.values["--importance"]) if "--importance" in line.values else None
    except ValueError:
        raise NotPlain from None
    if importance is not None and not (math.isfinite(importance) and 0 <= importance <= 1):
        raise NotPlain
    return {
        "content": " ".join(line.words),
        "tags": line.tags,
        "importance": importance,
        "pinned": "--pin" in line.flags,
        "occurred_at": None,
        "expires_at": None,
        "memory_type": "long_term",
        "session": session_of_today(),
    }


def session_of_today() -> str:
    """Return the session of what is remembered in a terminal today."""
    return time.strftime("terminal-%Y-%m-%d")
