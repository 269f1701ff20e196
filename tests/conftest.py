"""For all tests: nothing speaks to a network."""

import socket

import pytest


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    real = socket.socket.connect

    def connect(self, address):
        assert self.family == getattr(socket, "AF_UNIX", None), "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
