"""What a command asks of a hub that serves clients."""

import pytest
from tests.server.hubs import ThreadedHub
from tests.server.services import ObservedService

from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory_mcp.admin import hub_client
from hybrid_memory_mcp.admin.hub_client import HubEnded, call_hub, stop_hub
from hybrid_memory_mcp.cli.operation_call import call_operation


def test_recall_finds_what_a_client_wrote(home):
    service = ObservedService()
    with ThreadedHub(home, service):
        service.write(Scope(session="client"), WriteRequest(content="the violin hangs in the hall"))
        found = call_hub(home, "default", "recall", {"query": "violin", "limit": 3}, lambda *_: None)
    assert "the violin hangs in the hall" in str(found)


def test_what_a_command_finds_does_not_count_as_recalled(home):
    service = ObservedService()
    with ThreadedHub(home, service):
        service.write(Scope(session="client"), WriteRequest(content="the violin hangs in the hall"))
        call_hub(home, "default", "recall", {"query": "violin", "limit": 3}, lambda *_: None)
        assert not service._recalls


def test_a_hub_that_shall_make_room_tells_relays_how_long_to_wait(home, monkeypatch):
    # The hub is a thread of this process, whose lock stays until the end of the test.
    monkeypatch.setattr(hub_client, "hub_is_running", lambda _: False)
    with ThreadedHub(home, ObservedService()) as hub:
        assert stop_hub(home, pause_ms=1234)
        assert hub.hub._pause_ms == 1234


@pytest.fixture
def commands(monkeypatch):
    """Hubs that end before they answer; gives the operations that they were asked for, and ends them ``ends`` times."""

    class Hubs:
        ends, asked = 1, []

    def call(home, namespace, operation, *_, **__):
        hubs.asked.append(operation)
        if len(hubs.asked) <= hubs.ends:
            raise HubEnded
        return {"done": True}

    hubs = Hubs()
    hubs.asked = []
    monkeypatch.setattr(hub_client, "call_hub", call)
    return hubs


@pytest.mark.parametrize("operation", ["recall", "list", "show", "reflect", "status", "history", "doctor", "export"])
def test_a_command_that_changes_nothing_asks_the_next_hub_once(home, commands, operation):
    assert call_operation(home, operation, may_be_new=True) == {"done": True}
    commands.asked.clear()
    commands.ends = 2
    with pytest.raises(HubEnded):
        call_operation(home, operation, may_be_new=True)
    assert len(commands.asked) == 2


@pytest.mark.parametrize(
    "operation",
    [
        "remember",
        "correct",
        "forget",
        "pin",
        "store_insights",
        "backup",
        "restore",
        "import",
        "purge",
        "redact",
        "repair",
        "reembed",
    ],
)
def test_a_command_that_changes_something_is_left_to_the_person(home, commands, operation):
    with pytest.raises(HubEnded, match="run the command again"):
        call_operation(home, operation, may_be_new=True)
    assert commands.asked == [operation]
