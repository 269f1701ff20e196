"""Hooks in this process, with a real hub."""

from contextlib import closing

import pytest
from tests.server.hooks import hooking
from tests.server.hubs import ThreadedHub, short_folder

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.hooks import program, state


@pytest.fixture
def home():
    with short_folder() as folder:
        folder.parent.mkdir(exist_ok=True)
        yield folder


@pytest.fixture
def unhurried(monkeypatch):
    """Hooks of this process have all the time of a busy machine; those that run as clients run them have their limits."""
    for event in program.LIMIT_SECONDS:
        monkeypatch.setitem(program.LIMIT_SECONDS, event, hooking.TIMEOUT_SECONDS)
    monkeypatch.setattr(state, "_LOCK_SECONDS", hooking.TIMEOUT_SECONDS)


@pytest.fixture
def service(home):
    """The product over a store on disk, in a hub of this process."""
    opened = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    with closing(opened) as service, ThreadedHub(home, service):
        yield service
