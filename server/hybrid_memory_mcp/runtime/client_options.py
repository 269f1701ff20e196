"""What a client chose, by arguments and environment variables. The hub reads them from a relay's hello (``hub/handshake.py``)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory.project_names import AUTO, OFF, check_project_name
from hybrid_memory.settings import PREFIX, client_settings

_OPTIONS = {
    "home": "folder of the store",
    "namespace": "the wall around the memories of this client",
    "agent": "name of the agent that remembers",
    "session": "name of the conversation; made up when not given",
    "timezone": "zone of dates that come without one, as Europe/Berlin",
    "project": "name of the project; auto (default): what a marker file names, else the git repository; off: none",
    "prompts": "folder with templates that replace the built-in ones",
    "embedder": "universal, static, multilingual, minilm, or fastembed:<model name or folder>",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a client's command line and environment choose. ``zone`` None is this machine's own time zone.

    ``project`` is a project's name, ``auto`` or ``off``; None leaves it to the marker of the folder (``projects.py``).
    """

    home: Path
    namespace: str = "default"
    agent: str = "default"
    session: str | None = None
    zone: tzinfo | None = None
    prompts: Path | None = None
    project: str | None = None
    embedder: str | None = None

    def scope(self, session: str) -> Scope:
        """Return on whose behalf the client is served; ``session`` is for a client that named none."""
        return Scope(namespace=self.namespace, session=self.session or session, agent=self.agent)

    def in_zone(self, zone: tzinfo | None) -> Options:
        """Return the same options with another zone."""
        return replace(self, zone=zone)


def read_options(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Options:
    """Return the options of ``[serve] [--standalone] [--namespace ...]``; an argument wins over its variable.

    They are another process's where its ``environment`` and its ``folder``, from which paths are meant, are given.

    Raises:
        InvalidInput: an option is unknown or has a value that cannot be used.
    """
    given = vars(make_parser().parse_args(arguments))
    if environment is not None:
        given = {name: given[name] or environment.get(PREFIX + name.upper()) or None for name in _OPTIONS}
    settings = client_settings(**{name: given[name] for name in _OPTIONS if name != "embedder"})
    return Options(
        home=(folder or Path()) / settings.folder(),
        namespace=settings.namespace,
        agent=settings.agent,
        session=settings.session,
        zone=_zone(settings.timezone),
        prompts=_folder("prompts", settings.prompts, folder or Path()),
        project=_project(settings.project),
        embedder=given["embedder"],
    )


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the server's options; it prints no help by itself, because standard output is the client's."""
    parser = _Parser(prog="hybrid-memory-mcp", add_help=False, allow_abbrev=False)
    parser.add_argument("command", nargs="?", choices=["serve"], help="what happens without a command too")
    parser.add_argument("--standalone", action="store_true", help="serve in this process alone")
    for name, explanation in _OPTIONS.items():
        parser.add_argument(f"--{name}", help=explanation)
    return parser


class _Parser(argparse.ArgumentParser):
    """The hub reads the options of others: a wrong one must not end the process."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput("arguments", f"{message}; --help shows what there is")


def _folder(name: str, folder: Path | None, base: Path) -> Path | None:
    if folder is None:
        return None
    found = base / folder.expanduser()
    if not found.is_dir():
        raise InvalidInput(name, "is not a folder")
    return found


def _project(named: str | None) -> str | None:
    if not named:
        return None
    return named.casefold() if named.casefold() in (AUTO, OFF) else check_project_name("project", named)


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    if name == "UTC":  # also where the system has no zones, as Windows
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput("timezone", "is not a known time zone; write it as Europe/Berlin") from None
