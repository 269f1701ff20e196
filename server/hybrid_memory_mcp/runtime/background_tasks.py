"""Opening the memory, and what is done for it beside the calls of clients."""

from __future__ import annotations

import anyio
import anyio.to_thread

from hybrid_memory_mcp.runtime.provider import ServiceProvider

IDLE = 5.0
TEND = 1.0
BREATH = 0.05


async def flush_recalls_when_idle(provider: ServiceProvider) -> None:
    """Let queued recalls be applied whenever nothing was asked for `IDLE` seconds; runs until cancelled."""
    settled = 0
    while True:
        before = provider.calls
        await anyio.sleep(IDLE)
        if provider.calls == before != settled:
            settled = before
            await anyio.to_thread.run_sync(provider.flush_recalls, abandon_on_cancel=True)


async def run_background_work(provider: ServiceProvider) -> None:
    """Let late work be done: a look every `TEND` seconds, then piece after piece while there is more; runs until cancelled.

    While clients call, they get `BREATH` seconds between two pieces.
    """
    while True:
        await anyio.sleep(TEND)
        before = provider.calls
        while await anyio.to_thread.run_sync(provider.run_background_step, abandon_on_cancel=True):
            await anyio.sleep(0 if provider.calls == before else BREATH)
            before = provider.calls
