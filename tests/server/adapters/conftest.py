import pytest
from tests.server.services import SCOPE

from hybrid_memory_mcp.adapters.hub_store import HubStore
from hybrid_memory_mcp.admin.operations import OperationRequest, run_operation


class OwnStore(HubStore):
    """Does in this process what a hub would do."""

    def __init__(self, provider, folder, scope=SCOPE):
        super().__init__(folder)
        self._provider, self._scope = provider, scope

    def ask(self, operation, **arguments):
        request = OperationRequest(self._provider, self._home, self._scope, arguments, lambda *_: None)
        return run_operation(operation, request)


@pytest.fixture
def store(provider, tmp_path):
    return OwnStore(provider, tmp_path)
