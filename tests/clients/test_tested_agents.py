"""Other people's tests of their agents, with the plugin installed as they install it: in an environment and a folder of their own."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.clients.environments import TABLE, python_with

from hybrid_memory_testing import memory_for_tests

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = PROJECT / "examples" / "tested_agent"
PYDANTIC_AI = (*TABLE["pydantic-ai"]["packages"], "pytest==9.2.0", "-e", str(PROJECT))
PYTESTS = {
    version: (f"pytest=={version}", "pytest-asyncio==1.5.0", "pytest-xdist==3.8.0", "trio==0.35.0", "-e", str(PROJECT))
    for version in ("8.4.2", "9.2.0")
}

ASYNCIO = """
import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio

@pytest_asyncio.fixture
async def client(memory):
    async with memory.client() as client:
        yield client

@pytest.mark.parametrize("number", range(4))
async def test_told(memory, client, number):
    await client.call_tool("write_memory", {"content": f"The code of door {number} is 4711."})
    memory.assert_remembered(f"door {number}")

@pytest.mark.hybrid_memory(transport="stdio")
async def test_over_pipes(memory, client):
    await client.call_tool("write_memory", {"content": "I am allergic to peanuts."})
    memory.assert_remembered("peanuts")
"""


def ran(python, folder, *options):
    """Return the exit code and the output of pytest in somebody's folder, who has a memory of their own there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HYBRID_MEMORY"))}  # noqa: TID251 - for the process
    home = folder / "home"
    home.mkdir(exist_ok=True)
    kept |= {
        "HOME": str(home),
        "HYBRID_MEMORY_HOME": str(home / "own"),
        "HYBRID_MEMORY_EMBEDDER": "fastembed:none/such",
    }
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error::ResourceWarning", *options],
        cwd=folder,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert list(home.iterdir()) == []
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def example(folder):
    copy = folder / "suite"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_the_agents_of_the_example_pass_with_their_memory_and_fail_without(example):
    python = python_with("tested-agent", PYDANTIC_AI)
    code, output = ran(python, example)
    assert (code, "9 passed" in output) == (0, True), output
    code, output = ran(python, example, "--hybrid-memory-off")
    assert (code, "7 failed, 2 passed" in output) == (1, True), output
    assert "test_pydantic_ai_agent.py::test_the_agent_has_the_memorys_tools" in output


BOTH_LOOPS = """
import pytest

@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["memory", "stdio"])
async def test_told(transport):
    from hybrid_memory_testing import memory_for_tests

    async with memory_for_tests(transport=transport) as memory, memory.client() as client:
        await client.call_tool("write_memory", {"content": "I am allergic to peanuts."})
        memory.assert_remembered("peanuts")
"""

LANGCHAIN = """
import asyncio, json, sys
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main(config):
    servers = {name: {**entry, "transport": "stdio"} for name, entry in config["mcpServers"].items()}
    tools = {tool.name: tool for tool in await MultiServerMCPClient(servers).get_tools()}
    await tools["write_memory"].ainvoke({"content": "I am allergic to peanuts."})
    print(await tools["read_memories"].ainvoke({"query": "What must I not eat?"}))

asyncio.run(main(json.loads(sys.argv[1])))
"""


def test_an_agent_of_another_environment_is_tested_from_here():
    python = python_with("langchain", TABLE["langchain"]["packages"])
    with memory_for_tests(transport="stdio") as memory:
        command = [python, "-c", LANGCHAIN, json.dumps(memory.mcp_config())]
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
        assert "allergic to peanuts" in said
        memory.assert_remembered("peanuts", times=1)
        memory.assert_calls("write_memory", "read_memories")


@pytest.mark.parametrize("version", PYTESTS)
def test_a_suite_of_pytest_asyncio_runs_in_one_process_and_in_two(folder, version):
    python = python_with(f"tested-with-pytest-{version[0]}", PYTESTS[version])
    (folder / "test_it.py").write_text(ASYNCIO, encoding="utf-8")
    (folder / "test_loops.py").write_text(BOTH_LOOPS, encoding="utf-8")  # asyncio and trio
    for options in ((), ("-n", "2")):
        code, output = ran(python, folder, "-o", "asyncio_default_fixture_loop_scope=function", *options)
        assert (code, "9 passed" in output) == (0, True), output
        code, output = ran(
            python, folder, "-o", "asyncio_default_fixture_loop_scope=function", "--hybrid-memory-off", *options
        )
        assert (code, "9 failed" in output, "5 tests notice" in output) == (1, True, True), output
