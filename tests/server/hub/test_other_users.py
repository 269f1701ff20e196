"""A store in a folder where other users may write: what they put there is not believed, and leads nowhere."""

import os
import signal
import socket
import sys
from contextlib import contextmanager

import pytest
from tests.server.hubs import ThreadedHub
from tests.server.services import ObservedService

from hybrid_memory.errors import StoreLocked
from hybrid_memory.store.duck.files.database_lock import DatabaseLock
from hybrid_memory_mcp.hub.listener import acquire_listener
from hybrid_memory_mcp.hub.state_key import load_state_key
from hybrid_memory_mcp.relay import connecting, heartbeat, paths, processes
from hybrid_memory_mcp.relay.connecting import HubUnavailable, StoreLock, connect, connect_to_heartbeat
from hybrid_memory_mcp.relay.processes import UntrustedFile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="users and Unix sockets")
fcntl = pytest.importorskip("fcntl")
NOBODY = 65534

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can play another user"
)


@pytest.fixture
def home(home):
    """A folder that was there before, open to everybody."""
    home.mkdir()
    home.chmod(0o777)
    home.parent.chmod(0o755)
    return home


@contextmanager
def as_nobody(work):
    """Run ``work`` in a process of another user, which then waits; gives its id when it is done."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            kept = work()
            os.write(writing, b"+")
            signal.pause()
            del kept
        finally:
            os._exit(1)
    os.close(writing)
    try:
        assert os.read(reading, 1) == b"+", "the other user could not do it"
        yield pid
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def listening_at(path):
    """Return a socket of this process at a path, to which everybody can connect."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    path.chmod(0o777)
    return listening


@needs_root
@pytest.mark.parametrize(("name", "find"), [("hub.sock", connect), ("hub.beat", connect_to_heartbeat)])
def test_the_socket_of_another_user_is_no_hub(home, name, find):
    with as_nobody(lambda: listening_at(home / name)):
        assert find(str(home)) is None


@needs_root
def test_a_hub_takes_the_place_of_another_users_socket(home):
    sockets = as_nobody(lambda: (listening_at(home / "hub.sock"), listening_at(home / "hub.beat")))
    with sockets, ThreadedHub(home, ObservedService()) as hub, hub.connected() as client:
        assert client.call("read_memories")["isError"] is False
        with connect_to_heartbeat(str(home)) as heartbeat:
            assert heartbeat.recv(1) == b"+"


@needs_root
def test_port_and_token_of_another_user_are_not_believed(home):
    def work():
        (home / "hub.port").write_text("1\n")
        (home / "hub.beat.port").write_text("1\n")
        (home / "hub.token").write_bytes(b"t" * 32)

    with as_nobody(work), ThreadedHub(home, ObservedService()) as hub:
        assert not (home / "hub.port").exists()
        with hub.connected() as client:
            assert client.call("read_memories")["isError"] is False


@needs_root
def test_another_user_is_not_served(home):
    with ThreadedHub(home, ObservedService()):
        (home / "hub.sock").chmod(0o777)

        def work():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(home / "hub.sock"))
            assert connection.recv(1) == b""
            return connection

        with as_nobody(work):
            pass


@needs_root
def test_a_lock_of_another_user_is_refused_with_a_sentence(home, monkeypatch):
    monkeypatch.setattr(connecting, "START_TIMEOUT_SECONDS", 0)
    monkeypatch.setattr(connecting, "start_hub", lambda *_: None)
    with as_nobody(lambda: (home / "hub.lock").touch(0o666)):
        with pytest.raises(HubUnavailable, match=r"hub\.lock in the store's folder is a link or another user's"):
            connecting.connect_or_start(str(home), None, {})
        with pytest.raises(UntrustedFile):
            acquire_listener(home)


@needs_root
def test_a_key_of_another_user_seals_nothing(home):
    with as_nobody(lambda: (home / "state.key").write_bytes(b"k" * 32)):
        assert load_state_key(home) != b"k" * 32


@needs_root
def test_the_stores_lock_of_another_user_is_called_that_whatever_process_he_names(home):
    def work():
        (home / "memory.pid").write_text(f"{os.getppid()}\n")
        lock = (home / "memory.lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    with as_nobody(work), pytest.raises(StoreLocked, match=r"locked by another user \(nobody\).*memory\.lock") as told:
        DatabaseLock(home / "memory.duckdb").take()
    assert "process" not in str(told.value)


def test_the_stores_lock_of_this_user_is_named_by_its_process_unless_that_is_gone(home):
    lock = DatabaseLock(home / "memory.duckdb")
    lock.take()
    with pytest.raises(StoreLocked, match=f"process {os.getpid()}"):
        DatabaseLock(home / "memory.duckdb").take()
    (home / "memory.pid").write_text("99999999\n")
    with pytest.raises(StoreLocked, match="in use by another process"):
        DatabaseLock(home / "memory.duckdb").take()
    lock.release()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["state.key", "hub.port", "hub.token", "hub.http", "hub.pid", "memory.pid"])
def test_a_pipe_in_the_place_of_a_file_makes_nobody_wait(home, name):
    if name == "hub.token":
        (home / "hub.port").write_text("1\n")
    os.mkfifo(home / name)
    assert connect(str(home)) is None
    assert not heartbeat._serves_http(str(home))
    assert len(load_state_key(home)) == 32
    lock = DatabaseLock(home / "memory.duckdb")
    with (home / "memory.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreLocked):
            lock.take()
    with ThreadedHub(home, ObservedService()) as hub, hub.connected() as client:
        assert client.call("read_memories")["isError"] is False


@needs_root
def test_a_file_of_the_folders_owner_may_be_locked(home):
    os.chown(home, NOBODY, NOBODY)
    (home / "hub.lock").touch()
    os.chown(home / "hub.lock", NOBODY, NOBODY)
    lock = StoreLock(str(home), "hub.lock")
    assert lock.try_acquire()
    lock.release()


def test_a_lock_that_everybody_may_write_is_a_lock_all_the_same(home):
    (home / "hub.lock").write_text("nobody reads this")
    (home / "hub.lock").chmod(0o666)
    with ThreadedHub(home, ObservedService()):
        assert connecting.hub_is_running(str(home))
    assert (home / "hub.lock").read_text() == "nobody reads this"


@pytest.mark.parametrize("name", [paths.HUB_LOCK, paths.START_LOCK])
def test_a_link_in_place_of_a_lock_is_refused_and_makes_nothing_elsewhere(home, tmp_path, name):
    (home / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UntrustedFile):
        StoreLock(str(home), name).try_acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_a_fifo_in_place_of_a_lock_is_refused_at_once(home):
    os.mkfifo(home / "hub.lock")
    with pytest.raises(UntrustedFile):
        connecting.hub_is_running(str(home))


def test_a_link_to_the_socket_of_another_store_is_no_hub(home):
    other = home.parent / "other"
    with ThreadedHub(other, ObservedService()):
        (home / "hub.sock").symlink_to(other / "hub.sock")
        assert connect(str(home)) is None


def test_a_link_in_place_of_the_file_that_names_the_hub_is_replaced(home, tmp_path):
    (tmp_path / "precious").write_text("mine")
    (home / "hub.pid").symlink_to(tmp_path / "precious")
    with ThreadedHub(home, ObservedService()):
        assert (home / "hub.pid").read_text() == f"{os.getpid()}\n"
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_link_in_place_of_the_log_is_not_written_to(home, tmp_path, what):
    elsewhere = tmp_path / "elsewhere"
    if what == "folder":
        elsewhere.mkdir()
        (home / "logs").symlink_to(elsewhere)
    else:
        (home / "logs").mkdir()
        (home / "logs" / "hub.log").symlink_to(elsewhere)
    log = connecting.open_log(str(home))
    os.write(log, b"words")
    os.close(log)
    assert not elsewhere.exists() or list(elsewhere.iterdir()) == []


def test_where_the_system_does_not_tell_the_peers_user_the_owner_of_the_socket_counts(home, monkeypatch):
    monkeypatch.setattr(processes, "peer_of", lambda _: (None, None))
    with ThreadedHub(home, ObservedService()):
        connection = connect(str(home))
        assert connection is not None
        connection.close()
        monkeypatch.setattr(os, "geteuid", lambda: NOBODY - 1)
        assert connect(str(home)) is None
