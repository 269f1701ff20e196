"""The page of the settings: what a client, a store, the hooks and a folder's marker may say."""

from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from tools.reference.markdown import code, table

from hybrid_memory.settings import OWN_NOTES, PREFIX, ClientSettings, HookSwitches, StoreSettings

_HEAD = """# Settings

`hybrid-memory-mcp config` shows each of them, its value, and where that comes from.

## Of a client

Given where the client starts the server: an option behind `serve`, or a variable. An option wins.
"""
_STORE = """## Of a store

In `config.toml` in the store's folder, or as a variable, which wins over the file.
"""
_HOOKS = """## What the hooks of clients may do

The table `[hooks]` of `config.toml`, read anew at each event; `hooks = false` is all of them, and so is `HYBRID_MEMORY_HOOKS=off` in the
environment of a client. [Remembered without being asked](../hooks.md) says what they do.
"""
_MARKER = """## Of a folder

The file `.hybrid-memory.toml` in a folder, for it and those below; `hybrid-memory-mcp project init` writes it.
[Projects](../projects.md) says what it does.

| name | what it does | default |
| --- | --- | --- |
| `namespace` | The name of the project that this folder is. | the git repository |
| `read_only` | Assistants read here and write nothing. | `false` |
| `off` | Assistants neither read nor write here. | `false` |
| `about_me` | Whose is what you plainly say about yourself: `"project"` or `"personal"`. | `"project"`; without `namespace` `"personal"` |

## Other variables
"""

_VARIABLES = (
    (
        "HYBRID_MEMORY_LOOPBACK",
        "`1`: relays reach the hub over 127.0.0.1 and a proof, not a Unix socket; so by itself where the folder can hold none.",
    ),
    (
        "FASTEMBED_CACHE_PATH",
        "Folder of downloaded models. Default: `models` in the platform's data folder, then fastembed's own.",
    ),
    ("NO_COLOR", "Any value: the commands print no colours."),
)


def page() -> str:
    """Return the page."""
    parts = [_HEAD, _table(ClientSettings.model_fields, options=True), _STORE, _table(StoreSettings.model_fields)]
    rows = [(code(name), one.description or "", _default(one)) for name, one in HookSwitches.model_fields.items()]
    parts += [_HOOKS, table(("name", "what it does", "default"), rows), _MARKER]
    parts.append(table(("variable", "what it does"), [(code(name), what) for name, what in _VARIABLES]))
    return "\n".join(parts)


def _table(fields: Mapping[str, FieldInfo], *, options: bool = False) -> str:
    rows = []
    for name, field in fields.items():
        if name == "hooks" or name in OWN_NOTES:
            continue
        variable = code(PREFIX + name.upper())
        row = (variable, code(f"--{name}")) if options else (code(name), variable)
        rows.append((*row, f"{field.description or ''} {_allowed(field)}", _default(field)))
    heads = ("variable", "option") if options else ("in `config.toml`", "variable")
    return table((*heads, "what it does", "default"), rows)


def _default(field: FieldInfo) -> str:
    if field.default is None:
        return "none"
    if isinstance(field.default, bool):
        return code(str(field.default).lower())
    return code(field.default if not isinstance(field.default, Path) else field.default.as_posix())


def _allowed(field: FieldInfo) -> str:
    choices = _choices(field.annotation)
    if choices:
        return "One of " + ", ".join(code(one) for one in choices) + "."
    bounds = {name: getattr(one, name) for one in field.metadata for name in ("ge", "gt", "le") if hasattr(one, name)}
    if "ge" in bounds and "le" in bounds:
        return f"From {_number(bounds['ge'])} to {_number(bounds['le'])}."
    if "gt" in bounds and "le" in bounds:
        return f"Above {_number(bounds['gt'])}, at most {_number(bounds['le'])}."
    return ""


def _number(value: float) -> str:
    return f"{value:,}"


def _choices(annotation: Any) -> tuple[Any, ...]:
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)
    if origin in (Union, UnionType, Annotated):
        inner = [one for one in get_args(annotation) if one is not NoneType]
        return _choices(inner[0])
    return ()
