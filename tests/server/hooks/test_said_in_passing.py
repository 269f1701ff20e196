"""What a person says in passing is kept by a hook as an episode, unless they switch that off."""

from contextlib import closing, contextmanager

import pytest
from tests.server.hooks import hooking
from tests.server.hubs import ThreadedHub, short_folder

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Kind, Scope
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import CONFIG
from hybrid_memory_mcp.hooks import program

SAID = "the kiln in the old shed went cold again"
SCOPE = Scope(session="test")


@contextmanager
def served():
    """A new store that is served, and its folder."""
    with short_folder() as home:
        home.parent.mkdir(exist_ok=True)
        opened = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
        with closing(opened) as service, ThreadedHub(home, service):
            yield service, home


def say(home, *lines, conversation="first"):
    """Say lines in a conversation; returns the answers of its hooks."""
    talk = hooking.Talk(home, conversation, here=True)
    for line in lines:
        talk.say(line)
    return talk.hook("stop")


@contextmanager
def heard(*lines):
    """The store of somebody who said these lines in a conversation, and the answers of its hooks."""
    with served() as (service, home):
        yield service, say(home, *lines)


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    for event in program.LIMIT_SECONDS:
        monkeypatch.setitem(program.LIMIT_SECONDS, event, hooking.TIMEOUT_SECONDS)


def found(service, query=""):
    return [hit.memory for hit in service.read(SCOPE, ReadRequest(query=query)).hits]


def test_it_is_found_when_it_is_asked_for():
    with heard(SAID) as (service, _):
        assert [(one.content, one.kind) for one in found(service, "kiln shed")] == [(SAID, Kind.EPISODE)]


def test_it_is_not_told_unasked():
    with heard(SAID, "I prefer tabs over spaces") as (service, _):
        assert [one.content for one in found(service)] == ["I prefer tabs over spaces"]


def test_it_is_not_counted_as_kept():
    with heard(SAID) as (_, told):
        assert "kept" not in str(told)


def test_nothing_of_it_is_kept_where_that_is_switched_off(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_EPISODE_DAYS", "0")
    with heard(SAID) as (service, _):
        assert found(service, "kiln shed") == []


def test_switching_it_off_holds_at_once_while_a_client_is_connected():
    with served() as (service, home):
        (home / CONFIG).write_text("episode_days = 0\n")
        say(home, SAID)
        assert found(service, "kiln shed") == []
        (home / CONFIG).unlink()
        say(home, SAID, conversation="second")
        assert [one.content for one in found(service, "kiln shed")] == [SAID]


def test_a_question_is_no_episode():
    with heard("why did the kiln in the old shed go cold?") as (service, _):
        assert found(service, "kiln shed") == []
