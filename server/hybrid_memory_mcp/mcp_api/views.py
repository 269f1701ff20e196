"""The texts of resources and prompts: memories fetched in a worker thread, rendered with templates of `hybrid_memory_prompts`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from hybrid_memory.clock import RandomSource
from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import ReadRequest, ReflectionGroup
from hybrid_memory.retrieval.brief import in_sections
from hybrid_memory.token_estimate import PARTS, token_cost
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.mcp_api.tool_results import truncate, when
from hybrid_memory_mcp.runtime.provider import MemoryAccess

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService
    from hybrid_memory_prompts.render import Quoted, Renderer

RECENT_SHOWN = 20  # memories of a session's resource
ABOUT_QUESTION = "about the question"  # the section of what answers it, before those of the brief
RECALLED_FOR_ANSWER = 8  # memories that answer the question of a prompt; a brief follows them
QUOTED_COST_LIMIT = 4000 * PARTS  # 4,000 tokens of quoted text: resources and prompts have no budget of their own
MIN_QUOTED_COST = 50 * PARTS  # of one memory: a sentence


class Views:
    """Renders memories of one scope; templates are loaded at first use, in a worker thread."""

    def __init__(
        self,
        provider: MemoryAccess,
        scope: Scope,
        zone: tzinfo | None,
        random_source: RandomSource,
        templates: Path | None = None,
        *,
        clients: Callable[[], list[dict[str, Any]]] | None = None,
        notices: Sequence[str] = (),
    ) -> None:
        self.provider = provider
        self.scope = scope
        self._zone = zone
        self._random_source = random_source
        self._templates = templates
        self._clients = clients or list
        self._notices = tuple(notices)
        self._lock = threading.Lock()
        self._renderer: Renderer | None = None

    async def recent(self, session: str | None = None) -> str:
        """Return the brief of the namespace, or the most recent memories of a session, as text."""

        def work(service: MemoryService) -> str:
            if session is None:
                return self._render("recent.md.j2", memories=self._quoted(*_brief(service, self.scope)), session="")
            found = service.recent(self.scope, limit=RECENT_SHOWN, session=session)
            return self._render("recent.md.j2", memories=self._quoted(found), session=session)

        return await self.provider.call(work)

    async def memory(self, memory_id: str) -> str:
        """Return one memory, whole."""

        def work(service: MemoryService) -> str:
            found = service.get(self.scope, MemoryId(memory_id))
            return self._render("memory.md.j2", memories=[self._quote(found, found.content)])

        return await self.provider.call(work)

    async def status(self) -> str:
        """Return the state of the memory, and who is connected in this namespace, as JSON."""
        clients = self._clients()

        def work(service: MemoryService) -> str:
            status = service.status(self.scope)
            values = asdict(status) | {"notices": [*status.notices, *self._notices], "clients": clients}
            return json.dumps(values, ensure_ascii=False, default=dict)

        return await self.provider.call(work)

    async def answer(self, question: str) -> str:
        """Return a question together with what the memory has on it and a brief."""

        def work(service: MemoryService) -> str:
            request = ReadRequest(query=question, limit=RECALLED_FOR_ANSWER, concise=True, recalls=False)
            found = [hit.memory for hit in service.read(self.scope, request).hits if not hit.weak]
            known = {memory.id for memory in found}
            memories, sections = _brief(service, self.scope)
            found += [memory for memory in memories if memory.id not in known]
            told = dict.fromkeys(known, ABOUT_QUESTION) | {
                id_: section for id_, section in sections.items() if id_ not in known
            }
            return self._prompt("answer.md.j2", found, told, question=question)

        return await self.provider.call(work)

    async def remember(self, question: str, thought: str) -> str:
        """Return the request to remember an exchange."""
        return await anyio.to_thread.run_sync(
            lambda: self._prompt("remember.md.j2", (), question=question, thought=thought)
        )

    async def reflect(self, topic: str) -> str:
        """Return groups of memories on a topic with the request to think about them."""

        def work(service: MemoryService) -> str:
            groups = service.offer_reflection(self.scope, focus=topic, session=None, since=None, limit=3)
            return self._prompt("reflect.md.j2", _members(groups), topic=topic)

        return await self.provider.call(work)

    async def reflection_prompt(
        self, *, focus: str | None, session: str | None, since: str | None
    ) -> tuple[list[str], str]:
        """Return the ids of the group that is most worth a thought, and the request to think; nothing if there is none."""

        def work(service: MemoryService) -> tuple[list[str], str]:
            begin = CallTime(self._zone, service.now()).moment("since", since, "begin")
            groups = service.offer_reflection(self.scope, focus=focus, session=session, since=begin, limit=1)
            members = _members(groups)
            return [memory.id for memory in members], self._prompt("think.md.j2", members) if members else ""

        return await self.provider.call(work)

    async def suggest(self, what: str, prefix: str, limit: int) -> list[str]:
        """Return known sessions, tags or ids that begin with ``prefix``."""
        return await self.provider.call(lambda service: service.suggest(self.scope, what, prefix, limit))

    def _prompt(
        self,
        template: str,
        memories: tuple[Memory, ...] | list[Memory],
        sections: Mapping[MemoryId, str] = MappingProxyType({}),
        **variables: str,
    ) -> str:
        quoted = self._quoted(memories, sections)
        block = self._render("memories.md.j2", memories=quoted).strip() if quoted else ""
        texts = {"question": "", "thought": "", "topic": ""} | variables
        return self._render(template, memories=quoted, most_recent_memories=block, **texts)

    def _render(self, template: str, *, memories: Sequence[Quoted] = (), **variables: str) -> str:
        with self._lock:
            if self._renderer is None:
                from hybrid_memory_prompts.render import Renderer

                self._renderer = Renderer(self._random_source, self._templates)
        return self._renderer.render(template, memories=memories, **variables)

    def _quoted(
        self,
        memories: tuple[Memory, ...] | list[Memory],
        sections: Mapping[MemoryId, str] = MappingProxyType({}),
    ) -> list[Quoted]:
        """Shorten what would not fit: each memory gets an even share of the room that is left."""
        room = QUOTED_COST_LIMIT
        quoted = []
        for at, memory in enumerate(memories):
            share = max(room // (len(memories) - at), MIN_QUOTED_COST)
            text = memory.content if token_cost(memory.content) <= share else truncate(memory.content, share)
            room -= token_cost(text)
            quoted.append(self._quote(memory, text, sections.get(memory.id, "")))
        return quoted

    def _quote(self, memory: Memory, text: str, section: str = "") -> Quoted:
        from hybrid_memory_prompts.render import Quoted, Stored

        return Quoted(
            id=memory.id,
            time=when(memory.occurred_at or memory.created_at, self._zone),
            origin=memory.origin.value,
            trust=memory.trust.value,
            tier=memory.tier.value,
            section=section,
            disputes=memory.disputes or "",
            text=Stored(text),
            speaker=Stored(memory.speaker) if memory.speaker else None,
        )


def _brief(service: MemoryService, scope: Scope) -> tuple[list[Memory], dict[MemoryId, str]]:
    """Return the memories of a brief, those of a section together, and the sections of each: what read_memories shows without a query."""
    hits = in_sections(service.read(scope, ReadRequest()).hits, lambda hit: hit.section)
    return [hit.memory for hit in hits], {hit.memory.id: hit.section for hit in hits if hit.section is not None}


def _members(groups: tuple[ReflectionGroup, ...]) -> list[Memory]:
    seen: dict[MemoryId, Memory] = {}
    for group in groups:
        seen.update({memory.id: memory for memory in group.memories})
    return list(seen.values())
