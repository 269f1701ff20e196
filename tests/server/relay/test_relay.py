"""The relay as a process, before a hub that the test plays."""

import json
import sys

import pytest
from tests.server.hubs import ping
from tests.server.hubs import relay_killed_at_end as relay

from hybrid_memory_mcp.relay import protocol

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


def test_hello_tells_who_is_there_and_what_its_client_chose(hub, home, monkeypatch, tmp_path):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER")
    monkeypatch.setenv("HYBRID_MEMORY_AGENT", "a=b")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("SECRET", "of no concern")
    monkeypatch.chdir(tmp_path)
    with relay(home, "--namespace", "n") as client:
        met = hub.welcome()
        assert met.hello_values("argument") == ["--home", str(home), "--namespace", "n"]
        assert sorted(met.hello_values("variable")) == ["HYBRID_MEMORY_AGENT=a=b", "TZ=Asia/Tokyo"]
        assert met.hello_values("folder") == [str(tmp_path)]
        assert met.hello_values("pid") == [str(client.process.pid)]
        assert met.hello_values("connection") == ["0"]


def test_a_variable_of_bytes_that_are_no_text_arrives(hub, home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_AGENT", "\udcff")
    with relay(home):
        assert hub.welcome().hello_values("variable").count("HYBRID_MEMORY_AGENT=\udcff") == 1


def test_two_relays_have_two_names(hub, home):
    with relay(home), relay(home):
        assert hub.welcome().hello_values("relay") != hub.welcome().hello_values("relay")


def test_lines_are_numbered_in_their_order_and_blank_ones_are_none(hub, home):
    with relay(home) as client:
        for line in (b'{"a":1}', b"", b"  \r", b"\xff\xfe no text", b'{"b":2}\r'):
            client.send(line)
        met = hub.welcome()
        found = [met.receive_frame() for _ in range(3)]
        assert [(one.kind, one.number, one.payload) for one in found] == [
            (protocol.LINE, 1, b'{"a":1}'),
            (protocol.LINE, 2, b"\xff\xfe no text"),
            (protocol.LINE, 3, b'{"b":2}\r'),
        ]


def test_an_answer_reaches_the_client_as_it_is_and_once(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        client.send(ping(1))
        met.line()
        met.answer(1, 1, text="ä\u2028 ")
        met.answer(1, 1, text="again")
        met.send_frame(protocol.NOTIFICATION, b'{"news":1}\n')
        assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"text": "ä\u2028 "}}
        assert client.receive() == {"news": 1}


def test_large_lines_pass_both_ways(hub, home):
    large = b'"' + b"x" * 10_000_000 + b'"'
    with relay(home) as client:
        met = hub.welcome()
        client.send(large)
        assert met.receive_frame().payload == large
        met.send_frame(protocol.ANSWER, large + b"\n", 1)
        assert client.process.stdout.readline() == large + b"\n"


def test_of_a_line_over_the_limit_the_hub_gets_the_ends_also_the_next_hub(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        client.send(b'{"id":1,' + b"x" * (16 * 1024 * 1024) + b',"id":2}')
        frame = met.receive_frame()
        head, tail = frame.payload[: int(frame.name)], frame.payload[int(frame.name) :]
        assert (frame.kind, head[:8], tail[-8:]) == (protocol.OVERSIZED_LINE, b'{"id":1,', b',"id":2}')
        assert len(frame.payload) <= 8192
        met.close()
        again = hub.welcome().receive_frame()
        assert (again.kind, again.name, again.payload) == (protocol.OVERSIZED_LINE, frame.name, frame.payload)


def test_the_next_hub_is_told_what_was_kept_and_what_was_not_settled_in_order(hub, home):
    with relay(home) as client:
        first = hub.welcome()
        for number in range(1, 7):
            client.send(ping(number))
        assert len(first.lines(6)) == 6
        first.send_frame(protocol.REMEMBER_LINE, b"", 1, "initialize")
        first.answer(1, 1)
        first.send_frame(protocol.REMEMBER_LINE, b"", 2, "initialized")
        first.send_frame(protocol.NO_ANSWER, b"", 2)
        first.send_frame(protocol.REMEMBER_LINE, b"", 4, "uri-1")
        first.answer(4, 4)
        assert [client.receive()["id"] for _ in range(2)] == [1, 4]
        first.close()
        second = hub.welcome()
        assert second.hello_values("connection") == ["1"]
        assert second.hello_values("relay") == first.hello_values("relay")
        assert second.lines(6) == [
            (protocol.REPLAY, 0, "ping1"),
            (protocol.REPLAY, 0, "ping2"),
            (protocol.REPLAY, 0, "ping4"),
            (protocol.RETRY, 3, "ping3"),
            (protocol.RETRY, 5, "ping5"),
            (protocol.RETRY, 6, "ping6"),
        ]


def test_what_is_dropped_is_kept_no_longer(hub, home):
    with relay(home) as client:
        first = hub.welcome()
        client.send(ping(1))
        first.line()
        first.send_frame(protocol.REMEMBER_LINE, b"", 1, "uri-1")
        first.answer(1, 1)
        first.send_frame(protocol.FORGET_LINE, b"", 0, "uri-1")
        client.receive()
        first.close()
        second = hub.welcome()
        client.send(ping(2))
        assert second.lines(1) == [(protocol.LINE, 2, "ping2")]


def test_a_line_during_the_search_for_a_hub_waits_for_it(hub, home):
    with relay(home) as client:
        first = hub.welcome()
        client.send(ping(1))
        first.line()
        first.close()
        second = hub.accept()
        client.send(ping(2))
        second.welcome()
        assert second.lines(2) == [(protocol.RETRY, 1, "ping1"), (protocol.LINE, 2, "ping2")]


@pytest.mark.slow
def test_a_hub_that_is_gone_before_its_welcome_is_no_hub(hub, home):
    with relay(home) as client:
        client.send(ping(1))
        for _ in range(5):
            hub.accept().close()
        met = hub.welcome()
        assert met.hello_values("connection") == ["0"]
        assert met.lines(1) == [(protocol.LINE, 1, "ping1")]


def test_a_hub_that_speaks_nonsense_is_left(hub, home):
    with relay(home) as client:
        client.send(ping(1))
        met = hub.welcome()
        met.line()
        met.connection.sendall(b"nonsense\n")
        assert hub.welcome().lines(1) == [(protocol.RETRY, 1, "ping1")]
        assert met.receive_frame() is None


def test_a_request_that_three_hubs_died_of_has_an_unknown_outcome(hub, home):
    poison = {"jsonrpc": "2.0", "id": "p", "method": "tools/call", "params": {"name": "write_memory"}}
    with relay(home) as client:
        client.send(poison)
        client.send({"jsonrpc": "2.0", "id": 2, "method": "prompts/get"})
        for again in (False, True, True):
            met = hub.welcome()
            assert [met.line()[0], met.line()[0]] == [1, 2]
            met.begin(1, 2, again=again)
            met.close()
        last = hub.welcome()
        told = client.receive()
        assert (told["id"], told["result"]["isError"]) == ("p", True)
        assert "read_memories" in told["result"]["content"][0]["text"]
        assert client.receive()["error"]["code"] == -32603
        client.send(ping(3))
        assert last.lines(1) == [(protocol.LINE, 3, "ping3")]
        last.answer(3, 3)
        assert client.receive()["id"] == 3


def test_a_request_is_not_blamed_for_hubs_that_died_before_they_came_to_it(hub, home):
    with relay(home) as client:
        client.send(ping(1))
        for _ in range(6):
            met = hub.welcome()
            assert met.line()[0] == 1
            met.close()
        last = hub.welcome()
        assert last.lines(1) == [(protocol.RETRY, 1, "ping1")]
        last.answer(1, 1)
        assert client.receive()["id"] == 1


def test_what_needs_no_answer_is_given_up_in_silence(hub, home):
    with relay(home) as client:
        client.send({"jsonrpc": "2.0", "method": "notifications/progress"})
        client.send(b"no message")
        for again in (False, True, True):
            met = hub.welcome()
            assert [met.receive_frame().number, met.receive_frame().number] == [1, 2]
            met.begin(1, 2, again=again)
            met.close()
        last = hub.welcome()
        client.send(ping(3))
        assert last.lines(1) == [(protocol.LINE, 3, "ping3")]
        last.answer(3, 3)
        assert client.receive()["id"] == 3


def test_a_line_that_waits_for_long_is_sent_again_for_ever(hub, home):
    with relay(home) as client:
        client.send(ping(1))
        met = hub.welcome()
        assert met.lines(1) == [(protocol.LINE, 1, "ping1")]
        met.send_frame(protocol.STREAM_STARTED, b"", 1)
        for _ in range(6):
            client.send(ping(2))
            (number, _) = met.line()
            met.answer(number, 2)
            assert client.receive()["id"] == 2
            met.close()
            met = hub.welcome()
            assert met.lines(1) == [(protocol.RESUBSCRIBE, 1, "ping1")]


def test_a_question_of_a_dead_hub_is_withdrawn_once_and_answered_ones_are_not(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        for name in ("0-1", "0-2"):
            met.send_frame(
                protocol.SERVER_REQUEST,
                json.dumps({"id": name, "method": "sampling/createMessage"}).encode() + b"\n",
                0,
                name,
            )
        met.send_frame(protocol.SERVER_REQUEST_OVER, b"", 0, "0-1")
        assert [client.receive()["id"], client.receive()["id"]] == ["0-1", "0-2"]
        met.send_frame(protocol.NOTIFICATION, b'{"after":1}\n')
        client.receive()
        met.close()
        met = hub.welcome()
        cancel_server_request = client.receive()
        assert (cancel_server_request["method"], cancel_server_request["params"]["requestId"]) == (
            "notifications/cancelled",
            "0-2",
        )
        met.close()
        hub.welcome().send_frame(protocol.NOTIFICATION, b'{"after":2}\n')
        assert client.receive() == {"after": 2}


def test_the_hub_is_told_now_and_then_what_is_settled_though_a_stream_is_open(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        client.send(ping(1))
        met.line()
        met.send_frame(protocol.STREAM_STARTED, b"", 1)
        delivered = None
        for number in range(2, 2_000):  # it is not sent while the other thread sends a line
            client.send(ping(number))
            frame = met.receive_frame()
            if frame.kind == protocol.DELIVERED:
                delivered = frame.number
                break
            met.answer(frame.number, number)
            client.receive()
        # The frame comes before or after the line that the client sends next.
        assert delivered in {number - 1, number - 2}


STRAY = """
import sys
from hybrid_memory_mcp.relay import relay
take = relay.Relay._take
def noisy(self, frame):
    import os
    print("stray", flush=True)
    os.write(1, b"stray bytes")
    take(self, frame)
relay.Relay._take = noisy
relay.main(sys.argv[1:])
"""


def test_stray_output_never_reaches_the_client(hub, home):
    with relay(home, program=("-c", STRAY)) as client:
        met = hub.welcome()
        met.send_frame(protocol.NOTIFICATION, b'{"a":1}\n')
        assert client.receive() == {"a": 1}
        client.process.stdin.close()
        assert client.process.stdout.read() == b""
        assert b"stray bytes" in client.process.stderr.read()


NOT_BEFORE = """
import os, sys, time
from hybrid_memory_mcp.relay import connecting, relay
reach = connecting.connect_or_start
def told(home, embedder, environment, not_before=0.0, **more):
    os.write(2, b"may wait\\n" if not_before > time.monotonic() + 1000 else b"at once\\n")
    return reach(home, embedder, environment, not_before, **more)
connecting.connect_or_start = told
relay.main(sys.argv[1:])
"""


def test_a_hub_that_makes_room_is_not_succeeded_by_this_relays_own_for_a_while(hub, home):
    with relay(home, program=("-c", NOT_BEFORE)) as client:
        first = hub.welcome()
        assert client.process.stderr.readline() == b"at once\n"
        first.send_frame(protocol.LEAVING, b"", 2_000_000)
        first.close()
        hub.welcome()
        assert client.process.stderr.readline() == b"may wait\n"
