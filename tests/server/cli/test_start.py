"""What the command line imports before it knows which command is wanted."""

import subprocess
import sys

import pytest

HEAVY = ("pydantic", "anyio", "asyncio", "numpy", "duckdb", "jinja2", "mcp", "tomlkit", "onnxruntime")


@pytest.mark.slow
def test_the_help_is_there_before_anything_heavy_is_imported():
    program = f"import sys, hybrid_memory_mcp.cli.commands; print([one for one in {HEAVY} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LATER = (
    "platformdirs",
    "numpy.ma",
    "hybrid_memory.store.duck.duck_transfer",
    "hybrid_memory.store.duck.duck_sync",
    "hybrid_memory_inspector",
    "mcp",
)
FIRST_RECALL = f"""
import sys
from pathlib import Path
from hybrid_memory_mcp.hub import run
run.import_operations()
from hybrid_memory_mcp.admin.operations import OperationRequest, local_provider, run_operation
home = Path(sys.argv[1])
with local_provider(home, "default") as (provider, scope):
    for name, given in (("remember", {{"content": "Ada keeps bees."}}), ("recall", {{"query": "bees", "limit": 8}})):
        found = run_operation(name, OperationRequest(provider, home, scope, given, print))
    print(found["hits"][0]["content"], [one for one in {LATER} if one in sys.modules])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs says where the cache is")
def test_the_hub_of_a_first_recall_imports_nothing_that_only_others_need(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    program = [sys.executable, "-c", FIRST_RECALL, str(tmp_path / "store")]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Ada keeps bees. []"
