"""Where there are no Unix sockets: loopback, and each side proves that it knows the token."""

import socket
import stat
import sys
import threading
from contextlib import ExitStack

import pytest
from tests.server.hubs import TIMEOUT_SECONDS, ThreadedHub, no_other_hub, relay, short_folder
from tests.server.services import ObservedService

from hybrid_memory_mcp.hub import handshake
from hybrid_memory_mcp.relay import connecting, protocol
from hybrid_memory_mcp.relay.connecting import connect, proof
from hybrid_memory_mcp.relay.protocol import pack


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """In this module alone a test speaks over loopback, to itself."""
    real = socket.socket.connect

    def connect_here(self, address):
        assert address[0] == "127.0.0.1", "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)


@pytest.fixture
def home(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_LOOPBACK", "1")
    with short_folder() as folder, no_other_hub(folder):
        yield folder


@pytest.fixture
def hub(home):
    with ThreadedHub(home, ObservedService()) as real:
        yield real


def port_of(home):
    return int((home / "hub.port").read_text())


def knock(home):
    connection = socket.create_connection(("127.0.0.1", port_of(home)), timeout=TIMEOUT_SECONDS)
    connection.settimeout(TIMEOUT_SECONDS)
    return connection


def all_that_comes(connection):
    found = b""
    while True:
        try:
            part = connection.recv(1000)
        except ConnectionError:
            return found
        if not part:
            return found
        found += part


def test_who_knows_the_token_is_served(hub, home):
    with hub.connected() as client:
        assert client.call("write_memory", content="Ada")["isError"] is False
    assert not (home / "hub.sock").exists()


def test_a_relay_finds_its_way(hub, home):
    with relay(home) as client:
        client.initialize()
        assert client.call(1, "write_memory", content="Ada")["isError"] is False


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_port_and_token_are_for_the_owner_alone(hub, home):
    assert {stat.S_IMODE((home / name).stat().st_mode) for name in ("hub.port", "hub.token")} == {0o600}


def test_every_hub_has_a_token_of_its_own(home):
    tokens = set()
    for _ in range(2):
        with ThreadedHub(home, ObservedService()):
            tokens.add((home / "hub.token").read_bytes())
    assert len(tokens) == 2
    assert {len(token) for token in tokens} == {32}


def test_who_does_not_know_the_token_gets_nothing_but_the_hubs_proof(hub, home):
    token = (home / "hub.token").read_bytes()
    with knock(home) as probe:
        nonce = b"n" * 16
        probe.sendall(nonce)
        answer = connecting.read_exactly(probe, 48)
        assert answer[:32] == proof(token, nonce, b"hub")
        probe.sendall(proof(b"w" * 32, answer[32:], b"relay") + pack(protocol.HELLO, b"protocol=1"))
        assert all_that_comes(probe) == b""


def test_a_hubs_own_proof_is_no_proof_of_a_relay(hub, home):
    with knock(home) as first, knock(home) as second:
        first.sendall(b"n" * 16)
        challenge = connecting.read_exactly(first, 48)[32:]
        second.sendall(challenge)
        first.sendall(connecting.read_exactly(second, 48)[:32])
        assert all_that_comes(first) == b""


def test_connections_that_say_nothing_keep_nobody_out_and_hold_up_no_end(hub, home, monkeypatch):
    monkeypatch.setattr(handshake, "AUTHENTICATION_TIMEOUT_SECONDS", 60)
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(knock(home))
        with hub.connected() as client:
            assert client.call("read_memories")["isError"] is False
        hub.leave()
        hub.wait()


def test_a_connection_that_says_nothing_is_turned_away(hub, home, monkeypatch):
    monkeypatch.setattr(handshake, "AUTHENTICATION_TIMEOUT_SECONDS", 0.02)
    with knock(home) as probe:
        assert all_that_comes(probe) == b""


def test_a_server_that_does_not_know_the_token_learns_nothing(home):
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as other_server:
        (home / "hub.port").write_text(f"{other_server.getsockname()[1]}\n")
        (home / "hub.token").write_bytes(b"t" * 32)

        def pretend():
            caller, _ = other_server.accept()
            with caller:
                caller.settimeout(TIMEOUT_SECONDS)
                heard.append(connecting.read_exactly(caller, 16))
                caller.sendall(b"p" * 48)
                heard.append(all_that_comes(caller))

        pretending = threading.Thread(target=pretend)
        pretending.start()
        assert connect(str(home)) is None
        pretending.join()
    assert [len(part) for part in heard] == [16, 0]


@pytest.mark.parametrize("port", ["", "garbage", "99999999", "-1", "1"])
def test_a_port_that_leads_nowhere_is_no_hub(home, port):
    (home / "hub.port").write_text(port)
    (home / "hub.token").write_bytes(b"t" * 32)
    assert connect(str(home)) is None


def test_a_hub_over_unix_sockets_clears_the_port_of_a_former_one_away(home, monkeypatch):
    (home / "hub.port").write_text("1\n")
    monkeypatch.undo()  # back to Unix sockets, and to none but those
    with ThreadedHub(home, ObservedService()) as hub, hub.connected() as client:
        assert not (home / "hub.port").exists()
        assert client.call("read_memories")["isError"] is False
