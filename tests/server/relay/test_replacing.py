"""A relay, a command or a hook that meets the hub of an older program; the test plays the hub."""

import sys
import threading
import time

import pytest
from tests.server.hubs import ping
from tests.server.hubs import relay_killed_at_end as relay

from hybrid_memory.store.duck import schema as file_schema
from hybrid_memory_mcp.hooks.asking import HubCaller
from hybrid_memory_mcp.relay import connecting, paths, protocol, replacing
from hybrid_memory_postgres import schema as database_schema

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

# Of hubs before this one could be told, of an earlier schema, and of an earlier version.
OLDER = ["", "8.99.9.9.9", "9.9.0.0.9"]


def operation(hub):
    """Accept somebody who asks for an operation; return the connection and the operation."""
    asking = hub.accept()
    asking.hear_hello()
    return asking, asking.hello_values("operation")


def leaves_when_asked(hub, program=""):
    """Answer as a hub of an older program does that is asked which it is, and then to leave."""
    asking, asked = operation(hub)
    assert asked == ["program"]
    # An operation that it does not know fails, one that it knows is answered under its name.
    asking.send_frame(protocol.RESULT if program else protocol.FAILED, b"{}", name=program)
    asking, asked = operation(hub)
    assert asked == ["leave"]
    assert asking.hello_values("given") == ['{"pause": 3000}']
    asking.send_frame(protocol.RESULT, b"{}")


def test_the_schemas_that_a_program_tells_are_those_that_it_knows():
    newest = (file_schema.MIGRATIONS[-1].number, database_schema.MIGRATIONS[-1].number)
    assert newest == protocol.SCHEMAS


@pytest.mark.parametrize("program", OLDER)
def test_a_relay_replaces_the_hub_of_an_older_program_and_sends_it_nothing(hub, home, program):
    with relay(home) as client:
        client.send(ping(1))
        older = hub.welcome(program)
        leaves_when_asked(hub, program)
        met = hub.welcome()
        assert met.line()[0] == 1
        met.answer(1, 1)
        assert client.receive()["id"] == 1
        assert older.receive_frame() is None


@pytest.mark.parametrize("program", [protocol.PROGRAM, "9.9.99.0.0", "10.9.0.0.1"])
def test_a_relay_is_served_by_a_hub_that_is_not_older(hub, home, program):
    with relay(home) as client:
        client.send(ping(1))
        assert hub.welcome(program).line()[0] == 1


def test_a_relay_leaves_a_hub_alone_that_has_replaced_the_older_one_meanwhile(hub, home):
    with relay(home) as client:
        client.send(ping(1))
        hub.welcome("")
        asking, _ = operation(hub)
        asking.send_frame(protocol.RESULT, b"{}", name=protocol.PROGRAM)
        assert hub.welcome().line()[0] == 1


def test_no_older_relay_can_start_a_hub_while_one_is_replaced(hub, home):
    with relay(home):
        hub.welcome("")
        asking, _ = operation(hub)
        assert not connecting.StoreLock(str(home), paths.START_LOCK).try_acquire()
        asking.send_frame(protocol.FAILED, b"{}")


def test_a_client_hears_what_to_do_about_an_older_hub_that_does_not_leave(home, hub, monkeypatch):
    lock = connecting.StoreLock(str(home), paths.HUB_LOCK)
    assert lock.try_acquire()
    answers = threading.Thread(target=leaves_when_asked, args=(hub,))
    answers.start()
    with pytest.raises(connecting.HubNotAnswering, match="older than this program and does not leave: restart"):
        replacing.make_room(str(home), time.monotonic())
    answers.join()
    lock.release()


def test_what_a_hub_that_leaves_has_refused_is_known_not_to_be_done_and_the_next_one_is_asked_the_next_time(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}})
        met.line()
        met.send_frame(protocol.REFUSED, b"this client's program is too old")
        met.close()
        assert client.receive()["result"]["content"][0]["text"] == "this client's program is too old. This was not done"
        client.send(ping(2))
        assert hub.welcome().line()[0] == 2


def test_a_hook_replaces_the_hub_of_an_older_program_that_fails(hub, home):
    found = []
    caller = HubCaller(str(home), [], {})
    given = {"event": "prompt"}
    asks = threading.Thread(target=lambda: found.append(caller.ask(given, time.monotonic() + 20, may_start=False)))
    asks.start()
    asking, asked = operation(hub)
    assert asked == ["hook_event"]
    # It is asked which program it is before it is replaced, and once more when nobody else can.
    asking.send_frame(protocol.FAILED, b"{}")
    operation(hub)[0].send_frame(protocol.FAILED, b"{}")
    leaves_when_asked(hub)
    operation(hub)[0].send_frame(protocol.RESULT, b'{"text": "brief"}')
    asks.join()
    assert found == [{"text": "brief"}]
