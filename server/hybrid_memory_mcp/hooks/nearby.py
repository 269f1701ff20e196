"""Which project a folder belongs to, noted when a conversation begins: what is said belongs to it, whatever becomes of the folder.

The hub decides (`projects.place_of`), and believes this only where it finds no marker any more. So whatever is not plain is left out.
"""

from __future__ import annotations

import os
import stat

from hybrid_memory_mcp.relay import processes
from hybrid_memory_mcp.relay.repositories import project_name_of, repository_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARKER = ".hybrid-memory.toml"
_MOST_BYTES = 64 * 1024


def project_of(root: str, folder: str) -> dict[str, Any]:
    """Return the project of the nearest marker, that of ``root`` first, else of the git repository; nothing where there is none.

    `former_projects.read_former` reads it.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    for begin in (root, folder):
        one = os.path.realpath(begin) if begin else ""
        while one:
            path = os.path.join(one, _MARKER)
            if os.path.lexists(path):
                return _told(path, one, [root, folder])
            above = os.path.dirname(one)
            one = "" if one in (home, above) else above
    for begin in (root, folder):
        repository = repository_of(os.path.realpath(begin), home) if begin else None
        if repository is not None:
            return {"project": project_name_of(repository), "about_me": "personal", "roots": [root, folder]}
    return {}


def _told(path: str, folder: str, roots: list[str]) -> dict[str, Any]:
    import tomllib

    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return {}
        told = tomllib.loads(processes.read_own(path, _MOST_BYTES).decode("utf-8-sig"))
        found = os.stat(folder)
    except (OSError, ValueError, RecursionError):
        return {}
    name = told.get("namespace")
    if not isinstance(name, str):
        return {}
    about_me = told.get("about_me", told.get("about-me", "project"))
    return {
        "project": name,
        "folder": folder,
        "inode": [found.st_dev, found.st_ino],
        "about_me": about_me if isinstance(about_me, str) else "project",
        "read_only": True in (told.get("read_only"), told.get("read-only")),
        "off": told.get("off") is True,
        "roots": roots,
    }
