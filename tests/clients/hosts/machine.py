"""An empty machine with one assistant and one model, on which our command is tried as a newcomer does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.clients.environments import node
from tests.clients.hosts.codex_trust import hooks_seen, trust_hooks
from tests.clients.hosts.fake_model import FakeModel, Request, Script
from tests.clients.hosts.hosts import Host

from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.relay.paths import data_folder

COMMAND = Path(sys.executable).parent / "hybrid-memory-mcp"
REPOSITORY = Path(__file__).parents[3]
SAY_SECONDS = 120


@dataclass(frozen=True)
class Said:
    """What came of one prompt: how the program ended, what it printed, and what its model was asked."""

    exit_code: int
    output: str
    requests: tuple[Request, ...]
    seconds: float

    @property
    def first(self) -> Request:
        """Return the first request to the model that holds the conversation."""
        assert self.requests, self.output
        return self.requests[0]


class Machine:
    """A home folder of its own; nothing of the real one is seen."""

    def __init__(self, host: Host, folder: Path, model: FakeModel) -> None:
        self.host, self.model = host, model
        self.home, self.project = folder / "home", folder / "project"
        self.project.mkdir(parents=True)
        self.before = {Path(name): text for name, text in host.files(model.url).items()}
        for name, text in self.before.items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        own = {
            "PATH": os.pathsep.join((str(node().parent), "/usr/bin", "/bin")),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
        }
        self.environment = {**own, **host.environment(model.url)}
        self.store = Path(data_folder(self.environment))

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run our command as its user."""
        return self._run([str(COMMAND), *arguments])

    def install(self) -> None:
        """Do what the README says, and what the command asks a person to do in the assistant."""
        done = self.command("install", "--yes", self.host.name)
        assert done.returncode == 0, done.stdout + done.stderr
        self._installed = self._files()
        self.trust_hooks()

    def trust_hooks(self) -> None:
        """Trust the hooks, where the assistant wants that."""
        if self.host.name == "codex":
            trust_hooks(self.host.program(), self.environment, self.project)

    def hooks_without_trust(self) -> list[str]:
        """Return the events whose hooks Codex would pass over."""
        seen = hooks_seen(self.host.program(), self.environment, self.project)
        return [hook["eventName"] for hook in seen if hook["trustStatus"] != "trusted"]

    def install_plugin(self) -> None:
        """Add the plugin from this repository, with the program where a newcomer has it: on the path, or run by uvx."""
        programs = self.home / "bin"
        programs.mkdir()
        for name, dropped in (("hybrid-memory-mcp", ""), ("uvx", "shift; ")):
            (programs / name).write_text(f'#!/bin/sh\n{dropped}exec {COMMAND} "$@"\n')
            (programs / name).chmod(0o755)
        self.environment["PATH"] = os.pathsep.join((str(programs), self.environment["PATH"]))
        for command in self.host.plugin_commands(REPOSITORY):
            done = self._run([str(self.host.program()), "plugin", *command])
            assert done.returncode == 0, done.stdout + done.stderr
        self.trust_hooks()

    def take_out(self) -> list[str]:
        """Take ours out of the assistant; return what the installation had made and is still there, but for backups."""
        done = self.command("install", "--uninstall", "--yes", self.host.name)
        assert done.returncode == 0, done.stdout + done.stderr
        made = self._installed & self._files() - set(self.before)
        return sorted(str(name) for name in made if not name.name.endswith("-backup"))

    def text_of(self, name: Path) -> str:
        """Return a file of the home folder."""
        return (self.home / name).read_text(encoding="utf-8")

    def _files(self) -> set[Path]:
        return {file.relative_to(self.home) for file in self.home.rglob("*") if file.is_file()}

    def say(self, words: str, *replies: Script, goes_on: bool = False) -> Said:
        """Say something to the assistant; the model answers with the replies, then as always."""
        self.model.says(*replies)
        self.model.forget()
        begun = time.monotonic()
        done = self._run([str(self.host.program()), *self.host.arguments(words, goes_on=goes_on)])
        return Said(done.returncode, done.stdout + done.stderr, self.model.conversation, time.monotonic() - begun)

    def close(self) -> None:
        """End the hub that was started behind the assistant."""
        if self.store.exists():
            stop_hub(self.store)

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SAY_SECONDS,
            check=False,
        )


@contextmanager
def machine_with(host: Host, folder: Path) -> Iterator[Machine]:
    """Give a machine on which the assistant has been used and ours never."""
    with FakeModel() as model:
        machine = Machine(host, folder, model)
        try:
            yield machine
        finally:
            machine.close()
