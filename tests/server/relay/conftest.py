"""Fixtures of the relay tests."""

import pytest
from tests.server.hubs import FakeHub, short_folder


@pytest.fixture
def home():
    with short_folder() as folder:
        yield folder


@pytest.fixture
def hub(home):
    with FakeHub(home) as played:
        yield played
