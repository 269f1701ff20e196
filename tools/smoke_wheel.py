"""Builds the wheel, installs it with plain pip into an empty environment, and uses what it ships.

    python tools/smoke_wheel.py

Needs `uv` (to build) and the package index (pip installs the dependencies). Ends non-zero when anything is missing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CHECK = """
import importlib.resources as resources
from importlib.metadata import entry_points
from hybrid_memory_prompts.render import Renderer
from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory_mcp.chat_app.document import inspector_html
from hybrid_memory_mcp.testing import memory_for_tests

assert StaticEmbedder().embed(["hello"]).shape == (1, 256)
assert resources.files("hybrid_memory_prompts").joinpath("_quote.md.j2").is_file()
for package in ("hybrid_memory", "hybrid_memory_dbgpt", "hybrid_memory_mcp", "hybrid_memory_prompts"):
    assert resources.files(package).joinpath("py.typed").is_file(), package
Renderer()
assert "</script>" in inspector_html()
for part in ("templates/base.html.j2", "static/base.css", "static/htmx.min.js", "static/htmx.LICENSE.txt"):
    assert resources.files("hybrid_memory_mcp.page").joinpath(*part.split("/")).is_file(), part
assert "hybrid_memory_mcp.testing.plugin" in [one.module for one in entry_points(group="pytest11")]
with memory_for_tests() as memory:
    memory.remember("I am allergic to peanuts.")
    memory.assert_recalled("What must I not eat?", "peanuts")
print("the installed packages have their data")
"""


def run(*command: str | Path) -> None:
    """Run a command and stop with its exit code when it fails."""
    subprocess.run([str(part) for part in command], check=True)  # noqa: S603 - our own commands


def main() -> None:
    """Build, install, check."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run("uv", "build", "--wheel", "--quiet", "--out-dir", place / "dist", PROJECT)
        (wheel,) = (place / "dist").glob("*.whl")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        venv.create(place / "empty", with_pip=True)
        scripts = place / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
        run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        run(scripts / "python", "-c", CHECK)
        run(scripts / "hybrid-memory-mcp", "--help")
        run(scripts / "hybrid-memory-mcp", "demo")
        # As it is started by clients that have uv and nothing installed; with clients: tests/clients/packaging.
        run("uvx", "--from", wheel, "hybrid-memory-mcp", "--version")


if __name__ == "__main__":
    main()
