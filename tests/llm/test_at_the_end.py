"""All of it together: a hook, the hub, the extra that its entry point names, and a service that answers."""

import threading
from contextlib import closing

import pytest
from tests.server.hooks import hooking
from tests.server.hubs import TIMEOUT_SECONDS, ThreadedHub, short_folder

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope, Tier
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.hooks import program

SAID = "the kiln in the old shed went cold again"
SCOPE = Scope(session="test")


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    for event in program.LIMIT_SECONDS:
        monkeypatch.setitem(program.LIMIT_SECONDS, event, hooking.TIMEOUT_SECONDS)


@pytest.mark.slow
def test_a_conversation_that_ends_is_judged_by_the_model_of_the_settings(endpoint):
    endpoint.says = lambda asked: {"keep": [{"id": asked.name_of(SAID), "kind": "fact"}]}
    settled = threading.Event()
    with short_folder() as home:
        home.mkdir(parents=True)
        (home / "config.toml").write_text(f'[llm]\non = true\nbase_url = "{endpoint.url}"\nmodel = "small-1"\n')
        opened = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
        with closing(opened) as service, ThreadedHub(home, service):
            service.listen(lambda *_: settled.set() if service.acts.recent(SCOPE) else None)
            hooking.Talk(home, "first", here=True).say(SAID).hook("session-end", reason="exit")
            assert settled.wait(TIMEOUT_SECONDS)
            (found,) = (hit.memory for hit in service.read(SCOPE, ReadRequest()).hits)
    assert (found.content, found.tier) == (SAID, Tier.LONG_TERM)
