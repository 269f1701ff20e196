"""A command leaves its hub behind: the next one is served by it, and whatever needs the store alone goes on as before."""

import json
import subprocess
import sys

import pytest
from tests.server.hub.test_hub_processes import hub_of, wait_until_free
from tests.server.hubs import short_folder

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.admin.hub_client import call_hub
from hybrid_memory_mcp.hub.listener import acquire_listener
from hybrid_memory_mcp.relay import connecting, protocol
from hybrid_memory_mcp.relay.protocol import FrameReader

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")]


@pytest.fixture
def home(monkeypatch):
    """A folder for a store whose hubs stay until they are asked to leave; none is left afterwards."""
    monkeypatch.setenv("HYBRID_MEMORY_LINGER_SECONDS", "60")
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", "static")
    with short_folder() as folder:
        folder.mkdir(0o700)  # else doctor warns
        yield folder
        call_hub(folder, "default", protocol.LEAVE, {}, lambda *_: None)
        wait_until_free(folder)


def run(home, *arguments, code=0):
    """What a command prints; it has to end with ``code``."""
    command = [sys.executable, "-m", "hybrid_memory_mcp", *arguments, "--home", str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home, stdin=subprocess.DEVNULL)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_first_command_leaves_a_hub_that_serves_the_next(home):
    run(home, "remember", "Ada lives in Berlin")
    hub = hub_of(home)
    assert "Berlin" in run(home, "recall", "Where does Ada live?")
    assert "Berlin" in run(home, "list")
    assert hub == hub_of(home) != 0


@pytest.mark.slow
def test_nobody_is_connected_to_a_hub_that_was_left_behind(home):
    run(home, "remember", "Ada lives in Berlin")
    assert json.loads(run(home, "status", "--json"))["clients"] == []


@pytest.mark.daily
@pytest.mark.slow
def test_other_settings_count_at_once(home, monkeypatch):
    run(home, "remember", "Ada lives in Berlin")
    monkeypatch.setenv("HYBRID_MEMORY_SECRETS", "mask")
    done = json.loads(run(home, "remember", "Ada's key is AKIAIOSFODNN7EXAMPLE", "--json"))
    assert done["secrets_left_out"] is True
    monkeypatch.delenv("HYBRID_MEMORY_SECRETS")
    run(home, "config", "set", "secrets", "refuse")
    run(home, "remember", "Bob's key is AKIAIOSFODNN7EXAMPLE", code=1)


@pytest.mark.daily
@pytest.mark.slow
def test_what_needs_the_store_alone_goes_on_after_a_hub_that_was_left_behind(home):
    run(home, "remember", "Ada lives in Berlin")
    other = json.loads(run(home, "remember", "Bo keeps goats", "--json"))["memory"]["id"]
    run(home, "backup")
    run(home, "purge", other, "--yes")
    assert json.loads(run(home, "doctor", "--json"))["sound"] is True
    run(home, "restore", "--yes")
    assert "Berlin" in run(home, "recall", "Where does Ada live?")


@pytest.mark.daily
@pytest.mark.slow
def test_a_command_does_it_itself_where_no_hub_can_be_started(home):
    no_hubs = (
        "import sys; from hybrid_memory_mcp.relay import connecting\n"
        "def none(*_): raise OSError\n"
        "connecting.start_hub = none\n"
        f"sys.argv = ['x', 'remember', 'Ada lives in Berlin', '--home', {str(home)!r}]\n"
        "from hybrid_memory_mcp.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", no_hubs], capture_output=True, text=True, check=True, cwd=home)
    assert "Berlin" in done.stdout
    assert hub_of(home) == 0
    with_service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    with_service.close()


@pytest.mark.slow
def test_a_hub_that_cannot_listen_lets_its_starter_know_at_once(home):
    (home / "hub.lock").mkdir()
    command = [sys.executable, "-m", "hybrid_memory_mcp", "hub", "--home", str(home)]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
    (home / "hub.lock").rmdir()


def test_who_comes_too_late_to_a_hub_that_leaves_hears_that_nothing_was_begun(home):
    listener = acquire_listener(home)
    late = connecting.connect(str(home))
    listener.close()
    with late:
        (frame,) = FrameReader().feed(late.recv(1000))
        assert frame.kind == protocol.LEAVING
    listener.release()
