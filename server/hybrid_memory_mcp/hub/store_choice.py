"""Whether a client means the store that this hub serves, and a command its settings: variables and the folder's settings say so.

A hub is found by its folder, and a database may be named elsewhere: a client must not get another memory than the one it asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from hybrid_memory.config_file import read_config, read_config_text
from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory.settings import PREFIX, StoreSettings, database_environment, variables
from hybrid_memory.store.opening import database_named
from hybrid_memory_mcp.relay.chosen_store import STORE

Settings: TypeAlias = tuple[str, frozenset[tuple[str, str]]]
"""The text of ``config.toml`` and the variables of a store's settings."""

_FILE = "the memory in its folder"
_NO_ADDRESS = "a database whose address cannot be used"


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """A store: ``digest`` is the same for the same one, ``shown`` are the words for it, without secrets."""

    digest: str = ""
    shown: str = _FILE


class OtherStore(HybridMemoryError):
    """A client means another store than the one that its folder's hub serves."""

    def __init__(self, wanted: StoreChoice, served: StoreChoice) -> None:
        super().__init__(
            f"this client wants {wanted.shown}, but the hub of its folder serves {served.shown} to other clients. If the "
            "setting store was changed just now, close these. If not, give all of them the same "
            f"{STORE}, best by `hybrid-memory-mcp config set store ADDRESS`, or this one a folder of its own (HYBRID_MEMORY_HOME)"
        )


def choice_of(home: Path, environ: Mapping[str, str]) -> StoreChoice:
    """Return which store variables and the settings in a folder name. What cannot be used is a choice too: calls will say why."""
    try:
        named = environ.get(STORE) or read_config(home).get("store")
    except InvalidInput:
        named = None  # a file of settings that cannot be read: the calls say so
    if not named:
        return StoreChoice()
    try:
        database = database_named(str(named), environ)
    except InvalidInput:
        return StoreChoice("?", _NO_ADDRESS)
    return StoreChoice(database.digest, database.shown)


def settings_of(home: Path, environ: Mapping[str, str]) -> Settings:
    """Return what variables and the file of a folder say of its store's settings, to be compared; which store it is, is apart."""
    # What hooks may do is read at each event.
    own = {PREFIX + name.upper() for name in StoreSettings.model_fields if name not in ("hooks", "store")}
    try:
        text = read_config_text(home)
    except InvalidInput:
        text = ""
    return text, frozenset((name.upper(), value) for name, value in environ.items() if value and name.upper() in own)


def own_settings(home: Path) -> Settings:
    """Return the settings that this process has."""
    return settings_of(home, {PREFIX + name.upper(): value for name, value in variables().items()})


def own_choice(home: Path) -> StoreChoice:
    """Return which store this process serves."""
    chosen = variables().get("store")
    return choice_of(home, database_environment() | ({STORE: chosen} if chosen else {}))
