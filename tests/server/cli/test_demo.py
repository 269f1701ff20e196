"""The demo keeps its promises also where the embedding model is still being unpacked."""

import anyio
from rich.console import Console

from hybrid_memory_mcp.cli import demo


class Client:
    """A client whose server has its model after some calls of `status`, and finds what belongs together only then."""

    def __init__(self, waits):
        self.waits = waits

    async def status(self):
        self.waits -= 1
        return {"pending_vectors": max(self.waits, 0)}

    async def call(self, tool, **arguments):
        if tool == "reflect" and "insights" in arguments:
            return {"stored": ["i"]}
        return {"groups": [{"ids": ["a"], "memories": [{"text": "Ada learns."}]}] if self.waits <= 0 else []}


def test_the_reflection_waits_for_the_model(monkeypatch):
    monkeypatch.setattr(demo, "_PAUSE_SECONDS", 0)
    report = demo.DemoReport(Console(quiet=True))
    assert anyio.run(demo._reflect, Client(waits=3), report) == "i"
