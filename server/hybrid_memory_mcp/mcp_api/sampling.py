"""Letting the client's own model reflect, where the client offers that ("sampling"). `MemoryServer` calls it for `reflect`.

It is never needed: whatever goes wrong, `reflect` offers its groups to the caller as it does everywhere else.
The group is chosen once. Up to 2025-11-25 the question goes to the client while the call waits. From 2026-07-28 on a
server cannot ask; the call ends with the question, and the client repeats it with the answer and with our own state,
the ids of the group, so that a store that changed meanwhile changes nothing.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver.context import Context
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from hybrid_memory.model import MemoryId
from hybrid_memory.requests import Insight
from hybrid_memory_mcp.mcp_api.schemas import InsightArguments, ReflectArguments
from hybrid_memory_mcp.mcp_api.views import Views

SAMPLING_TIMEOUT_SECONDS = 45.0  # for a person's consent and a model's answer; clients often give up a call after 60
MAX_ANSWER_TOKENS = 800  # three insights with their ids
MAX_INSIGHTS = 3  # stored of one answer

_QUESTION = "insights"
_INSIGHTS = TypeAdapter(list[InsightArguments])


class SamplingReflector:
    """Asks a client's model for insights on the group that is most worth a thought."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._unanswered = False

    async def insights(
        self, context: Context[None, Any], given: ReflectArguments
    ) -> tuple[Insight, ...] | InputRequiredResult:
        """Return the insights of the client's model, none if there are none to be had, or the question to it.

        A client of the newer protocol that refuses fails its own call and never tells us; a question that got no answer
        is therefore not asked again.

        Raises:
            HybridMemoryError: the memory cannot be read, or an argument is wrong.
        """
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.sampling is None:
            return ()
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        if modern and context.request_state is not None:
            self._unanswered = False
            answer = (context.input_responses or {}).get(_QUESTION)
            return _insights(answer, _known(context.request_state))
        if modern and self._unanswered:
            return ()
        ids, text = await self._views.reflection_prompt(focus=given.focus, session=given.session, since=given.since)
        if not ids:
            return ()
        request = _question(text)
        if modern:
            self._unanswered = True
            return InputRequiredResult(input_requests={_QUESTION: request}, request_state=json.dumps(ids))
        return _insights(await _ask(context, request), ids)


async def _ask(context: Context[None, Any], request: CreateMessageRequest) -> CreateMessageResult | None:
    where = ServerMessageMetadata(related_request_id=context.request_context.request_id)
    try:
        answer: CreateMessageResult = await context.session.send_request(
            request, CreateMessageResult, request_read_timeout_seconds=SAMPLING_TIMEOUT_SECONDS, metadata=where
        )
    except (MCPError, ValidationError):
        return None
    return answer


def _question(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=MAX_ANSWER_TOKENS))


def _known(state: str) -> list[str]:
    """The ids we sent; the SDK seals the state, so a client cannot have changed it."""
    ids = json.loads(state)
    return [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []


def _insights(answer: object, ids: list[str]) -> tuple[Insight, ...]:
    """Return the insights in a model's answer that rest on memories it was shown."""
    if not isinstance(answer, CreateMessageResult) or not isinstance(answer.content, TextContent):
        return ()
    text = answer.content.text
    try:
        given = _INSIGHTS.validate_json(text[text.find("[") : text.rfind("]") + 1])
    except ValidationError:
        return ()
    found = []
    for one in given[:MAX_INSIGHTS]:
        evidence = tuple(MemoryId(each) for each in one.evidence if each in ids)
        if evidence:
            found.append(Insight(text=one.text, evidence=evidence, importance=one.importance))
    return tuple(found)
