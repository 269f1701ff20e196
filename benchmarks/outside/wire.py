"""One MCP server behind stdio: JSON-RPC lines and nothing else, so that servers of any SDK and age can be spoken to."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

PROTOCOL = "2025-06-18"
CALL_TIMEOUT_SECONDS = 120.0
_CLOSE_TIMEOUT_SECONDS = 5.0


class ServerGone(Exception):
    """The server ended, or said nothing for too long, before it answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool call gave: its result as the server sent it, the seconds that it took, and when it came."""

    result: Mapping[str, Any]
    seconds: float
    at: float = 0.0

    @property
    def error(self) -> bool:
        """Whether the server itself calls it an error."""
        return bool(self.result.get("isError")) or "protocolError" in self.result

    @property
    def text(self) -> str:
        """All that came back, as one string of JSON."""
        return json.dumps(self.result, ensure_ascii=False)

    @property
    def structured(self) -> Mapping[str, Any]:
        """The structured part; empty where there is none."""
        return self.result.get("structuredContent") or {}


class Server:
    """A running server process and the one client that speaks to it. Calls may come from several threads."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._numbers = count(1)
        self._waiting: dict[int, Future[Mapping[str, Any]]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._ended = False
        self.noise = 0
        self.spawned = time.perf_counter()
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **environment},  # noqa: TID251 - handed on
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def initialize(self, timeout_seconds: float = CALL_TIMEOUT_SECONDS) -> float:
        """Shake hands and return the seconds since the process was spawned.

        Raises:
            ServerGone: the server did not answer.
        """
        client = {"name": "outside", "version": "1"}
        wanted = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        self._result(self._send("initialize", wanted), timeout_seconds)
        taken = time.perf_counter() - self.spawned
        self._put({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return taken

    def tools(self, timeout_seconds: float = CALL_TIMEOUT_SECONDS) -> list[Any]:
        """Return the tool list, over all its pages.

        Raises:
            ServerGone: the server did not answer.
        """
        found: list[Any] = []
        cursor: dict[str, Any] = {}
        while True:
            result = self._result(self._send("tools/list", cursor), timeout_seconds)
            found += result.get("tools", [])
            if not result.get("nextCursor"):
                return found
            cursor = {"cursor": result["nextCursor"]}

    def call(self, tool: str, arguments: Mapping[str, Any], timeout_seconds: float = CALL_TIMEOUT_SECONDS) -> Answer:
        """Call a tool and wait for what it gives.

        Raises:
            ServerGone: the server did not answer.
        """
        return self.later(tool, arguments)(timeout_seconds)

    def later(self, tool: str, arguments: Mapping[str, Any]) -> Call:
        """Call a tool without waiting."""
        return Call(self, self._send("tools/call", {"name": tool, "arguments": arguments}))

    def close(self) -> float | None:
        """End the server's standard input; return the seconds until it had left, None where it had to be killed."""
        began = time.perf_counter()
        self._close_input()
        try:
            self.process.wait(_CLOSE_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        taken = time.perf_counter() - began
        self.kill()
        return taken

    def kill(self) -> None:
        """End the process as kill -9 does, and wait until it is gone. Can be called again, and after its end."""
        self.process.kill()
        self.process.wait()
        self._close_input()
        self._reader.join(_CLOSE_TIMEOUT_SECONDS)
        if self.process.stdout and not self._reader.is_alive():
            self.process.stdout.close()

    def _close_input(self) -> None:
        if self.process.stdin:
            with suppress(OSError), self._writing:
                self.process.stdin.close()

    def _send(self, method: str, params: Mapping[str, Any]) -> Future[Mapping[str, Any]]:
        number = next(self._numbers)
        future: Future[Mapping[str, Any]] = Future()
        with self._lock:
            if self._ended:
                future.set_exception(ServerGone("the server has ended"))
                return future
            self._waiting[number] = future
        self._put({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return future

    def _put(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        try:
            with self._writing:
                if self.process.stdin:
                    self.process.stdin.write(line)
                    self.process.stdin.flush()
        except (OSError, ValueError):
            pass  # the reader sees the end and tells those who wait

    def _result(self, future: Future[Mapping[str, Any]], timeout_seconds: float) -> Mapping[str, Any]:
        try:
            message = future.result(timeout_seconds)
        except Late:
            raise ServerGone(f"no answer in {timeout_seconds:.0f} s") from None
        result: Mapping[str, Any] = message.get("result", {"protocolError": message.get("error")})
        return result

    def _read(self) -> None:
        stream = self.process.stdout
        while stream and (line := stream.readline()):
            try:
                message = json.loads(line)
            except ValueError:
                self.noise += bool(line.strip())
                continue
            self._take(message)
        with self._lock:
            self._ended = True
            left = list(self._waiting.values())
            self._waiting.clear()
        for future in left:
            future.set_exception(ServerGone("the server has ended"))

    def _take(self, message: Mapping[str, Any]) -> None:
        if "method" not in message:
            with self._lock:
                future = self._waiting.pop(message.get("id", 0), None)
            if future:
                future.set_result(message)
        elif "id" in message:
            refusal = {"code": -32601, "message": "this client offers nothing"}
            answer: dict[str, Any] = {"result": {}} if message["method"] == "ping" else {"error": refusal}
            self._put({"jsonrpc": "2.0", "id": message["id"], **answer})


class Call:
    """A tool call that was sent; called, it waits for the answer."""

    def __init__(self, server: Server, future: Future[Mapping[str, Any]]) -> None:
        self._server, self._future = server, future
        self._began = time.perf_counter()
        self._done = self._began
        future.add_done_callback(lambda _: setattr(self, "_done", time.perf_counter()))

    def __call__(self, timeout_seconds: float = CALL_TIMEOUT_SECONDS) -> Answer:
        """Wait for the answer.

        Raises:
            ServerGone: the server did not answer.
        """
        result = self._server._result(self._future, timeout_seconds)  # noqa: SLF001 - one part in two classes
        return Answer(result, self._done - self._began, self._done)
