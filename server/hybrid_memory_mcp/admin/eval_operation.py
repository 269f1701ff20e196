"""The operation `eval`: a person's own questions, asked as an assistant asks them, and how many answers hold what is right.

This does not count as using a memory, and is not noted in the journal of readings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from mcp.types import TextContent

from hybrid_memory.text import holds_words
from hybrid_memory.token_estimate import estimate_tokens
from hybrid_memory_mcp.mcp_api.schemas import ReadArguments
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest

_READ = next(tool.run for tool in TOOLS if tool.name == "read_memories")
_FEW = 5


def evaluate(request: OperationRequest) -> dict[str, Any]:
    """Return the `summary_of` all answers, each of them under ``asked``, and the embedder and scorer that gave them.

    ``questions`` are objects with a ``question`` and its ``answer``: the words that a right hit holds, none where nothing is known.
    ``personal`` is the person's namespace, which is read together with a project's.
    """
    scope = replace(request.scope, personal=request.arguments.get("personal"))
    call = CallContext(scope, request.zone, by_person=True)
    request.run(lambda service: service.load_model(scope))
    asked: list[dict[str, Any]] = []
    questions = request.arguments["questions"]
    for one in questions:
        asked.append(request.run(partial(_ask, call=call, question=one["question"], answer=one["answer"])))
        request.on_progress(len(asked), len(questions))
    embedder, scorer = request.run(lambda service: (service.store.info().embedder, service.settings.scorer))
    return {"embedder": embedder, "scorer": scorer, **summary_of(asked), "asked": asked}


def _ask(service: MemoryService, call: CallContext, question: str, answer: Sequence[str]) -> dict[str, Any]:
    """Return what an assistant is shown for a question, and at which place (``rank``) the first right hit is."""
    result = _READ(service, call, ReadArguments(query=question))
    page = result.structured_content or {}
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    hits = [str(one["text"]) for one in page["memories"]]
    right = (place for place, hit in enumerate(hits, 1) if answer and all(holds_words(hit, word) for word in answer))
    return {
        "question": question,
        "answer": list(answer),
        "rank": next(right, None),
        "hits": len(hits),
        "unknown": bool(page.get("unknown")),
        "first": hits[0] if hits else None,
        "characters": len(text),
        "tokens": estimate_tokens(text),
    }


def summary_of(asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many questions are answered rightly, of those with an answer and of those without, and what an answer costs."""
    known = [one for one in asked if one["answer"]]
    unknown = [one for one in asked if not one["answer"]]
    return {
        "answerable": len(known),
        "right_first": sum(one["rank"] == 1 for one in known),
        "right_in_five": sum(one["rank"] is not None and one["rank"] <= _FEW for one in known),
        "nothing_found": sum(not one["hits"] for one in known),
        "unanswerable": len(unknown),
        "said_unknown": sum(one["unknown"] or not one["hits"] for one in unknown),
        "characters": round(fmean(one["characters"] for one in asked)),
        "tokens": round(fmean(one["tokens"] for one in asked)),
    }
