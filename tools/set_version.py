"""The version of the project: says whether all files name the same one, or writes a new one into each.

    python tools/set_version.py            # what the files say; ends with 1 if they do not agree
    python tools/set_version.py 0.2.0      # writes it everywhere; the changelog gets a heading

`PLACES` is the one list of files that name it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VERSION = r"[0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?"


@dataclass(frozen=True)
class Place:
    """Where a file names the version: ``before`` is in front of it, ``times`` as often."""

    file: str
    before: str
    times: int = 1

    def found(self) -> list[str]:
        """Return the versions that stand there."""
        return re.findall(re.escape(self.before) + f"({VERSION})", self._text())

    def write(self, version: str) -> None:
        """Put a version in place of those that stand there."""
        changed = re.sub(re.escape(self.before) + VERSION, lambda _: self.before + version, self._text())
        (PROJECT / self.file).write_bytes(changed.encode())

    def _text(self) -> str:
        # As bytes: the file for Windows keeps its line ends.
        return (PROJECT / self.file).read_bytes().decode()


JSON = '"version": "'
PINNED = "hybrid-memory-mcp=="
PLACES = (
    Place("server/hybrid_memory_mcp/__init__.py", '__version__ = "'),
    Place("plugin/.claude-plugin/plugin.json", JSON),
    Place("plugin/.codex-plugin/plugin.json", JSON),
    Place("plugin/codex.mcp.json", PINNED),
    Place("plugin/bin/hybrid-memory", PINNED, times=2),
    Place("plugin/bin/hybrid-memory.cmd", PINNED, times=2),
    Place("plugin/skills/memory/SKILL.md", '  version: "'),
    Place(".claude-plugin/marketplace.json", JSON),
    Place("server.json", JSON, times=2),
    Place("packaging/mcpb/manifest.json", f"  {JSON}"),
    Place("packaging/mcpb/pyproject.toml", '\nversion = "'),
    Place("packaging/mcpb/pyproject.toml", PINNED),
    Place("Dockerfile", "ARG VERSION="),
)
CHANGELOG = "CHANGELOG.md"
UNRELEASED = "## [Unreleased]\n"
_HEADING = re.compile(rf"^## \[({VERSION})\]", re.MULTILINE)


def released() -> str:
    """Return the version of the changelog's newest release."""
    heading = _HEADING.search((PROJECT / CHANGELOG).read_text(encoding="utf-8"))
    return "" if heading is None else heading.group(1)


def problems() -> list[str]:
    """Return what does not agree with the program's own version, one line each."""
    (version,) = PLACES[0].found()
    wrong = [
        f"{place.file}: {', '.join(place.found()) or 'none'}, not {version} (so often: {place.times})"
        for place in PLACES
        if place.found() != [version] * place.times
    ]
    return wrong if released() == version else [*wrong, f"{CHANGELOG}: the newest release is {released()}"]


def set_version(version: str, day: str) -> None:
    """Write a version into each file; what is unreleased in the changelog becomes that release."""
    for place in PLACES:
        place.write(version)
    file = PROJECT / CHANGELOG
    if released() != version:
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day}\n", 1), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Set the version that is named, then say what the files have."""
    if arguments:
        if not re.fullmatch(VERSION, arguments[0]):
            print(f"{arguments[0]} is no version: like 0.2.0 or 0.2.0rc1")
            return 2
        set_version(arguments[0], datetime.now(UTC).date().isoformat())  # noqa: TID251 - a release is made today
    wrong = problems()
    print("\n".join(wrong) or f"{PLACES[0].found()[0]} everywhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
