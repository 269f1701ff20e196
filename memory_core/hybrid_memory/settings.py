"""All settings, and the only place that reads the environment and ``config.toml``.

What belongs to a store is in ``config.toml`` of its folder; what belongs to a client comes from its arguments and
from ``HYBRID_MEMORY_*`` variables. A variable wins over the file, an argument over both.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from hybrid_memory.config_file import CONFIG, read_config, read_config_text
from hybrid_memory.errors import InvalidInput
from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory.private_files import FOLDER_MODE, replace_private
from hybrid_memory.project_names import check_namespace

PREFIX = "HYBRID_MEMORY_"
DATABASE = "memory.duckdb"

_LONGEST_NAME = 4096  # characters, as of a path

TABLES = "hybrid_memory.settings"
"""The entry points of tables of ``config.toml`` that extras read."""

OWN_NOTES = frozenset({"former_embedder"})
"""What the program itself writes into ``config.toml``."""

FORMER_SETTINGS = frozenset(
    "calls_at_once calls_of_a_client connections duckdb_memory_limit duckdb_threads earned_importance habit_sessions hnsw_from "  # noqa: SIM905 - 13 lines
    "linger_seconds requests_at_once requests_waiting session_idle_hours store_connections".split()
)
"""Settings of earlier versions that are constants now. A file that has one still opens; it is logged, and `config` says so."""

log = logging.getLogger("hybrid_memory")
_logged: set[str] = set()
_SHOWN_NAME_LENGTH = 60  # characters of a name that is no setting's
_PROBLEMS: Mapping[str, str] = {
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a number",
    "bool": "must be true or false",
    "string_type": "must be text",
    "string_unicode": "must be text in UTF-8",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "path_type": "must be the name of a folder",
    "setting": "{problem}",
}


class HookSwitches(BaseModel):
    """What the hooks of clients may do without being asked: the table ``[hooks]`` of ``config.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    brief: bool = Field(default=True, description="Give a brief when a conversation starts.")
    recall: bool = Field(default=True, description="Give what a prompt is clearly about.")
    capture: bool = Field(default=True, description="Keep what a person said that lasts.")
    lessons: bool = Field(
        default=True, description="Learn from commands that fail, and say it when they are run again."
    )


def as_switches(value: object) -> object:
    """Return switches for a single word too: ``off`` or ``on``, as in the variable and in ``hooks = false``."""
    if isinstance(value, str):
        value = {"off": False, "false": False, "0": False, "no": False}.get(value.strip().lower(), True)
    return dict.fromkeys(HookSwitches.model_fields, value) if isinstance(value, bool) else value


def _namespace(value: str) -> str:
    try:
        return check_namespace(value)
    except InvalidInput as error:
        raise PydanticCustomError("setting", "{problem}", {"problem": error.problem}) from None


def _store_address(value: str) -> str:
    """Return the address of a database; whether the rest of it can be used is known when it is opened."""
    from hybrid_memory.store.engines import engine_of

    try:
        engine_of(value)
    except InvalidInput as error:
        raise PydanticCustomError("setting", "{problem}", {"problem": error.problem}) from None
    return value.strip()


_EmbedderName: TypeAlias = Annotated[str, Field(max_length=_LONGEST_NAME)]
_Namespace: TypeAlias = Annotated[str, AfterValidator(_namespace)]
_StoreAddress: TypeAlias = Annotated[str, AfterValidator(_store_address)]
_Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class _OfVariables(BaseModel):
    """Settings that are read from the variables of this process where they are not given."""

    reads_variables: ClassVar[bool] = True

    def __init__(self, **given: Any) -> None:
        found = variables() if self.reads_variables else {}
        super().__init__(**{name: value for name, value in found.items() if name in type(self).model_fields} | given)


class ClientSettings(_OfVariables):
    """What one client of the memory may choose; never the model behind it."""

    model_config = ConfigDict(extra="ignore")

    home: Path | None = Field(None, description="Folder of the store; the platform's data folder when not given.")
    namespace: _Namespace = Field(
        "default", min_length=1, max_length=200, description="The wall around this client's memories."
    )
    agent: str = Field("default", min_length=1, max_length=200, description="Name of the agent that remembers.")
    session: str | None = Field(None, min_length=1, max_length=200, description="Name of the conversation.")
    timezone: str | None = Field(None, description="Zone of dates that come without one, as Europe/Berlin.")
    prompts: Path | None = Field(None, description="Folder with templates that replace the built-in ones.")
    project: str | None = Field(
        "auto",
        description="Name of the project; auto: what a marker file names, else the git repository; off: none.",
    )

    def folder(self) -> Path:
        """Return the folder of the store."""
        if self.home is not None:
            try:
                return self.home.expanduser()
            except RuntimeError:
                raise no_home_folder() from None
        from platformdirs import user_data_path

        try:
            return user_data_path("hybrid-memory-mcp", appauthor=False)
        except RuntimeError:
            raise no_home_folder() from None


class StoreSettings(_OfVariables):
    """How a store remembers. Names and values of the tiers are those of DB-GPT; only `sensory_buffer` is 4 where it has 0."""

    model_config = ConfigDict(extra="forbid")

    store: _StoreAddress | None = Field(
        None,
        repr=False,
        description="postgresql://user@host/database, which many machines can share; a file in the folder when not given.",
    )
    store_password_file: Path | None = Field(None, description="File that holds the password of that database alone.")
    store_wait_seconds: float = Field(
        10, gt=0, le=3600, description="How long a call waits for that database while it cannot be reached."
    )
    offline_reads_seconds: float = Field(
        0,
        ge=0,
        le=2_592_000,
        description="How long reads go on by what is in memory without that database; 0 is never.",
    )
    tokens_folder: Path | None = Field(
        None,
        description="Folder with tokens.json, which several HTTP servers can share; the store's own when not given.",
    )
    embedder: _EmbedderName = Field(
        "universal",
        description="universal, static, multilingual, minilm, or fastembed:<model name or folder>.",
    )
    former_embedder: _EmbedderName | None = None
    """The model in a folder that the vectors were made with, while they are made again: the program's own note, no setting."""
    scorer: Literal["fused", "reference", "lexical", "dense"] = Field(
        "fused", description="What ranks: all signals, the reference system's formula, words alone or vectors alone."
    )
    alpha: _Weight | None = Field(None, description="Weight of recency; the scorer's own when not given.")
    beta: _Weight | None = Field(None, description="Weight of relevance; the scorer's own when not given.")
    gamma: _Weight | None = Field(None, description="Weight of importance; the scorer's own when not given.")
    sensory_buffer: int = Field(4, ge=0, le=1000, description="Observations held before they are weighed.")
    threshold_to_short_term: float = Field(0.1, ge=0, le=1, description="Importance below which an observation fades.")
    short_term_buffer: int = Field(10, ge=0, le=1000, description="Memories of the current situation.")
    enhance_similarity_threshold: float = Field(0.7, ge=0, le=1, description="Least probability of an enhancement.")
    enhance_threshold: int = Field(3, ge=1, le=100, description="Enhancements that make a memory long-term.")
    earned_uses: int = Field(2, ge=1, le=1000, description="Recalls that take a leaving or faded memory to long-term.")
    keeps_decisions: bool = Field(
        default=True,
        description="What somebody decided to keep goes to long-term when it leaves; false: it has to earn that.",
    )
    episode_days: float = Field(
        90,
        ge=0,
        le=36_500,
        description="Days for which what you said in passing is kept, then deleted; 0 keeps nothing of it.",
    )
    keep_backups: int = Field(10, ge=1, le=10_000, description="Backups kept in the store's folder; the oldest go.")
    keep_readings: int = Field(
        2000, ge=0, le=20_000, description="Questions to the memory, and what was shown, that are kept; 0 keeps none."
    )
    keep_readings_days: float = Field(90, gt=0, le=36_500, description="For how many days.")
    secrets: Literal["warn", "mask", "refuse", "off"] = Field(
        "warn",
        description="Keys, passwords and card numbers in what is written: tell, leave out, refuse, or do nothing.",
    )
    hooks: Annotated[HookSwitches, BeforeValidator(as_switches)] = Field(
        HookSwitches(), description="brief, recall, capture: what the hooks of clients do. See docs/hooks.md."
    )


def no_home_folder() -> InvalidInput:
    """Return what to say where this user has no home folder, as in a container that runs as a number."""
    return InvalidInput(
        "home", "this user has no home folder; say with HYBRID_MEMORY_HOME or --home where the memory lies, or set HOME"
    )


def client_settings(**arguments: Any) -> ClientSettings:
    """Return the client's settings; arguments that are None are left to the environment.

    Raises:
        InvalidInput: names the setting that is wrong.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return ClientSettings(**given)
    except ValidationError as error:
        raise setting_error(error, ClientSettings.model_fields, _Places(given, {}).of) from None


def store_settings(home: Path, **arguments: Any) -> StoreSettings:
    """Return the settings of the store in ``home``.

    Raises:
        InvalidInput: names the setting that is wrong; ``config.toml`` itself when it is not TOML.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    of_file = _without_former(read_config(home))
    of_shell = {name: value for name, value in variables().items() if name in StoreSettings.model_fields}
    try:
        settings = StoreSettings(**of_file | of_shell | given)
    except ValidationError as error:
        raise setting_error(error, StoreSettings.model_fields, _Places(given, of_file).of) from None
    if isinstance(of_file.get("store"), str):
        from hybrid_memory.store.engines import engine_of

        engine_of(of_file["store"]).refuse_secret(of_file["store"], f"store in {CONFIG}")
    return settings


def tables_of_extras() -> dict[str, type[BaseModel]]:
    """Return the tables of ``config.toml`` that extras read, each with its settings."""
    return {name: load_extra(TABLES, name) for name in names_of_extras(TABLES)}


def _without_former(of_file: dict[str, Any]) -> dict[str, Any]:
    """Leave out the tables of extras, and settings that are no more; log each of these once."""
    if any(isinstance(value, dict) for name, value in of_file.items() if name not in StoreSettings.model_fields):
        theirs = names_of_extras(TABLES)
        of_file = {name: value for name, value in of_file.items() if name not in theirs}
    for name in FORMER_SETTINGS & of_file.keys() - _logged:
        _logged.add(name)
        log.warning("%s in %s is no longer used; `hybrid-memory-mcp config unset %s` takes it out", name, CONFIG, name)
    return {name: value for name, value in of_file.items() if name not in FORMER_SETTINGS}


def hook_switches(home: Path) -> HookSwitches:
    """Return what ``config.toml`` lets the hooks of clients do, read again: a switch holds from the next event on.

    Raises:
        InvalidInput: names the switch that is wrong; ``config.toml`` itself when it is not TOML.
    """
    found = read_config(home).get("hooks", {})
    try:
        return HookSwitches.model_validate(as_switches(found))
    except ValidationError as error:
        raise setting_error(error, HookSwitches.model_fields, lambda _: f"[hooks] in {CONFIG}") from None


def variables() -> dict[str, str]:
    """Return the variables of this process that name settings, by the names of these, in small letters and without the prefix.

    An empty one counts as not set, as a compose file or a CI job has it that names a variable without a value.
    """
    found = os.environ.items()  # noqa: TID251 - the one place for the environment
    return {name[len(PREFIX) :].lower(): value for name, value in found if value and name.upper().startswith(PREFIX)}


def database_environment() -> dict[str, str]:
    """Return the variables that PostgreSQL's library reads (``PGHOST``, ``PGPASSWORD`` ...), and the one that tells where ``~`` is."""
    found = os.environ.items()  # noqa: TID251 - the one place for the environment
    return {name: value for name, value in found if name.startswith("PG") or name == "HOME"}


def change_config(home: Path, changes: Mapping[str, str | float | None]) -> None:
    """Set values of a store's ``config.toml``, or remove those that are None; the rest, comments included, stays.

    A name is that of a top-level value, or ``hooks.brief`` for one in a table. The file is replaced whole, or not at all.

    Raises:
        InvalidInput: the file is not TOML, or cannot be read or written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file = home / CONFIG
    read_config(home)  # says in the same words as every other command what is wrong with the file
    text = read_config_text(home)
    try:
        document = tomlkit.parse(text)
        for name, value in changes.items():
            table, _, inner = name.rpartition(".")
            holder: Any = document if not table else _table_in(document, table, needed=value is not None)
            if value is not None:
                holder[inner] = value
            elif inner in holder:
                del holder[inner]
        file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        # Through a link, as people have it whose settings lie in a folder of their own.
        replace_private(file.resolve() if file.is_symlink() else file, tomlkit.dumps(document).encode())
    except InvalidInput:
        raise
    except (TOMLKitError, ValueError, RecursionError):
        raise InvalidInput(CONFIG, "is not valid TOML; nothing was changed") from None
    except OSError:
        raise InvalidInput(CONFIG, "cannot be read or written; nothing was changed") from None


def _table_in(document: Any, name: str, *, needed: bool) -> Any:
    """Return a table of a document, which is made if it is needed; a single word in its place stands for all its switches."""
    import tomlkit

    held = document.get(name)
    if isinstance(held, dict):
        return held
    if held is None and not needed:
        return {}
    if not isinstance(held, str | bool | None):
        raise InvalidInput(name, f"is no table of switches in {CONFIG}; mend it there first. Nothing was changed")
    table = tomlkit.table()
    for switch, value in (as_switches(held) if isinstance(held, str | bool) else {}).items():  # type: ignore[attr-defined] # a dict of these
        table[switch] = bool(value)
    if name in document:
        del document[name]
    document[name] = table
    return table


def model_folders() -> tuple[Path, ...]:
    """Return the folders in which models of fastembed are looked for; the first is that of new ones.

    fastembed's own default lies in the folder for temporary files, where a restart of the machine removes it, and where another
    user may have put something: it counts only if it is this user's.
    """
    named = os.environ.get("FASTEMBED_CACHE_PATH")  # noqa: TID251 - the one place for the environment
    if named:
        return (Path(named).expanduser(),)
    import tempfile

    from platformdirs import user_data_path

    own = user_data_path("hybrid-memory-mcp", appauthor=False) / "models"
    shared = Path(tempfile.gettempdir()) / "fastembed_cache"
    return (own, shared) if _is_ours(shared) else (own,)


def cache_folder() -> Path:
    """Return this user's folder for what can be made again at any time; without platformdirs where that is simple."""
    home, chosen = os.environ.get("HOME", ""), os.environ.get("XDG_CACHE_HOME")  # noqa: TID251 - the one place for the environment
    if sys.platform == "linux" and home.startswith("/") and not chosen and "ANDROID_ROOT" not in os.environ:  # noqa: TID251 - as above
        return Path(home) / ".cache" / "hybrid-memory-mcp"
    from platformdirs import user_cache_path

    return user_cache_path("hybrid-memory-mcp", appauthor=False)


def _is_ours(folder: Path) -> bool:
    """Return True if a folder that anybody could have made was made by this user, who alone may write there."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & stat.S_IWOTH


def limit_threads() -> None:
    """Let linear algebra use one thread in this process, unless its variables say otherwise; call before numpy is imported.

    A search multiplies one matrix with one vector: a second thread waits for memory, and spins while other programs work.
    """
    for library in ("OPENBLAS", "OMP", "MKL", "VECLIB"):
        suffix = "_MAXIMUM_THREADS" if library == "VECLIB" else "_NUM_THREADS"
        os.environ.setdefault(library + suffix, "1")  # noqa: TID251 - the one place for the environment


class _Places:
    """Where each setting was given."""

    def __init__(self, arguments: Mapping[str, Any], of_file: Mapping[str, Any]) -> None:
        self._arguments = arguments
        self._of_file = of_file

    def of(self, name: str) -> str:
        """Return the words for it."""
        variable = PREFIX + name.upper()
        if name in self._arguments:
            return f"the argument, or {variable} of a client"
        if any(one.upper() == variable for one in os.environ):  # noqa: TID251 - the one place for the environment
            return f"the variable {variable}"
        return f"in {CONFIG}" if name in self._of_file else f"argument, {variable} or {CONFIG}"


def setting_error(
    error: ValidationError, names: Collection[str], place_of: Callable[[str], str], alone: str | None = None
) -> InvalidInput:
    """Return the error for the first setting that is wrong.

    ``names`` are all settings; ``place_of`` says where a setting was given, as in ``in config.toml``. ``alone`` is the setting, where
    it was checked by itself; a place that is empty is left out.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    name = alone or (str(first["loc"][0]) if first["loc"] else "settings")
    if first["type"] == "extra_forbidden":
        return InvalidInput(plain(name), f"{no_setting(name, names)} ({place_of(name)})")
    place = place_of(name)
    return InvalidInput(name, _problem(first["type"], first.get("ctx", {})) + (f" ({place})" if place else ""))


def plain(name: str) -> str:
    """Return a name that somebody made up in characters that do no harm on a terminal, and not too many."""
    shown = "".join(c if c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF else "?" for c in name[:_SHOWN_NAME_LENGTH])  # noqa: PLR2004 - surrogates
    return shown + ("..." if len(name) > _SHOWN_NAME_LENGTH else "") or "an empty name"


def _problem(kind: str, context: Mapping[str, Any]) -> str:
    template = _PROBLEMS.get(kind) or _PROBLEMS.get(kind.partition("_")[0])
    return template.format(**context) if template else "has a value that cannot be used"


def nearest_name(name: str, names: Collection[str]) -> str | None:
    """Return which setting a name may have meant that is none."""
    import difflib

    found = difflib.get_close_matches(name[:_SHOWN_NAME_LENGTH].lower().replace("-", "_"), names, n=1, cutoff=0.5)
    return found[0] if found else None


def no_setting(name: str, names: Collection[str]) -> str:
    """Return what is wrong with a name that is none of the settings."""
    nearest = nearest_name(name, names)
    return "is no setting; " + (f"the nearest is {nearest}" if nearest else "`hybrid-memory-mcp config` names them all")
