"""The prompts, and completion of their arguments and of the resource templates' variables. `MemoryServer` registers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from hybrid_memory.validation import CONTENT_LIMIT, NAME_LIMIT, QUERY_LIMIT, check_text
from hybrid_memory_mcp.mcp_api.errors import as_protocol_errors
from hybrid_memory_mcp.mcp_api.resources import MEMORY_TEMPLATE, SESSION_TEMPLATE
from hybrid_memory_mcp.mcp_api.views import Views

if TYPE_CHECKING:
    from mcp.server import MCPServer

COMPLETION_LIMIT = 100  # values; the protocol allows no more

_SUGGESTIONS = {
    ("reflect_on_topic", "topic"): "tag",
    (SESSION_TEMPLATE, "session"): "session",
    (MEMORY_TEMPLATE, "id"): "id",
}


def add_prompts(server: MCPServer[None], views: Views) -> None:
    """Register the prompts and the completion with a server."""

    @server.prompt(
        name="answer_with_memories",
        title="Answer with memories",
        description="A question together with what is remembered about it",
    )
    async def answer(question: Annotated[str, Field(description="What the user wants to know")]) -> str:
        with as_protocol_errors("answer_with_memories"):
            return await views.answer(check_text("question", question, limit=QUERY_LIMIT))

    @server.prompt(
        name="remember_exchange",
        title="Remember an exchange",
        description="Asks to keep what matters of a question and the thought it led to",
    )
    async def remember(
        question: Annotated[str, Field(description="What the user asked or said")],
        thought: Annotated[str, Field(description="What was answered or concluded")],
    ) -> str:
        with as_protocol_errors("remember_exchange"):
            check_text("question", question, limit=CONTENT_LIMIT)
            check_text("thought", thought, limit=CONTENT_LIMIT)
            return await views.remember(question, thought)

    @server.prompt(
        name="reflect_on_topic",
        title="Reflect on a topic",
        description="Memories on a topic with the request to learn from them",
    )
    async def reflect(topic: Annotated[str, Field(description="What to think about; a tag is completed")]) -> str:
        with as_protocol_errors("reflect_on_topic"):
            return await views.reflect(check_text("topic", topic, limit=NAME_LIMIT))

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]  # the SDK leaves it untyped
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        _: CompletionContext | None,
    ) -> Completion:
        name = ref.name if isinstance(ref, PromptReference) else ref.uri
        what = _SUGGESTIONS.get((name, argument.name))
        if what is None:
            return Completion(values=[], total=0, has_more=False)
        with as_protocol_errors("completion"):
            values = await views.suggest(what, argument.value, COMPLETION_LIMIT + 1)
        return Completion(values=values[:COMPLETION_LIMIT], has_more=len(values) > COMPLETION_LIMIT)
