"""A human-like memory over one DuckDB file: sensory, short-term and long-term tiers, retrieval and reflection.

    from pathlib import Path
    from hybrid_memory import MemoryService, ReadRequest, Scope, SystemClock, SystemRandomSource, WriteRequest

    memory = MemoryService.open(Path("my-memory"), clock=SystemClock(), random_source=SystemRandomSource())
    scope = Scope(session="monday")
    memory.write(scope, WriteRequest(content="Ada is allergic to peanuts."))
    hits = memory.read(scope, ReadRequest(query="What must Ada not eat?")).hits

`hybrid_memory_dbgpt` is the asynchronous API with the names of the DB-GPT documentation. Names are loaded when they are first
used; importing this package loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory.clock import SystemClock as SystemClock
    from hybrid_memory.clock import SystemDice as SystemDice
    from hybrid_memory.clock import SystemRandomSource as SystemRandomSource
    from hybrid_memory.errors import HybridMemoryError as HybridMemoryError
    from hybrid_memory.model import Memory as Memory
    from hybrid_memory.model import MemoryType as MemoryType
    from hybrid_memory.model import Scope as Scope
    from hybrid_memory.requests import ForgetRequest as ForgetRequest
    from hybrid_memory.requests import Insight as Insight
    from hybrid_memory.requests import ReadRequest as ReadRequest
    from hybrid_memory.requests import UpdateRequest as UpdateRequest
    from hybrid_memory.requests import Where as Where
    from hybrid_memory.requests import WriteRequest as WriteRequest
    from hybrid_memory.service import MemoryService as MemoryService

_HOMES = {
    "clock": ("SystemClock", "SystemDice", "SystemRandomSource"),
    "errors": ("HybridMemoryError",),
    "model": ("Memory", "MemoryType", "Scope"),
    "requests": ("ForgetRequest", "Insight", "ReadRequest", "UpdateRequest", "Where", "WriteRequest"),
    "service": ("MemoryService",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"hybrid_memory.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
