"""For people who test agents: a memory that belongs to one test, with a clock that stands still and the same ids in each run.

    with memory_for_tests() as memory:
        async with memory.client() as client:
            await run_my_agent(client)
        memory.assert_remembered("peanuts")

With pytest the fixture ``memory`` is the same (``testing/plugin.py``; the program's package brings it). docs/testing.md shows all of it.
Nothing is imported before it is used: pytest loads this package at the start of every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory_testing.checks import Checks
    from hybrid_memory_testing.clock import MovableClock
    from hybrid_memory_testing.harness import MemoryForTests, build_server, memory_for_tests
    from hybrid_memory_testing.recording import Difference, Event, Recording
    from hybrid_memory_testing.transcript import Call, Transcript

__all__ = (
    "Call",
    "Checks",
    "Difference",
    "Event",
    "MemoryForTests",
    "MovableClock",
    "Recording",
    "Transcript",
    "build_server",
    "memory_for_tests",
)

_PLACES = {
    "Call": "transcript",
    "Checks": "checks",
    "Difference": "recording",
    "Event": "recording",
    "MemoryForTests": "harness",
    "MovableClock": "clock",
    "Recording": "recording",
    "Transcript": "transcript",
    "build_server": "harness",
    "memory_for_tests": "harness",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
