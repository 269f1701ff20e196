"""Every example of docs/testing.md runs as it stands, and the page names all that there is."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from hybrid_memory_testing import MemoryForTests, memory_for_tests
from hybrid_memory_testing.checks import Checks

pytest_plugins = ["pytester"]

# What a run inside the test imports, pytester takes away again, and no compiled module can be imported twice.
for _name in ("hybrid_memory.store.duck.store", "hybrid_memory_testing.harness", "hybrid_memory_testing.stdio"):
    importlib.import_module(_name)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TESTS = [one for one in EXAMPLES if "def test_" in one]
BACKEND = "import pytest\n\n\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n"


@pytest.mark.daily
@pytest.mark.slow
def test_every_test_of_the_page_passes(pytester):
    pytester.makeconftest(BACKEND)
    pytester.makepyfile(**{f"test_example_{at}": source for at, source in enumerate(TESTS)})
    result = pytester.runpytest_inprocess("-q", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=sum(source.count("def test_") for source in TESTS))


@pytest.mark.parametrize("source", [one for one in EXAMPLES if one not in TESTS])
def test_every_other_example_of_the_page_runs(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(source, "testing.md", "exec"), {"__name__": "example"})  # noqa: S102 - our own page


def test_the_page_names_every_assertion_and_every_option():
    assertions = [name for name, _ in inspect.getmembers(Checks) if name.startswith("assert_")]
    options = [name for name in inspect.signature(memory_for_tests).parameters if name != "record_mode"]
    ways = ["client", "server", "command", "server_parameters", "mcp_config", "remember", "recall", "replay"]
    assert all(hasattr(MemoryForTests, name) for name in ways)
    missing = [one for one in (*assertions, *(f"`{one}`" for one in options if one != "off"), *ways) if one not in PAGE]
    assert missing == []
    assert "memory_for_tests(off=True)" in PAGE
