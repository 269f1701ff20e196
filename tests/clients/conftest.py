"""The tier `clients`: real clients in environments of their own, which speak to registries once and to loopback."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_network():
    """In place of that of all other tests: here servers are spoken to over loopback."""


@pytest.fixture
def folder():
    """A folder whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/clients/" in item.path.as_posix():
            item.add_marker(pytest.mark.clients)
            item.add_marker(pytest.mark.timeout(900))
