"""When a relay ends, and with what."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import pytest
from tests.server.hubs import TIMEOUT_SECONDS, ping, relay

from hybrid_memory_mcp.relay import protocol

# A relay whose times are short.
QUICK = """
import sys
from hybrid_memory_mcp.relay import relay
relay._ORPHAN_CHECK_SECONDS = relay.ORPHAN_TIMEOUT_SECONDS = 0.02
relay.DRAIN_TIMEOUT_SECONDS = 0.1
relay.main(sys.argv[1:])
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


@contextmanager
def refusing(hub, text):
    """The test's hub refuses whoever comes, until the end."""
    over = threading.Event()
    hub.listener.settimeout(0.02)

    def refuse():
        while not over.is_set():
            with suppress(TimeoutError):
                hub.accept().send_frame(protocol.REFUSED, text)

    thread = threading.Thread(target=refuse)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        hub.listener.settimeout(TIMEOUT_SECONDS)


def test_a_client_that_is_refused_is_told_why_each_time_it_asks_and_a_person_once(hub, home):
    with refusing(hub, b"timezone: is not a known time zone"), relay(home) as client:
        for number in range(3):
            client.send({"jsonrpc": "2.0", "id": number, "method": "initialize"})
            answer = client.receive()
            assert (answer["id"], answer["error"]["message"]) == (number, "timezone: is not a known time zone")
        client.process.stdin.close()
        assert client.process.wait(60) == 1
        assert client.process.stderr.read() == b"hybrid-memory-mcp: timezone: is not a known time zone\n"


def test_a_client_that_was_refused_is_served_as_soon_as_a_hub_takes_it(hub, home):
    with relay(home) as client:
        with refusing(hub, b"2 clients are connected already"):
            client.send(ping(1))
            assert client.receive()["error"]["message"] == "2 clients are connected already"
        client.send(ping(2))
        met = hub.welcome()
        assert met.line()[0] == 2
        met.answer(2, 2)
        assert client.receive()["id"] == 2
        client.process.stdin.close()
        assert client.process.wait(60) == 0


def test_what_was_never_sent_to_a_hub_is_known_not_to_be_done(hub, home):
    with refusing(hub, b"no"), relay(home) as client:
        assert client.call(1, "write_memory", content="Ada")["content"][0]["text"] == "no. This was not done"


def test_what_was_asked_before_the_end_of_input_is_answered(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        client.send(ping(1))
        client.process.stdin.close()
        met.line()
        met.answer(1, 1)
        assert client.receive()["id"] == 1
        assert client.process.wait(60) == 0


def test_at_the_end_of_input_nobody_waits_for_a_hub_that_does_not_answer_nor_for_streams(hub, home):
    with relay(home, program=("-c", QUICK)) as client:
        met = hub.welcome()
        client.send(ping(1))
        client.send(ping(2))
        met.lines(2)
        met.send_frame(protocol.STREAM_STARTED, b"", 1)
        client.process.stdin.close()
        assert client.process.wait(60) == 0
        assert client.process.stdout.read() == b""


def test_a_client_that_does_not_read_its_answers_can_still_ask_and_gets_all_when_it_reads(hub, home):
    with relay(home, program=("-c", QUICK)) as client:
        met = hub.welcome()
        for number in range(1, 101):
            client.send(ping(number))
            met.line()

        def answer():
            for number in range(1, 51):
                met.answer(number, number, text="x" * 10_000)

        answering = threading.Thread(target=answer)
        answering.start()
        for number in range(101, 201):
            client.send(ping(number))
            met.receive_frame(protocol.LINE)
        assert [client.receive()["id"] for _ in range(50)] == list(range(1, 51))
        answering.join()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_relay_in_order(hub, home, number):
    with relay(home) as client:
        hub.welcome()
        client.process.send_signal(number)
        assert client.process.wait(60) == 0


def test_a_client_that_closes_its_standard_output_ends_the_relay(hub, home):
    with relay(home) as client:
        met = hub.welcome()
        client.process.stdout.close()
        met.send_frame(protocol.NOTIFICATION, b"{}\n")
        assert client.process.wait(60) == 0


ORPHANING = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], *sys.argv[2:]])
print(child.pid, flush=True)
sys.stdin.readline()
"""


def test_a_relay_whose_parent_is_gone_leaves_though_its_pipes_stay_open(hub, home):
    reading, writing = os.pipe()
    try:
        parent = subprocess.Popen(
            [sys.executable, "-c", ORPHANING, QUICK, "--home", str(home)],
            stdin=reading,
            stdout=subprocess.PIPE,
        )
        with parent:
            pid = int(parent.stdout.readline())
            met = hub.welcome()
            assert met.hello_values("pid") == [str(pid)]
            parent.kill()
        assert met.receive_frame() is None
    finally:
        os.close(reading)
        os.close(writing)
