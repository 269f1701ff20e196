"""Anthropic's memory tool (``memory_20250818``) over a store: the files that a model writes below ``/memories`` are memories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio.to_thread

from hybrid_memory_adapters.files import FileError, MemoryFiles
from hybrid_memory_adapters.hub_store import HubStore

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ImportError:
    raise ImportError("the memory tool needs Anthropic's SDK: pip install anthropic") from None


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

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file or what is in a folder."""
        return _answer(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Store a new file."""
        return _answer(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is in a file once."""
        return _answer(lambda: self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines into a file."""
        return _answer(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Forget a file or a folder."""
        return _answer(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return _answer(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Forget all files."""
        return _answer(self._files.clear)


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
        self._tool = MemoryTool(home, namespace=namespace)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file or what is in a folder."""
        return await anyio.to_thread.run_sync(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Store a new file."""
        return await anyio.to_thread.run_sync(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is in a file once."""
        return await anyio.to_thread.run_sync(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines into a file."""
        return await anyio.to_thread.run_sync(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Forget a file or a folder."""
        return await anyio.to_thread.run_sync(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return await anyio.to_thread.run_sync(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Forget all files."""
        return await anyio.to_thread.run_sync(self._tool.clear_all_memory)


def _answer(command: Callable[[], str]) -> str:
    try:
        return command()
    except FileError as error:
        raise ToolError(str(error)) from error
