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
    """The words that start the memory, and a remark for the person, if there is one."""

    command: tuple[str, ...]
    remark: str = ""


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


def _through_uvx(environment: Mapping[str, str]) -> Start:
    uv = environment.get("UV") or shutil.which("uv", path=environment.get("PATH", "")) or ""
    beside = str(Path(uv).parent) if uv else ""
    uvx = shutil.which("uvx", path=os.pathsep.join(filter(None, (beside, environment.get("PATH", "")))))
    runner = (os.path.abspath(uvx),) if uvx else (uv or "uv", "tool", "run")  # noqa: PTH100 - a link stays a link
    source = _local_source()
    what = ("--from", source, PROGRAM) if source else (f"{PROGRAM}=={__version__}",)
    remark = f"it runs out of uv's cache, so clients start it through uvx ({source or what[-1]})"
    return Start((*runner, *what), remark + "; `uv tool install` would start it faster")


def _local_source() -> str | None:
    """Return the file or folder that this package was installed from, where it was not a package index."""
    try:
        text = distribution(PROGRAM).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    url = urlparse(json.loads(text).get("url", "")) if text else None
    if url is None or url.scheme != "file":
        return None
    path = unquote(url.path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def shell_line(words: Sequence[str]) -> str:
    """Return words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
