"""The commands ``project init`` and ``project show``; which project is at hand is decided in ``projects.py``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory.project_names import check_project_name, project_namespace
from hybrid_memory_mcp.cli.command_group import example
from hybrid_memory_mcp.cli.operation_call import AsJson
from hybrid_memory_mcp.cli.output import one_line_errors, print_result, say
from hybrid_memory_mcp.projects import MARKER, Place, place_of

app = typer.Typer(help="Which project is at hand in a folder.", no_args_is_help=True)

_HEAD = "# What is said to an assistant in this folder, and below it, is remembered for this project alone (hybrid-memory-mcp).\n"


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
        said = {"namespace": project, "off": off, "read_only": read_only}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in said.items() if value]
        _write_new(folder / MARKER, _HEAD + "".join(lines))

    def table() -> None:
        if off:
            say("Memory is off in this folder and below it.")
            return
        say(
            f"This folder is the project {project}: what is said here stays here, what you said elsewhere is known here."
        )
        say(f"{MARKER} holds the name and no memories, so it may be committed.")

    values = {"file": str(folder / MARKER), "project": project, "read_only": read_only, "off": off}
    print_result(values, as_json, table)


@app.command(epilog=example("project show"))
def show(as_json: AsJson = False) -> None:
    """Show which project is at hand in this folder, and why."""
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
    from hybrid_memory_mcp.runtime.client_options import read_options

    given = {"--home": None if home is None else str(home), "--namespace": namespace}
    arguments = [part for name, value in given.items() if value for part in (name, value)]
    return place_of(Path.cwd(), read_options(arguments))


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
