"""Every program of docs/recipes.md runs as it stands, with the real package and a scripted model; then something is in its own store.

The person's own store and the one that a variable names are left alone: an SDK does not pass that variable on.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.clients.environments import TABLE, python_with

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "recipes.md"
MODELS = Path(__file__).parent / "recipes"
SECTIONS = dict(re.findall(r"\n## ([^\n]+)\n\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
# by heading, the client of versions.toml that has the packages; `recipes/model_NAME.py` is what it takes for a model, if it has one
RECIPES = {
    "MCP Python SDK": "sdk",
    "pydantic-ai": "pydantic-ai",
    "LangChain and LangGraph": "langchain",
    "OpenAI Agents": "openai-agents",
    "CrewAI": "crewai",
    "smolagents": "smolagents",
    "LlamaIndex": "llama-index",
    "Google ADK": "google-adk",
    "Anthropic's memory tool": "anthropic",
    "LangGraph's store": "langgraph",
    "OpenAI Agents session": "agents-session",
    "Without MCP": "sdk",
}
FACT = "Maria is allergic to peanuts."
WANTED_CALL = f"TOOL, ARGUMENTS = 'write_memory', {{'content': {FACT!r}, 'origin': 'user'}}\n"
QUIET = {"CREWAI_TRACING_ENABLED": "false", "CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
OURS = Path(sys.executable).parent


def test_every_recipe_is_run_here():
    assert list(SECTIONS) == list(RECIPES)


def packages_of(client):
    row = TABLE.get(client) or TABLE["recipes"][client]
    return [*row["packages"], *(("-e", str(PROJECT)) if "adapter" in row else ())]


@pytest.mark.parametrize("heading", RECIPES)
def test_a_recipe_runs_and_something_is_remembered(heading, folder):
    client = RECIPES[heading]
    packages = packages_of(client)
    python = python_with(client, packages) if packages else Path(sys.executable)
    model = MODELS / f"model_{client.replace('-', '_')}.py"
    (folder / "wanted_call.py").write_text(WANTED_CALL, encoding="utf-8")
    program = folder / "recipe.py"
    program.write_text(
        (model.read_text(encoding="utf-8") if model.exists() else "") + SECTIONS[heading], encoding="utf-8"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HYBRID_MEMORY_"))}  # noqa: TID251 - for a process
    environment = kept | QUIET | {"HOME": str(folder / "person"), "HYBRID_MEMORY_HOME": str(folder / "variable")}
    environment["PATH"] = os.pathsep.join([str(OURS), kept["PATH"]])
    done = subprocess.run(
        [python, program], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if heading == "Without MCP":
        assert done.stdout == "Ada is allergic to peanuts.\n"
        return
    recalled = [OURS / "hybrid-memory-mcp", "recall", "--home", "cook-memory", "--json", "What must Maria not eat?"]
    found = subprocess.run(
        recalled, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    contents = [one["content"].rstrip(".") for one in json.loads(found.stdout)["hits"]]
    assert contents == [FACT.rstrip(".")], done.stdout + done.stderr  # what is kept of a sentence has no full stop
    assert list(folder.rglob("memory.duckdb")) == [folder / "cook-memory" / "memory.duckdb"]
