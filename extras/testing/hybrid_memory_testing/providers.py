"""How calls reach the memory under test: each at once and in order, so that two runs are the same; or into nothing, when it is off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.lowlevel

from hybrid_memory.model import Scope
from hybrid_memory_mcp.runtime.provider import ServiceProvider

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

T = TypeVar("T")

_END_SECONDS = 5.0  # a listener that hangs in somebody's event loop does not hold up the test


class OrderedProvider(ServiceProvider):
    """Does each call in the event loop, in the order in which the calls came: with worker threads two runs would differ.

    What a server does late and in the background (a vector, the table for another language) is done behind each call.
    """

    async def call(self, work: Callable[[MemoryService], T], *limiters: anyio.CapacityLimiter) -> T:
        """Run ``work`` with the service and return what it returns."""
        del limiters
        self.calls += 1
        await anyio.lowlevel.checkpoint()
        try:
            return self.run(work)
        finally:
            self.catch_up()

    def catch_up(self) -> None:
        """Do what waits for the background."""
        while self.run_background_step():
            pass

    def close(self, scope: Scope | None) -> None:
        """Close the service, and leave no thread behind."""
        super().close(scope)
        if self._notifying is not None and self._notifying is not threading.current_thread():
            self._notifying.join(_END_SECONDS)


class OffProvider(ServiceProvider):
    """A memory that is switched off: each call meets a new and empty one, which is thrown away with all that the call wrote."""

    async def call(self, work: Callable[[MemoryService], T], *limiters: anyio.CapacityLimiter) -> T:
        """Run ``work`` with an empty service and return what it returns."""
        del limiters
        self.calls += 1
        await anyio.lowlevel.checkpoint()
        return self.run(work)

    def catch_up(self) -> None:
        """Do nothing: nothing waits."""

    def run(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` with an empty service and return what it returns."""
        service = self._open_service()
        try:
            return work(service)
        finally:
            service.close()
