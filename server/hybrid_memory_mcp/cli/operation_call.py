"""How a command has an operation done: by the store's hub, or in this process where none runs. An error becomes one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from hybrid_memory.errors import HybridMemoryError, InvalidInput, StoreLocked
from hybrid_memory.shortage import shortage_of

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
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

_HARMLESS = frozenset({"recall", "status", "history", "doctor", "export", "embedder", "pinned"})
"""Operations that change nothing of the store: when the hub ends meanwhile, the next one may be asked. An export is whole or not there."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn an error of the library, or of a system that has no memory left, into one line and exit code 1."""
    try:
        yield
    except HybridMemoryError as error:
        said = str(error)
    except (MemoryError, OSError, RuntimeError, ImportError) as error:
        short = shortage_of(error)
        if short is None:
            raise
        said = str(short)
    else:
        return
    Console(stderr=True, soft_wrap=True).print(f"[red]{escape(said)}[/red]")
    raise typer.Exit(1)


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
    from hybrid_memory.settings import DATABASE, client_settings
    from hybrid_memory_mcp.admin.hub_client import HubEnded, call_hub, wait_for_hub
    from hybrid_memory_mcp.admin.operations import OperationRequest, local_provider, run_operation

    settings = client_settings(home=home, namespace=namespace)
    folder, given, progress = settings.folder(), arguments or {}, on_progress or _ignore_progress
    if not may_be_new and not (folder / DATABASE).exists():
        raise InvalidInput("home", "there is no memory in that folder yet; a client makes it when it first starts")
    may_repeat = operation in _HARMLESS
    while True:
        try:
            answer = call_hub(folder, settings.namespace, operation, given, progress, _say)
        except HubEnded:
            if not may_repeat:
                raise
            may_repeat = False
            _say("the memory's hub ended before it was done; asking again")
            continue
        if answer is not None:
            return answer
        try:
            with local_provider(folder, settings.namespace) as (provider, scope):
                return run_operation(operation, OperationRequest(provider, folder, scope, given, progress))
        except StoreLocked:
            # By a hub that a client has just started, as after the end of one that had hung? Then it is asked.
            if not wait_for_hub(folder):
                raise


def _say(text: str) -> None:
    """Tell a person why it takes so long; what a command prints may be read by a program."""
    Console(stderr=True, soft_wrap=True).print(escape(text))


def _ignore_progress(done: int, total: int) -> None:
    del done, total


call_or_exit = one_line_errors()(call_operation)
"""As `call_operation`, but an error is one line and exit code 1."""
