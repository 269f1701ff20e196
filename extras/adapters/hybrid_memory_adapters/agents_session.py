"""A session of the OpenAI Agents SDK in a store: it keeps the items of a conversation, and of the user's words what is worth remembering.

The items are entries of the store's conversation log, which no search and no brief looks at: calls of tools and encrypted reasoning are no
memories. What the user says is kept as the hooks of assistants keep it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from hybrid_memory_adapters.hub_store import HubStore

_CLIENT = "openai-agents"  # by which what was said is known as said here


class MemorySession:
    """A `Session` for ``Runner.run``. It needs nothing of the SDK but its protocol.

    ``home`` is the store's folder, that of your assistants when not given; ``namespace`` the wall around conversation and memories.
    ``session_settings`` are the SDK's own. Pass ``remembers=False`` where what comes as the user's words is not a person's.
    """

    def __init__(
        self,
        session_id: str,
        home: str | Path | None = None,
        *,
        namespace: str | None = None,
        session_settings: Any = None,
        remembers: bool = True,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._store = HubStore(home, namespace)
        self._remembers = remembers

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items of the conversation, the first one first; with a ``limit`` the last so many."""
        found: list[Any] = (await self._ask("entries"))["entries"]
        most = getattr(self.session_settings, "limit", None) if limit is None else limit
        if most is None or most < 0:  # negative: all, as in the SDK's own sessions
            return found
        return found[-most:] if most else []

    async def add_items(self, items: Sequence[Any]) -> None:
        """Keep more items, and remember what the user says in them."""
        if not items:
            return
        await self._ask("add_entries", entries=list(items))
        said = [text for text in map(said_by_user, items) if text]
        if said and self._remembers:
            await anyio.to_thread.run_sync(self._store.keep_said, _CLIENT, self.session_id, said)

    async def pop_item(self) -> Any:
        """Remove the last item and return it, None where there is none. What was remembered of it stays."""
        return (await self._ask("pop_entry"))["entry"]

    async def clear_session(self) -> None:
        """Remove all items. What was remembered stays."""
        await self._ask("clear_entries")

    async def _ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        conversation = f"{_CLIENT}:{self.session_id}"
        return await anyio.to_thread.run_sync(
            partial(self._store.ask, operation, conversation=conversation, **arguments)
        )


def said_by_user(item: Mapping[str, Any]) -> str:
    """Return the text of an item if it is a message of the user, else an empty one."""
    if item.get("role") != "user":
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = [one for one in content or () if isinstance(one, Mapping) and one.get("type") == "input_text"]
    return "\n".join(str(one.get("text", "")) for one in parts)
