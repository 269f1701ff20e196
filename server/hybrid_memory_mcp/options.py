"""The options of serving, from arguments and the environment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory.settings import client_settings

_OPTIONS = {
    "home": "folder of the store",
    "namespace": "the wall around the memories of this client",
    "agent": "name of the agent that remembers",
    "session": "name of the conversation; made up when not given",
    "timezone": "zone of dates that come without one, as Europe/Berlin",
    "prompts": "folder with templates that replace the built-in ones",
    "embedder": "static, or fastembed:<model name or folder>",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a client's command line and environment choose. ``zone`` None is this machine's own time zone."""

    home: Path
    namespace: str = "default"
    agent: str = "default"
    session: str | None = None
    zone: tzinfo | None = None
    prompts: Path | None = None
    embedder: str | None = None

    def scope(self, session: str) -> Scope:
        """Return on whose behalf the client is served; ``session`` is for a client that named none."""
        return Scope(namespace=self.namespace, session=self.session or session, agent=self.agent)


def read_options(arguments: Sequence[str]) -> Options:
    """Return the options of ``[serve] [--standalone] [--namespace ...]``; an argument wins over its variable.

    Raises:
        InvalidInput: an option has a value that cannot be used.
        SystemExit: an unknown option; standard error says which.
    """
    given = vars(make_parser().parse_args(arguments))
    settings = client_settings(**{name: given[name] for name in _OPTIONS if name != "embedder"})
    return Options(
        home=settings.folder(),
        namespace=settings.namespace,
        agent=settings.agent,
        session=settings.session,
        zone=_zone(settings.timezone),
        prompts=_folder("prompts", settings.prompts),
        embedder=given["embedder"],
    )


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the server's options; it prints no help by itself, because standard output is the client's."""
    parser = argparse.ArgumentParser(prog="hybrid-memory-mcp", add_help=False, allow_abbrev=False)
    parser.add_argument("command", nargs="?", choices=["serve"], help="what happens without a command too")
    parser.add_argument("--standalone", action="store_true", help="serve in this process alone")
    for name, explanation in _OPTIONS.items():
        parser.add_argument(f"--{name}", help=explanation)
    return parser


def _folder(name: str, folder: Path | None) -> Path | None:
    if folder is None:
        return None
    if not folder.expanduser().is_dir():
        raise InvalidInput(name, "is not a folder")
    return folder.expanduser()


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput("timezone", "is not a known time zone; write it as Europe/Berlin") from None
