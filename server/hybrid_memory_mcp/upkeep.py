"""Opening the memory, and what is done for it beside the calls of clients."""

from __future__ import annotations

import os
import time
from pathlib import Path

import anyio
import anyio.to_thread

from hybrid_memory.clock import RandomSource, SystemClock
from hybrid_memory.errors import StoreLocked
from hybrid_memory_mcp import quiet
from hybrid_memory_mcp.seam import Service
from hybrid_memory_mcp.service import ServiceProvider

IDLE = 5.0
TEND = 1.0
BREATH = 0.05

_PAUSE = 0.05


def open_service(home: Path, embedder: str | None, random_source: RandomSource, patience: float = 0.0) -> Service:
    """Open the memory in a folder; blocks, and imports everything heavy. ``embedder`` wins over the store's setting.

    Where another process has the store open, that is borne for ``patience`` seconds: a command may just have asked something.

    Raises:
        HybridMemoryError: the store cannot be opened, or a setting is wrong.
    """
    quiet.settle_pandas()
    # What the process makes is for its owner alone, the write-ahead log from its first byte on.
    os.umask(0o077)
    from hybrid_memory.settings import limit_threads, store_settings

    limit_threads()
    from hybrid_memory.service import MemoryService

    settings = store_settings(home, embedder=embedder)
    begun = time.monotonic()
    while True:
        try:
            return MemoryService.open(home, clock=SystemClock(), random_source=random_source, settings=settings)
        except StoreLocked:
            if time.monotonic() - begun >= patience:
                raise
            time.sleep(_PAUSE)


async def settle_when_idle(provider: ServiceProvider) -> None:
    """Let queued recalls be applied whenever nothing was asked for `IDLE` seconds; runs until cancelled."""
    settled = 0
    while True:
        before = provider.calls
        await anyio.sleep(IDLE)
        if provider.calls == before != settled:
            settled = before
            await anyio.to_thread.run_sync(provider.flush_recalls, abandon_on_cancel=True)


async def tend(provider: ServiceProvider) -> None:
    """Let late work be done: a look every `TEND` seconds, then piece after piece while there is more; runs until cancelled.

    While clients call, they get `BREATH` seconds between two pieces.
    """
    while True:
        await anyio.sleep(TEND)
        before = provider.calls
        while await anyio.to_thread.run_sync(provider.run_background_step, abandon_on_cancel=True):
            await anyio.sleep(0 if provider.calls == before else BREATH)
            before = provider.calls
