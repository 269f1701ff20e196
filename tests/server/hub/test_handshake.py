"""Who connects to the hub, in whose scope it is served, and who is refused."""

import json
import sys

import pytest
from tests.server.hubs import TIMEOUT_SECONDS, ThreadedHub
from tests.server.raw import VERSIONS

from hybrid_memory_mcp.hub import hub as hub_module
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import connect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

RELAYS = [f"{number:032x}" for number in range(1, 10)]


def test_each_relay_is_served_in_the_scope_that_its_client_chose(hub, service):
    with (
        hub.connected(relay=RELAYS[0], arguments=["--namespace", "n", "--agent", "a", "--session", "s"]) as first,
        hub.connected(relay=RELAYS[1], variables=["HYBRID_MEMORY_NAMESPACE=m"]) as second,
    ):
        first.call("write_memory", content="Ada")
        second.call("write_memory", content="Grace")
    here, there = service.scopes
    assert (here.namespace, here.agent, here.session) == ("n", "a", "s")
    assert (there.namespace, there.agent) == ("m", "default")


def test_an_argument_wins_over_the_variable_of_the_same_client(hub, service):
    with hub.connected(arguments=["--namespace=n"], variables=["HYBRID_MEMORY_NAMESPACE=m"]) as client:
        client.call("write_memory", content="Ada")
    assert service.scopes[0].namespace == "n"


@pytest.mark.parametrize(
    ("about", "hour"),
    [
        ({"variables": ["TZ=Asia/Tokyo"]}, 1),
        ({"arguments": ["--timezone", "Asia/Tokyo"], "variables": ["TZ=UTC"]}, 1),
        ({"variables": ["TZ=UTC"]}, 10),
    ],
)
def test_a_date_without_zone_is_in_the_clients(hub, service, about, hour):
    with hub.connected(**about) as client:
        written = client.call("write_memory", content="Ada", occurred_at="2026-01-01T10:00:00")["structuredContent"]
    assert service.memories[written["id"]].occurred_at.astimezone(service.clock.now().tzinfo).hour == hour


def test_a_conversation_without_a_name_has_the_same_one_at_the_next_hub_and_another_for_each_relay(home, service):
    with (
        ThreadedHub(home, service) as hub,
        hub.connected(relay=RELAYS[0]) as one,
        hub.connected(relay=RELAYS[1]) as other,
    ):
        one.call("write_memory", content="Ada")
        other.call("write_memory", content="Grace")
    with ThreadedHub(home, service) as hub, hub.connected(relay=RELAYS[0], times=1) as one:
        one.call("write_memory", content="Edsger")
    first, second, third = (scope.session for scope in service.scopes)
    assert first == third
    assert first != second


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"arguments": ["--timezone", "Nowhere/Land"]}, "timezone: is not a known time zone"),
        ({"arguments": ["--nonsense"]}, "arguments: "),
        ({"relay": "short"}, "close all clients"),
    ],
)
def test_a_client_that_cannot_be_served_is_told_why(hub, about, told):
    client = hub.connect(**about)
    refused = client.receive_frame()
    assert refused.kind == protocol.REFUSED
    assert told in refused.payload.decode()
    assert client.receive_frame() is None
    client.close()


def test_status_names_those_of_the_namespace_who_are_connected(hub):
    with (
        hub.connected(relay=RELAYS[0], arguments=["--namespace", "n"]) as first,
        hub.connected(relay=RELAYS[1], arguments=["--namespace", "n", "--session", "mine"]) as second,
        hub.connected(relay=RELAYS[2]),
    ):
        second.ask("tools/list")
        status = first.ask("resources/read", uri="memory://status")["result"]["contents"][0]["text"]
        clients = json.loads(status)["clients"]
    assert [(one["pid"], one["namespace"]) for one in clients] == [(4711, "n"), (4711, "n")]
    assert (clients[1]["session"], clients[1]["client"]) == ("mine", "raw")


def test_more_connections_than_allowed_are_refused_until_one_ends(home, service):
    with ThreadedHub(home, service, connections=2) as hub, hub.connected() as first:
        with hub.connected():
            third = hub.connect()
            refused = third.receive_frame()
            third.close()
            assert refused.kind == protocol.REFUSED
            assert b"2 clients are connected already" in refused.payload
            assert first.call("read_memories")["isError"] is False
        while True:
            client = hub.connect()
            kind = client.receive_frame().kind
            client.close()
            if kind == protocol.WELCOME:
                break


@pytest.mark.parametrize(
    "bytes_", [b"garbage\n", b"GET / HTTP/1.1\r\n\r\n", b"H 0 - 99999999999\n", b"M 1 - 2\n{}", b"H 0 - 3\n\xff\0="]
)
def test_garbage_instead_of_a_hello_is_turned_away_and_others_are_served(hub, home, bytes_):
    with hub.connected() as client:
        probe = connect(str(home))
        probe.settimeout(TIMEOUT_SECONDS)
        probe.sendall(bytes_)
        while probe.recv(1000):
            pass
        probe.close()
        assert client.call("read_memories")["isError"] is False


def test_who_says_nothing_is_turned_away_without_a_word_in_the_log(hub, home, monkeypatch, caplog):
    monkeypatch.setattr(hub_module, "_HELLO_TIMEOUT_SECONDS", 0.02)
    probe = connect(str(home))
    probe.settimeout(TIMEOUT_SECONDS)
    assert probe.recv(1000) == b""
    probe.close()
    assert caplog.records == []


def test_garbage_after_the_greeting_ends_that_connection_alone(hub):
    with hub.connected() as good, hub.connected() as bad:
        bad.connection.sendall(b"garbage\n")
        while bad.receive_frame() is not None:
            pass
        assert good.call("read_memories")["isError"] is False


# the protocol's versions


@pytest.mark.parametrize("version", VERSIONS)
def test_every_older_protocol_version_is_spoken(hub, version):
    with hub.connected() as client:
        about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
        client.request("i", "initialize", **about)
        assert client.answer()[1]["result"]["protocolVersion"] == version
        client.notify("notifications/initialized")
        client.request("l", "tools/list")
        assert len(client.answer()[1]["result"]["tools"]) == 5
        client.request("r", "tools/call", name="read_memories", arguments={})
        assert client.answer()[1]["result"]["isError"] is False


def test_the_newest_protocol_version_is_spoken_without_a_handshake(hub):
    with hub.connected() as client:
        found = client.ask("server/discover")["result"]
        assert "2026-07-28" in found["supportedVersions"]
        assert found["capabilities"]["resources"]["subscribe"] is True
        assert client.call("write_memory", content="Ada plays the cello")["structuredContent"]["id"]


def began_older_handshake(client):
    """Return the answer to ``initialize``."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    client.request("i", "initialize", **about)
    return client.answer()[1]


def test_a_client_that_only_asked_what_the_server_can_may_begin_the_older_handshake(hub):
    """As clients do whose question had no answer within a second, from a server that has to start first."""
    with hub.connected() as client:
        assert "2026-07-28" in client.ask("server/discover")["result"]["supportedVersions"]
        assert began_older_handshake(client)["result"]["protocolVersion"] == "2025-11-25"
        client.notify("notifications/initialized")
        client.request("r", "tools/call", name="read_memories", arguments={})
        assert client.answer()[1]["result"]["isError"] is False


def test_a_client_that_works_in_the_newer_protocol_cannot_begin_the_older_handshake(hub):
    with hub.connected() as client:
        client.ask("tools/list")
        client.ask("server/discover")
        assert began_older_handshake(client)["error"]["code"] == -32022
