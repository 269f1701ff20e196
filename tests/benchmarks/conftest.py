"""Tests of the measuring tools are no tests of the product: they run by `just tools` and in .ci/run."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/benchmarks/" in item.nodeid:
            item.add_marker(pytest.mark.tools)
