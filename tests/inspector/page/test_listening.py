"""Where the page listens, and whose connections it takes."""

from __future__ import annotations

import os
import socket
import sys

import pytest
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_inspector.page import listening

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """These tests may speak to this machine."""
    real = socket.socket.connect

    def connect(self, address):
        assert address[0].startswith("127.") or address[0] == "::1", "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(params=["127.3.2.1", "::1"])
def connection(request):
    """Both ends of a connection within this machine: that of who connected first."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        served = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip("this machine has no such address")
    with served, socket.create_connection(served.getsockname()[:2]) as ours, served.accept()[0] as theirs:
        yield ours.getsockname()[:2], theirs.getsockname()[:2]


@linux
def test_the_kernel_and_its_table_say_the_same_of_whose_a_connection_is(connection):
    assert listening.user_of(*connection) == os.geteuid()
    assert listening._found_in_table(*connection) == os.geteuid()


@linux
def test_of_a_connection_that_is_not_there_nothing_is_known(connection):
    local, remote = connection
    assert listening.user_of((local[0], 1), remote) is None


@linux
def test_where_the_kernel_may_not_be_asked_its_table_is_read(connection, monkeypatch):
    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(listening, "_asked_of_kernel", refused)
    assert listening.user_of(*connection) == os.geteuid()


@linux
def test_connections_of_this_user_are_taken_and_others_are_not(monkeypatch):
    served, host = listening.listen_for_page("127.3.2.1", 0)
    with served, socket.create_connection((host, served.getsockname()[1])), served.accept()[0] as accepted:
        assert listening.user_check(served)(accepted)
        check = listening.user_check(served)
        monkeypatch.setattr(listening.os, "geteuid", lambda: 54321)
        assert not check(accepted)


def test_where_the_system_does_not_tell_the_token_decides_alone(monkeypatch):
    monkeypatch.setattr(listening, "user_of", lambda *_: None)
    served, _ = listening.listen_for_page("127.0.0.1", 0)
    with served:
        assert listening.user_check(served)(served)


def test_where_there_is_one_loopback_address_the_page_has_that(monkeypatch):
    real = listening.listen_at

    def listen_at(host, port):
        if host != "127.0.0.1":
            raise InvalidInput("port", "cannot listen there")
        return real(host, port)

    monkeypatch.setattr(listening, "listen_at", listen_at)
    served, host = listening.listen_for_page(None, 0)
    with served:
        assert host == "127.0.0.1"


def test_a_browser_of_windows_reaches_the_page_of_its_linux(monkeypatch):
    monkeypatch.setattr(listening, "_is_inside_windows", lambda: True)
    served, host = listening.listen_for_page(None, 0)
    with served:
        assert host == "127.0.0.1"
        assert listening.user_check(served)(served)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1"])
def test_a_host_that_is_named_stands_in_the_address(host):
    served, shown = listening.listen_for_page(host, 0)
    with served:
        assert shown == host.lower()
        assert served.getsockname()[0] == "127.0.0.1"


@each(
    "host",
    [
        "",
        "0.0.0.0",  # noqa: S104 - that is refused
        "::",
        "192.168.1.1",
        "example.com",
        "127.1",
        "0127.0.0.1",
        "127.0.0.1 ",
        "127.0.0.1/8",
        "localhost.evil.example",
    ],
)
def test_an_address_that_others_can_reach_or_read_otherwise_is_refused(host):
    with pytest.raises(InvalidInput, match="this machine's own"):
        listening.listen_for_page(host, 0)
