"""How a client can start this installation: by a full path, since a desktop program's PATH has little in it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlparse

from hybrid_memory_mcp import __version__

PROGRAM = "hybrid-memory-mcp"
MODULE = "hybrid_memory_mcp"
_EPHEMERAL = re.compile(r"(?:archive|environments|builds)-v\d+")
"""Folders of uv's cache in which `uvx` keeps what it runs; they may be gone tomorrow."""


@dataclass(frozen=True)
class Start:
    """The words that start the memory; ``keep`` is what `uv tool install` needs where those words lead into uv's cache."""

    command: tuple[str, ...]
    keep: str = ""


@dataclass(frozen=True)
class Keeping:
    """How `uv tool install` makes a program stay that uvx runs out of its cache, and where it is then."""

    command: tuple[str, ...]
    program: Path

    def carry_out(self) -> tuple[bool, str]:
        """Install it; return whether it is there, and what the person should read of what uv says: warnings, or all of a failure."""
        done = subprocess.run(  # noqa: S603 - uv itself
            self.command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
        if done.returncode or not self.program.exists():
            return False, done.stderr.strip()
        return True, "\n".join(line for line in done.stderr.splitlines() if line.startswith("warning"))


def start_of_this_installation(
    environment: Mapping[str, str], prefix: str = sys.prefix, python: str = sys.executable
) -> Start:
    """Return how a client starts what runs now: the installed script, or ``uvx`` with this version where it would not stay."""
    if any(_EPHEMERAL.fullmatch(part) for part in Path(prefix).parts):
        return _through_uvx(environment)
    script = shutil.which(PROGRAM, path=str(Path(python).parent))
    if script is not None:
        return Start((os.path.abspath(script),))  # noqa: PTH100 - a link stays a link
    return Start((python, "-m", MODULE))


def keeping(start: Start, environment: Mapping[str, str]) -> Keeping | None:
    """Return how what runs now can be made to stay; None if uv does not say where it installs programs."""
    uv = _uv(environment)
    try:
        said = subprocess.run([uv, "tool", "dir"], capture_output=True, text=True, check=True).stdout  # noqa: S603 - uv itself
    except (OSError, subprocess.CalledProcessError):
        return None
    script = Path("Scripts", f"{PROGRAM}.exe") if sys.platform == "win32" else Path("bin", PROGRAM)
    return Keeping((uv, "tool", "install", start.keep), Path(said.strip(), PROGRAM, script))


def _uv(environment: Mapping[str, str]) -> str:
    return environment.get("UV") or shutil.which("uv", path=environment.get("PATH", "")) or "uv"


def _through_uvx(environment: Mapping[str, str]) -> Start:
    uv = _uv(environment)
    folders = [str(Path(uv).parent)] if os.path.isabs(uv) else []  # noqa: PTH117 - a word, not yet a path
    uvx = shutil.which("uvx", path=os.pathsep.join(filter(None, (*folders, environment.get("PATH", "")))))
    runner = (os.path.abspath(uvx),) if uvx else (uv, "tool", "run")  # noqa: PTH100 - a link stays a link
    source = _source()
    if source:
        return Start((*runner, "--from", source, PROGRAM), keep=source)
    # Not this version alone: `uv tool upgrade` keeps to what was asked for here.
    return Start((*runner, f"{PROGRAM}=={__version__}"), keep=f"{PROGRAM}>={__version__}")


def _source() -> str | None:
    """Return what this package was installed from, where it was not a package index: a file, a folder, an address."""
    try:
        text = distribution(PROGRAM).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    given = json.loads(text) if text else {}
    address = given.get("url", "")
    url = urlparse(address)
    if url.scheme == "file":
        path = unquote(url.path)
        return path[1:] if re.match(r"/[A-Za-z]:", path) else path
    version = given.get("vcs_info")
    if version:
        revision = version.get("requested_revision")
        return f"{version['vcs']}+{address}" + (f"@{revision}" if revision else "")
    return address or None


def shell_line(words: Sequence[str]) -> str:
    """Return words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
