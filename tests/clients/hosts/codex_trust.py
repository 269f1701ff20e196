"""What a person does in Codex after the installation: look at the new hooks under `/hooks` and trust them.

The screen for it speaks to Codex's own server over lines of JSON; here the same is said without a screen.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class _Server:
    def __init__(self, program: Path, environment: Mapping[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [str(program), "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=dict(environment),
            text=True,
        )
        self._number = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._number += 1
        self.tell(method, id=self._number, params=params)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        raise AssertionError(f"no answer to {method}")

    def tell(self, method: str, **more: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"method": method, **more}) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(30)


@contextmanager
def _server_of(program: Path, environment: Mapping[str, str], folder: Path) -> Iterator[_Server]:
    server = _Server(program, environment, folder)
    try:
        server.ask("initialize", {"clientInfo": {"name": "tests", "title": "tests", "version": "1"}})
        server.tell("initialized")
        yield server
    finally:
        server.close()


def hooks_seen(program: Path, environment: Mapping[str, str], folder: Path) -> list[dict[str, Any]]:
    """Return the hooks that Codex sees in a folder, with `trustStatus`."""
    with _server_of(program, environment, folder) as server:
        (seen,) = server.ask("hooks/list", {"cwds": [str(folder)]})["data"]
        return list(seen["hooks"])


def trust_hooks(program: Path, environment: Mapping[str, str], folder: Path) -> None:
    """Trust every hook that Codex sees in a folder."""
    trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks_seen(program, environment, folder)}
    edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
    with _server_of(program, environment, folder) as server:
        server.ask("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
