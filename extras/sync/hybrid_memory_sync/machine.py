"""The name under which a store writes into folders, and how a store notices that it is a copy or was set back.

Two stores must not write under one name. A copy of a store's folder has the same name noted in it; it notices that it lies in another
place or on another machine. A store that a backup replaced does not know segments that lie under its name. Both go on under a new name.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from hybrid_memory.clock import RandomSource
    from hybrid_memory_sync.folder import SegmentFile

NOTE = "machine"
_NAME_BITS = 64
_MACHINE_ID = Path("/etc/machine-id")


@dataclass(frozen=True, slots=True)
class Machine:
    """``name`` is the store's own, ``former`` are those that it had before; ``place`` tells where it lies.

    ``home`` is the path of its folder and ``itself`` what the folder is on its disk, which stays when it is moved and is another in a copy.
    """

    name: str
    place: str
    former: tuple[str, ...] = ()
    home: str = ""
    itself: str = ""

    @property
    def names(self) -> frozenset[str]:
        """All names under which this store has written."""
        return frozenset((self.name, *self.former))

    def as_text(self) -> str:
        """Return what is noted of it."""
        values = {"name": self.name, "place": self.place, "former": list(self.former)}
        return json.dumps(values | {"home": self.home, "itself": self.itself})


def place_of(home: Path) -> str:
    """Return what is the same as long as a store's folder stays where it is."""
    return _digest(str(home.resolve()), *_itself(home))


def _itself(home: Path) -> list[str]:
    parts = []
    try:
        parts.append(_MACHINE_ID.read_text(encoding="ascii", errors="replace").strip())
    except OSError:
        if sys.platform != "darwin":  # whose name changes with the network that it is in
            parts.append(platform.node())
    with suppress(OSError):
        parts.append(str(home.stat().st_ino))
    return parts


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def machine_of(
    notes: Mapping[str, str], home: Path, random_source: RandomSource, identity: str | None = None
) -> Machine:
    """Return the machine of a store; a new one where none is noted, or where the store is a copy.

    A folder that was moved on its disk is no copy: it is the same one, and nothing is left in its old place. A store that several
    hubs share is one machine, whichever of them asks: ``identity`` tells it from a copy.
    """
    known = json.loads(notes[NOTE]) if NOTE in notes else None
    if identity is not None:
        place, itself, here = _digest(identity), "", ""
    else:
        place, itself, here = place_of(home), _digest(*_itself(home)), str(home.resolve())
    if known is None or (known["place"] != place and not _was_moved(known, itself)):
        return Machine(new_name(random_source), place, (), here, itself)
    return Machine(known["name"], place, tuple(known["former"]), here, itself)


def _was_moved(known: Mapping[str, str], itself: str) -> bool:
    old = known.get("home")
    return bool(old) and known.get("itself") == itself and not Path(old or "").exists()


def after_setback(
    machine: Machine, files: Collection[SegmentFile], known: Collection[str], random_source: RandomSource
) -> Machine:
    """Return the machine under a new name if segments lie under its name that it does not know: a backup took the store's place."""
    if all(one.machine != machine.name or one.key in known for one in files):
        return machine
    return replace(machine, name=new_name(random_source), former=(*machine.former, machine.name))


def new_name(random_source: RandomSource) -> str:
    """Return a name that nobody has."""
    return f"{random_source.bits(_NAME_BITS):016x}"
