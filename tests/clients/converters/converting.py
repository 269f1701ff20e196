"""What the scripts share, with any version of the SDK: the tools come as JSON on stdin, schemas leave on stdout."""

import json
import sys

_GIVEN = json.load(sys.stdin)


def tools_as_json():
    """Return the tools as `tools/list` lists them."""
    return copied(_GIVEN["tools"])


def status():
    """Return the answer to `resources/read` of memory://status."""
    return copied(_GIVEN["status"])


def mcp_tools():
    """Return the tools as values of the SDK; both spellings of the schema work."""
    from mcp.types import Tool

    if "input_schema" not in Tool.model_fields:
        Tool.input_schema = property(lambda tool: tool.inputSchema)
    return [Tool.model_validate(one) for one in tools_as_json()]


def copied(value):
    """Return a copy that a converter may change."""
    return json.loads(json.dumps(value))


def converted(by_converter):
    """Write for each converter the schema of each tool."""
    json.dump(by_converter, sys.stdout)
