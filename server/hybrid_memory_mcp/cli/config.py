"""The command ``config``: the settings with their values, where these come from and what they mean; ``get``, ``set`` and ``unset``."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory_mcp.cli.arguments import TextCommand, unmarked
from hybrid_memory_mcp.cli.command_group import example, refuse_own_options
from hybrid_memory_mcp.cli.operation_call import AsJson, Home
from hybrid_memory_mcp.cli.output import (
    cell,
    is_terminal,
    note,
    one_line_errors,
    print_grid,
    print_result,
    print_rows,
    say,
)
from hybrid_memory_mcp.cli.project import place_here

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.setting_sources import SettingsReport, SettingState

app = typer.Typer(
    help="Show settings, or change one. For each its value, where that comes from, and what it means.",
    invoke_without_command=True,
    epilog=example("config set keep_backups 30"),
)

_OFTEN = frozenset(  # what people turn, and where their memory lies; the rest is fitted, or matters on a busy server
    [
        "home",
        "namespace",
        "agent",
        "project",
        "timezone",
        "prompts",
        "store",
        "store_password_file",
        "embedder",
        "keeps_decisions",
        "episode_days",
        "earned_uses",
        "keep_backups",
        "keep_readings",
        "keep_readings_days",
        "secrets",
        "hooks.brief",
        "hooks.recall",
        "hooks.capture",
        "hooks.lessons",
    ]
)
_EMBEDDER = "embedder"
_HOOKS = "hooks"  # its switches, and what else is in a table, take effect at once
_EPISODES = "episode_days"
_WHEN = "It holds from the next start of the memory's server, when its last client has left."
_WHEN_OF_EPISODES = (
    "With 0 nothing more is kept from now on. What is kept longer than this already is deleted for good at the next start of the "
    "memory's server, when its last client has left."
)


def _names(incomplete: str) -> list[str]:
    """Complete the name of a setting."""
    from hybrid_memory.setting_sources import store_setting_names

    return [name for name in store_setting_names() if name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(metavar="NAME", help="As `config` shows it.", autocompletion=_names)]


@app.callback()
def config(
    context: typer.Context,
    home: Home = None,
    every: Annotated[bool, typer.Option("--all", help="Show all settings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the settings that people turn, and those that are not at their default; --json has all."""
    if context.invoked_subcommand is not None:
        refuse_own_options(context)
        return
    with one_line_errors():
        report = _report(home)
    print_result(_values(report), as_json, lambda: _print(report, every=every))


@app.command(epilog=example("config get keep_backups"))
def get(name: Name, home: Home = None, as_json: AsJson = False) -> None:
    """Print the value of one setting. With --json where it comes from and what it means, too."""
    with one_line_errors():
        report = _report(home)
    found = [one for one in report.settings if one.name == name or one.name.startswith(f"{name}.")]
    if not found:
        from hybrid_memory.setting_sources import check_store_setting

        with one_line_errors():
            check_store_setting(name)
    for one in found:
        if one.problem:
            note(f"{one.name}: {one.problem} ({one.place})", "yellow")
    values: Any = _value(found[0]) if len(found) == 1 else [_value(one) for one in found]

    def table() -> None:
        for one in found:
            say(_written(one) if len(found) == 1 else f"{one.name} = {_written(one)}")

    print_result(values, as_json, table)


@app.command("set", cls=TextCommand, epilog=example("config set hooks.capture off"))
def set_value(
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Set a value in the store's config.toml. Comments and all else in it stay."""
    if name == _EMBEDDER:
        raise typer.BadParameter(
            "the embedder has a command of its own, which looks whether it works: hybrid-memory-mcp embedder use MODEL",
            param_hint="NAME",
        )
    _change(name, _parsed(name, unmarked(value)), home, as_json=as_json)


@app.command(epilog=example("config unset keep_backups"))
def unset(name: Name, home: Home = None, as_json: AsJson = False) -> None:
    """Take a value out of the store's config.toml, so that the default holds again."""
    from hybrid_memory.setting_sources import check_store_setting

    with one_line_errors():
        strays = [one.name for one in _report(home).unknown]
    try:
        if name not in strays:  # what was written there by mistake can be taken out
            check_store_setting(name)
    except InvalidInput as error:
        raise typer.BadParameter(str(error)) from None
    _change(name, {name: None}, home, as_json=as_json)


def _report(home: Path | None) -> SettingsReport:
    from hybrid_memory.setting_sources import report_settings  # all settings take a fifth of a second to import

    report = report_settings({"home": home})
    return replace(report, settings=tuple(_as_marked(one, home) for one in report.settings))


def _as_marked(one: SettingState, home: Path | None) -> SettingState:
    """Return what holds for the project in this folder: a marker file names it where no option and no variable does."""
    if one.name != "project" or one.source != "default" or one.problem:
        return one
    try:
        place = place_here(home)
    except HybridMemoryError:
        return one  # another setting is wrong, and has its own line
    if place.marker is None or place.problem:
        return one
    return replace(one, value="off" if place.off else place.project, source="file", place=str(place.marker))


def _parsed(name: str, value: str) -> dict[str, Any]:
    from hybrid_memory.setting_sources import parse_setting

    try:
        return dict(parse_setting(name, value))
    except InvalidInput as error:
        raise typer.BadParameter(str(error)) from None


def _change(name: str, changes: dict[str, Any], home: Path | None, *, as_json: bool) -> None:
    """Write changes of the file, and say what holds now."""
    from hybrid_memory.settings import change_config

    with one_line_errors():
        change_config(_report(home).folder, changes)
        after = _report(home)
    found = [one for one in after.settings if one.name == name or one.name.startswith(f"{name}.")]
    overruled = [one for one in found if one.source == "variable"]

    def table() -> None:
        for one in found:
            say(f"{one.name} = {_written(one)} ({_source(one)})")
        if name != _HOOKS and "." not in name:
            say(_WHEN_OF_EPISODES if name == _EPISODES else _WHEN)

    for one in overruled:
        note(f"{one.place} is set here and wins over the file", "yellow")
    print_result({"file": str(after.file), "settings": [_value(one) for one in found]}, as_json, table)


def _print(report: SettingsReport, *, every: bool) -> None:
    chosen = [one for one in report.settings if every or one.name in _OFTEN or one.source != "default" or one.problem]
    if is_terminal():
        print_grid([(one.name, cell(_with_source(one), _style(one)), _meaning(one)) for one in chosen])
    else:
        print_rows((), [(one.name, _written(one), _source(one), _meaning(one)) for one in chosen])
    for unknown in report.unknown:
        meant = f"; the nearest is {unknown.nearest}" if unknown.nearest else ""
        problem = "is no longer used" if unknown.former else "is no setting"
        note(f"{unknown.name} in {unknown.place} {problem}{meant}", "yellow")
    if len(chosen) < len(report.settings):
        note(f"{len(report.settings) - len(chosen)} more are at their default: hybrid-memory-mcp config --all")
    there = "" if report.file.exists() else " (there is none yet)"
    note(f"file: {report.file}{there}; as this shell sees it: each client has its own variables")


def _with_source(one: SettingState) -> str:
    return _written(one) if one.source == "default" else f"{_written(one)} ({_source(one)})"


def _style(one: SettingState) -> str:
    return "red" if one.problem else "" if one.source == "default" else "bold"


def _meaning(one: SettingState) -> str:
    return f"{one.meaning} It {one.problem}." if one.problem else one.meaning


def _source(one: SettingState) -> str:
    if one.source == "file":
        return PurePath(one.place).name
    return "default" if one.source == "default" else one.place


def _written(one: SettingState) -> str:
    if one.value is None:
        return "not set"
    if isinstance(one.value, float):
        return str(one.value).removesuffix(".0")
    return str(one.value).lower() if isinstance(one.value, bool) else str(one.value)


def _value(one: SettingState) -> dict[str, Any]:
    values = asdict(one)
    return values | {"place": values["place"] or None}


def _values(report: SettingsReport) -> dict[str, Any]:
    return {
        "folder": str(report.folder),
        "file": str(report.file),
        "file_exists": report.file.exists(),
        "settings": [_value(one) for one in report.settings],
        "unknown": [asdict(one) for one in report.unknown],
    }
