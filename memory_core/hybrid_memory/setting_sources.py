"""Every setting with its value and where that comes from, for people: an option, a variable, ``config.toml`` or the default.

Nothing here raises because a value is wrong: each one that cannot be used has its ``problem``. `hybrid_memory.settings` reads the same
places for the program, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from hybrid_memory.config_file import CONFIG, read_config
from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import (
    FORMER_SETTINGS,
    OWN_NOTES,
    PREFIX,
    ClientSettings,
    HookSwitches,
    StoreSettings,
    as_switches,
    nearest_name,
    no_setting,
    plain,
    setting_error,
    tables_of_extras,
    variables,
)
from hybrid_memory.store.engines import PASSWORD_FILE, engine_of, read_password, shown_address

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

SettingValue: TypeAlias = str | int | float | bool | None
HOOKS = "hooks"
_ADDRESS = "store"
_OTHER_VARIABLES = frozenset(
    {"LINGER_SECONDS", "LOOPBACK", "PATIENCE", "TEST_OFF"}
)  # of the program's own processes and of its tests


@dataclass(frozen=True, slots=True)
class SettingState:
    """One setting. ``source`` is ``option``, ``variable``, ``file`` or ``default``; ``place`` names the option, the variable or the file.

    ``of_store`` says that ``config.toml`` may hold it; the others are each client's own.
    """

    name: str
    value: SettingValue
    default: SettingValue
    source: str
    place: str
    meaning: str
    of_store: bool
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownSetting:
    """A name that is no setting, and where it is; ``nearest`` is what it may have meant. ``former``: an earlier version had it."""

    name: str
    place: str
    nearest: str | None
    former: bool = False


@dataclass(frozen=True, slots=True)
class SettingsReport:
    """All settings in the order of the documentation, and what is stored with them by mistake."""

    folder: Path
    file: Path
    settings: tuple[SettingState, ...]
    unknown: tuple[UnknownSetting, ...]


def report_settings(options: Mapping[str, object] | None = None) -> SettingsReport:
    """Return what holds here. ``options`` are those of the command line, by the names of client settings; None counts as not given.

    Raises:
        InvalidInput: ``config.toml`` cannot be read or is not TOML.
    """
    given = {name: value for name, value in (options or {}).items() if value is not None}
    of_shell = variables()
    home = _state("home", ClientSettings.model_fields["home"], given, of_shell, {}, "")
    # Even if something is wrong with the other settings, the folder is known.
    folder = (
        ClientSettings.model_construct(home=None if home.value is None else Path(str(home.value))).folder().absolute()
    )
    file = folder / CONFIG
    of_file = read_config(folder)
    clients = [_state(name, field, given, of_shell, {}, "") for name, field in ClientSettings.model_fields.items()]
    clients = [replace(one, value=str(folder)) if one.name == "home" else one for one in clients]
    return SettingsReport(
        folder,
        file,
        (*clients, *_of_store(of_shell, of_file, str(file))),
        tuple(_unknown(of_shell, of_file, str(file))),
    )


def _of_store(of_shell: Mapping[str, str], of_file: Mapping[str, Any], file: str) -> Iterator[SettingState]:
    for name, field in StoreSettings.model_fields.items():
        if name in OWN_NOTES:
            continue
        if name != HOOKS:
            yield _state(name, field, {}, of_shell, of_file, file, of_store=True)
            continue
        for part, switch in HookSwitches.model_fields.items():
            shell, held = as_switches(of_shell.get(HOOKS)), as_switches(of_file.get(HOOKS))
            from_file = {part: held[part]} if isinstance(held, dict) and part in held else {}
            from_shell = {part: shell[part]} if isinstance(shell, dict) else {}
            state = _state(part, switch, {}, from_shell, from_file, file, of_store=True, variable=HOOKS)
            yield replace(state, name=f"{HOOKS}.{part}")
    for table, model in tables_of_extras().items():
        held = of_file.get(table)
        for part, field in model.model_fields.items():
            state = _state(part, field, {}, {}, held if isinstance(held, dict) else {}, file, of_store=True)
            yield replace(state, name=f"{table}.{part}")


def _state(
    name: str,
    field: FieldInfo,
    options: Mapping[str, object],
    of_shell: Mapping[str, Any],
    of_file: Mapping[str, Any],
    file: str,
    *,
    of_store: bool = False,
    variable: str | None = None,
) -> SettingState:
    default = _shown(field.get_default(call_default_factory=True))
    found: tuple[object, str, str] = (default, "default", "")
    if name in options:
        found = (options[name], "option", f"--{name}")
    elif name in of_shell:
        found = (of_shell[name], "variable", PREFIX + (variable or name).upper())
    elif name in of_file:
        found = (of_file[name], "file", file)
    value, source, place = found
    problem = None
    if source != "default":
        try:
            value = check_value(name, field, value)
        except InvalidInput as error:
            value, problem = str(value), error.problem
    if name == _ADDRESS and value is not None:
        value, problem = _address(str(value), source, problem)
    return SettingState(name, _shown(value), default, source, place, field.description or "", of_store, problem)


def _address(text: str, source: str, problem: str | None) -> tuple[str, str | None]:
    """Return the address of a database as people may see it, and what is wrong with it."""
    if source == "file" and problem is None:
        try:
            _check_address(text)
        except InvalidInput as error:
            problem = error.problem
    return shown_address(text), problem


def check_value(name: str, field: FieldInfo, value: object) -> object:
    """Return the value of one setting as the program takes it.

    Raises:
        InvalidInput: it cannot be used.
    """
    try:
        kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        checked: object = TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise setting_error(error, (), lambda _: "", name) from None
    return checked


def parse_setting(name: str, text: str) -> dict[str, SettingValue]:
    """Return what ``config.toml`` gets when a person sets ``name`` to ``text``: values by their names, ``hooks`` being several.

    Raises:
        InvalidInput: there is no such setting, it is a client's own, or the value cannot be used.
    """
    if name == HOOKS:
        return {
            f"{HOOKS}.{part}": value
            for part in HookSwitches.model_fields
            for value in parse_setting(f"{HOOKS}.{part}", text).values()
        }
    check_store_setting(name)
    table, _, part = name.rpartition(".")
    field = _tables()[table].model_fields[part] if table else StoreSettings.model_fields[name]
    value = check_value(name, field, text)
    if name == _ADDRESS:
        _check_address(str(value))
    if isinstance(value, Path):
        value = value.expanduser().absolute()  # the program that reads it has another working folder
    if name == PASSWORD_FILE:
        read_password(Path(str(value)))
    return {name: _shown(value)}


def _check_address(text: str) -> None:
    """Check what the start would refuse of an address that is in ``config.toml``, whatever the variables there say.

    Raises:
        InvalidInput: it holds a password, or cannot be used.
    """
    engine = engine_of(text, _ADDRESS)
    engine.database(engine.refuse_secret(text, _ADDRESS), {})


def check_store_setting(name: str) -> None:
    """Check that a name is that of a setting which ``config.toml`` may hold.

    Raises:
        InvalidInput: it is not.
    """
    if name in ClientSettings.model_fields:
        variable = PREFIX + name.upper()
        raise InvalidInput(
            name,
            f"is each client's own, not the store's: give it as --{name} or {variable} where the client is configured",
        )
    known = store_setting_names()
    if name in FORMER_SETTINGS:
        raise InvalidInput(name, "is no longer a setting; its value fits every machine")
    if name not in known:
        raise InvalidInput(plain(name), no_setting(name, known))


def store_setting_names() -> list[str]:
    """Return the names of all that ``config.toml`` may hold, switches as ``hooks.brief``."""
    names = [name for name in StoreSettings.model_fields if name != HOOKS and name not in OWN_NOTES]
    return [*names, HOOKS, *(f"{table}.{part}" for table, model in _tables().items() for part in model.model_fields)]


def _tables() -> dict[str, type[BaseModel]]:
    return {HOOKS: HookSwitches, **tables_of_extras()}


def _unknown(of_shell: Mapping[str, str], of_file: Mapping[str, Any], file: str) -> Iterator[UnknownSetting]:
    names = [*ClientSettings.model_fields, *StoreSettings.model_fields]
    for name in sorted(of_shell):
        if name in FORMER_SETTINGS and name.upper() not in _OTHER_VARIABLES:
            yield UnknownSetting(PREFIX + name.upper(), "the environment", None, former=True)
        elif name not in names and name.upper() not in _OTHER_VARIABLES:
            shown = plain(PREFIX + name.upper())
            found = nearest_name(name, names)
            yield UnknownSetting(shown, "the environment", found and PREFIX + found.upper())
    tables = _tables()
    for name, value in of_file.items():
        if name in tables and isinstance(value, dict):
            known = tables[name].model_fields
            for part in value:
                if part not in known:
                    yield UnknownSetting(plain(f"{name}.{part}"), file, nearest_name(part, known))
        elif name in FORMER_SETTINGS:
            yield UnknownSetting(name, file, None, former=True)
        elif name not in StoreSettings.model_fields:
            yield UnknownSetting(plain(name), file, nearest_name(name, StoreSettings.model_fields))


def _shown(value: object) -> SettingValue:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
