"""Whether a client means the store that this hub serves: its variables and the settings of the folder say which one it means.

A hub is found by its folder, and a database may be named elsewhere: a client must not get another memory than the one it asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hybrid_memory.config_file import read_config
from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory.settings import database_environment, variables
from hybrid_memory.store.opening import target_named
from hybrid_memory_mcp.relay.chosen_store import STORE

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
        target = target_named(str(named), environ)
    except InvalidInput:
        return StoreChoice("?", _NO_ADDRESS)
    return StoreChoice(target.digest, target.shown)


def own_choice(home: Path) -> StoreChoice:
    """Return which store this process serves."""
    chosen = variables().get("store")
    return choice_of(home, database_environment() | ({STORE: chosen} if chosen else {}))
