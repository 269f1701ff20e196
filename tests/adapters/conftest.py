import pytest
from tests.server.conftest import anyio_backend, provider, service  # noqa: F401 - fixtures
from tests.server.services import SCOPE

from hybrid_memory_adapters.hub_store import HubStore
from hybrid_memory_mcp.admin.operations import OperationRequest, run_operation


class OwnStore(HubStore):
    """Does in this process what a hub would do."""

    def __init__(self, provider, folder, scope=SCOPE):  # noqa: F811 - as the fixture
        super().__init__(folder)
        self._provider, self._scope = provider, scope

    def ask(self, operation, **arguments):
        request = OperationRequest(self._provider, self._home, self._scope, arguments, lambda *_: None)
        return run_operation(operation, request)


@pytest.fixture
def store(provider, tmp_path):  # noqa: F811 - a fixture
    return OwnStore(provider, tmp_path)
