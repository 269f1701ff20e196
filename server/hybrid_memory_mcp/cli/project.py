"""The commands ``project show``, ``init`` and ``adopt``; which project a folder belongs to is decided in ``projects.py``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory.project_names import check_project_name, project_namespace
from hybrid_memory_mcp.cli.arguments import ids_of
from hybrid_memory_mcp.cli.command_group import example
from hybrid_memory_mcp.cli.memory_text import print_memories
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Yes, call_operation, call_or_exit
from hybrid_memory_mcp.cli.output import confirm, note, one_line_errors, print_json, print_result, say
from hybrid_memory_mcp.projects import ABOUT_ME, MARKER, Place, place_of

app = typer.Typer(help="Say which project a folder belongs to.", no_args_is_help=True)

_HEAD = """\
# hybrid-memory-mcp: what you tell an assistant in this folder, and below it, is remembered for this project alone.
# With about_me = "personal", what you plainly say about yourself is yours and known in every project.
"""


@app.command(epilog=example("project init acme"))
def init(
    name: Annotated[str | None, typer.Argument(help="Name of the project. Default: the folder's.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Assistants read here and write nothing.")] = False,
    off: Annotated[bool, typer.Option("--off", help="Assistants neither read nor write here.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make this folder a project: write .hybrid-memory.toml."""
    folder = Path.cwd()
    with one_line_errors():
        project = (
            None if off and name is None else _name_of(folder) if name is None else check_project_name("name", name)
        )
        if folder == Path(os.path.realpath(Path.home())):
            raise InvalidInput(
                "folder", "is your home folder, so that everything below it would be this project; go into another"
            )
        about_me = None if off else ABOUT_ME[1]
        said = {"namespace": project, "off": off, "read_only": read_only, "about_me": about_me}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in said.items() if value]
        _write_new(folder / MARKER, _HEAD + "".join(lines))

    def table() -> None:
        if off:
            say("Memory is off in this folder and below it.")
            return
        say(
            f"This folder is project {project}: what is said here stays in it. What you say about yourself is known everywhere."
        )
        say(f"{MARKER} holds the name and no memories, so you can commit it.")

    values = {"file": str(folder / MARKER), "project": project, "read_only": read_only, "off": off}
    print_result(values, as_json, table)


@app.command(epilog=example("project adopt"))
def adopt(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="Which memories. Default: those told in this project; - reads ids from stdin."
        ),
    ] = None,
    *,
    home: Home = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Move memories of your own into the project of this folder. Shows them and asks; `undo` moves them back."""
    with one_line_errors():
        place = place_here(home)
        if place.project is None or place.refuses_writes:
            raise InvalidInput("folder", place.refuses_writes or "is in no project, so nothing can move to it")
        named = ids_of(ids or [], may_be_none=True)
        told = [] if named or ids else _told_in(place, home)
    named = named or [one["id"] for one in told]
    if not named:
        if as_json:
            print_json({"done": None, "undo": None, "memories": []})
        note(
            "No memory of your own is known to come from this project. Name them: `list --namespace default` shows them."
        )
        return
    if not yes:
        shown = call_or_exit(home, "show", {"ids": named}, namespace=place.personal)["memories"]
        note(f"These {len(shown)} memories of your own would move to project {place.project}, and be known only there:")
        print_memories(shown)
        confirm("Move them?")
    given = {"verb": "adopt", "ids": named, "personal": place.personal}
    done = call_or_exit(home, "act", given, namespace=place.namespace)
    if as_json:
        print_json(done)
        return
    note(f"{done['done']}; in this folder `hybrid-memory-mcp undo` moves them back")


def _told_in(place: Place, home: Path | None) -> list[dict[str, Any]]:
    """Return the person's own memories that were told in conversations of a project, and are not plainly about the person."""
    from hybrid_memory.capture.oneself import is_about_oneself
    from hybrid_memory.settings import client_settings
    from hybrid_memory.validation import LIST_LIMIT
    from hybrid_memory_mcp.hooks.state import Conversations

    folder = str(client_settings(home=home).folder())
    begun = {f"{one.client}:{one.session}": one.root or one.folder for one in Conversations(folder).others()}
    here = {
        session
        for session, folder in begun.items()
        if folder and _place_of(Path(folder), home).project == place.project
    }
    if not here:
        return []
    found = call_operation(home, "list", {"limit": LIST_LIMIT}, namespace=place.personal)["memories"]
    return [
        one
        for one in found
        if one["session"] in here and not ({"key", "parents"} & one.keys() or is_about_oneself(one["content"]))
    ]


@app.command(epilog=example("project show"))
def show(as_json: AsJson = False) -> None:
    """Show which project this folder belongs to, and why."""
    with one_line_errors():
        place = place_here()

    def table() -> None:
        say(in_words(place))
        for notice in place.notices:
            say(notice)

    print_result(place.described(), as_json, table)


def place_here(home: Path | None = None, namespace: str | None = None) -> Place:
    """Return the place of the folder in which a person typed a command.

    Raises:
        InvalidInput: an option or a variable is wrong.
    """
    return _place_of(Path.cwd(), home, namespace)


def _place_of(folder: Path, home: Path | None, namespace: str | None = None) -> Place:
    from hybrid_memory_mcp.runtime.client_options import read_options

    given = {"--home": None if home is None else str(home), "--namespace": namespace}
    arguments = [part for name, value in given.items() if value for part in (name, value)]
    return place_of(folder, read_options(arguments))


def in_words(place: Place) -> str:
    """Return a place as a person reads it: the project, why, and what may not be done."""
    where = "" if place.marker is None else f", in {place.marker.parent}"
    refused = f" {place.refuses_writes}" if place.refuses_writes else ""
    return f"{place.project or 'no project'} ({place.why}{where}).{refused}"


def described(place: Place, counted: Mapping[str, int]) -> dict[str, Any]:
    """Return a place as status shows it, with how many memories and insights the project has."""
    return {**place.described(), **counted}


def other_namespace(home: Path | None, namespace: str | None) -> str | None:
    """Return the namespace of the project at hand where a command goes for the person's own; None where nobody could mean it."""
    try:
        return None if namespace is not None else namespace_of(place_here(home))
    except HybridMemoryError:
        return None


def _name_of(folder: Path) -> str:
    try:
        return check_project_name("name", folder.name)
    except InvalidInput:
        problem = "is none that this folder's own could give; say one, as in hybrid-memory-mcp project init acme"
        raise InvalidInput("name", problem) from None


def namespace_of(place: Place) -> str | None:
    """Return the namespace of the project at hand."""
    return None if place.project is None else project_namespace(place.project, place.personal)


def _write_new(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise InvalidInput(MARKER, "is there already; edit it, or remove it first") from None
    except OSError:
        raise InvalidInput(MARKER, "cannot be written in this folder") from None
