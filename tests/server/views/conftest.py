"""A memory that views look at: real rules, no file, a clock that stands still; and what asks a view."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from importlib import import_module

import pytest

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_mcp.views.view import ViewRequest


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine on which no assistant is."""
    for name in ("HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "person"))
    monkeypatch.setenv("PATH", "")
    (tmp_path / "person").mkdir()
    return tmp_path / "person"


@pytest.fixture
def service(clock):
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource(3))
    yield service
    service.close()


@pytest.fixture
def scope():
    return Scope(session="morning", actor="claude-code")


def load_of(view):
    return import_module(f"hybrid_memory_mcp.views.{view}").load


@pytest.fixture
def look(service, scope):
    """Returns what a view shows: ``look("timeline", order="true")``."""

    def look(view, /, zone=UTC, **parameters):
        return load_of(view)(service, ViewRequest(scope=scope, parameters=parameters, zone=zone))

    return look


@pytest.fixture
def say(service, scope):
    """Lets the person say something that is kept; returns its id."""

    def say(text, **fields):
        given = {"memory_type": MemoryType.LONG_TERM, "origin": Origin.USER} | fields
        return service.write(scope, WriteRequest(content=text, **given)).id

    return say


@pytest.fixture
def moves(say, clock):
    """Ada moves: Berlin on day 0; on day 10 it is learned that she lives in Lisbon since day 5; Porto on day 20. It is day 30."""
    ids = {"berlin": say("Ada lives in Berlin.")}
    clock.advance(days=10)
    since = clock.now() - timedelta(days=5)
    ids["lisbon"] = say("Ada lives in Lisbon.", supersedes=ids["berlin"], occurred_at=since)
    clock.advance(days=10)
    ids["porto"] = say("Ada lives in Porto.", supersedes=ids["lisbon"])
    clock.advance(days=10)
    return ids


@pytest.fixture
def say_in(service, scope):
    """Lets the person say something in a conversation of Claude Code; returns its id."""

    def say_in(session, text):
        there = replace(scope, session=session, actor="hook of claude-code")
        given = {"memory_type": MemoryType.LONG_TERM, "origin": Origin.USER}
        return service.write(there, WriteRequest(content=text, **given)).id

    return say_in
