"""Fixtures of the long tests."""

import sys

import pytest

from hybrid_memory_mcp.runtime import library_patches


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def quick_binding():
    """Without pandas DuckDB looks for it at each value; the server's process has an empty one, so do these tests."""
    before = sys.modules.get("pandas")
    library_patches.install_pandas_stub()
    yield
    if before is None:
        del sys.modules["pandas"]
