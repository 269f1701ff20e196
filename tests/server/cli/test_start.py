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
