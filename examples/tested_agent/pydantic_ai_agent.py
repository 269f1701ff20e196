"""A travel assistant made with pydantic-ai: its tools are the memory's. `test_pydantic_ai_agent.py` tests it.

pip install "pydantic-ai-slim[mcp]"
"""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

RULES = "You plan journeys. Note what the traveller tells about themselves; look it up before you plan anything."


def travel_agent(memory: Any, model: Any = "test") -> Agent:
    """Return the agent; ``memory`` is whatever `MCPToolset` takes: a URL, a transport, a server of this process."""
    return Agent(model, instructions=RULES, toolsets=[MCPToolset(memory)])
