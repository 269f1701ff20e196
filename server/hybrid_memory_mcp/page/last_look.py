"""When a person looked at the page last: a small file of this machine, because a browser forgets with the page's address.

It holds moments and names of namespaces, nothing that is remembered. What cannot be read or written costs the moment alone.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = "last-look.json"
SITTING = timedelta(minutes=30)
"""Looks that are not farther apart are one: what was new at the first is new at the second, too."""

_MOST_PLACES = 50


@dataclass(frozen=True, slots=True)
class Looked:
    """``since`` is when the sitting before this one ended, None in the first; ``seen`` is the latest look."""

    since: datetime | None
    seen: datetime


def looked_again(before: Looked | None, now: datetime) -> Looked:
    """Return what is known after one more look. Pure; a clock that was set back begins anew."""
    if before is None or before.seen > now:
        return Looked(None, now)
    return Looked(before.since if now - before.seen <= SITTING else before.seen, now)


def last_look(home: Path, namespaces: Sequence[str], now: datetime, *, looks: bool) -> datetime | None:
    """Return when somebody looked at some namespaces before this sitting; where somebody ``looks`` now, note that."""
    known, place = _read(home / FILE), " ".join(namespaces)
    before = known.pop(place, None)
    if not looks:
        return before.since if before else None
    after = looked_again(before, now)
    kept = {place: after} | dict(sorted(known.items(), key=lambda one: one[1].seen)[-_MOST_PLACES:])
    _write(home / FILE, kept)
    return after.since


def _read(file: Path) -> dict[str, Looked]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {
            name: Looked(None if since is None else datetime.fromisoformat(since), datetime.fromisoformat(seen))
            for name, (since, seen) in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(file: Path, known: dict[str, Looked]) -> None:
    values = {name: [one.since and one.since.isoformat(), one.seen.isoformat()] for name, one in known.items()}
    making = file.with_name(f"{file.name}.new")
    with suppress(OSError):
        making.write_text(json.dumps(values), encoding="utf-8")
        making.chmod(0o600)
        making.replace(file)
