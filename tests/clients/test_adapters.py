"""Each adapter does what the interface's own implementation in the real package does: both play the same random calls."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.clients.environments import TABLE, python_with
from tests.clients.test_recipes import packages_of

ADAPTERS = {row["adapter"]: client for client, row in TABLE["recipes"].items() if "adapter" in row}
PROGRAMS = Path(__file__).parent / "adapters"


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_answers_as_the_package_does_itself(adapter, folder):
    client = ADAPTERS[adapter]
    python = python_with(client, packages_of(client))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HYBRID_MEMORY_"))}  # noqa: TID251 - for a process
    environment = kept | {"HOME": str(folder), "HYBRID_MEMORY_EMBEDDER": "static"}
    done = subprocess.run(
        [python, PROGRAMS / f"compare_{adapter}.py", "1"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
