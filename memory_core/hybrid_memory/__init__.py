"""A human-like memory over one DuckDB file: sensory, short-term and long-term tiers, retrieval and reflection.

    from pathlib import Path
    from hybrid_memory import MemoryService, ReadRequest, Scope, WriteRequest

    memory = MemoryService.open(Path("my-memory"))
    scope = Scope(session="monday")
    memory.write(scope, WriteRequest(content="Ada is allergic to peanuts."))
    hits = memory.read(scope, ReadRequest(query="What must Ada not eat?")).hits

The names in ``__all__`` are the public API, with `hybrid_memory.errors` (every error that is raised) and
`hybrid_memory.testing` (fakes for tests); the modules below are internal. Names are loaded when they are first used, so
importing this package loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory.clock import Clock as Clock
    from hybrid_memory.clock import RandomSource as RandomSource
    from hybrid_memory.clock import SystemClock as SystemClock
    from hybrid_memory.clock import SystemDice as SystemDice
    from hybrid_memory.clock import SystemRandomSource as SystemRandomSource
    from hybrid_memory.errors import ConfirmationNeeded as ConfirmationNeeded
    from hybrid_memory.errors import HybridMemoryError as HybridMemoryError
    from hybrid_memory.errors import InvalidInput as InvalidInput
    from hybrid_memory.errors import NotFound as NotFound
    from hybrid_memory.errors import StoreError as StoreError
    from hybrid_memory.model import Json as Json
    from hybrid_memory.model import Kind as Kind
    from hybrid_memory.model import Memory as Memory
    from hybrid_memory.model import MemoryId as MemoryId
    from hybrid_memory.model import MemoryType as MemoryType
    from hybrid_memory.model import Moved as Moved
    from hybrid_memory.model import Origin as Origin
    from hybrid_memory.model import Scope as Scope
    from hybrid_memory.model import Tier as Tier
    from hybrid_memory.model import Trust as Trust
    from hybrid_memory.requests import ForgetRequest as ForgetRequest
    from hybrid_memory.requests import ForgetResult as ForgetResult
    from hybrid_memory.requests import Hit as Hit
    from hybrid_memory.requests import Insight as Insight
    from hybrid_memory.requests import Progress as Progress
    from hybrid_memory.requests import ReadRequest as ReadRequest
    from hybrid_memory.requests import ReadResult as ReadResult
    from hybrid_memory.requests import ReflectionGroup as ReflectionGroup
    from hybrid_memory.requests import Related as Related
    from hybrid_memory.requests import Status as Status
    from hybrid_memory.requests import UpdateRequest as UpdateRequest
    from hybrid_memory.requests import UpdateResult as UpdateResult
    from hybrid_memory.requests import Where as Where
    from hybrid_memory.requests import WriteRequest as WriteRequest
    from hybrid_memory.requests import WriteResult as WriteResult
    from hybrid_memory.service.memory_service import MemoryService as MemoryService
    from hybrid_memory.settings import StoreSettings as StoreSettings

__all__ = [
    "Clock",
    "ConfirmationNeeded",
    "ForgetRequest",
    "ForgetResult",
    "Hit",
    "HybridMemoryError",
    "Insight",
    "InvalidInput",
    "Json",
    "Kind",
    "Memory",
    "MemoryId",
    "MemoryService",
    "MemoryType",
    "Moved",
    "NotFound",
    "Origin",
    "Progress",
    "RandomSource",
    "ReadRequest",
    "ReadResult",
    "ReflectionGroup",
    "Related",
    "Scope",
    "Status",
    "StoreError",
    "StoreSettings",
    "SystemClock",
    "SystemDice",
    "SystemRandomSource",
    "Tier",
    "Trust",
    "UpdateRequest",
    "UpdateResult",
    "Where",
    "WriteRequest",
    "WriteResult",
]

_NAMES_BY_MODULE = {
    "clock": ("Clock", "RandomSource", "SystemClock", "SystemDice", "SystemRandomSource"),
    "errors": ("ConfirmationNeeded", "HybridMemoryError", "InvalidInput", "NotFound", "StoreError"),
    "model": ("Json", "Kind", "Memory", "MemoryId", "MemoryType", "Moved", "Origin", "Scope", "Tier", "Trust"),
    "requests": (
        "ForgetRequest",
        "ForgetResult",
        "Hit",
        "Insight",
        "Progress",
        "ReadRequest",
        "ReadResult",
        "ReflectionGroup",
        "Related",
        "Status",
        "UpdateRequest",
        "UpdateResult",
        "Where",
        "WriteRequest",
        "WriteResult",
    ),
    "service.memory_service": ("MemoryService",),
    "settings": ("StoreSettings",),
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"hybrid_memory.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
