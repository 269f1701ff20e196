from tests.server.conftest import no_variables  # noqa: F401 - a fixture
