"""A person's folder that is not the real one, and the command line in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.clients.places import Machine, this_machine

PLACES = (
    "XDG_CONFIG_HOME APPDATA LOCALAPPDATA USERPROFILE CODEX_HOME CLAUDE_CONFIG_DIR GEMINI_CLI_HOME COPILOT_HOME"
    " HYBRID_MEMORY_HOME FLATPAK_XDG_CONFIG_HOME"
)


@dataclass(frozen=True)
class Person:
    """Somebody with a folder; nobody else's files are touched."""

    home: Path

    def install(self, *arguments: str, answers: str = "") -> Result:
        return CliRunner().invoke(app, ["install", *arguments], input=answers)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def json(self, name: str):
        return json.loads((self.home / name).read_text("utf-8"))

    def tree(self) -> dict[str, bytes | None]:
        return {
            str(path.relative_to(self.home)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.home.rglob("*"))
        }

    def machine(self) -> Machine:
        return this_machine()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("hybrid_memory_mcp.clients.installer._pause", lambda seconds: None)  # noqa: ARG005


@pytest.fixture
def person(tmp_path, monkeypatch):
    for name in PLACES.split():
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("COLUMNS", "250")
    return Person(home)
