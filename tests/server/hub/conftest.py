"""Fixtures of the hub tests."""

import pytest
from tests.server.hubs import BlockingService, ThreadedHub, short_folder


@pytest.fixture
def home():
    with short_folder() as folder:
        yield folder


@pytest.fixture
def service():
    service = BlockingService()
    yield service
    service.go.set()


@pytest.fixture
def hub(home, service):
    with ThreadedHub(home, service) as real:
        yield real
        service.go.set()
