"""Builds the source archive and, of it, the wheel; installs both with pip and with uv into empty environments, and uses them.

    python tools/smoke_wheel.py

Needs `uv` and the package index, from which the dependencies come. Ends non-zero when anything is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NAME = "hybrid-memory-mcp"
FACT = "I am allergic to peanuts."
CHECK = """# the packages have their data
import importlib.resources as resources
from importlib.metadata import entry_points
from hybrid_memory_prompts.render import Renderer
from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory_inspector.chat_app.card import inspector_html
from hybrid_memory_testing import memory_for_tests

assert StaticEmbedder().embed(["hello"]).shape == (1, 256)
assert resources.files("hybrid_memory_prompts").joinpath("_quote.md.j2").is_file()
for part in ("", "_mcp", "_prompts", "_adapters", "_dbgpt", "_inspector", "_testing"):
    package = f"hybrid_memory{part}"
    assert resources.files(package).joinpath("py.typed").is_file(), package
Renderer()
assert "</script>" in inspector_html()
for part in ("templates/base.html.j2", "static/base.css", "static/htmx.min.js", "static/htmx.LICENSE.txt"):
    assert resources.files("hybrid_memory_inspector.page").joinpath(*part.split("/")).is_file(), part
assert "hybrid_memory_testing.plugin" in [one.module for one in entry_points(group="pytest11")]
with memory_for_tests() as memory:
    memory.remember("I am allergic to peanuts.")
    memory.assert_recalled("What must I not eat?", "peanuts")
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "smoke", "version": "1"}},
}


def run(*command: str | Path, said: str = "", environment: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it prints; end with what it says when it fails."""
    began = time.perf_counter()
    words = [str(part) for part in command]
    done = subprocess.run(  # noqa: S603 - our own commands
        words, input=said, capture_output=True, encoding="utf-8", env=environment, check=False
    )
    shown = " ".join(word.partition("\n")[0].rpartition("/")[2] for word in words)
    print(f"{time.perf_counter() - began:5.1f} s  {shown}", flush=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def expect(holds: bool, otherwise: str) -> None:
    """End with words unless something holds."""
    if not holds:
        sys.exit(otherwise)


def use_with_pip(place: Path, wheel: Path, archive: Path) -> None:
    """Install both with plain pip into an empty environment; the wheel plays the whole demo."""
    venv.create(place, with_pip=True)
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    python, pip = scripts / "python", ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(python, *pip, wheel)
    run(python, "-c", CHECK)
    run(scripts / NAME, "demo")
    run(python, *pip, "--no-deps", "--force-reinstall", archive)
    run(python, "-c", CHECK)


def use_with_uv(home: Path, wheel: Path, archive: Path) -> None:
    """Do what a person does who has uv alone: `uvx hybrid-memory-mcp install`, out of an index that has both files."""
    home.mkdir()
    pages = home / "index" / NAME
    pages.mkdir(parents=True)
    links = (f'<a href="{file.as_uri()}">{file.name}</a>' for file in (wheel, archive))
    (pages / "index.html").write_text("<!DOCTYPE html>" + "".join(links), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HYBRID_MEMORY_"))}  # noqa: TID251 - of who runs it
    environment = kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "UV_CACHE_DIR": run("uv", "cache", "dir").strip(),
        "UV_INDEX": pages.parent.as_uri(),
    }
    for file in (wheel, archive):
        run("uvx", "--from", file, NAME, "--version", environment=environment)
    printed = json.loads(run("uvx", NAME, "install", "--print", environment=environment))
    answers(*started(printed["mcpServers"]["memory"]), environment=environment)
    run("uvx", NAME, "install", "claude-code", "--yes", environment=environment)
    entry = started(json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"]["memory"])
    expect(Path(entry[0]).is_relative_to(home), f"{entry[0]} is not what `uv tool install` installed")
    answers(*entry, environment=environment)
    run(entry[0], "remember", FACT, environment=environment)
    settings = json.loads((home / ".claude" / "settings.json").read_text("utf-8"))
    (hook,) = settings["hooks"]["SessionStart"][0]["hooks"]
    begun = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(home)})
    told = run(*started(hook), said=begun, environment=environment)
    expect(FACT.rstrip(".") in told, f"the hook does not tell what was remembered: {told}")


def started(entry: Mapping[str, object]) -> Sequence[str]:
    """Return the words that an entry or a hook of a client starts."""
    return [str(entry["command"]), *(entry["args"] if isinstance(entry["args"], list) else [])]


def answers(*command: str, environment: Mapping[str, str]) -> None:
    """Start a server as a client does and end with an error unless it answers its first request."""
    said = run(*command, said=json.dumps(INITIALIZE) + "\n", environment=environment)
    answer = json.loads(said.partition("\n")[0] or "{}")
    expect(answer.get("result", {}).get("serverInfo", {}).get("name") == NAME, f"no answer of ours: {said}")


def main() -> None:
    """Build, install, use."""
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        run("uv", "build", "--quiet", "--out-dir", place / "dist", PROJECT)
        wheel, archive = (next((place / "dist").glob(ending)) for ending in ("*.whl", "*.tar.gz"))
        print(*(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB" for file in (wheel, archive)), sep="\n")
        run("uvx", "twine", "check", "--strict", wheel, archive)
        with ThreadPoolExecutor() as at_once:  # pip waits for one core most of the time
            by_uv = at_once.submit(use_with_uv, place / "home", wheel, archive)
            use_with_pip(place / "empty", wheel, archive)
            by_uv.result()
    print("wheel and source archive work with pip and with uv")


if __name__ == "__main__":
    main()
