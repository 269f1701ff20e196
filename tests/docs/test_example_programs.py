"""Every program in examples/ runs as it stands and says what it should."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAID = {
    "library": "corrected: The dentist appointment is on Thursday at four.",
    "mcp_client": "found: Ada is allergic to peanuts.",
    "http_client": "found: The build server is called Ferris.",
    "agent_loop": "agent: You told me: My sister Maria visits on the last weekend of November.",
}


def test_every_example_is_run_here():
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.fixture(autouse=True)
def short_linger(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_LINGER_SECONDS", "1")  # no hub stays behind for long


# Those that start more than one process run with the other tests of what is around the product.
SLOW = ("agent_loop", "http_client")


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.tools if name in SLOW else ()) for name in sorted(SAID)]
)
def test_an_example_program_runs(name):
    """In a process of its own: the SDK's client keeps the standard error of the moment in which it is imported."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True, check=False, timeout=90
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert SAID[name] in done.stdout
