"""How a command has an operation done: by the store's hub, or in this process where none runs. An error becomes one line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybrid_memory.errors import HybridMemoryError, StoreLocked, StoreMissing, error_code
from hybrid_memory_mcp.cli.output import note, one_line_errors

if TYPE_CHECKING:
    from hybrid_memory_mcp.admin.operations import ProgressCallback

Home = Annotated[
    Path | None,
    typer.Option(help="Folder of the store. Default: HYBRID_MEMORY_HOME, else the platform's data folder."),
]
Namespace = Annotated[
    str | None,
    typer.Option(help="The wall around the memories. Default: default; `recall` reads the project in this folder too."),
]
Reveal = Annotated[
    bool, typer.Option("--reveal", help="Show keys, passwords and card numbers, which are masked otherwise.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else, errors too.")]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file of that name.")]
All = Annotated[str | None, typer.Option("--namespace", help="Only this one. Default: all.")]

_HARMLESS = frozenset(
    {
        "recall",
        "list",
        "show",
        "reflect",
        "imports",
        "import_preview",
        "status",
        "history",
        "view",
        "eval",
        "doctor",
        "export",
        "export_folder",
        "embedder",
        "pinned",
        "sync",
    }
)
"""Operations that may be asked of the next hub if one ends meanwhile: they change nothing, are whole or not there, or join to the same."""

_STARTS_HUB = frozenset(
    {"recall", "remember", "list", "show", "correct", "forget", "pin", "act", "acts", "history", "view", "eval"}
)
"""Operations that a person asks for one after the other: the first one's hub stays for the next."""

_ANSWERED_WITHOUT_STORE = frozenset({"recall", "list", "view", "status", "acts", "reflect", "imports", "doctor"})
"""Operations whose answer is plain where nothing is kept yet: that there is nothing."""

starts_hubs = False
"""Whether a hub may be started here: by the program itself, not by what calls commands in a process of its own."""


def call_operation(
    home: Path | None,
    operation: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    namespace: str | None = None,
    may_be_new: bool = False,
    on_progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Let an operation of `hybrid_memory_mcp.admin.operations` be done, by the store's hub if it has one.

    One that changes nothing is asked once more if the hub ends meanwhile.

    ``may_be_new`` says that the store need not exist yet. ``on_progress`` is told how many of how many are done.

    Raises:
        HybridMemoryError: what the operation says, or that there is no store.
    """
    own = operation.startswith("import_")  # of a file that the command made
    with named_file(None if own else (arguments or {}).get("file")):
        return _done(home, operation, arguments, namespace, may_be_new=may_be_new, on_progress=on_progress)


@contextmanager
def named_file(file: object) -> Iterator[None]:
    """Let an error about a file that a person named tell which: the library's own messages name no path.

    Raises:
        HybridMemoryError: as it was raised inside, with the file's name.
    """
    from hybrid_memory_mcp.admin.hub_client import OperationFailed

    try:
        yield
    except HybridMemoryError as error:
        field, colon, problem = str(error).partition(": ")
        if not file or not colon or field not in ("file", "path"):
            raise
        raise OperationFailed(f"{file}: {problem}", error_code(error)) from None


def _done(
    home: Path | None,
    operation: str,
    arguments: Mapping[str, Any] | None,
    namespace: str | None,
    *,
    may_be_new: bool,
    on_progress: ProgressCallback | None,
) -> dict[str, Any]:
    from hybrid_memory.settings import client_settings
    from hybrid_memory.store.opening import is_missing
    from hybrid_memory_mcp.admin.hub_client import HubEnded, call_hub, wait_for_hub
    from hybrid_memory_mcp.admin.operations import OperationRequest, local_provider, run_operation
    from hybrid_memory_mcp.relay.paths import HUB_LOCK

    settings = client_settings(home=home, namespace=namespace)
    folder, given, progress = settings.folder(), arguments or {}, on_progress or _ignore_progress
    # A hub of this folder may serve a database that only its own clients know of, so it is asked before a file that is not there is told.
    if not may_be_new and not (folder / HUB_LOCK).exists() and is_missing(folder):
        return _done_without_store(folder, settings.namespace, operation, given)
    may_repeat = operation in _HARMLESS
    while True:
        try:
            may_start = starts_hubs and operation in _STARTS_HUB and (may_be_new or not is_missing(folder))
            answer = call_hub(folder, settings.namespace, operation, given, progress, note, may_start=may_start)
        except HubEnded:
            if not may_repeat:
                raise
            may_repeat = False
            note("the memory's hub ended before it was done; asking again")
            continue
        if answer is not None:
            return answer
        if not may_be_new and is_missing(folder):
            return _done_without_store(folder, settings.namespace, operation, given)
        try:
            with local_provider(folder, settings.namespace) as (provider, scope):
                return run_operation(operation, OperationRequest(provider, folder, scope, given, progress))
        except StoreLocked:
            # By a hub that a client has just started, as after the end of one that had hung? Then it is asked.
            if not wait_for_hub(folder):
                raise


def _done_without_store(folder: Path, namespace: str, operation: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an empty store answers, which is gone again afterwards: who only asks makes none.

    Raises:
        StoreMissing: the operation needs a memory that is there.
    """
    from hybrid_memory.settings import store_settings
    from hybrid_memory_mcp.admin.operations import OperationRequest, local_provider, run_operation

    if operation not in _ANSWERED_WITHOUT_STORE:
        raise StoreMissing(folder.absolute())
    if operation != "status":  # which says itself where the store will be
        note(f"there is no memory in {folder.absolute()} yet; --home or HYBRID_MEMORY_HOME names another folder")
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as empty,
        local_provider(Path(empty), namespace, store_settings(folder)) as (provider, scope),
    ):
        return run_operation(operation, OperationRequest(provider, Path(empty), scope, given, _ignore_progress))


def absolute(file: Path | None) -> str | None:
    """Return the full path of a file that a person named: an operation is done in another process, which is at work elsewhere."""
    return None if file is None else str(file.expanduser().absolute())


def _ignore_progress(done: int, total: int) -> None:
    del done, total


call_or_exit = one_line_errors()(call_operation)
"""As `call_operation`, but an error is one line and exit code 1."""


def zone_here() -> str | None:
    """Return the name of the zone by which days are meant, as far as it is known; a hub may live by another."""
    from hybrid_memory.settings import client_settings

    return client_settings().timezone or os.environ.get("TZ", "").removeprefix(":") or None  # noqa: TID251 - handed on
