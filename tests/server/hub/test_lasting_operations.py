"""Operations of extras whose connection stays open: the hub makes each once, serves commands with it, and ends it when it leaves."""

import json
import sys
from typing import ClassVar

import anyio
import pytest
from tests.server.hubs import FrameSocket, ThreadedHub
from tests.server.services import ObservedService

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.hub import hub as module
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import connect
from hybrid_memory_mcp.relay.protocol import pack, pack_fields

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


class Echo:
    """Answers with what it was given, then stays until it is ended."""

    made: ClassVar = []

    def __init__(self, *_):
        self.made.append(self)
        self.ended = False
        self._ending = anyio.Event()

    async def serve(self, _group, _stream, given, send):
        if "word" not in given:
            raise InvalidInput("word", "is missing")
        await send(pack(protocol.RESULT, json.dumps(given).encode()))
        await self._ending.wait()

    async def leave(self):
        self.ended = True
        self._ending.set()


@pytest.fixture(autouse=True)
def echo(monkeypatch):
    monkeypatch.setattr(Echo, "made", [])
    monkeypatch.setattr(module, "names_of_extras", lambda group: ["echo"] if group == "hybrid_memory_mcp.hub" else [])
    monkeypatch.setattr(module, "load_extra", lambda *_: Echo)
    return Echo


@pytest.fixture
def ask(home):
    """Begins an operation; returns the connection."""
    opened = []

    def ask(operation, **given):
        connection = FrameSocket(connect(str(home)))
        opened.append(connection)
        fields = {
            "protocol": str(protocol.PROTOCOL_VERSION),
            "version": __version__,
            "relay": "0" * 32,
            "pid": "4711",
            "operation": operation,
            "given": json.dumps(given),
        }
        connection.send_frame(protocol.HELLO, pack_fields(list(fields.items())))
        return connection

    yield ask
    for one in opened:
        one.close()


def told(connection):
    return json.loads(connection.receive_frame().payload)


def test_it_is_made_once_and_serves_each_command_until_the_hub_leaves(home, ask, echo):
    with ThreadedHub(home, ObservedService()) as hub:
        connections = [ask("echo", word=word) for word in ("one", "two")]
        assert [told(one) for one in connections] == [{"word": "one"}, {"word": "two"}]
        (made,) = echo.made
        assert not made.ended
        hub.leave()
        assert [one.receive_frame() for one in connections] == [None, None]
    assert made.ended


def test_what_it_refuses_is_told_to_the_command(home, ask):
    with ThreadedHub(home, ObservedService()):
        assert told(ask("echo")) == {"message": "word: is missing", "code": "invalid_input"}


def test_extras_are_not_looked_for_where_the_hub_knows_the_operation(home, ask, monkeypatch):
    monkeypatch.setattr(module, "names_of_extras", lambda _: pytest.fail("extras were looked for"))
    with ThreadedHub(home, ObservedService()):
        assert "code" not in told(ask("pinned"))
