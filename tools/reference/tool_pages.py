"""The pages of what an assistant sees: tools with their schemas, resources, prompts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
from mcp.server import MCPServer
from tools.reference.markdown import code, table

from hybrid_memory_mcp.mcp_api.prompts import add_prompts
from hybrid_memory_mcp.mcp_api.resources import add_resources
from hybrid_memory_mcp.mcp_api.tools import TOOLS, ToolSpec


def tools_page() -> str:
    """Return the page of the tools."""
    head = (
        "# Tools\n\nWhat the server offers to a model, as `tools/list` shows it. An optional argument may be left out, null or empty\n"
        "([what counts as not given](../clients.md#what-counts-as-not-given)). Errors: [errors](errors.md).\n"
    )
    index = table(
        ("tool", "title", "changes something"),
        [(f"[`{one.name}`](#{one.name})", one.title, _changes(one)) for one in TOOLS],
    )
    return "\n".join([head, index, *map(_tool, TOOLS)])


def _changes(tool: ToolSpec) -> str:
    if tool.read_only:
        return "no"
    return "yes, can be undone" if tool.destructive else "yes"


def _tool(tool: ToolSpec) -> str:
    listed = tool.listed
    required = set(listed.input_schema.get("required", ()))
    rows = [
        (
            code(name),
            _type(schema),
            "yes" if name in required else "",
            _about(tool, name, schema.get("description", "")),
        )
        for name, schema in _properties(listed.input_schema)
    ]
    parts = [f"## {tool.name}\n", tool.description + "\n"]
    parts.append(table(("argument", "type", "required", "what it is"), rows))
    parts.append(f"The answer's structured part:\n\n```text\n{_shape(tool.gives)}\n```\n")
    parts.append("<details><summary>The schemas as JSON</summary>\n")
    schemas = {"inputSchema": listed.input_schema, "outputSchema": tool.gives}
    parts.append(f"```json\n{json.dumps(schemas, indent=1)}\n```\n\n</details>\n")
    return "\n".join(parts)


def _properties(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the arguments, those within objects by their paths."""
    for name, inner in schema.get("properties", {}).items():
        yield path + name, inner
        if inner.get("type") == "object":
            yield from _properties(inner, f"{path}{name}.")
        elif inner.get("type") == "array" and inner["items"].get("type") == "object":
            yield from _properties(inner["items"], f"{path}{name}[].")


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(code(one) for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}s"
    return {"string": "text", "boolean": "true or false", "integer": "whole number"}.get(schema["type"], schema["type"])


def _about(tool: ToolSpec, name: str, description: str) -> str:
    """Return what a model hears of an argument, and the limits that it is not told of, to save tokens."""
    full = tool.takes.model_json_schema()["properties"].get(name, {})
    found = [full, *full.get("anyOf", ())]
    least, most, longest = (
        next((one[limit] for one in found if limit in one), None) for limit in ("minimum", "maximum", "maxLength")
    )
    told = [description] if description else []
    if least is not None and most is not None and not description.startswith(f"{least} to {most}"):
        told.append(f"{least:,} to {most:,}")
    told += [f"At most {longest:,} characters"] if longest else []
    return ". ".join(told)


def _shape(schema: Mapping[str, Any], depth: int = 0) -> str:
    required = set(schema.get("required", ()))
    lines = []
    for name, inner in schema.get("properties", {}).items():
        mark = "" if name in required else "?"
        nullable = any(one.get("type") == "null" for one in inner.get("anyOf", ()))
        inner = next((one for one in inner.get("anyOf", ()) if one.get("type") != "null"), inner)  # noqa: PLW2901
        listed = inner["items"] if inner.get("type") == "array" else inner
        kind = f"list of {listed['type']}" if inner.get("type") == "array" else inner["type"]
        lines.append("  " * depth + f"{name}{mark}: {kind}" + (" or null" if nullable else ""))
        if listed.get("properties"):
            lines.append(_shape(listed, depth + 1))
    return "\n".join(lines)


def resources_page() -> str:
    """Return the page of resources and prompts, asked of a server that has them."""
    server: MCPServer[None] = MCPServer("reference")
    nothing: Any = None  # they are listed, never read
    add_resources(server, nothing)
    add_prompts(server, nothing)

    async def listed() -> tuple[Any, Any, Any]:
        return await server.list_resources(), await server.list_resource_templates(), await server.list_prompts()

    resources, templates, prompts = anyio.run(listed)
    rows = [(code(one.uri), one.description or "", one.mime_type or "") for one in resources]
    rows += [(code(one.uri_template), one.description or "", one.mime_type or "") for one in templates]
    parts = [
        "# Resources and prompts\n",
        "Clients that only know tools miss these, and write, find and correct the same.\n",
    ]
    parts += ["## Resources\n", table(("address", "what it is", "type"), sorted(rows))]
    told = "`memory://most_recent_memories` and those of a session can be subscribed to: a client is told when they change. Ids, sessions"
    parts.append(f"{told}\nand topics are completed.\n")
    parts.append("## Prompts\n")
    rows = [
        (code(one.name), one.description or "", "; ".join(f"`{a.name}`: {a.description}" for a in one.arguments or ()))
        for one in prompts
    ]
    parts.append(table(("prompt", "what it is", "arguments"), rows))
    return "\n".join(parts)
