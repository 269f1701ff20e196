"""A client that writes and reads lines of JSON-RPC itself, for tests of real processes."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
}


class Raw:
    """Writes and reads lines on the pipes of a server process; ``lines`` keeps what came."""

    def __init__(self, process):
        self.process = process
        self.lines = []

    def send(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        self.lines.append(self.process.stdout.readline())
        return json.loads(self.lines[-1])

    def ask(self, number, method, **params):
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == number
        return answer

    def initialize(self, version="2025-11-25", capabilities=None):
        info = {"name": "raw", "version": "0"}
        answer = self.ask(0, "initialize", protocolVersion=version, capabilities=capabilities or {}, clientInfo=info)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, number, name, **arguments):
        return self.ask(number, "tools/call", name=name, arguments=arguments)["result"]


def outside():
    """A folder for a client to be at work in that is not in the repository of these tests, which is a project: None for this one."""
    return tempfile.gettempdir() if Path.cwd().is_relative_to(HERE) else None


@contextmanager
def started(home, *arguments, program=("-m", "hybrid_memory_mcp"), alone=True, folder=None, environment=None):
    """A server for one client: a process that has the store open itself, or else a relay; in a ``folder`` with more variables."""
    options = ["--standalone"] if alone else []
    process = subprocess.Popen(
        [sys.executable, *program, *options, "--home", str(home), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder or outside(),
        env=None if environment is None else os.environ | environment,  # noqa: TID251 - handed on
    )
    try:
        with process:
            yield Raw(process)
            if not process.stdin.closed:
                process.stdin.close()
            process.wait(60)
    finally:
        if process.poll() is None:
            process.kill()
