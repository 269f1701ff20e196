"""The command ``postgres migrate``: a whole store moved between a folder and a PostgreSQL database, in this process."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybrid_memory_mcp.cli.operation_call import AsJson
from hybrid_memory_mcp.cli.output import note, one_line_errors, print_result, progress, say

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hybrid_memory.store.moving import MoveSource, MoveTarget


def migrate(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="Folder of a store, or postgresql://user@host/database.")
    ],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to: another folder or address, without memories.")],
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with the database's password. Else that of the settings, if they name this database; PGPASSWORD or ~/.pgpass."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move a whole store from a folder to a PostgreSQL database, or back: everything in it, not only what an export holds.

    FROM is copied as it is at one moment, also while clients use it, and is not changed. Broken off, the same command goes on where it
    was. TO counts when all rows are the same on both sides, and the exports byte by byte.
    """
    from hybrid_memory.admin.migrate import migrate as move
    from hybrid_memory.clock import SystemClock

    now = SystemClock().now()
    with (
        one_line_errors(),
        progress("moving") as on_progress,
        _source(source, password_file) as one,
        _target(target, password_file) as other,
    ):
        done = move(one, other, now, on_progress=on_progress)

    def show() -> None:
        say(f"memories: {done.memories}, namespaces: {len(done.namespaces)}, rows: {done.rows}, compared: {target}")
        note(f"the export of both has the SHA-256 {done.export}")
        note(
            f"{source} stays as it was; what was written there since the move began is not in {target}. {_next_step(target)}"
        )

    print_result(asdict(done) | {"from": source, "to": target}, as_json, show)


def _next_step(target: str) -> str:
    from hybrid_memory.store.opening import shown_address
    from hybrid_memory_postgres.target import is_address

    if is_address(target):
        return (
            f"A machine uses the new one after `hybrid-memory-mcp config set store {shlex.quote(target)}`, "
            f"a single program with HYBRID_MEMORY_STORE={shlex.quote(target)}"
        )
    home = Path(target).expanduser().absolute()
    words = f"Clients use the new one with HYBRID_MEMORY_HOME={shlex.quote(str(home))}"
    if shown_address(home) is None:
        return words
    return (
        f"{words}, and only after the setting store is gone, which names a database: "
        f"`hybrid-memory-mcp config unset store --home {shlex.quote(str(home))}`, and unset HYBRID_MEMORY_STORE"
    )


def _conninfo(address: str, argument: str, password_file: Path | None) -> str:
    from hybrid_memory.settings import database_environment
    from hybrid_memory_postgres.engine import typed_target

    known, known_file = (None, None) if password_file else _database_of_settings()
    return typed_target(
        address, argument, database_environment(), known=known, known_file=known_file, password_file=password_file
    ).conninfo


def _database_of_settings() -> tuple[str | None, Path | None]:
    """Return the database that the settings of this machine name, and the file with its password."""
    from hybrid_memory.errors import InvalidInput
    from hybrid_memory.settings import client_settings, store_settings, variables

    try:
        settings = store_settings(client_settings().folder())
    except InvalidInput:  # a move between two other places needs none
        return variables().get("store"), None
    return settings.store, settings.store_password_file


def _target(place: str, password_file: Path | None) -> AbstractContextManager[MoveTarget]:
    from hybrid_memory.clock import SystemClock
    from hybrid_memory.store.moving import folder_target
    from hybrid_memory_postgres.target import is_address

    now = SystemClock().now()
    if is_address(place):
        conninfo = _conninfo(place, "TO", password_file)
        from hybrid_memory_postgres.moving_store import database_target

        return database_target(conninfo, now)
    return folder_target(Path(place).expanduser().absolute(), now)


def _source(place: str, password_file: Path | None) -> AbstractContextManager[MoveSource]:
    from hybrid_memory_postgres.target import is_address

    if is_address(place):
        conninfo = _conninfo(place, "FROM", password_file)
        from hybrid_memory_postgres.moving_store import database_source

        return database_source(conninfo)
    return _folder(Path(place).expanduser().absolute())


@contextmanager
def _folder(home: Path) -> Iterator[MoveSource]:
    """Give one moment of the store in a folder, as a copy that is gone afterwards; its hub makes it where one has the store open."""
    from hybrid_memory.admin.backup import file_for_moment
    from hybrid_memory.clock import SystemClock
    from hybrid_memory.errors import StoreLocked, StoreMissing
    from hybrid_memory.settings import DATABASE
    from hybrid_memory.store.moving import copy_of_folder, file_source
    from hybrid_memory.store.store_file import remove_file

    if not (home / DATABASE).is_file():
        raise StoreMissing(home)
    file = file_for_moment(home)
    try:
        try:
            copy_of_folder(home, SystemClock(), file)
        except StoreLocked:
            if not _copied_by_hub(home):
                raise
        with file_source(file) as source:
            yield source
    finally:
        remove_file(file)


def _copied_by_hub(home: Path) -> bool:
    from hybrid_memory_mcp.admin.hub_client import call_hub, wait_for_hub

    for _ in range(2):
        if call_hub(home, "default", "moment", {}, lambda *_: None, note) is not None:
            return True
        if not wait_for_hub(home):  # one that is just starting holds the lock already
            return False
    return False
