"""How a command opens its store, and how it fails: in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory.model import Scope

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

Home = Annotated[
    Path | None,
    typer.Option(help="Folder of the store. Default: HYBRID_MEMORY_HOME, else the platform's data folder."),
]
Namespace = Annotated[str | None, typer.Option(help="The wall around the memories. Default: default.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@contextmanager
def in_one_line() -> Iterator[None]:
    """Turn an error of the library into one line and exit code 1."""
    try:
        yield
    except HybridMemoryError as error:
        Console(stderr=True, soft_wrap=True).print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(1) from None


@contextmanager
def opened(home: Path | None, namespace: str | None) -> Iterator[tuple[MemoryService, Scope]]:
    """Open the store for one command; an error is one line and exit code 1."""
    from hybrid_memory.clock import SystemClock, SystemDice
    from hybrid_memory.ids import new_session
    from hybrid_memory.service import MemoryService
    from hybrid_memory.settings import DATABASE, client_settings
    from hybrid_memory_mcp import quiet

    with in_one_line():
        settings = client_settings(home=home, namespace=namespace)
        if not (settings.folder() / DATABASE).exists():
            raise InvalidInput("home", "there is no memory in that folder yet; a client makes it when it first starts")
        quiet.settle_pandas()
        dice = SystemDice()
        service = MemoryService.open(settings.folder(), clock=SystemClock(), dice=dice)
        try:
            yield service, Scope(namespace=settings.namespace, session=new_session(dice), actor="command line")
        finally:
            service.close()
