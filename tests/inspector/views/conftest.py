from datetime import UTC

import pytest
from tests.server.views.conftest import clock, machine, moves, say, say_in, scope, service  # noqa: F401 - fixtures

from hybrid_memory_inspector.views.table import VIEWS
from hybrid_memory_mcp.views.view import ViewRequest


def view_named(name):
    return next(view for view in VIEWS if view.name == name)


@pytest.fixture
def look(service, scope):  # noqa: F811 - fixtures
    """Returns what a view shows: ``look("timeline", order="true")``."""

    def look(view, /, zone=UTC, **parameters):
        return view_named(view).load(service, ViewRequest(scope=scope, parameters=parameters, zone=zone))

    return look
