"""All settings, and the only place that reads the environment and ``config.toml``.

What belongs to a store stands in ``config.toml`` of its folder; what belongs to a client comes from its arguments and
from ``HYBRID_MEMORY_*`` variables. A variable wins over the file, an argument over both.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from hybrid_memory.errors import InvalidInput
from hybrid_memory.private_files import FOLDER_MODE, replace_private

PREFIX = "HYBRID_MEMORY_"
DATABASE = "memory.duckdb"
CONFIG = "config.toml"


class ClientSettings(BaseSettings):
    """What one client of the memory may choose; never the model behind it."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore")

    home: Path | None = Field(None, description="Folder of the store; the platform's data folder when not given.")
    namespace: str = Field(
        "default", min_length=1, max_length=200, description="The wall around this client's memories."
    )
    agent: str = Field("default", min_length=1, max_length=200, description="Name of the agent that remembers.")
    session: str | None = Field(None, min_length=1, max_length=200, description="Name of the conversation.")
    timezone: str | None = Field(None, description="Zone of dates that come without one, as Europe/Berlin.")
    prompts: Path | None = Field(None, description="Folder with templates that replace the built-in ones.")

    def folder(self) -> Path:
        """Return the folder of the store."""
        if self.home is not None:
            return self.home.expanduser()
        from platformdirs import user_data_path

        return user_data_path("hybrid-memory-mcp", appauthor=False)


class StoreSettings(BaseSettings):
    """How a store remembers. Names and values of the tiers are those of DB-GPT; only `sensory_buffer` is 4 where it has 0."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid")

    embedder: str = Field(
        "static",
        description="static, multilingual, minilm, or fastembed:<model name or folder>; unset, the table follows the languages.",
    )
    former_embedder: str | None = Field(
        None, description="The one that the vectors were made with, while they are made anew; for a model in a folder."
    )
    scorer: Literal["fused", "reference", "lexical", "dense"] = Field(
        "fused", description="What ranks: all signals, the reference system's formula, words alone or vectors alone."
    )
    alpha: float | None = Field(None, ge=0, description="Weight of recency; the scorer's own when not given.")
    beta: float | None = Field(None, ge=0, description="Weight of relevance; the scorer's own when not given.")
    gamma: float | None = Field(None, ge=0, description="Weight of importance; the scorer's own when not given.")
    sensory_buffer: int = Field(4, ge=0, le=1000, description="Observations held before they are weighed.")
    threshold_to_short_term: float = Field(0.1, ge=0, le=1, description="Importance below which an observation fades.")
    short_term_buffer: int = Field(10, ge=0, le=1000, description="Memories of the current situation.")
    enhance_similarity_threshold: float = Field(0.7, ge=0, le=1, description="Least probability of an enhancement.")
    enhance_threshold: int = Field(3, ge=1, le=100, description="Enhancements that make a memory long-term.")
    habit_sessions: int = Field(3, ge=2, le=100, description="Sessions with the same statement that make a habit.")
    earned_importance: float = Field(
        0.7, ge=0, le=1, description="Importance that takes a leaving memory to long-term."
    )
    earned_uses: int = Field(2, ge=1, le=1000, description="Recalls that take a leaving or faded memory to long-term.")
    session_idle_hours: float = Field(24, gt=0, description="Silence after which an unnamed session has ended.")
    keep_backups: int = Field(10, ge=1, le=10_000, description="Backups kept in the store's folder; the oldest go.")
    secrets: Literal["warn", "mask", "refuse", "off"] = Field(
        "warn",
        description="Keys, passwords and card numbers in what is written: tell, leave out, refuse, or do nothing.",
    )
    hnsw_from: int = Field(
        2_000_000, ge=0, description="Memories of a namespace above which vectors are searched approximately (HNSW)."
    )
    duckdb_memory_limit: str | None = Field(None, description="DuckDB's memory_limit, as 2GB.")
    duckdb_threads: int = Field(1, ge=1, le=64, description="DuckDB's threads; one is fastest for single rows.")
    connections: int = Field(100, ge=1, le=10_000, description="Clients that the hub serves at once.")
    calls_at_once: int = Field(8, ge=1, le=64, description="Threads that work on the calls of all clients.")
    calls_of_a_client: int = Field(3, ge=1, le=64, description="Threads that work on the calls of one client.")
    requests_at_once: int = Field(64, ge=1, le=10_000, description="Requests of one client that are at work.")
    requests_waiting: int = Field(1000, ge=0, le=100_000, description="Requests of one client that wait behind those.")
    linger_seconds: float = Field(5, ge=0, le=86_400, description="How long the hub stays after its last client.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments, then variables, then ``config.toml``; nothing else."""
        del dotenv_settings, file_secret_settings
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls))


def client_settings(**arguments: Any) -> ClientSettings:
    """Return the client's settings; arguments that are None are left to the environment.

    Raises:
        InvalidInput: names the setting that is wrong.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return ClientSettings(**given)
    except ValidationError as error:
        raise _wrong(error) from None


def store_settings(home: Path, **arguments: Any) -> StoreSettings:
    """Return the settings of the store in ``home``.

    Raises:
        InvalidInput: names the setting that is wrong; ``config.toml`` itself when it is not TOML.
    """

    class SettingsOfThisStore(StoreSettings):
        model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", toml_file=home / CONFIG)

    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return SettingsOfThisStore(**given)
    except ValidationError as error:
        raise _wrong(error) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(CONFIG, f"is not valid TOML: {error}") from None
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(CONFIG, "cannot be read") from None


def change_config(home: Path, changes: Mapping[str, str | None]) -> None:
    """Set top-level values of a store's ``config.toml``, or remove those that are None; the rest, comments included, stays.

    The file is replaced whole, or not at all.

    Raises:
        InvalidInput: the file is not TOML, or cannot be read or written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file = home / CONFIG
    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8")) if file.exists() else tomlkit.document()
        for name, value in changes.items():
            if value is not None:
                document[name] = value
            elif name in document:
                del document[name]
        file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        replace_private(file, tomlkit.dumps(document).encode())
    except TOMLKitError:
        raise InvalidInput(CONFIG, "is not valid TOML; nothing was changed") from None
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(CONFIG, "cannot be read or written; nothing was changed") from None


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


def _wrong(error: ValidationError) -> InvalidInput:
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    return InvalidInput(name, f"{first['msg']} (argument, {PREFIX}{name.upper()} or {CONFIG})")
