"""What a command asks of a hub that serves clients."""

from tests.server.hubs import ThreadedHub
from tests.server.services import ObservedService

from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory_mcp.admin import hub_client
from hybrid_memory_mcp.admin.hub_client import call_hub, stop_hub


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
