"""The schemas of all tools go through the converters of the providers' own packages and lose nothing."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from tests.clients.environments import python_with
from tests.server.services import ObservedService, make_server

from hybrid_memory_mcp.runtime.provider import ServiceProvider

HERE = Path(__file__).parent
TABLE = tomllib.loads((HERE / "versions.toml").read_text(encoding="utf-8"))
SECONDS = 120


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def listed():
    """Return our tools and the status as they go over the wire."""
    service = ObservedService()
    try:
        async with Client(make_server(ServiceProvider(lambda: service))) as client:
            tools = (await client.list_tools()).tools
            status = await client.read_resource("memory://status")
    finally:
        service.close()
    return {
        "tools": [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools],
        "status": status.model_dump(by_alias=True, exclude_none=True, mode="json"),
    }


def told(schema, *, strict):
    """Return what a schema tells a model, in one spelling for all dialects."""
    fields = schema.get("properties") or {}
    required = sorted(fields) if strict else sorted(schema.get("required") or [])
    return {
        "type": schema.get("type", "string" if "enum" in schema else "none").lower(),
        "description": schema.get("description"),
        "enum": schema.get("enum"),
        "fields": {name: told(inner, strict=strict) for name, inner in fields.items()},
        "required": required if fields else [],
        "items": told(schema["items"], strict=strict) if schema.get("items") else None,
    }


def as_converted(schema):
    """Return the same of a converted schema, whose required fields are as it has them."""
    return told(schema, strict=False)


@pytest.mark.anyio
@pytest.mark.parametrize("name", TABLE)
async def test_nothing_is_lost(name):
    given = await listed()
    by_converter = await anyio.to_thread.run_sync(converted_by, name, given)
    assert by_converter
    for converter, schemas in by_converter.items():
        for tool in given["tools"]:
            expected = told(tool["inputSchema"], strict=converter.startswith("strict "))
            assert as_converted(schemas[tool["name"]]) == expected, (converter, tool["name"])


def converted_by(name, given):
    python = python_with(f"converters-{name}", TABLE[name]["packages"])
    script = HERE / f"convert_{name.replace('-', '_')}.py"
    done = subprocess.run(
        [str(python), str(script)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
