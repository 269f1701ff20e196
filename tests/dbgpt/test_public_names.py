import subprocess
import sys

import pytest

import hybrid_memory_dbgpt
import hybrid_memory_dbgpt.agents


@pytest.mark.parametrize("name", hybrid_memory_dbgpt.__all__)
def test_every_public_name_is_there(name):
    assert isinstance(getattr(hybrid_memory_dbgpt, name), type)


def test_every_name_that_can_be_loaded_is_listed():
    assert sorted(hybrid_memory_dbgpt._MODULE_OF_NAME) == sorted(hybrid_memory_dbgpt.__all__)


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = hybrid_memory_dbgpt.nothing_like_this


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, hybrid_memory_dbgpt, hybrid_memory.tiers.importance;"
        "print([n for n in ('numpy', 'duckdb', 'onnxruntime', 'fastembed', 'jinja2', 'anyio') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
