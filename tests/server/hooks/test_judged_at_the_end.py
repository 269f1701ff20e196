"""A judge that an extra offers is asked when a conversation has ended: behind the hook, never before its answer."""

import threading
from functools import partial

import pytest
from tests.server.hooks import hooking
from tests.server.hubs import ThreadedHub, no_other_hub
from tests.server.services import WAIT_SECONDS, ObservedService

from hybrid_memory.model import Kind
from hybrid_memory.requests import ListRequest
from hybrid_memory_mcp.hub import hook_events
from hybrid_memory_mcp.projects import MARKER
from hybrid_memory_mcp.relay.connecting import hub_is_running

pytestmark = pytest.mark.usefixtures("unhurried")

Talk = partial(hooking.Talk, here=True)


class Judge:
    """Notes what it is asked about and what was kept by then, and thinks for as long as the test wants."""

    def __init__(self):
        self.asked, self.found = [], []
        self.begun, self.ended = threading.Semaphore(0), threading.Semaphore(0)
        self.go, self.error = threading.Event(), None
        self.go.set()

    def judge(self, provider, home, scope):
        self.asked.append((home, scope))
        wanted = ListRequest(session=scope.session, kind=Kind.EPISODE)
        self.found += provider.run(lambda service: service.list_memories(scope, wanted)).memories
        self.begun.release()
        assert self.go.wait(WAIT_SECONDS)
        if self.error is not None:
            raise self.error

    def wait(self):
        """Wait until it is asked about another conversation."""
        assert self.begun.acquire(timeout=WAIT_SECONDS)

    def wait_for_end(self):
        """Wait until the hub has done with another conversation, whether it asked or not."""
        assert self.ended.acquire(timeout=WAIT_SECONDS)


@pytest.fixture
def judge(monkeypatch):
    judge = Judge()
    real = hook_events.judge_ended

    def judge_ended(*about):
        try:
            real(*about)
        finally:
            judge.ended.release()

    monkeypatch.setattr(hook_events, "judges", lambda: {"test": judge})
    monkeypatch.setattr(hook_events, "judge_ended", judge_ended)
    return judge


def test_it_is_asked_about_the_conversation_when_all_of_that_is_kept(home, service, judge):
    Talk(home, "first").say("the kiln in the old shed went cold again").hook("session-end", reason="exit")
    judge.wait()
    ((folder, scope),) = judge.asked
    assert (folder, scope.session, len(judge.found)) == (home, "claude-code:first", 1)


def test_it_is_asked_too_where_an_earlier_event_has_told_all_that_was_said(home, service, judge):
    talk = Talk(home, "first").say("the kiln in the old shed went cold again")
    talk.hook("stop")
    talk.hook("session-end", reason="exit")
    judge.wait()
    assert len(judge.asked) == 1


def test_the_hook_does_not_wait_for_it(home, service, judge):
    judge.go.clear()
    Talk(home, "first").hook("session-end", reason="exit")
    judge.wait()
    judge.go.set()


def test_a_hub_that_nobody_needs_stays_until_it_has_judged(home, judge):
    judge.go.clear()
    with ThreadedHub(home, ObservedService(), linger_seconds=0) as hub, no_other_hub(home):
        for name in ("first", "second"):
            Talk(home, name).hook("session-end", reason="exit")
            judge.wait()
        judge.go.set()
        hub.wait()


def test_a_hub_that_has_to_leave_does_not_wait_for_it(home, judge):
    judge.go.clear()
    with ThreadedHub(home, ObservedService()) as hub:
        Talk(home, "first").hook("session-end", reason="exit")
        judge.wait()
        hub.leave()
        hub.wait()
    judge.go.set()


@pytest.mark.parametrize("switch", ["off = true", "read_only = true"])
def test_a_place_where_the_memory_is_off_or_only_read_is_not_judged(home, service, judge, switch):
    folder = home.parent / "project"
    folder.mkdir()
    (folder / MARKER).write_text(switch)
    Talk(home, "first", folder=folder).hook("session-end", reason="exit")
    judge.wait_for_end()
    assert judge.asked == []


def test_where_capture_is_off_nothing_is_judged(home, service, judge):
    (home / "config.toml").write_text("[hooks]\ncapture = false\n")
    Talk(home, "first").hook("session-end", reason="exit")
    judge.wait_for_end()
    assert judge.asked == []


def test_a_judge_that_fails_is_logged_and_the_next_conversation_is_judged(home, service, judge, caplog):
    judge.error = RuntimeError("what somebody said")
    for name in ("first", "second"):
        Talk(home, name).hook("session-end", reason="exit")
        judge.wait_for_end()
    assert len(judge.asked) == 2
    assert "what somebody said" not in caplog.text


@pytest.mark.parametrize("event", ["stop", "pre-compact", "prompt", "session-start"])
def test_no_other_event_asks_it(home, service, judge, event):
    Talk(home, "first").say("the kiln went cold").hook(event, prompt="Hello there", source="startup")
    Talk(home, "second").hook("session-end", reason="exit")
    judge.wait()
    assert [scope.session for _, scope in judge.asked] == ["claude-code:second"]


def test_no_hub_is_started_for_a_conversation_that_left_nothing(home):
    home.mkdir(exist_ok=True)
    Talk(home, "first").hook("session-end", reason="exit")
    assert not hub_is_running(str(home))
