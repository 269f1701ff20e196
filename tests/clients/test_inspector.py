"""The Inspector's command line, which reports schemas that are not portable between clients."""

import json
import os
import subprocess

import pytest
from tests.clients.environments import TABLE, node, node_packages
from tests.clients.server_of_clients import serving

RUNS = [(transport, era) for transport in ("stdio", "http") for era in ("legacy", "modern")]


class Inspector:
    """Runs the Inspector on one server."""

    def __init__(self, config):
        row = TABLE["inspector"]
        folder = node_packages("inspector", row["packages"])
        program = folder / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        self.command = [str(node()), str(program), "--cli", "--config", str(config), "--server", "memory"]

    def run(self, *arguments):
        return subprocess.run(
            [*self.command, "--format", "json", *arguments],
            env={**os.environ, "MCP_INSPECTOR_SECRET_STORE": "memory"},  # noqa: TID251 - for the process; else it looks for a key ring
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )


@pytest.fixture(params=RUNS, ids=[" ".join(one) for one in RUNS])
def inspector(request, folder):
    transport, era = request.param
    with serving(transport, folder / "home") as server:
        job = server.job()
        if transport == "http":
            headers = {"Authorization": f"Bearer {job['token']}"}
            entry = {"type": "streamable-http", "url": job["url"], "headers": headers}
        else:
            entry = {"type": "stdio", "command": job["command"][0], "args": job["command"][1:]}
        config = folder / "config.json"
        config.write_text(json.dumps({"mcpServers": {"memory": {**entry, "protocolEra": era}}}))
        yield Inspector(config)


def test_the_inspector_has_nothing_to_say_about_the_tools_and_calls_them(inspector):
    listed = inspector.run("--method", "tools/list", "--strict")
    assert [line for line in listed.stderr.splitlines() if line.startswith(("Warning", "Error"))] == []
    assert listed.returncode == 0
    assert len(json.loads(listed.stdout)["result"]["tools"]) == 5

    written = inspector.run("--method", "tools/call", "--tool-name", "write_memory", "--tool-arg", "content=Ada sings")
    assert written.returncode == 0, written.stderr
    found = inspector.run("--method", "tools/call", "--tool-name", "read_memories", "--tool-arg", "query=Who sings?")
    assert "Ada sings" in found.stdout

    refused = inspector.run("--method", "tools/call", "--tool-name", "write_memory", "--tool-arg", "importance=7")
    assert refused.returncode == 5
    assert "content" in refused.stdout + refused.stderr

    status = inspector.run("--method", "resources/read", "--uri", "memory://status")
    assert status.returncode == 0, status.stderr
