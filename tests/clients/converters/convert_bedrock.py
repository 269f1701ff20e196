"""Bedrock: the tools as strands and langchain-aws send them, which botocore checks against the model of the service."""

import boto3
from botocore.stub import Stubber
from converting import converted, mcp_tools, tools_as_json
from langchain_aws.chat_models.bedrock_converse import _format_tools
from strands.tools.mcp.mcp_agent_tool import MCPAgentTool

keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
client = boto3.client("bedrock-runtime", region_name="us-east-1", **keys)


def checked(specs):
    """Return the schemas of tools, after botocore has taken them for a request."""
    request = {
        "modelId": "any",
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "toolConfig": {"tools": [{"toolSpec": spec} for spec in specs]},
    }
    with Stubber(client) as stubber:
        told = {"role": "assistant", "content": [{"text": "hi"}]}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        answer = {"output": {"message": told}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
        stubber.add_response("converse", answer, request)
        client.converse(**request)
    return {spec["name"]: spec["inputSchema"]["json"] for spec in specs}


own = [MCPAgentTool(tool, None).tool_spec for tool in mcp_tools()]
functions = [
    {
        "type": "function",
        "function": {
            name: tool[key]
            for name, key in (("name", "name"), ("description", "description"), ("parameters", "inputSchema"))
        },
    }
    for tool in tools_as_json()
]
converted(
    {
        "strands": checked([{name: spec[name] for name in ("name", "description", "inputSchema")} for spec in own]),
        "langchain-aws": checked([one["toolSpec"] for one in _format_tools(functions)]),
    }
)
