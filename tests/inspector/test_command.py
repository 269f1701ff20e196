"""``inspect`` as people type it: a process of its own, alongside clients, over hubs that die."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.server.hubs import relay, short_folder

from hybrid_memory_inspector import command as inspecting
from hybrid_memory_mcp.relay import paths

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    pytest.mark.slow,
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """These tests may speak to this machine."""
    real = socket.socket.connect

    def connect(self, address):
        assert self.family == socket.AF_UNIX or address[0].startswith("127."), "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture
def home():
    with short_folder() as folder:
        yield folder


@contextmanager
def inspect(home, *arguments, **environment):
    """The command, in a folder that is no project; it is killed in the end."""
    person = home.parent / "person"
    person.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HYBRID_MEMORY_", "DISPLAY"))}  # noqa: TID251 - for the process
    process = subprocess.Popen(
        [sys.executable, "-m", "hybrid_memory_mcp", "inspect", "--no-browser", "--home", str(home), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=person,
        env=kept | {"HOME": str(person)} | environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def get(address, cookie="", path=None):
    """Ask for an address, or for another path at it; returns status, cookie and body."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", path or f"{parts.path}?{parts.query}", headers={"cookie": cookie})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, (answer.headers["set-cookie"] or "").partition(";")[0], body


def events_of(address, cookie):
    """Connect to the stream of events; returns what it is read from, line by line."""
    connection = socket.create_connection((urlsplit(address).hostname, urlsplit(address).port), timeout=60)
    head = f"GET /events HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\nCookie: {cookie}\r\n\r\n"
    connection.sendall(head.encode())
    return connection, connection.makefile("rb")


def until(lines, wanted):
    """Read lines until one says what is wanted."""
    for line in lines:
        if wanted in line:
            return line
    raise AssertionError(f"{wanted!r} never came")


def run(home, *arguments):
    command = [sys.executable, "-m", "hybrid_memory_mcp", *arguments, "--home", str(home)]
    subprocess.run(command, check=True, capture_output=True, timeout=60, cwd=home.parent)


def hub_process(home):
    return int((home / paths.PID).read_text().split()[0])


def test_the_first_line_is_an_address_that_opens_the_page_and_ctrl_c_ends_it(home):
    with inspect(home) as command:
        address = command.stdout.readline().rstrip("\n")
        status, cookie, _ = get(address)
        assert status == 303
        status, _, body = get(address, cookie, "/")
        assert status == 200
        assert "<h1" in body
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
        assert (out, command.returncode) == ("", 0)
        assert "Ctrl-C ends it" in err
        assert "Traceback" not in err
        with pytest.raises(ConnectionRefusedError):
            get(address, cookie, "/")


@pytest.mark.daily
def test_when_the_hub_is_killed_the_next_one_serves_the_page_at_the_same_place_for_a_new_token(home):
    with relay(home) as client, inspect(home) as command:
        client.initialize()
        client.call(1, "write_memory", content="Ada lives in Porto")
        first = command.stdout.readline().strip()
        _, cookie, _ = get(first)
        assert "Porto" in get(first, cookie, "/now.json")[2]
        os.kill(hub_process(home), signal.SIGKILL)
        second = command.stdout.readline().strip()
        assert second.partition("?")[0] == first.partition("?")[0]
        assert get(first, cookie, "/now.json")[0] == 403
        status, cookie, _ = get(second)
        assert status == 303
        assert "Porto" in str(client.call(2, "read_memories", query="Where does Ada live?"))
        client.call(3, "write_memory", content="The violin hangs in the hall")
        assert "violin" in get(second, cookie, "/now.json")[2]
        command.send_signal(signal.SIGTERM)
        _, err = command.communicate(timeout=60)
        assert command.returncode == 0
        assert "another one takes its place" in err


@pytest.mark.daily
def test_a_command_that_is_killed_takes_the_page_along_and_leaves_clients_alone(home):
    with relay(home) as client, inspect(home) as command:
        client.initialize()
        address = command.stdout.readline().strip()
        _, cookie, _ = get(address)
        connection, lines = events_of(address, cookie)
        command.kill()
        until(lines, b"event: bye")
        assert b'{"reason": "ended"}' in next(lines)
        lines.close()
        connection.close()
        assert client.call(1, "write_memory", content="Ada lives in Porto")["structuredContent"]


@pytest.mark.daily
def test_the_page_goes_on_while_the_whole_store_is_exchanged(home):
    with inspect(home) as command:
        address = command.stdout.readline().strip()
        _, cookie, _ = get(address)
        run(home, "remember", "Ada lives in Porto")
        kept = home.parent / "kept.duckdb"
        run(home, "backup", str(kept))
        run(home, "remember", "The violin hangs in the hall")
        connection, lines = events_of(address, cookie)
        until(lines, b"event: hello")
        run(home, "restore", str(kept), "--yes")
        until(lines, b"event: reload")
        shown = get(address, cookie, "/now.json")[2]
        assert "Porto" in shown
        assert "violin" not in shown
        run(home, "embedder", "use")
        run(home, "remember", "Tea is at five")
        until(lines, b"event: change")
        assert "Tea" in get(address, cookie, "/now.json")[2]
        lines.close()
        connection.close()


def test_a_server_over_http_serves_the_page_too(home):
    served = subprocess.Popen(
        [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", "0", "--home", str(home)],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert "serving http" in served.stderr.readline()
        with inspect(home) as command:
            address = command.stdout.readline().strip()
            _, cookie, _ = get(address)
            assert get(address, cookie, "/")[0] == 200
            served.send_signal(signal.SIGTERM)  # the page goes on with the next hub
            assert served.wait(60) == 0
            again = command.stdout.readline().strip()
            assert get(again)[0] == 303
    finally:
        served.kill()
        served.communicate()


@pytest.mark.daily
def test_it_ends_by_itself_when_no_page_is_open(home):
    with inspect(home, "--idle", "0.005", "--json") as command:
        out, err = command.communicate(timeout=60)
        told = json.loads(out)
        assert told["url"].startswith(told["origin"] + "/?token=")
        assert command.returncode == 0
        assert "no page was open for a while" in err


def test_what_cannot_be_had_is_one_line(home):
    with inspect(home, "--host", "192.168.0.1", "--json") as command:
        out, err = command.communicate(timeout=60)
        assert json.loads(out)["error"]["code"] == "invalid_input"
        assert (command.returncode, err.count("\n")) == (1, 1)


@pytest.mark.daily
def test_where_no_hub_can_be_started_the_command_serves_the_page_itself(home):
    # As in a sandbox that starts no processes: the program that a hub would be is not there.
    script = (
        "import sys; from hybrid_memory_mcp.relay import connecting\n"
        "def none(*_): raise PermissionError\n"
        "connecting.start_hub = none\n"
        "from hybrid_memory_mcp import cli; cli.main()"
    )
    person = home.parent / "person"
    person.mkdir()
    command = subprocess.Popen(
        [sys.executable, "-c", script, "inspect", "--no-browser", "--home", str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=person,
        env={"HOME": str(person), "PATH": os.environ["PATH"]},  # noqa: TID251 - for the process
    )
    try:
        address = command.stdout.readline().strip()
        status, cookie, _ = get(address)
        assert (status, get(address, cookie, "/")[0]) == (303, 200)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
        assert command.returncode == 0
        assert "serves the page itself" in err
    finally:
        command.kill()
        command.communicate()


@pytest.mark.parametrize(
    ("variables", "opens"),
    [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "wayland-0"}, True), ({"BROWSER": "x"}, True)],
)
def test_without_a_screen_no_browser_takes_the_terminal(monkeypatch, variables, opens):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    assert inspecting._has_screen() is opens


def test_the_address_is_in_no_list_of_processes_while_a_browser_is_opened(monkeypatch):
    started = []

    def run(command, **options):
        started.append((command, options["input"]))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(inspecting.subprocess, "run", run)
    assert inspecting._open_browser("http://127.9.8.7:4321/?token=secret")
    arguments, given = started[0]
    assert "secret" not in " ".join(arguments)
    assert b"secret" in given
