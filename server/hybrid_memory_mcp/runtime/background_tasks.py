"""The two tasks that a hub runs for the memory beside the calls of clients (`Hub.serve`); both run until they are cancelled."""

from __future__ import annotations

import anyio
import anyio.to_thread

from hybrid_memory_mcp.runtime.provider import ServiceProvider

# A conversation asks again within that; a flush is a write that its next call would wait for.
FLUSH_AFTER_IDLE_SECONDS = 5.0
STEP_INTERVAL_SECONDS = 1.0  # looking for work costs nothing where there is none
STEP_PAUSE_SECONDS = 0.05  # left to clients between two steps while they call


async def flush_recalls_when_idle(provider: ServiceProvider) -> None:
    """Store queued recalls whenever nothing was asked for `FLUSH_AFTER_IDLE_SECONDS`."""
    flushed = 0
    while True:
        before = provider.calls
        await anyio.sleep(FLUSH_AFTER_IDLE_SECONDS)
        if provider.calls == before != flushed:
            flushed = before
            await anyio.to_thread.run_sync(provider.flush_recalls, abandon_on_cancel=True)


async def run_background_work(provider: ServiceProvider) -> None:
    """Give memories their missing vectors and change the embedder, a step at a time while there is more to do.

    A step takes some tens of milliseconds. It looks every `STEP_INTERVAL_SECONDS` whether there is something.
    """
    while True:
        await anyio.sleep(STEP_INTERVAL_SECONDS)
        before = provider.calls
        while await anyio.to_thread.run_sync(provider.run_background_step, abandon_on_cancel=True):
            await anyio.sleep(0 if provider.calls == before else STEP_PAUSE_SECONDS)
            before = provider.calls
