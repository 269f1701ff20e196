"""google-genai: MCP tools as declarations of functions, for the Gemini API and for Vertex."""

from converting import converted, mcp_tools
from google.genai import _mcp_utils, types


def declared(*, vertex):
    found = _mcp_utils.mcp_to_gemini_tools(mcp_tools(), is_agent_platform=vertex)
    declarations = [one for tool in found for one in types.Tool.model_validate(tool).function_declarations]
    return {one.name: one.parameters_json_schema if vertex else shown(one.parameters) for one in declarations}


def shown(schema):
    return schema.model_dump(mode="json", exclude_none=True)


def from_json_schema(api):
    found = {}
    for tool in mcp_tools():
        given = types.JSONSchema.model_validate(tool.input_schema)
        found[tool.name] = shown(
            types.Schema.from_json_schema(json_schema=given, api_option=api, raise_error_on_unsupported_field=True)
        )
    return found


converted(
    {
        "Gemini": declared(vertex=False),
        "Vertex": declared(vertex=True),
        "Gemini, all fields supported": from_json_schema("GEMINI_API"),
        "Vertex, all fields supported": from_json_schema("VERTEX_AI"),
    }
)
