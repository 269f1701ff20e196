"""A part that an extra adds is found by its entry point, and only when it is needed."""

from importlib.metadata import EntryPoint

import pytest

from hybrid_memory import extras
from hybrid_memory.errors import InvalidInput


@pytest.fixture
def offered(monkeypatch):
    """Entry points in place of those that are installed."""
    found = {}
    monkeypatch.setattr(extras, "_offered", lambda group: found.get(group, {}))
    return found


def test_a_part_is_what_its_entry_point_names(offered):
    offered["test.parts"] = {"joined": EntryPoint("joined", "posixpath:join", "test.parts")}
    assert extras.load_extra("test.parts", "joined")("a", "b") == "a/b"


def test_a_part_that_is_missing_says_what_to_install(offered):
    with pytest.raises(InvalidInput, match="install hybrid-memory-mcp again"):
        extras.load_extra("test.parts", "joined")


def test_names_are_listed_without_an_import(offered):
    offered["test.parts"] = {name: EntryPoint(name, "nowhere:at_all", "test.parts") for name in ("b", "a")}
    assert extras.names_of_extras("test.parts") == ["a", "b"]
