from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.server.raw import started

LISTENING = """
import runpy, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        sys.stderr.write(f"NETWORK {event}\\n")

sys.addaudithook(refuse)
sys.argv[0] = "hybrid-memory-mcp"
runpy.run_module("hybrid_memory_mcp", run_name="__main__")
"""


@dataclass
class Served:
    """What a process left behind that served one client from the first line to the end of its input."""

    home: Path
    answer_after_end: int
    code: int
    errors: bytes


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A process that wrote and read, and was then sent a request and the end of its input at once."""
    home = tmp_path_factory.mktemp("served")
    with started(home, program=("-c", LISTENING)) as client:
        client.initialize()
        assert not client.call(1, "write_memory", content="Ada plays the cello").get("isError")
        assert client.call(2, "read_memories", query="cello")["structuredContent"]["memories"]
        client.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read_memories"}})
        client.process.stdin.close()
        answered = client.receive()["id"]
        return Served(home, answered, client.process.wait(60), client.process.stderr.read())


@pytest.mark.slow
def test_what_one_process_wrote_the_next_one_reads(served):
    with started(served.home, "--session", "later") as client:
        client.initialize()
        (memory,) = client.call(1, "read_memories", query="cello")["structuredContent"]["memories"]
        assert memory["text"] == "Ada plays the cello"


@pytest.mark.slow
def test_the_end_of_input_ends_the_process(served):
    assert served.code == 0
    assert not (served.home / "memory.duckdb.wal").exists()


@pytest.mark.slow
def test_requests_before_the_end_of_input_are_still_answered(served):
    assert served.answer_after_end == 3


@pytest.mark.slow
def test_a_server_at_work_opens_no_network_connection(served):
    assert b"NETWORK" not in served.errors


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals between processes")
def test_a_signal_closes_the_store_and_ends_the_process(tmp_path):
    with started(tmp_path) as client:
        client.initialize()
        client.call(1, "write_memory", content="Ada plays the cello")
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(60) == 0
    assert not (tmp_path / "memory.duckdb.wal").exists()


@pytest.mark.slow
def test_a_wrong_option_is_told_before_the_hub_is_imported(tmp_path):
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "hybrid_memory_mcp",
        "serve",
        "--standalone",
        "--home",
        tmp_path / "new",
    ]
    ended = subprocess.run([*command, "--colour"], stdin=subprocess.PIPE, capture_output=True, text=True, check=False)
    imported, _, told = ended.stderr.rpartition("\nhybrid-memory-mcp: ")
    assert (ended.returncode, told) == (1, "arguments: unrecognized arguments: --colour; --help shows what there is\n")
    assert "hybrid_memory_mcp.hub" not in imported
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_every_line_that_needs_an_answer_gets_one_and_nothing_else_is_printed(tmp_path):
    with started(tmp_path) as client:
        client.initialize()
        client.send(b"garbage \xff\xfe")
        unread = client.receive()
        assert (unread.get("id"), unread["error"]["code"]) == (None, -32700)
        client.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_memory","arguments":')
        unread = client.receive()
        assert (unread["id"], unread["error"]["code"]) == (1, -32700)
        client.send(
            rb'{"jsonrpc":"2.0","id":2,"method":"tools/call",'
            rb'"params":{"name":"write_memory","arguments":{"content":"a\ud800b"}}}'
        )
        refused = client.receive()
        assert refused["id"] == 2
        assert refused["result"]["isError"] is True
        assert refused["result"]["content"][0]["text"].startswith("content:")
        client.send(b'{"jsonrpc":"2.0","id":3,"method":7}')
        assert client.receive() == {
            "jsonrpc": "2.0",
            "id": 3,
            "error": {"code": -32600, "message": "this is no valid JSON-RPC 2.0 message"},
        }
        client.send(b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":"' + b"x" * (16 * 1024 * 1024) + b'"}}')
        assert client.receive()["error"]["code"] == -32600
        assert client.ask(5, "ping")["result"] == {}
        client.process.stdin.close()
        assert client.process.stdout.read() == b""


NOISY = """
import os, sys
from hybrid_memory_mcp.relay import relay
claim = relay._claim_standard_streams
def noisy():
    streams = claim()
    print("stray", flush=True)
    os.write(1, b"stray bytes")
    assert sys.stdin.read() == ""
    return streams
relay._claim_standard_streams = noisy
from hybrid_memory_mcp.__main__ import main
main()
"""


@pytest.mark.slow
def test_stray_prints_go_to_standard_error_and_reads_find_nothing(tmp_path):
    with started(tmp_path, program=("-c", NOISY)) as client:
        client.initialize()
        client.process.stdin.close()
        assert client.process.stdout.read() == b""
        assert b"stray bytes" in client.process.stderr.read()


WATCHED = """
import os, sys
from hybrid_memory_mcp.relay import relay
host = relay._host
def watched(*arguments, **options):
    hosted = host(*arguments, **options)
    from hybrid_memory_mcp.hub.client import Outbox
    put = Outbox.put
    def put_and_tell(self, frame):
        if frame.startswith(b"a "):
            heavy = {"numpy", "duckdb", "jinja2", "fastembed", "onnxruntime", "rich", "typer"} & set(sys.modules)
            os.write(2, f"{sorted(heavy)}\\n".encode())
        put(self, frame)
    Outbox.put = put_and_tell
    return hosted
relay._host = watched
from hybrid_memory_mcp.__main__ import main
main()
"""


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_the_first_answer(tmp_path):
    with started(tmp_path, program=("-c", WATCHED)) as client:
        client.initialize()
        assert client.process.stderr.readline() == b"[]\n"
        client.call(1, "read_memories")
        assert b"duckdb" in client.process.stderr.readline()


@pytest.mark.slow
def test_a_store_that_is_in_use_is_a_clear_refusal_and_is_tried_again(tmp_path):
    with started(tmp_path) as first:
        first.initialize()
        first.call(1, "write_memory", content="Ada plays the cello")
        with started(tmp_path) as second:
            second.initialize()
            refused = second.call(1, "read_memories")
            assert refused["isError"] is True
            assert f"process {first.process.pid}" in refused["content"][0]["text"]
            first.process.stdin.close()
            first.process.wait(60)
            assert second.call(2, "read_memories")["isError"] is False


@pytest.mark.slow
def test_a_wrong_option_is_told_to_client_and_person(tmp_path):
    with started(tmp_path, "--timezone", "Nowhere/Land") as client:
        answer = client.ask(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        assert "timezone: is not a known time zone" in answer["error"]["message"]
        client.process.stdin.close()
        assert client.process.wait(60) == 1
        assert b"timezone: is not a known time zone" in client.process.stderr.read()


@pytest.mark.skipif(sys.platform == "win32", reason="closing a descriptor is the shell's work")
def test_without_standard_input_it_says_so_and_leaves():
    shell = [sys.executable, "-m", "hybrid_memory_mcp"]
    found = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *shell], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stdout) == (1, "")
    assert "Traceback" not in found.stderr
    assert "standard input" in found.stderr
