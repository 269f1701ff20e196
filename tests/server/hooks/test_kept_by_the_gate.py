"""In a store with the default embedder, hooks keep what no rule knows but a fitted model finds worth keeping."""

from contextlib import closing

import pytest
from tests.server.hooks import hooking
from tests.server.hubs import ThreadedHub, short_folder

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope, Tier
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.hooks import program

SAID = "our deploys only go out on tuesdays, friday is frozen"


@pytest.fixture
def service(universal_cache, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", "universal")
    for event in program.LIMIT_SECONDS:
        monkeypatch.setitem(program.LIMIT_SECONDS, event, hooking.TIMEOUT_SECONDS)
    with short_folder() as home:
        home.parent.mkdir(exist_ok=True)
        opened = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
        with closing(opened) as service, ThreadedHub(home, service):
            talk = hooking.Talk(home, "first", here=True).say(f"{SAID}. can you fix the test?").say("ugh, rain again")
            talk.hook("session-end", reason="other")
            yield service


@pytest.mark.slow
def test_what_no_rule_knows_is_kept_in_long_term(service):
    found = service.read(Scope(namespace="default", session="test"), ReadRequest(limit=9)).hits
    assert [(hit.memory.content, hit.memory.tier) for hit in found] == [(SAID, Tier.LONG_TERM)]
