"""The drivers of long-term and hybrid memory."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.drivers_plain import Driver
from tests.conformance.world import NOON, WatchedRetriever, World, enhanced, enhanced_state, moment, said

from hybrid_memory_dbgpt import (
    DiscardedMemoryFragments,
    HybridMemory,
    LongTermMemory,
    SensoryMemory,
    ShortTermMemory,
)

BULK = "b000..b202 at angle 0.001*(i+1) rad in 3 dims, importance 0.1; star at cosine 0.5, importance 9"
OWN_METADATA = {"buffer_idx", "importance", "last_accessed_at"}
OTHER_WRITERS: dict[tuple[str, str], dict[str, Any]] = {("t1", "theirs"): {"tenant": "t2"}}


def others_metadata(world: World, memory: LongTermMemory) -> dict[str, Any] | None:
    """Return with which metadata another object wrote a step's rows; None if this memory may have written them.

    Inputs do not say who writes. A counter that begins again with other metadata does, and so does a session that no
    setting names.
    """
    rows = world.step.get("long_term_written") or [{}]
    row = rows[0].get("metadata", {})
    found = {name: value for name, value in row.items() if name not in OWN_METADATA}
    if row.get("buffer_idx") != 0 or found == memory.filters:
        return None
    own = {name: value for name, value in memory.filters.items() if name != "session_id"}
    only_session = own == {name: value for name, value in found.items() if name != "session_id"}
    unsaid = only_session and memory.session_id is None and not world.session_said
    return found if memory.written or unsaid else None


def recorded_session(world: World, otherwise: str | None) -> str | None:
    """Return in which session a recorded step searched or wrote; ``otherwise`` where a setting says it or it did neither."""
    searches, rows = world.step.get("searches", []), world.step.get("long_term_written", [])
    if world.session_said or not (searches or rows):
        return otherwise
    filters = [one for search in searches for one in search.get("filters") or []]
    asked = [one[2] for one in filters if isinstance(one, list) and len(one) > 2 and one[0] == "session_id"]
    wrote = [row.get("metadata", {}).get("session_id") for row in rows]
    return next((one for one in (*asked, *wrote) if isinstance(one, str)), None)


class LongTerm(Driver):
    """A long-term memory over the case's store."""

    has_state = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._settings: dict[str, Any] = {
            key: world.config[key]
            for key in ("_default_importance", "metadata", "reflection_threshold")
            if key in world.config
        }
        self._session = world.config.get("session_id", world.config.get("session"))
        self._now = world.config.get("now", NOON)
        self.memory = self._open()

    async def prepare(self) -> None:
        bulk = self.world.config.get("bulk")
        if bulk is None:
            return
        if bulk != BULK:
            raise Unknown(f"config.bulk {bulk!r} is of no known form")
        self.world.embeddings.add(
            {f"b{at:03}": [math.cos(0.001 * (at + 1)), math.sin(0.001 * (at + 1)), 0.0] for at in range(203)}
        )
        fragments = [self.world.fragment({"text": f"b{at:03}", "importance": 0.1}) for at in range(203)]
        star = self.world.fragment({"text": "star", "importance": 9.0})
        await self.memory.write_batch([*fragments, star], moment(NOON))

    async def do_write(self, text: str, importance: float | None = None, last_accessed_time: str | None = None) -> Any:
        if last_accessed_time is None and self.world.as_recorded and "error" not in self.world.step:
            raise Mismatch("write: has no last_accessed_time, without which the reference only raises")
        self._let_others_write(text)
        fragment = self.world.fragment(
            {"text": text, "importance": importance, "last_accessed_time": last_accessed_time}
        )
        return await self.memory.write(fragment)

    def _let_others_write(self, text: str) -> None:
        """Become the object that wrote the recorded row, where the input cannot say that it was another one."""
        metadata = self._settings.get("metadata") or {}
        known = OTHER_WRITERS.get((str(metadata.get("tenant")), text))
        found = known or others_metadata(self.world, self.memory)
        if found is None:
            return
        self._settings["metadata"] = {name: value for name, value in found.items() if name != "session_id"}
        self._session = found.get("session_id", self._session if known else None)
        self.memory = self._open()

    def _ask_as_recorded(self) -> None:
        self._session = self.memory.session_id = recorded_session(self.world, self._session)

    async def do_write_batch(self, fragments: list[dict[str, Any]], now: str | None = None) -> Any:
        if fragments:
            self._let_others_write(str(fragments[0]["text"]))
        rated = bool(fragments) and fragments[0].get("importance") is not None
        if rated and now is not None and "error" in self.world.step and self.world.as_recorded:
            raise Mismatch(
                "write_batch: the reference stores what comes before the fragment it refuses, this one nothing"
            )
        return await self.memory.write_batch([self.world.fragment(one) for one in fragments], moment(now))

    async def do_read(self, observation: str, **weights: float) -> Any:
        if not set(weights) <= {"alpha", "beta", "gamma"}:
            raise Unknown(f"read takes no {sorted(weights)}")
        self._ask_as_recorded()
        return said(await self.memory.read(observation, **weights))

    async def do_reopen(self, now: str | None = None, **settings: Any) -> Any:
        self.world.session_said |= not {"session", "session_id"}.isdisjoint(settings)
        self._session = settings.pop("session_id", settings.pop("session", self._session))
        if not set(settings) <= {"_default_importance", "metadata", "reflection_threshold"}:
            raise Unknown(f"reopen takes no {sorted(settings)}")
        self._settings = settings
        self._now = NOON if now is None else now
        self.memory = self._open()

    async def do_structure_clone(self) -> Any:
        self.memory.name = "case"
        self.memory = self.memory.structure_clone()

    async def do_structure_clone_unnamed(self) -> Any:
        self.memory.name = None
        self.memory.structure_clone()

    async def do_clear(self) -> Any:
        return said(await self.memory.clear())

    async def do_stored_metadata(self) -> Any:
        found = {one.content: one for one in self.world.vectors.documents()}
        return [
            [
                text,
                document.last_accessed_at.timestamp()
                if document.last_accessed_at
                else document.metadata["last_accessed_at"],
            ]
            for text, document in reversed(found.items())
        ]

    @property
    def long_term(self) -> LongTermMemory:
        return self.memory

    def state(self) -> Any:
        return {
            "long_term_count": len(self.world.vectors.documents()),
            "aggregate_importance": self.memory.aggregate_importance,
            "memory_stream_len": self.memory.written,
        }

    def _open(self) -> LongTermMemory:
        memory = LongTermMemory(
            now=moment(self._now), retriever=WatchedRetriever(self.world), clock=self.world.clock, **self._settings
        )
        memory.initialize(session_id=self._session)
        return memory


class Hybrid(Driver):
    """A hybrid memory; writes that carry a time of access come before it, from a long-term memory of their own."""

    has_state = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._seeds: LongTerm | None = None
        self._seeding = False
        self._session = world.config.get("session_id", world.config.get("session"))
        self.memory = self._open(world.config.get("now", NOON))

    async def do_write(
        self,
        text: str,
        importance: float | None = None,
        last_accessed_time: str | None = None,
        now: str | None = None,
    ) -> Any:
        self._seeding = last_accessed_time is not None
        if last_accessed_time is not None:
            self._seeds = self._seeds or LongTerm(self.world)
            return await self._seeds.do_write(text, importance, last_accessed_time)
        self._enter_session()
        fragment = self.world.fragment({"text": text, "importance": importance})
        return self._outcome(await self.memory.write(fragment, moment(now)))

    async def do_write_batch(self, fragments: list[dict[str, Any]]) -> Any:
        self._seeding = False
        return self._outcome(await self.memory.write_batch([self.world.fragment(one) for one in fragments]))

    async def do_read(self, observation: str) -> Any:
        self._seeding = False
        self._enter_session()
        return said(await self.memory.read(observation))

    async def do_reopen(self, now: str | None = None, initialize: bool = True, **sessions: Any) -> Any:
        if not set(sessions) <= {"session", "session_id"}:
            raise Unknown(f"reopen takes no {sorted(sessions)}")
        self._seeding, self._seeds = False, None
        self.world.session_said |= bool(sessions)
        self._session = next(iter(sessions.values()), self._session)
        self.memory = self._open(NOON if now is None else now, initialize=initialize)

    async def do_structure_clone(self) -> Any:
        self._seeding = False
        self.memory = self.memory.structure_clone()

    async def do_clear(self) -> Any:
        self._seeding = False
        return said(await self.memory.clear())

    @property
    def long_term(self) -> LongTermMemory:
        return self._seeds.memory if self._seeding and self._seeds is not None else self.memory.long_term_memory

    def state(self) -> Any:
        if self._seeding and self._seeds is not None:
            return self._seeds.state()
        return {
            "sensory": said(self.memory.sensory_memory.fragments),
            "short_term": enhanced_state(self.memory.short_term_memory),
            "long_term_count": len(self.world.vectors.documents()),
            "aggregate_importance": self.memory.long_term_memory.aggregate_importance,
        }

    def _enter_session(self) -> None:
        self._session = recorded_session(self.world, self._session)
        self.memory.session_id = self.memory.long_term_memory.session_id = self._session

    def _outcome(self, left: DiscardedMemoryFragments | None) -> Any:
        if left is None:
            return None
        self.world.faded += [one.raw_observation for one in left.faded]
        return said(left.fragments) or None

    def _open(self, now: str, *, initialize: bool = True) -> HybridMemory:
        world, config = self.world, self.world.config
        long_term = LongTermMemory(
            now=moment(now),
            retriever=WatchedRetriever(world),
            clock=world.clock,
            _default_importance=config.get("_default_importance"),
        )
        memory = HybridMemory(
            moment(now),
            SensoryMemory(config.get("sensory_buffer", 0)),
            self._short_term(),
            long_term,
            clock=world.clock,
            insight_limit=None if world.ours else 1,
        )
        for one in (memory, memory.sensory_memory):
            one.importance_weight = config.get("importance_weight", 0.9)
        if initialize:
            memory.initialize(
                name="case",
                importance_scorer=world.scorer,
                insight_extractor=world.extractor,
                session_id=self._session,
            )
        return memory

    def _short_term(self) -> Any:
        config = self.world.config
        kind = config.get("short_term")
        if kind is None:
            return enhanced(self.world, config.get("short_term_buffer", 10))
        size = re.fullmatch(r"ShortTermMemory\((\d+)\)", kind)
        if size is None:
            raise Unknown(f"config.short_term {kind!r} is of no known form")
        return ShortTermMemory(int(size[1]))
