"""A project whose marker or repository is gone: a conversation that was in it stays in it, until something else decides.

A folder is renamed, an older branch is checked out, a marker is deleted: what is said then must not become the person's own, which every
other project sees. A new connection or conversation, other roots of the client, an option or another marker decide.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.project_names import check_project_name
from hybrid_memory_mcp.projects import ABOUT_ME, Place, place_by_marker_in

_MOST_LOOKED_AT = 5_000  # entries of a folder among which one that was renamed is looked for
_LONGEST_PATH = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerProject:
    """A project as it was at hand.

    ``folder`` is where its marker was, ``inode`` (device and number) tells that folder when it has another name; both are None where no
    marker named it. ``roots`` are the client's roots of that time.
    """

    project: str
    folder: str | None = None
    inode: tuple[int, int] | None = None
    about_me: str = ABOUT_ME[0]
    read_only: bool = False
    off: bool = False
    roots: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it; `read_former` reads that."""
        return {name: getattr(self, name) for name in self.__slots__}


def read_former(told: object) -> FormerProject | None:
    """Return what `FormerProject.told` has told; None where it is something else."""
    if not isinstance(told, Mapping) or not isinstance(told.get("project"), str):
        return None
    folder, inode, roots = told.get("folder"), told.get("inode"), told.get("roots")
    try:
        return FormerProject(
            project=check_project_name("project", told["project"]),
            folder=folder if isinstance(folder, str) and len(folder) <= _LONGEST_PATH and "\0" not in folder else None,
            inode=_pair(inode),
            about_me=ABOUT_ME[1] if told.get("about_me") == ABOUT_ME[1] else ABOUT_ME[0],
            read_only=told.get("read_only") is True,
            off=told.get("off") is True,
            roots=tuple(one for one in roots if isinstance(one, str)) if isinstance(roots, list | tuple) else (),
        )
    except InvalidInput:
        return None


def former_of(place: Place, roots: tuple[str, ...] = ()) -> FormerProject | None:
    """Return the project of a place as what is to be kept of it; None for a place without one. Looks at its folder."""
    if place.project is None:
        return None
    folder = None if place.marker is None else place.marker.parent
    return FormerProject(
        project=place.project,
        folder=None if folder is None else str(folder),
        inode=None if folder is None else _inode_of(folder),
        about_me=place.about_me,
        read_only=place.read_only,
        off=place.off,
        roots=roots,
    )


def keep_project(found: Place, former: FormerProject | None, roots: tuple[str, ...] = ()) -> Place:
    """Return the place that was found, or that of the former project where no marker and no option says anything any more.

    The marker of a folder that was renamed is found in it, and goes on to count. Looks at files.
    """
    if former is None or former.roots != roots or found.is_decided or found.project == former.project:
        return found
    moved = _moved_place(found, former)
    if moved is not None:
        return moved
    return replace(
        found,
        project=former.project,
        about_me=former.about_me,
        read_only=former.read_only,
        off=former.off,
        why="what named it before is gone",
        is_repository=False,
        is_kept=True,
    )


def _moved_place(found: Place, former: FormerProject) -> Place | None:
    """Return the place by the marker of a folder that has another name now; None where the project's marker is in none."""
    if former.folder is None or former.inode is None:
        return None
    folder = _folder_of(Path(former.folder), former.inode)
    place = None if folder is None else place_by_marker_in(found, folder, "the folder, which has another name now")
    # A number of a folder is given to another one once it is gone: the marker must be the same project's, or forbid something.
    return place if place is not None and place.project in (None, former.project) else None


def _folder_of(known: Path, inode: tuple[int, int]) -> Path | None:
    """Return the folder with that number: where it was, or alongside it under another name, or below a folder above it that has one."""
    if _inode_of(known) == inode:
        return known
    missing = known
    while not missing.parent.exists() and missing != missing.parent:
        missing = missing.parent
    rest = known.relative_to(missing)
    try:
        with os.scandir(missing.parent) as entries:
            for _, entry in zip(range(_MOST_LOOKED_AT), entries, strict=False):
                if entry.is_dir(follow_symlinks=False) and _inode_of(one := Path(entry.path) / rest) == inode:
                    return one
    except OSError:
        return None
    return None


def _inode_of(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _pair(told: object) -> tuple[int, int] | None:
    match told:
        case [int(device), int(number)]:
            return device, number
    return None
