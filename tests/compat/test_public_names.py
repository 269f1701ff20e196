import subprocess
import sys

import pytest
from tests.tables import each

import hybrid_memory.agent
import hybrid_memory_dbgpt
import hybrid_memory_dbgpt.agents
import hybrid_memory_prompts.agents

FORWARDED = [(hybrid_memory.agent, hybrid_memory_dbgpt), (hybrid_memory_prompts.agents, hybrid_memory_dbgpt.agents)]


@each("name", hybrid_memory_dbgpt.__all__)
def test_every_public_name_is_there(name):
    assert isinstance(getattr(hybrid_memory_dbgpt, name), type)


def test_every_name_that_can_be_loaded_is_listed():
    assert sorted(hybrid_memory_dbgpt._MODULE_OF_NAME) == sorted(hybrid_memory_dbgpt.__all__)


@pytest.mark.parametrize(("earlier", "present"), FORWARDED, ids=lambda module: module.__name__)
def test_an_earlier_import_path_gives_the_same_objects(earlier, present):
    names = {}
    exec(f"from {earlier.__name__} import *", names)  # noqa: S102 - names above
    assert all(names[name] is getattr(present, name) for name in present.__all__)
    assert dir(earlier) == sorted(present.__all__)


@pytest.mark.parametrize("module", [hybrid_memory_dbgpt, hybrid_memory.agent, hybrid_memory_prompts.agents])
def test_another_name_is_not(module):
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = module.nothing_like_this


@pytest.mark.parametrize("module", ["hybrid_memory_dbgpt", "hybrid_memory.agent"])
def test_importing_the_package_loads_nothing_heavy(module):
    code = (
        f"import sys, {module}, hybrid_memory.tiers.importance;"
        "print([n for n in ('numpy', 'duckdb', 'onnxruntime', 'fastembed', 'jinja2', 'anyio') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
