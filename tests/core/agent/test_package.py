import subprocess
import sys

import pytest

import hybrid_memory.agent as package


@pytest.mark.parametrize("name", dir(package))
def test_every_public_name_is_there(name):
    assert isinstance(getattr(package, name), type)


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = package.nothing_like_this


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, hybrid_memory.agent, hybrid_memory.tiers.importance;"
        "print([n for n in ('numpy', 'duckdb', 'onnxruntime', 'fastembed', 'jinja2', 'anyio') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
