"""Fixtures of the hub tests."""

import pytest
from tests.server.hubs import short_folder


@pytest.fixture
def home():
    with short_folder() as folder:
        yield folder
