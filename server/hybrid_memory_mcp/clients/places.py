"""Where a client's files are, on a platform and in an environment that tests can name."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hybrid_memory_mcp.clients.table import CLIENTS, Client, Places, Platform

_NAMED = re.compile(r"\{(\w+)(?:\|([^}]*))?\}")


@dataclass(frozen=True)
class Machine:
    """A platform and an environment: what decides about places."""

    platform: Platform
    environment: Mapping[str, str]

    def home(self) -> Path:
        """Return the person's folder."""
        names = (
            ("USERPROFILE", "HOME") if self.platform == "win32" and sys.platform == "win32" else ("HOME", "USERPROFILE")
        )
        return next((Path(self.environment[name]) for name in names if self.environment.get(name)), None) or _own_home()

    def is_of_another(self) -> bool:
        """Return whether this process is root's and the person's folder somebody else's, as with sudo."""
        if sys.platform == "win32" or os.geteuid() != 0:
            return False
        try:
            return self.home().stat().st_uid != 0
        except OSError:
            return False

    def path(self, place: str) -> Path:
        """Return a place of the table as a path; a star stays a star."""
        return Path(_NAMED.sub(lambda found: self._named(found[1], found[2]), place))

    def _named(self, name: str, otherwise: str | None) -> str:
        home = self.home()
        if otherwise is not None:
            chosen = self.environment.get(name)
            return (
                str(Path(chosen.strip()).expanduser().absolute())
                if chosen and chosen.strip()
                else self._at_home(otherwise)
            )
        folders = {
            "home": home,
            "xdg": self._absolute("XDG_CONFIG_HOME") or home / ".config",
            "config": {
                "linux": self._absolute("XDG_CONFIG_HOME") or home / ".config",
                "darwin": home / "Library" / "Application Support",
                "win32": self._absolute("APPDATA") or home / "AppData" / "Roaming",
            }[self.platform],
            "local": self._absolute("LOCALAPPDATA") or home / "AppData" / "Local",
        }
        return str(self._lm_studio() if name == "lmstudio" else folders[name])

    def _at_home(self, otherwise: str) -> str:
        return str(self.home() / otherwise.removeprefix("~").lstrip("/"))

    def _absolute(self, name: str) -> Path | None:
        value = self.environment.get(name, "")
        # The convention of XDG: a path that is not absolute counts as none.
        return Path(value) if value and (Path(value).is_absolute() or re.match(r"[A-Za-z]:[\\/]", value)) else None

    def _lm_studio(self) -> Path:
        """LM Studio writes into a file where its folder is; older ones have it in the cache."""
        try:
            named = (self.home() / ".lmstudio-home-pointer").read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            named = ""
        if named and Path(named).is_absolute():
            return Path(named)
        older = self.home() / ".cache" / "lm-studio"
        newer = self.home() / ".lmstudio"
        return older if older.is_dir() and not newer.is_dir() else newer

    def file(self, places: Places) -> Path:
        """Return the place of a file: the first that is there (where a star is: whose folder is), else the last."""
        candidates = places[self.platform]
        for place in candidates:
            path = self.path(place)
            if "*" in str(path):
                folders = sorted(_matching(path.parent))
                if folders:
                    return folders[0] / path.name
            elif os.path.lexists(path):
                return path
        return self.path(candidates[-1])

    def files(self, places: Places) -> tuple[Path, ...]:
        """Return every place that a file may have on this machine and where one is, and `file`; each once."""
        paths = [self.path(place) for place in places[self.platform]]
        there = [folder / path.name for path in paths if "*" in str(path) for folder in _matching(path.parent)]
        there += [path for path in paths if "*" not in str(path)]
        return tuple(dict.fromkeys([self.file(places), *filter(os.path.lexists, there)]))

    def is_here(self, client: Client) -> bool:
        """Return whether a client seems to be on this machine."""
        search = self.environment.get("PATH", "")
        return any(_exists(self.path(sign)) for sign in client.signs[self.platform]) or any(
            shutil.which(program, path=search) for program in client.programs
        )

    def clients_here(self) -> tuple[Client, ...]:
        """Return the clients that seem to be on this machine, in the table's order."""
        return tuple(client for client in CLIENTS if self.is_here(client))


def this_machine() -> Machine:
    """Return this machine as it is now."""
    platform: Platform = "darwin" if sys.platform == "darwin" else "win32" if sys.platform == "win32" else "linux"
    return Machine(platform, dict(os.environ))  # noqa: TID251 - where other programs look for their files is no setting of ours


def _own_home() -> Path:
    """Return this user's folder where no variable names one; an empty one would stand for the root of the disk."""
    if sys.platform == "win32":
        return Path.home()
    import pwd

    return Path(pwd.getpwuid(os.getuid()).pw_dir)


def _exists(path: Path) -> bool:
    return bool(_matching(path)) if "*" in str(path) else path.exists()


def _matching(path: Path) -> list[Path]:
    """Return what is there for a path with a star in one of its names."""
    parts = path.parts
    star = next(place for place, part in enumerate(parts) if "*" in part)
    base, rest = Path(*parts[:star]), parts[star + 1 :]
    return [found.joinpath(*rest) for found in base.glob(parts[star]) if found.joinpath(*rest).is_dir()]
