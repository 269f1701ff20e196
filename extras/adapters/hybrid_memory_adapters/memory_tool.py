"""Anthropic's memory tool (``memory_20250818``) over a store: the files that a model writes below ``/memories`` are memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio.to_thread

from hybrid_memory_adapters.files import FileError, MemoryFiles
from hybrid_memory_adapters.hub_store import HubStore

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import BetaCacheControlEphemeralParam
except ImportError:
    raise ImportError("the memory tool needs Anthropic's SDK: pip install anthropic") from None

_ARGUMENTS = {
    "view": ("path", "view_range"),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
"""What each command of the tool gives to the method of `MemoryFiles` that has its name."""


def _answer(files: MemoryFiles, command: Any) -> str:
    method = getattr(files, command.command)
    try:
        return str(method(*(getattr(command, name) for name in _ARGUMENTS[command.command])))
    except FileError as error:
        raise ToolError(str(error)) from error


class MemoryTool(BetaAbstractMemoryTool):
    """The tool for `Anthropic`; give it to ``client.beta.messages.tool_runner``.

    ``home`` is the store's folder, that of your assistants when not given; ``namespace`` the wall around the files.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        namespace: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(HubStore(home, namespace))

    def view(self, command: Any) -> str:
        """Do any command of the tool; which one, the command says."""
        return _answer(self._files, command)

    create = str_replace = insert = delete = rename = view

    def clear_all_memory(self) -> str:
        """Forget all files."""
        return self._files.clear()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for `AsyncAnthropic`."""

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        namespace: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(HubStore(home, namespace))

    async def view(self, command: Any) -> str:
        """Do any command of the tool; which one, the command says."""
        return await anyio.to_thread.run_sync(_answer, self._files, command)

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        """Forget all files."""
        return await anyio.to_thread.run_sync(self._files.clear)
