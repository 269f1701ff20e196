"""The commands about embedding models: which there are, which the store has, and changing it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from hybrid_memory.embedding.registry import FASTEMBED, MINILM, MULTILINGUAL, OWN, STATIC, UNIVERSAL
from hybrid_memory.errors import EmbedderUnavailable, HybridMemoryError
from hybrid_memory_mcp.cli.command_group import example
from hybrid_memory_mcp.cli.exit_codes import INTERRUPTED
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, call_operation, call_or_exit
from hybrid_memory_mcp.cli.output import (
    err,
    fail,
    note,
    one_line_errors,
    print_json,
    print_result,
    print_rows,
    print_values,
    say,
)

if TYPE_CHECKING:
    from hybrid_memory.embedding.fastembed_models import Model

app = typer.Typer(help="List embedding models, or use another.", no_args_is_help=True)

_MEGABYTE = 1e6  # bytes
_ROWS = {"pinned": "vectors of"}  # what `embedder status` calls other than the operation does

Tell: TypeAlias = Callable[[object], None]


def _completed(incomplete: str) -> list[str]:
    """Complete what is built in; the other names are known to a library that takes a second to start."""
    return [name for name in OWN if name.startswith(incomplete)]


ModelName = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        autocompletion=_completed,
        help="universal, static, multilingual, minilm, a name that `embedder list` shows, or a folder with a model.",
    ),
]
Later = Annotated[bool, typer.Option("--later", help="Only note the wish; the next server start does the work.")]


@app.command("list", epilog=example("embedder list --here"))
def list_models(
    here: Annotated[bool, typer.Option("--here", help="Only those on this machine.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show the models that can be used: dimensions, size, licence, and which are on this machine."""
    from hybrid_memory.embedding.fastembed_models import known_models

    with one_line_errors():
        rows = [*_own_rows(), *(_row(model) for model in known_models())]
    rows = [row for row in rows if row["here"] or not here]
    print_result(rows, as_json, lambda: _print_models(rows, home))


def _print_models(rows: list[dict[str, object]], home: Path | None) -> None:
    columns = ("name", "dimensions", "megabytes", "licence", "here")
    cells = [[row[name] for name in columns[:-1]] + ["yes" if row["here"] else ""] for row in rows]
    print_rows(("model", "dim.", "MB", "licence", "here"), cells)
    note("`hybrid-memory-mcp embedder use MODEL` fetches a model if need be, and changes the store to it.")
    with suppress(HybridMemoryError):  # the list is of use without a store, or while one cannot be asked
        store = call_operation(home, "embedder")
        note(f"The store has {store['pinned']}: {store['reason']}.")


@app.command(epilog=example("embedder status"))
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Show the store's embedder and how its vectors are."""
    values = call_or_exit(home, "embedder")
    named = [
        (_ROWS.get(name, name.replace("_", " ")), "none" if value is None else value) for name, value in values.items()
    ]
    print_result(values, as_json, lambda: print_values(named, title="embedder"))


@app.command(epilog=example("embedder use static"))
def use(model: ModelName = None, home: Home = None, later: Later = False, as_json: AsJson = False) -> None:
    """Change the store to a model; one that is not on this machine is downloaded. Memories get new vectors.

    Without MODEL all memories get vectors of the embedder of the settings. If interrupted, run it again: it goes on where it was.
    """
    tell = _silent if as_json else say
    if model is None:
        done = _embed_anew(home, tell)
    else:
        with one_line_errors():
            spec = _fetched(model, tell)
            dimensions = _tried(spec)
        tell(f"{name_of(spec)} works on this machine: {dimensions} dimensions")
        done = {"embedder": spec, "dimensions": dimensions} | _change(spec, home, tell, later=later)
    if as_json:
        print_json(done)


def installed_spec(wanted: str) -> str:
    """Return the setting of a model that is on this machine.

    Raises:
        InvalidInput: nothing has that name.
        EmbedderUnavailable: it has to be downloaded first.
    """
    from hybrid_memory.embedding.fastembed_models import find_model, spec_named

    spec = spec_named(wanted)
    found = find_model(spec)
    if found is not None and not found.here:
        raise EmbedderUnavailable(f"{found.name} is not on this machine; `embedder use {found.name}` fetches it")
    return spec


def _silent(text: object) -> None:
    """Say nothing: the JSON has it."""


def _fetched(wanted: str, tell: Tell) -> str:
    """Return the setting of a model, which is on this machine afterwards."""
    from hybrid_memory.embedding.fastembed_models import download, find_model, spec_named

    spec = spec_named(wanted)
    model = find_model(spec)
    if model is None or model.here:
        return spec
    tell(f"{model.name}: about {model.size / _MEGABYTE:.0f} MB, licence {model.licence}")
    columns = (TextColumn("downloading"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err()) as progress:
        task = progress.add_task("", total=model.size)
        download(model, lambda size: progress.update(task, completed=size, total=max(size, model.size)))
    return spec


def _tried(spec: str) -> int:
    """Load an embedder to see that it works; returns the length of its vectors."""
    from hybrid_memory.embedding.registry import make_embedder

    return make_embedder(spec).dimensions


def _change(spec: str, home: Path | None, tell: Tell, *, later: bool) -> dict[str, object]:
    """Note the wish, and fulfil it if nobody else has the store open. Returns what became of it, with ``state`` for programs."""
    from hybrid_memory.config_file import CONFIG
    from hybrid_memory.settings import client_settings, store_settings
    from hybrid_memory.store.opening import is_missing

    with one_line_errors():
        folder = client_settings(home=home).folder()
        pinned, holder = (None, None) if is_missing(folder) else _pinned(home)
        _note(folder, spec, pinned, known=holder is None)
        tell(f"noted in {CONFIG} of the store: embedder = {spec}")
        overruled = store_settings(folder).embedder != spec
    if overruled:
        note("HYBRID_MEMORY_EMBEDDER is set to another embedder and wins over that file", "yellow")
        return {"state": "overruled"}
    if holder is not None:
        tell(f"{holder} The change begins when its server starts next.")
        return {"state": "noted"}
    if pinned is None:
        tell("no memory has a vector yet; the first one will be of this embedder")
        return {"state": "empty"}
    if later:
        tell("the next server start makes the vectors anew while it serves; `embedder use` does it at once")
        return {"state": "noted"}
    return {"state": "changed"} | _embed_anew(home, tell)


def _pinned(home: Path | None) -> tuple[str | None, str | None]:
    """Return the identity of the store's embedder, or who keeps us from knowing it."""
    try:
        return call_operation(home, "pinned")["identity"], None
    except HybridMemoryError as error:
        return None, f"{error}."


def _note(folder: Path, spec: str, pinned: str | None, *, known: bool) -> None:
    """Write the wish, and where the model of the present vectors lies if the store does not say that."""
    from hybrid_memory.settings import change_config, store_settings

    before = store_settings(folder)
    if known:
        former = _folder_of(pinned, before.embedder, before.former_embedder)
    else:
        former = before.former_embedder or (before.embedder if before.embedder.startswith(FASTEMBED) else None)
    change_config(folder, {"embedder": spec, "former_embedder": None if former == spec else former})


def _folder_of(pinned: str | None, *specs: str | None) -> str | None:
    """Return which of the settings leads to the model of a folder that an identity is of; None where it needs none."""
    from hybrid_memory.embedding.registry import setting_for

    if pinned is None or setting_for(pinned) is not None:
        return None
    name = pinned.rpartition("@")[0].rpartition("/")[2]
    folders = [one for one in specs if one is not None and one.startswith(FASTEMBED)]
    return next((one for one in folders if Path(one.removeprefix(FASTEMBED)).name == name), None)


def _embed_anew(home: Path | None, tell: Tell) -> dict[str, Any]:
    columns = (
        TextColumn("embedding"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    )
    try:
        with Progress(*columns, console=err(), transient=True) as progress:
            task = progress.add_task("", total=0)
            result = call_or_exit(
                home, "reembed", on_progress=lambda now, total: progress.update(task, completed=now, total=total)
            )
    except KeyboardInterrupt:
        fail(
            "stopped; until it is finished the store answers with its former embedder. Run `embedder use` to go on",
            code="interrupted",
            exit_code=INTERRUPTED,
        )
    with one_line_errors():
        _forget_former(home)
    filled = f", {result['late']} of them had waited for one" if result["late"] else ""
    tell(f"{result['total']} memories have vectors of {result['embedder']}{filled}")
    return {"vectors_of": result["embedder"], "memories": result["total"], "waited": result["late"]}


def _forget_former(home: Path | None) -> None:
    from hybrid_memory.settings import change_config, client_settings, store_settings

    folder = client_settings(home=home).folder()
    if store_settings(folder).former_embedder is not None:
        change_config(folder, {"former_embedder": None})


def _own_rows() -> list[dict[str, object]]:
    """Return what there is but fastembed's models: the default, the built-in tables, and the model of the extra."""
    from hybrid_memory.embedding import minilm, multilingual, universal, universal_head

    return [
        {
            "name": UNIVERSAL,
            "dimensions": universal_head.DIMENSIONS,
            "megabytes": universal.MEGABYTES,
            "licence": universal.LICENCE,
            "here": universal.is_installed(),
        },
        {"name": STATIC, "dimensions": 256, "megabytes": 8, "licence": "apache-2.0", "here": True},
        {
            "name": MULTILINGUAL,
            "dimensions": multilingual.DIMENSIONS,
            "megabytes": multilingual.MEGABYTES,
            "licence": multilingual.LICENCE,
            "here": True,
        },
        {
            "name": MINILM,
            "dimensions": minilm.DIMENSIONS,
            "megabytes": minilm.MEGABYTES,
            "licence": minilm.LICENCE,
            "here": minilm.is_installed(),
        },
    ]


def _row(model: Model) -> dict[str, object]:
    return {
        "name": model.name,
        "dimensions": model.dimensions,
        "megabytes": round(model.size / _MEGABYTE),
        "licence": model.licence,
        "here": model.here,
    }


def name_of(spec: str) -> str:
    """Return what a person calls the model of a setting."""
    return spec.removeprefix(FASTEMBED)
