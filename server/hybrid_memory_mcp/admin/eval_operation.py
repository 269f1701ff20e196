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

from hybrid_memory.language.text import holds_words
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory_mcp.mcp_api.schemas import ReadArguments
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest

_READ = next(tool.run for tool in TOOLS if tool.name == "read_memories")
_FEW = 5


def evaluate(request: OperationRequest) -> dict[str, Any]:
    """Return the `summary_of` all answers, each of them under ``asked``, and the embedder and scorer that gave them.

    ``questions`` are objects with a ``question`` and its ``answer``, the words that a right hit holds, or its ``evidence``, the ids of the
    right memories; none of either where nothing is known. ``personal`` is the person's namespace, which is read together with a project's.
    """
    scope = replace(request.scope, personal=request.arguments.get("personal"))
    call = CallContext(scope, request.zone, by_person=True)
    request.run(lambda service: service.load_model(scope))
    asked: list[dict[str, Any]] = []
    questions = request.arguments["questions"]
    for one in questions:
        asked.append(request.run(partial(ask, call=call, one=one)))
        request.on_progress(len(asked), len(questions))
    embedder, scorer = request.run(lambda service: (service.store.info().embedder, service.settings.scorer))
    return {"embedder": embedder, "scorer": scorer, **summary_of(asked), "asked": asked}


def ask(service: MemoryService, call: CallContext, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an assistant is shown for a question, and at which place (``rank``) the first right hit is."""
    result = _READ(service, call, ReadArguments(query=one["question"]))
    page = result.structured_content or {}
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    hits = page["memories"]
    return {
        **one,
        "rank": next((place for place, hit in enumerate(hits, 1) if _is_right(hit, one)), None),
        "hits": len(hits),
        "ids": [hit["id"] for hit in hits],
        "unknown": bool(page.get("unknown")),
        "first": str(hits[0]["text"]) if hits else None,
        "characters": len(text),
        "tokens": estimate_tokens(text),
    }


def _is_right(hit: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    if evidence := one.get("evidence"):
        return not {hit["id"], *hit.get("repeats", ())}.isdisjoint(evidence)
    answer = one.get("answer") or ()
    return bool(answer) and all(holds_words(str(hit["text"]), word) for word in answer)


def _is_known(one: Mapping[str, Any]) -> bool:
    return bool(one.get("answer") or one.get("evidence"))


def summary_of(asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many questions are answered rightly, of those with an answer and of those without, and what an answer costs."""
    known = [one for one in asked if _is_known(one)]
    unknown = [one for one in asked if not _is_known(one)]
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
