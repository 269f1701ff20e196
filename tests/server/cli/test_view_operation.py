"""The operation by which a terminal is shown memory as data."""

from __future__ import annotations

import json

import pytest
from tests.server.services import SCOPE, ObservedService

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.requests import WriteRequest
from hybrid_memory_mcp.admin.operations import OperationRequest, run_operation
from hybrid_memory_mcp.admin.view_operation import VIEWS
from hybrid_memory_mcp.runtime.provider import ServiceProvider


@pytest.fixture
def service():
    service = ObservedService()
    service.keep("Ada lives in Porto")
    yield service
    service.close()


@pytest.fixture
def view(service, tmp_path):
    """Asks for a view; returns what it shows."""

    def asked(name, **arguments):
        given = {"view": name, **arguments}
        request = OperationRequest(ServiceProvider(lambda: service), tmp_path, SCOPE, given, lambda *_: None)
        return run_operation("view", request)

    return asked


@pytest.mark.parametrize("name", [one for one in VIEWS if one != "memory"])
def test_every_view_can_be_asked_for_and_crosses_a_socket(view, name):
    shown = view(name)
    assert json.loads(json.dumps(shown)) == shown


def test_a_view_takes_the_parameters_of_its_address(view, service):
    (kept,) = service.memories
    assert view("memory", parameters={"id": kept})["memory"]["content"] == "Ada lives in Porto"
    assert view("timeline", parameters={"limit": 1})["limit"] == 1


def test_the_person_s_memories_are_read_beside_a_project_s(view, service):
    service.write(type(SCOPE)(namespace="other", session="s"), WriteRequest(content="Grace has a cat"))
    assert view("timeline")["total"] == 1
    assert view("timeline", personal="other")["total"] == 2


@pytest.mark.parametrize(("zone", "day"), [("Asia/Tokyo", "2026-01-11"), ("UTC", "2026-01-10"), ("no/such", None)])
def test_days_are_those_of_who_looks(view, service, zone, day):
    service.clock.advance(hours=5)
    service.keep("late in the evening")  # at 17:00 UTC and some seconds
    (first, *_) = view("timeline", zone=zone)["memories"]
    assert day in (None, first["day"])


@pytest.mark.parametrize("name", ["", "no such view", "../view"])
def test_a_view_that_there_is_not_is_refused_with_those_that_there_are(view, name):
    with pytest.raises(InvalidInput, match="timeline"):
        view(name)


def test_a_wrong_parameter_and_a_memory_that_is_not_there_are_told(view):
    with pytest.raises(InvalidInput, match="limit"):
        view("timeline", parameters={"limit": "many"})
    with pytest.raises(NotFound):
        view("memory", parameters={"id": "06h082aa7p6hm85pxyqj"})
