"""What the library promises by its names, and what importing it costs."""

import subprocess
import sys

import pytest
from tests.tables import each

import hybrid_memory

HEAVY = ("numpy", "duckdb", "pydantic", "anyio", "mcp", "jinja2", "fastembed", "onnxruntime")


@each("name", hybrid_memory.__all__)
def test_a_public_name_can_be_imported(name):
    assert getattr(hybrid_memory, name) is not None


def test_everything_that_is_loaded_late_is_a_public_name():
    assert sorted(hybrid_memory._MODULE_OF) == sorted(hybrid_memory.__all__)


def test_a_star_import_gives_the_public_names():
    names = {}
    exec("from hybrid_memory import *", names)  # noqa: S102 - a star import is allowed at module level only
    assert set(hybrid_memory.__all__) <= set(names)


def test_the_former_name_of_the_random_source_is_still_there():
    assert hybrid_memory.SystemDice is hybrid_memory.SystemRandomSource


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = hybrid_memory.nonsense


def test_importing_the_library_imports_nothing_heavy():
    program = f"import sys, hybrid_memory; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
