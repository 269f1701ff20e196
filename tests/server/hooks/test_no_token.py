"""The promise that remembering without being asked spends no token and no call of the person's: no model is asked, by nobody."""

import json
import subprocess
import sys

import pytest
from tests.server.hooks.hooking import Talk, environment
from tests.server.hubs import short_folder
from tests.server.raw import Raw

from hybrid_memory_mcp.admin.hub_client import stop_hub

# Run by each Python process of the session, as it starts: hooks, relay and hub.
WATCH = """
import os, sys

def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname") or (
        event in ("socket.connect", "socket.bind", "socket.sendto") and not isinstance(arguments[1], (str, bytes))
    ):
        with open(os.environ["NETWORK_LOG"], "a") as log:
            log.write(f"{event} {arguments[1:]}\\n")
    elif event == "subprocess.Popen":
        with open(os.environ["NETWORK_LOG"] + ".programs", "a") as log:
            log.write(" ".join(map(str, arguments[1])) + "\\n")

sys.addaudithook(watch)
"""
SAID = [
    "I always prefer tabs instead of spaces.",
    "We decided to use PostgreSQL.",
    "My sister Nora lives in Graz.",
    "Thanks!",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Two conversations with all hooks, alongside a client that could be asked for a model's words; what was seen of them."""
    watching = tmp_path_factory.mktemp("site")
    (watching / "sitecustomize.py").write_text(WATCH)
    log = watching / "network"
    variables = {"PYTHONPATH": str(watching), "NETWORK_LOG": str(log)}
    with short_folder() as home:
        home.parent.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "hybrid_memory_mcp", "--home", str(home)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home, **variables)
        )
        with process:
            client = Raw(process)
            info = {"name": "claude-code", "version": "0"}
            capabilities = {"sampling": {"tools": {}}, "elicitation": {}, "roots": {}}
            client.ask(0, "initialize", protocolVersion="2025-06-18", capabilities=capabilities, clientInfo=info)
            client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            contexts = []
            for name in ("first", "second"):
                talk = Talk(home, name, client="codex", variables=variables)
                contexts.append(talk.start())
                for text in SAID:
                    talk.hook("prompt", prompt=text)
                    talk.say(text)
                    talk.hook("stop", stop_hook_active=False)
                talk.hook("pre-compact", trigger="auto")
                contexts.append(talk.start("compact"))
                talk.hook("session-end", reason="other")
            process.stdin.close()
            rest = [json.loads(line) for line in process.stdout]
        stop_hub(home)
    programs = (log.parent / "network.programs").read_text()
    return {
        "context": contexts[2],
        "lines": rest,
        "network": log.read_text() if log.exists() else "",
        "programs": programs,
    }


@pytest.mark.daily
@pytest.mark.slow
def test_the_session_remembered(session):
    assert all(kept in session["context"] for kept in ("tabs instead of spaces", "PostgreSQL", "Nora lives in Graz"))


def test_nothing_was_asked_of_the_client(session):
    """No request for a model's words, for the person's, or for anything: but for what the client asked, nothing came."""
    assert [
        line["method"]
        for line in session["lines"]
        if "id" in line and "method" in line and "roots" not in line["method"]
    ] == []


@pytest.mark.slow
def test_no_process_of_the_session_looked_for_a_network(session):
    assert session["network"] == ""


def test_no_program_was_started_but_the_hub(session):
    started = session["programs"].splitlines()
    assert started
    assert all(" hub --home " in line for line in started)
