"""The server that a client's driver speaks to: over pipes as a client starts it, or over HTTP; it can be restarted under the client."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hybrid_memory_mcp.admin.hub_client import stop_hub

START_SECONDS = 60
_PAUSE_MS = 300
_START_LATE = "import os, sys, time; time.sleep(2); os.execv(sys.argv[1], sys.argv[1:])"
PROGRAM = (sys.executable, "-m", "hybrid_memory_mcp")


class StdioServer:
    """What a client starts: a relay, and the hub that it finds or starts."""

    transport = "stdio"

    def __init__(self, home: Path) -> None:
        self.home = home

    def job(self) -> dict[str, Any]:
        """Return what a driver needs to connect."""
        return {"home": str(self.home), "command": [*PROGRAM, "--home", str(self.home)]}

    def late_job(self) -> dict[str, Any]:
        """Return the job with a server that starts two seconds late, as on a machine that has much to do."""
        job = self.job()
        return job | {"command": [sys.executable, "-c", _START_LATE, *job["command"]]}

    def restart(self) -> None:
        """End the hub; the relay of the client that is there starts the next one, a moment later, so that this one is seen to end."""
        assert stop_hub(self.home, pause_ms=_PAUSE_MS)

    def close(self) -> None:
        """End the hub."""
        stop_hub(self.home)


class HttpServer:
    """A server on a port of loopback, whose clients show a token."""

    transport = "http"

    def __init__(self, home: Path) -> None:
        made = subprocess.run(
            [*PROGRAM, "token", "create", "driver", "--home", str(home)], capture_output=True, text=True, check=True
        )
        self.home, self.token = home, made.stdout.strip()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process = self._started()

    def job(self) -> dict[str, Any]:
        """Return what a driver needs to connect."""
        return {"home": str(self.home), "url": f"http://127.0.0.1:{self.port}/mcp", "token": self.token}

    def restart(self) -> None:
        """End the process and start another at the same address: it knows nothing of sessions before."""
        self.close()
        self._process = self._started()

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(30)

    def _started(self) -> subprocess.Popen[bytes]:
        options = ["serve", "--http", "--port", str(self.port), "--home", str(self.home)]
        log = self.home.parent / "server.log"
        with log.open("ab") as errors:
            process = subprocess.Popen([*PROGRAM, *options], stdout=subprocess.DEVNULL, stderr=errors)
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            assert process.poll() is None, log.read_text("utf-8", "replace")
            assert time.monotonic() < end, "the server did not start"
            time.sleep(0.05)
        return process

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5):
                return True
        except OSError:
            return False


@contextmanager
def serving(transport: str, home: Path) -> Iterator[StdioServer | HttpServer]:
    """Serve over a transport; in memory the driver itself does, and only the folder is given."""
    server = HttpServer(home) if transport == "http" else StdioServer(home)
    try:
        yield server
    finally:
        server.close()
