"""What a shell hears that completes a command line: it starts the program without arguments and sets a variable."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService


@pytest.mark.daily
@pytest.mark.slow
def test_the_id_of_a_memory_is_completed(tmp_path):
    service = MemoryService.open(tmp_path / "store", clock=SystemClock(), random_source=SystemRandomSource())
    ids = [service.write(Scope(session="s"), WriteRequest(content=one)).id for one in ("a violin", "a cello")]
    service.close()
    assert sorted(completed("hybrid-memory-mcp show 0", tmp_path)) == sorted(ids)
    assert completed("hybrid-memory-mcp show zzz", tmp_path) == []


def completed(words, home):
    variables = {
        "_HYBRID_MEMORY_MCP_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "HOME": str(home),
        "HYBRID_MEMORY_HOME": str(home / "store"),
    }
    done = subprocess.run(
        [str(Path(sys.executable).parent / "hybrid-memory-mcp")],
        env=os.environ | variables,  # noqa: TID251 - handed on
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("hybrid-memory-mcp stat", ["status"]),
        ("hybrid-memory-mcp config set keep_b", ["keep_backups"]),
        ("hybrid-memory-mcp install claude-d", ["claude-desktop"]),
        ("hybrid-memory-mcp embedder use mult", ["multilingual"]),
    ],
)
def test_words_are_completed(words, found, tmp_path):
    assert completed(words, tmp_path) == found
    assert list(tmp_path.iterdir()) == []
