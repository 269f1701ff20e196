"""What the library promises by its names, and what importing it costs."""

import subprocess
import sys

import pytest

import hybrid_memory

HEAVY = ("numpy", "duckdb", "pydantic", "anyio", "mcp", "jinja2", "fastembed", "onnxruntime")


@pytest.mark.parametrize("module", [hybrid_memory], ids=lambda module: module.__name__)
def test_every_listed_name_can_be_imported(module):
    assert all(getattr(module, name) is not None for name in dir(module))


@pytest.mark.parametrize("module", [hybrid_memory], ids=lambda module: module.__name__)
def test_an_unknown_name_is_an_attribute_error(module):
    with pytest.raises(AttributeError, match="nonsense"):
        _ = module.nonsense


def test_importing_the_library_imports_nothing_heavy():
    program = f"import sys, hybrid_memory; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
