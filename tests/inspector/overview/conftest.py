from tests.core.conftest import clock, random_source, scope, service  # noqa: F401 - fixtures
