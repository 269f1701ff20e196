"""The brief: what an assistant is given at the start of a conversation, why each line is in it, and what comes next or was left out.

Some clients are given it by a hook before the first prompt, the others read it by calling `read_memories` without a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp.types import TextContent

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.project_names import project_of
from hybrid_memory.requests import Hit, ReadRequest, ReadResult
from hybrid_memory.retrieval.brief import Dropped, Queue, Section, in_sections
from hybrid_memory.service.brief_reasons import BriefReasons
from hybrid_memory.settings import hook_switches
from hybrid_memory_inspector.views.brief_words import DROPPED, QUEUES, SECTIONS, why_in_brief, why_next
from hybrid_memory_mcp.clients.table import BY_NAME
from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES
from hybrid_memory_mcp.hooks.typed import FENCE
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.mcp_api.opening_brief import BRIEF_TOKENS, opening_request, opening_text
from hybrid_memory_mcp.mcp_api.schemas import BRIEF_TOKEN_BUDGET, ReadArguments
from hybrid_memory_mcp.mcp_api.tool_results import read_result
from hybrid_memory_mcp.views.view import ViewRequest, told

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

_NEXT_SHOWN = 12  # memories that come next; a person reads a few
ANY = "any"
"""A client without a hook, which reads its brief by calling the tool."""
_WITH_HOOK = tuple(name for name, events in EVENT_NAMES.items() if "session-start" in events)
_BY_HOOK = "{title} gets this text when a conversation begins, before you type anything."
_BY_TOOL = "An assistant reads this text first, by calling read_memories without a question."
_SWITCHED_OFF = (
    "Briefs are switched off (`brief = false` under `[hooks]` in config.toml). This is what assistants would get."
)
_NOTHING = "Nothing yet: no memory is worth a brief so far."


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return what a client gets at the start of a conversation, line by line, and why.

    The parameter ``client`` names one, as `install` does; ``any`` (the default where none of those connected has a hook) is one that
    reads its brief by calling `read_memories`.

    Raises:
        InvalidInput: there is no such client.
    """
    client = request.text("client") or _connected(request)
    if client not in (ANY, *_WITH_HOOK):
        raise InvalidInput("client", f"is one of {', '.join((ANY, *_WITH_HOOK))}")
    give = _by_tool if client == ANY else _by_hook
    given = give(service, request)
    return {
        "client": client,
        "clients": [
            {"name": name, "title": BY_NAME[name].title if name in BY_NAME else "Any other assistant"}
            for name in (*_WITH_HOOK, ANY)
        ],
        "says": _BY_TOOL if client == ANY else _BY_HOOK.format(title=BY_NAME[client].title),
        "reads": [{"namespace": one, "project": project_of(one)} for one in request.scope.namespaces],
        "notes": _notes(request, client, given),
    } | given.told(service, request)


def _connected(request: ViewRequest) -> str:
    """Return the first client that is connected and has a hook."""
    here = [str(one.get("name") or one.get("client") or "").casefold() for one in request.clients()]
    return next((name for one in here for name in _WITH_HOOK if one.startswith(name)), ANY)


def _notes(request: ViewRequest, client: str, given: _Given) -> list[str]:
    notes = [_SWITCHED_OFF] if client != ANY and not hook_switches(request.home).brief else []
    return [*notes, *([] if given.ids else [_NOTHING])]


def _by_hook(service: MemoryService, request: ViewRequest) -> _Given:
    asked = opening_request(request.zone)
    found, reasons = service.brief_with_reasons(request.scope, asked)
    text, ids = opening_text(found, found.hits, request.scope, request.zone)
    return _Given(found, reasons, text, ids, BRIEF_TOKENS)


def _by_tool(service: MemoryService, request: ViewRequest) -> _Given:
    asked: ReadRequest = ReadArguments().to_request(CallTime(request.zone, service.now()))
    found, reasons = service.brief_with_reasons(request.scope, asked)
    answer = read_result(found, BRIEF_TOKEN_BUDGET, request.scope, request.zone)
    text = "\n".join(one.text for one in answer.content if isinstance(one, TextContent))
    ids = tuple(MemoryId(one["id"]) for one in (answer.structured_content or {})["memories"])
    return _Given(found, reasons, text if ids else "", ids, BRIEF_TOKEN_BUDGET)


@dataclass(frozen=True)
class _Given:
    """A brief as a client is given it: what was read, why, the text, the ids of the memories that stand in it, and its room in tokens."""

    found: ReadResult
    reasons: BriefReasons
    text: str
    ids: Sequence[MemoryId]
    budget: int

    def told(self, service: MemoryService, request: ViewRequest) -> dict[str, Any]:
        """Return what is on the page."""
        whole = self._as_asked_for(service, request)

        def as_json(memory: Memory) -> dict[str, Any]:
            return told(service, request, whole.get(memory.id, memory))

        dropped = {memory.id: reason for memory, reason in self.reasons.dropped}
        shown = {hit.memory.id: hit for hit in self.found.hits if hit.memory.id in self.ids}
        in_order = in_sections([shown[one] for one in self.ids if one in shown], lambda hit: hit.section)
        lines = [
            self._line(hit, line, as_json, dropped.get(hit.memory.id))
            for hit, line in zip(in_order, _lines_of(self.text), strict=False)
        ]
        left = [hit for hit in self.found.hits if hit.memory.id not in shown] if self.ids else []
        following = (*left, *self.reasons.following)
        told_already = {*shown, *(hit.memory.id for hit in following)}
        return {
            "text": self.text,
            "tokens": {"text": estimate_tokens(self.text) if self.text else 0, "budget": self.budget},
            "lines": lines,
            "shares": self._shares(lines),
            "next": [
                {
                    "memory": as_json(hit.memory),
                    "section": SECTIONS[hit.section or Section.RECENT],
                    "why": why_next(dropped.get(hit.memory.id)),
                }
                for hit in following[:_NEXT_SHOWN]
            ],
            "left_out": [
                {"memory": as_json(memory), "reason": reason.value, "why": DROPPED[reason]}
                for memory, reason in self.reasons.dropped
                if memory.id not in told_already
            ],
            "after": max(self.found.total - len(shown), 0),
            "total": self.found.total,
        }

    def _line(
        self, hit: Hit, line: str, as_json: Callable[[Memory], dict[str, Any]], dropped: Dropped | None
    ) -> dict[str, Any]:
        chosen = self.reasons.lines.get(hit.memory.id)
        queue = Queue.RECENT if chosen is None else chosen.queue
        section = hit.section or Section.RECENT
        return {
            "memory": as_json(hit.memory),
            "section": section,
            "section_title": SECTIONS[section],
            "kind": QUEUES[queue],
            "line": line,
            "tokens": estimate_tokens(line),
            "why": why_in_brief(hit.memory, chosen, dropped),
        }

    def _shares(self, lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return for each kind of line its share of the room, and how many tokens of the text it has."""
        used: dict[str, int] = {}
        for one in lines:
            used[one["kind"]] = used.get(one["kind"], 0) + one["tokens"]
        total = sum(used.values()) or 1
        return [
            {
                "kind": QUEUES[queue],
                "share": share,
                "tokens": used.get(QUEUES[queue], 0),
                "used": round(used.get(QUEUES[queue], 0) / total, 3),
            }
            for queue, share in self.reasons.shares.items()
        ]

    def _as_asked_for(self, service: MemoryService, request: ViewRequest) -> Mapping[MemoryId, Memory]:
        """Return the memories with their secrets where the person asks to see them."""
        if not request.reveal:
            return {}
        hits = (*self.found.hits, *self.reasons.following)
        ids = [hit.memory.id for hit in hits] + [memory.id for memory, _ in self.reasons.dropped]
        return service.revealed(request.scope, ids)


def _lines_of(text: str) -> list[str]:
    """Return the lines of a brief that tell of a memory: stored text stands quoted in them, in headings and words around them never."""
    headings = {f"{section}:" for section in Section}
    fences = {f"<{FENCE}>", f"</{FENCE}>"}
    return [line for line in text.split("\n") if ' "' in line and line not in headings and line not in fences]
