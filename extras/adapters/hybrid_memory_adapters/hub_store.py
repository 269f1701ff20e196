"""Asking the hub of a store: what all adapters have in common."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hybrid_memory.errors import StoreError
from hybrid_memory.settings import client_settings
from hybrid_memory_mcp.admin.hub_client import HubEnded, call_hub
from hybrid_memory_mcp.hooks.asking import HubCaller

_PAGE = 200  # items of one answer, which may be long
_KEEPING_SECONDS = 10.0  # until a conversation goes on without what was said being kept
_READS = frozenset({"item", "items", "search_items", "entries"})


class HubStore:
    """The items and conversations of one namespace. Starts a hub where none runs. Safe to use from several threads.

    ``home`` is the store's folder, that of your assistants when not given.
    """

    def __init__(self, home: str | Path | None = None, namespace: str | None = None) -> None:
        settings = client_settings(home=None if home is None else Path(home), namespace=namespace)
        self._home = settings.folder().absolute()
        self._namespace = settings.namespace

    def ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Return what an operation gives. A read is asked again if the hub ends meanwhile.

        Raises:
            HybridMemoryError: what the operation says, or that no hub can be started.
        """
        for last in (operation not in _READS, True):
            try:
                answer = call_hub(self._home, self._namespace, operation, arguments, _ignore_progress, may_start=True)
            except HubEnded:
                if last:
                    raise
                continue
            if answer is not None:
                return answer
            break
        raise StoreError("no program can serve the store in this folder; `hybrid-memory-mcp doctor` says why")

    def items(self, session: str) -> Iterator[Mapping[str, Any]]:
        """Yield the items of a session, those written last first."""
        offset, total = 0, 1
        while offset < total:
            page = self.ask("items", session=session, limit=_PAGE, offset=offset)
            yield from page["items"]
            offset, total = offset + _PAGE, page["total"]

    def keep_said(self, client: str, session: str, texts: Sequence[str]) -> None:
        """Keep what is worth it of a person's own words, as the hooks of assistants do; nothing where the hub cannot."""
        turns = [{"text": text} for text in texts]
        batch = {"client": client, "session": session, "turns": turns}
        told = {"event": "said", "client": client, "session": session, "batches": [batch]}
        hub = HubCaller(str(self._home), ["--namespace", self._namespace, "--project", "off"], os.environ)  # noqa: TID251 - handed on
        hub.ask(told, time.monotonic() + _KEEPING_SECONDS, may_start=True)


def _ignore_progress(done: int, total: int) -> None:
    del done, total
