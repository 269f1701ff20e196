"""The texts of resources and prompts: memories fetched in a worker thread, rendered with templates of `hybrid_memory_prompts`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from hybrid_memory.clock import RandomSource
from hybrid_memory.language.text import visible
from hybrid_memory.language.token_estimate import PARTS, estimate_tokens, token_cost
from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import Hit, ReadRequest, ReadResult, ReflectionGroup, Where
from hybrid_memory.retrieval.brief import in_sections
from hybrid_memory.retrieval.disputes import disputed_first
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.readings import Asked, Way
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.mcp_api.tool_results import truncate, when
from hybrid_memory_mcp.runtime.client_place import ClientPlace
from hybrid_memory_mcp.runtime.provider import MemoryAccess

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_prompts.render import Quoted, Renderer

T = TypeVar("T")

RECENT_SHOWN = 20  # memories of a session's resource
ABOUT_QUESTION = "about the question"  # the section of what answers it, before those of the brief
RECALLED_FOR_ANSWER = 8  # memories that answer the question of a prompt; a brief follows them
QUOTED_COST_LIMIT = 4000 * PARTS  # 4,000 tokens of quoted text: resources and prompts have no budget of their own
MIN_QUOTED_COST = 50 * PARTS  # of one memory: a sentence

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The name of the client that takes a resource or a prompt, for the journal of readings; "" leaves that to the scope."""


class Views:
    """Renders memories of one scope; templates are loaded at first use, in a worker thread."""

    def __init__(
        self,
        provider: MemoryAccess,
        scope: Scope | ClientPlace,
        zone: tzinfo | None,
        random_source: RandomSource,
        templates: Path | None = None,
        *,
        clients: Callable[[], list[dict[str, Any]]] | None = None,
        notices: Sequence[str] = (),
    ) -> None:
        self.provider = provider
        self.where = scope if isinstance(scope, ClientPlace) else ClientPlace(scope)
        self._zone = zone
        self._random_source = random_source
        self._templates = templates
        self._clients = clients or list
        self._notices = tuple(notices)
        self._lock = threading.Lock()
        self._renderer: Renderer | None = None

    @property
    def scope(self) -> Scope:
        """On whose behalf the client is served."""
        return self.where.scope

    async def recent(self, session: str | None = None) -> str:
        """Return the brief of the namespace, or the most recent memories of a session, as text."""

        def work(service: MemoryService) -> str:
            request = ReadRequest(where=Where(session=session))
            if session is None:
                found = service.read(self.scope, request)
                found = replace(found, hits=tuple(in_sections(found.hits, lambda hit: hit.section)))
            else:
                found = service.recent_page(self.scope, limit=RECENT_SHOWN, session=session)
            quoted = self._quoted(found.hits)
            named = service.secrets.shown_text(session or "")
            text = self._render("recent.md.j2", memories=quoted, session=named, held_back=found.held_back)
            asked = None if session is None else Asked.LATEST
            self._note(service, Way.RESOURCE, request, found, text, asked=asked)
            return text

        return await self._read(work)

    async def memory(self, memory_id: str) -> str:
        """Return one memory, whole."""

        def work(service: MemoryService) -> str:
            found = service.get(self.scope, MemoryId(memory_id))
            (hit,) = service.as_hits(self.scope, [found])
            text = self._render("memory.md.j2", memories=[self._quote(hit, found.content)])
            result = ReadResult(hits=(hit,), total=1)
            self._note(service, Way.RESOURCE, ReadRequest(ids=(found.id,)), result, text)
            return text

        return await self._read(work)

    async def status(self) -> str:
        """Return the state of the memory, and who is connected in this namespace, as JSON."""
        clients = self._clients()
        place = await self.where.current()
        refusal = () if place.refuses_writes is None else (place.refuses_writes,)

        def work(service: MemoryService) -> str:
            values = service.shown_status(self.scope, clients, (*self._notices, *refusal, *place.notices))
            if self.where.is_followed:
                values["project"] = service.secrets.shown_body(place.described())
            return visible(json.dumps(values, ensure_ascii=False, default=dict))

        return await self.provider.call(work)

    async def answer(self, question: str) -> str:
        """Return a question together with what the memory has on it and a brief."""

        def work(service: MemoryService) -> str:
            request = ReadRequest(query=question, limit=RECALLED_FOR_ANSWER, concise=True, recalls=False)
            answer = service.read(self.scope, request)
            found = [replace(hit, section=ABOUT_QUESTION) for hit in answer.hits if not hit.weak]
            known = {hit.memory.id for hit in found}
            brief = in_sections(service.read(self.scope, ReadRequest()).hits, lambda hit: hit.section)
            hits = _disputed_first([*found, *(hit for hit in brief if hit.memory.id not in known)])
            text = self._prompt("answer.md.j2", hits, question=question)
            self._note(service, Way.PROMPT, request, answer, text, hits=hits)
            return text

        return await self._read(work)

    async def remember(self, question: str, thought: str) -> str:
        """Return the request to remember an exchange."""
        return await anyio.to_thread.run_sync(
            lambda: self._prompt("remember.md.j2", (), question=question, thought=thought)
        )

    async def reflect(self, topic: str) -> str:
        """Return groups of memories on a topic with the request to think about them."""

        def work(service: MemoryService) -> str:
            groups = service.offer_reflection(self.scope, focus=topic, session=None, since=None, limit=3)
            return self._prompt("reflect.md.j2", service.as_hits(self.scope, _members(groups)), topic=topic)

        return await self._read(work)

    async def reflection_prompt(
        self, *, focus: str | None, session: str | None, since: str | None
    ) -> tuple[list[str], str]:
        """Return the ids of the group that is most worth a thought, and the request to think; nothing if there is none."""

        def work(service: MemoryService) -> tuple[list[str], str]:
            begin = CallTime(self._zone, service.now()).moment("since", since, "begin")
            groups = service.offer_reflection(self.scope, focus=focus, session=session, since=begin, limit=1)
            members = _members(groups)
            hits = service.as_hits(self.scope, members)
            return [memory.id for memory in members], self._prompt("think.md.j2", hits) if members else ""

        return await self._read(work)

    async def suggest(self, what: str, prefix: str, limit: int) -> list[str]:
        """Return known sessions, tags or ids that begin with ``prefix``."""
        place = await self.where.current()
        if place.refuses_reads is not None:
            return []
        return await self._read(lambda service: service.suggest(self.scope, what, prefix, limit))

    def _note(
        self,
        service: MemoryService,
        way: Way,
        request: ReadRequest,
        found: ReadResult,
        text: str,
        *,
        hits: Sequence[Hit] | None = None,
        asked: Asked | None = None,
    ) -> None:
        """Note in the journal of readings what a client took; ``hits`` is what the text holds, where that is more than was found."""
        scope = self.scope if not CLIENT.get() else replace(self.scope, actor=CLIENT.get())
        ids = [hit.memory.id for hit in (found.hits if hits is None else hits)]
        shown = Shown(ids=ids, tokens=estimate_tokens(text))
        service.journal.note(scope, way, request, found, shown, service.now(), asked)

    async def _read(self, work: Callable[[MemoryService], T]) -> T:
        """Run work that reads memories.

        Raises:
            RefusedHere: nothing may be read where the client is.
        """
        await self.where.readable()
        return await self.provider.call(work)

    def _prompt(self, template: str, hits: Sequence[Hit], **variables: str) -> str:
        quoted = self._quoted(hits)
        block = self._render("memories.md.j2", memories=quoted).strip() if quoted else ""
        texts = {"question": "", "thought": "", "topic": ""} | variables
        return self._render(template, memories=quoted, most_recent_memories=block, **texts)

    def _render(self, template: str, *, memories: Sequence[Quoted] = (), **variables: str | int) -> str:
        with self._lock:
            if self._renderer is None:
                from hybrid_memory_prompts.render import Renderer

                self._renderer = Renderer(self._random_source, self._templates)
        return self._renderer.render(template, memories=memories, **variables)

    def _quoted(self, hits: Sequence[Hit]) -> list[Quoted]:
        """Shorten what would not fit: each memory gets an even share of the room that is left."""
        room = QUOTED_COST_LIMIT
        quoted = []
        for at, hit in enumerate(hits):
            content = hit.memory.content
            share = max(room // (len(hits) - at), MIN_QUOTED_COST)
            text = content if token_cost(content) <= share else truncate(content, share)
            room -= token_cost(text)
            quoted.append(self._quote(hit, text))
        return quoted

    def _quote(self, hit: Hit, text: str) -> Quoted:
        from hybrid_memory_prompts.render import Quoted, Stored

        memory = hit.memory
        return Quoted(
            id=memory.id,
            time=when(memory.occurred_at or memory.created_at, self._zone),
            origin=memory.origin.value,
            trust=memory.trust.value,
            tier=memory.tier.value,
            section=hit.section or "",
            disputes=hit.disputes or "",
            disputed_by=hit.disputed_by,
            contradicted_by=hit.contradicted_by or "",
            text=Stored(text),
            speaker=Stored(memory.speaker) if memory.speaker else None,
        )


def _disputed_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits so that what is disputed is in front of what disputes it, what changed it too, and in the same section."""
    disputes = {hit.memory.id: front for hit in hits if (front := hit.disputes or hit.contradicted_by)}
    order = disputed_first([hit.memory.id for hit in hits], disputes)
    # What moved up is in the section of the first that it now comes before.
    return [replace(hits[at], section=hits[min(order[place:])].section) for place, at in enumerate(order)]


def _members(groups: Iterable[ReflectionGroup]) -> list[Memory]:
    seen: dict[MemoryId, Memory] = {}
    for group in groups:
        seen.update({memory.id: memory for memory in group.memories})
    return list(seen.values())
