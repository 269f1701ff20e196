"""The page of the commands, from the typer application itself: a new command is on it by being registered."""

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from rich.errors import MarkupError
from rich.text import Text
from tools.reference.markdown import code, prose, table
from typer.main import get_command

from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.http.settings import make_http_parser
from hybrid_memory_mcp.runtime.client_options import make_parser

NAME = "hybrid-memory-mcp"
_OTHERS = "Others"
_KINDS = {int: "NUMBER", float: "NUMBER", Path: "PATH"}


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command that can be typed, with the words that come before its arguments, in the order of `--help`."""
    yield from _below(NAME, get_command(app))


def _below(path: str, group: Any) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if getattr(command, "hidden", False):
            continue
        inner = hasattr(command, "commands")
        if not inner or command.invoke_without_command:
            yield f"{path} {name}", command
        if inner:
            yield from _below(f"{path} {name}", command)


def page() -> str:
    """Return the page."""
    root = get_command(app)
    parts = [f"# Commands\n\n{_plain(root.help)}\n", _options(root), _epilog(root), _contents()]
    for path, command in commands():
        parts.append(_section(path, command))
    return "\n".join(part for part in parts if part)


def _contents() -> str:
    panels: dict[str, list[tuple[str, str]]] = {}
    root = get_command(app)
    for path, command in commands():
        top = root.commands[path.split()[1]]
        panel = _panel(command) or _panel(top) or ""
        panels.setdefault(panel, []).append((f"[`{path}`](#{path.replace(' ', '-')})", _first(command.help)))
    parts = []
    for panel, rows in panels.items():
        title = panel or (_OTHERS if len(panels) > 1 else "All of them")
        parts.append(f"## {title}\n\n" + table(("command", "what it does"), rows))
    return "\n".join(parts)


def _panel(command: Any) -> str:
    panel = getattr(command, "rich_help_panel", None)
    return panel if isinstance(panel, str) else ""


def _section(path: str, command: Any) -> str:
    parts = [f"### {path}\n", _usage(path, command), _plain(command.help) + "\n"]
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    parts.append(
        table(("argument", "what it is"), [(code(_shown(one)), _about(one, _hints(command))) for one in arguments])
    )
    parts.append(_options(command))
    if path == f"{NAME} serve":
        parts += [_options_of(make_parser()), "With `--http` also:\n", _options_of(make_http_parser())]
    parts.append(_epilog(command))
    return "\n".join(part for part in parts if part)


def _usage(path: str, command: Any) -> str:
    words = [path]
    words += ["[OPTIONS]"] if any(one.param_type_name == "option" for one in command.params) else []
    for one in command.params:
        if one.param_type_name == "argument":
            words.append(_shown(one) if one.required else f"[{_shown(one)}]")
    return f"```text\n{' '.join(words)}\n```\n"


def _shown(argument: Any) -> str:
    name = re.sub(r"[\[\].]", "", argument.metavar or argument.name.upper())
    return name + ("..." if argument.nargs == -1 else "")


def _options(command: Any) -> str:
    found = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    hints = _hints(command)
    return table(("option", "what it does"), [(_names(one, hints), _about(one, hints)) for one in found])


def _hints(command: Any) -> dict[str, Any]:
    """Return what the command's function says of its parameters; what typer makes of that is another thing in each version of it."""
    return get_type_hints(inspect.unwrap(command.callback), include_extras=True) if command.callback else {}


def _names(option: Any, hints: Mapping[str, Any]) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    takes = "" if option.is_flag or option.count else " " + (option.metavar or _kind(hints.get(option.name)))
    return code(names + takes)


def _kind(annotation: Any) -> str:
    """Return what a value is called in a usage line: its choices, or its kind."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType, list):
        return _kind(next(one for one in get_args(annotation) if one is not NoneType))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(one.value) for one in annotation)
    return _KINDS.get(annotation, "TEXT")


def _about(parameter: Any, hints: Mapping[str, Any]) -> str:
    told = [_plain(parameter.help)] if parameter.help else []
    default = getattr(parameter.default, "value", parameter.default)
    if isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != "":
        told.append(f"Default: {code(default)}.")
    extras = get_args(hints.get(parameter.name))[1:] if get_origin(hints.get(parameter.name)) is Annotated else ()
    least, most = (next((getattr(one, name) for one in extras if hasattr(one, name)), None) for name in ("min", "max"))
    if least is not None or most is not None:
        told.append(f"From {least} to {most}." if most is not None else f"At least {least}.")
    told += ["Several times if wanted."] if parameter.multiple else []
    told += [f"Variable: {code(parameter.envvar)}."] if parameter.envvar else []
    return " ".join(told)


def _options_of(parser: argparse.ArgumentParser) -> str:
    # ``_actions`` is all that argparse has to look at what it takes.
    actions = [one for one in parser._actions if one.option_strings]  # noqa: SLF001
    rows = [
        (code(one.option_strings[0] + ("" if one.nargs == 0 else f" {one.dest.upper()}")), one.help or "")
        for one in actions
    ]
    return table(("option", "what it does"), rows)


def _epilog(command: Any) -> str:
    """Return what stands below the options: an example is a command line, anything else a sentence."""
    said = _plain(getattr(command, "epilog", None))
    example = re.fullmatch(r"(Examples?): (.+)", said, re.DOTALL)
    return f"{example[1]}: {code(example[2])}\n" if example else f"{said}\n" if said else ""


def _first(text: str | None) -> str:
    return _plain(text).split("\n\n", 1)[0]


def _plain(text: str | None) -> str:
    """Return help as it is read in a terminal, without marks for colours."""
    paragraphs = (text or "").replace("\f", "").split("\b\n")
    made = [prose(_without_markup(paragraphs[0]))]
    for kept in paragraphs[1:]:  # what typer shows line by line
        lines, _, rest = kept.partition("\n\n")
        made.append(f"```text\n{_without_markup(lines).rstrip()}\n```")
        made += [prose(_without_markup(rest))] if rest.strip() else []
    return "\n\n".join(one for one in made if one)


def _without_markup(text: str) -> str:
    try:
        return Text.from_markup(text).plain
    except MarkupError:
        return text
