"""The command ``status``: who has the memory, what is new in it, what waits for the person and where it lies; the rest by ``--verbose``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory_mcp.cli import hooks, project
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Namespace, call_or_exit
from hybrid_memory_mcp.cli.output import is_terminal, one_line_errors, print_grid, print_result, print_values
from hybrid_memory_mcp.cli.status_words import assistant_rows, maker_rows, memory_rows, waiting_rows, where_rows


def status(
    home: Home = None,
    namespace: Namespace = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="And how the store works inside.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show who has the memory, what is new in it, what waits for you, and where it lies."""
    with one_line_errors():
        place = project.place_here(home, namespace)
    values = call_or_exit(home, "status", {"project": project.namespace_of(place)}, namespace=namespace)
    counted: dict[str, int] = values.pop("of_project", {})
    with one_line_errors():
        values["store"] = _store(home, values["bytes_on_disk"])
        values["hooks"] = hooks.described(home)
    values["project"] = project.described(place, counted)
    values["assistants"] = _assistants()

    def table() -> None:
        now = _now()
        rows = [*assistant_rows(values, now), *memory_rows(values, place, counted, now), *waiting_rows(values)]
        _print_grid([*rows, *where_rows(values), *(maker_rows(values, place) if verbose else ())])

    print_result(values, as_json, table)


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - beside times of the store's machine


def _print_grid(rows: list[tuple[str, str]]) -> None:
    if is_terminal():
        print_grid(rows)
    else:
        print_values(rows)


def _assistants() -> list[dict[str, str]]:
    from hybrid_memory_mcp.clients.installed import assistants
    from hybrid_memory_mcp.clients.places import this_machine

    return [{"name": one.name, "title": one.title, "state": one.state} for one in assistants(this_machine())]


def _store(home: Path | None, size: int) -> dict[str, Any]:
    """Return where the store lies and what it takes there, with backups and what was put aside (bytes); ``size`` is that of a database."""
    from hybrid_memory.settings import DATABASE, client_settings
    from hybrid_memory.store.home_files import list_backups, plain_files, set_aside
    from hybrid_memory.store.opening import shown_address

    folder = client_settings(home=home).folder().absolute()
    backups = list_backups(folder)
    sizes = [file.stat().st_size for file in backups]
    aside = set_aside(folder)
    address = shown_address(folder)
    if address is None:
        file = folder / DATABASE
        place = {"file": str(file), "bytes": file.stat().st_size if file.exists() else 0}
    else:
        place = {"database": address, "bytes": size}
    return {
        "folder": str(folder),
        **place,
        "backups": {"count": len(backups), "bytes": sum(sizes), "newest": str(backups[-1]) if backups else None},
        "set_aside": {
            "count": len(aside),
            "bytes": sum(file.stat().st_size for one in aside for file in plain_files(one)),
            "newest": str(aside[-1]) if aside else None,
        },
    }
