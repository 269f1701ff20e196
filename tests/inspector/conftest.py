from tests.server.conftest import anyio_backend, no_variables, provider, server, service  # noqa: F401 - fixtures
from tests.server.hub.conftest import home  # noqa: F401 - a fixture
