"""What an agent did with its memory: one `Call` for each tool, resource and prompt that it asked for, in order."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

from mcp.types import CallToolResult, TextContent

from hybrid_memory.language.text import excerpt
from hybrid_memory_testing.matching import fits

READ_RESOURCE = "resources/read"
"""The name under which a reading of a resource is in a transcript; its argument is ``uri``."""
GET_PROMPT = "prompts/get"
"""The name of a prompt that was fetched; its arguments are the prompt's ``name`` and what was given to it."""

_LINE = 100  # characters of an argument or an answer in a printed transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call as the agent sent it, and what it was answered.

    ``tool`` is a tool's name, `READ_RESOURCE` or `GET_PROMPT`. ``arguments`` are those that were sent, unchanged. ``answer`` is the
    structured part of the answer, ``text`` the words that a model reads. ``failed`` says that the tool refused; ``text`` says why then.
    ``session`` is the conversation, ``agent`` who remembers, ``client`` counts the clients of the test from 0, ``at``
    is the time by the test's clock.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    failed: bool = False
    session: str = ""
    agent: str = "default"
    client: int = 0
    at: datetime

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_short(value)}" for name, value in self.arguments.items())
        told = "refused: " if self.failed else ""
        return f"{self.tool}({given})\n    -> {told}{excerpt(' / '.join(self.text.split(chr(10))), _LINE)}"


class Transcript(Sequence[Call]):
    """The calls of all clients of one test, in the order in which they came; ``print(transcript)`` shows them.

    It grows while the agent works. `of` gives those of one tool, `clear` begins again.
    """

    def __init__(self, calls: Sequence[Call] = ()) -> None:
        self._calls = list(calls)
        self._lock = threading.Lock()

    @overload
    def __getitem__(self, at: int) -> Call: ...

    @overload
    def __getitem__(self, at: slice) -> Transcript: ...

    def __getitem__(self, at: int | slice) -> Call | Transcript:
        return Transcript(self._calls[at]) if isinstance(at, slice) else self._calls[at]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls))

    def __str__(self) -> str:
        several = len({call.client for call in self}) > 1
        lines = [
            f"{at}. " + (f"[client {call.client}] " if several else "") + str(call) for at, call in enumerate(self, 1)
        ]
        return "\n".join(lines) or "no calls"

    def __repr__(self) -> str:
        return f"<Transcript of {len(self)} calls>"

    def of(self, tool: str, **arguments: Any) -> Transcript:
        """Return the calls of one tool; with ``arguments`` those whose arguments are so (see `MemoryForTests.assert_called`)."""
        return Transcript([call for call in self if call.tool == tool and fits(call.arguments, arguments)])

    def clear(self) -> None:
        """Forget the calls so far, so that assertions are about what follows; recordings keep them."""
        with self._lock:
            self._calls.clear()

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were called, one for each call, in order."""
        return [call.tool for call in self]

    def add(self, call: Call) -> None:
        """Note a call."""
        with self._lock:
            self._calls.append(call)


def text_of(result: CallToolResult) -> str:
    """Return the words of a tool's answer."""
    return "\n".join(one.text for one in result.content if isinstance(one, TextContent))


def _short(value: Any) -> str:
    if isinstance(value, str):
        return repr(excerpt(value, _LINE))
    try:
        return excerpt(json.dumps(value, ensure_ascii=False), _LINE)
    except (TypeError, ValueError):
        return excerpt(repr(value), _LINE)
