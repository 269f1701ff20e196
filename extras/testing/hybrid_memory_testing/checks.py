"""The assertions on a memory under test. What fails shows what is there, since that is what one looks for then."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hybrid_memory.language.text import excerpt
from hybrid_memory_testing.matching import Wanted, says

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory_testing.transcript import Call, Transcript

_SHOWN = 30  # memories of a failed assertion, newest first
_TEXT = 160  # characters of one


class Checks(ABC):
    """What a test can assert of its memory. `MemoryForTests` has all of it."""

    is_off: bool

    @property
    @abstractmethod
    def transcript(self) -> Transcript:
        """The calls of the agent."""

    @property
    @abstractmethod
    def memories(self) -> list[Memory]:
        """The current memories."""

    @property
    @abstractmethod
    def former_memories(self) -> list[Memory]:
        """The memories that were forgotten, replaced or have expired."""

    @abstractmethod
    def recall(self, question: str, *, limit: int | None = None) -> list[Memory]:
        """Return what a question finds."""

    # --- what is there

    def assert_remembered(self, *wanted: Wanted, times: int | None = None, **fields: Any) -> Memory:
        """Check that one current memory says all of ``wanted``, and return it (the newest where several do).

        ``wanted`` are words that stand in it one after the other, in any case and with any English ending ("peanut" is in
        "Peanuts!", "rat" is not in "separate"), or regular expressions. ``fields`` are attributes that it is to have: ``origin="user"``,
        ``tags=("health",)``, ``session="monday"``. ``times`` is how many memories are to say it: with 1, nothing was stored twice.

        Raises:
            AssertionError: there is none, or another number; shows what is remembered and what the agent called.
        """
        __tracebackhide__ = True
        found = _saying(self.memories, wanted, fields)
        if not found:
            raise AssertionError(self._explained(f"no memory says {_told(wanted, fields)}", wanted))
        if times is not None and len(found) != times:
            often = _count(len(found), "memory says", "memories say")
            raise AssertionError(self._explained(f"{often} {_told(wanted, fields)}, not {times}"))
        return found[0]

    def assert_not_remembered(self, *wanted: Wanted, **fields: Any) -> None:
        """Check that no current memory says all of ``wanted``: neither its text nor its tags, key, source, speaker or metadata.

        What was forgotten, replaced by a newer version or has expired is not remembered. That something was never even sent, say with
        ``assert_not_called("write_memory", content="...")``.

        Raises:
            AssertionError: there is one; shows it.
        """
        __tracebackhide__ = True
        found = [one for one in self.memories if _has(one, fields) and all(says(_all_of(one), each) for each in wanted)]
        if found:
            raise AssertionError(self._explained(f"a memory says {_told(wanted, fields)}: {found[0].content!r}"))

    def assert_recalled(self, question: str, *wanted: Wanted, within: int | None = None) -> Memory:
        """Check that a question brings up a memory that says all of ``wanted``, as an agent that asks it would see; return it.

        ``within`` is how far from the top it may stand: 1 is the first. None: anywhere on the first page.

        Raises:
            AssertionError: it does not; shows what the question brings up.
        """
        __tracebackhide__ = True
        hits = self.recall(question)
        found = _saying(hits[:within], wanted, {})
        if not found:
            shown = "\n".join(_line(one) for one in hits) or "  nothing"
            where = "" if within is None else f" within the first {within}"
            message = f"{question!r} does not bring up {_told(wanted, {})}{where}, but:\n{shown}"
            raise AssertionError(self._explained(message, wanted))
        return found[0]

    # --- what was done

    def assert_called(self, tool: str, /, *, times: int | None = None, **arguments: Any) -> Call:
        """Check that the agent called a tool with these arguments, and return the call (the last where there were several).

        Arguments that are not mentioned may be anything. ``content``, ``query``, ``focus`` and ``text`` are sentences: the words of the
        test are to stand in them, as with `assert_remembered`; every other argument is to be equal. ``...`` stands for any value, None for
        an argument that was left out, a regular expression for a text in which it is found, a function for a value of which it is true.
        ``times`` is how often; a call that the memory refused counts too.

        Raises:
            AssertionError: it did not, or not so often; shows all calls.
        """
        __tracebackhide__ = True
        if times == 0:
            raise ValueError("times=0: use assert_not_called")
        found = self.transcript.of(tool, **arguments)
        if not found or (times is not None and len(found) != times):
            often = "was not called" if not found else f"was called {_count(len(found), 'time')}, not {times}"
            raise AssertionError(self._explained(f"{_call(tool, arguments)} {often}"))
        return found[-1]

    def assert_not_called(self, tool: str, /, **arguments: Any) -> None:
        """Check that the agent did not call a tool, or not with these arguments (see `assert_called`).

        Raises:
            AssertionError: it did; shows all calls.
        """
        __tracebackhide__ = True
        found = self.transcript.of(tool, **arguments)
        if found:
            raise AssertionError(self._explained(f"{_call(tool, arguments)} was called {_count(len(found), 'time')}"))

    def assert_calls(self, *tools: str) -> None:
        """Check that the agent called exactly these tools, in this order.

        Raises:
            AssertionError: it called others; shows all calls.
        """
        __tracebackhide__ = True
        called = self.transcript.tools
        if called != list(tools):
            wanted = ", ".join(tools) or "no calls"
            raise AssertionError(self._explained(f"the calls were not {wanted}, but {', '.join(called) or 'none'}"))

    def assert_no_refusals(self) -> None:
        """Check that the memory refused no call: a wrong argument is told to the model, which may hide it.

        Raises:
            AssertionError: it did; shows all calls.
        """
        __tracebackhide__ = True
        refused = [call for call in self.transcript if call.failed]
        if refused:
            raise AssertionError(
                self._explained(f"{_count(len(refused), 'call')} refused, the first: {refused[0].text}")
            )

    # --- messages

    def report(self) -> str:
        """Return what is remembered and what was called, as failed assertions show it."""
        memories = self.memories
        lines = [
            f"The memory holds {_count(len(memories), 'memory', 'memories')}:" if memories else "The memory is empty."
        ]
        lines += [_line(one) for one in memories[:_SHOWN]]
        lines += [f"  and {len(memories) - _SHOWN} more"] if len(memories) > _SHOWN else []
        count = len(self.transcript)
        lines += (
            [f"The agent made {_count(count, 'call')}:", str(self.transcript)]
            if count
            else ["The agent made no calls."]
        )
        if self.is_off:
            lines.insert(0, "The memory is switched off for this run: nothing that is written stays.")
        return "\n".join(lines)

    def _explained(self, problem: str, wanted: Sequence[Wanted] = ()) -> str:
        lines = [problem, "", self.report()]
        former = _saying(self.former_memories, wanted, {}) if wanted else []
        if former:
            lines += ["Not any more:", *(f"{_line(one)} ({_why_former(one)})" for one in former[:_SHOWN])]
        return "\n".join(lines)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _saying(memories: Sequence[Memory], wanted: Sequence[Wanted], fields: dict[str, Any]) -> list[Memory]:
    if not wanted and not fields:
        raise ValueError("say what is to be remembered")
    return [one for one in memories if _has(one, fields) and all(says(one.content, each) for each in wanted)]


def _has(memory: Memory, fields: dict[str, Any]) -> bool:
    return all(_plain(getattr(memory, name)) == _plain(value) for name, value in fields.items())


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _all_of(memory: Memory) -> str:
    """Return all words that somebody gave to a memory."""
    parts = [memory.content, *memory.tags, memory.key, memory.source, memory.speaker]
    parts += [f"{name} {value}" for name, value in memory.metadata.items()]
    return "\n".join(one for one in parts if one)


def _line(memory: Memory) -> str:
    marks = "".join(f" {name}" for name, on in (("pinned", memory.pinned),) if on)
    tags = f" [{', '.join(memory.tags)}]" if memory.tags else ""
    return f"  {memory.id}  {memory.origin.value}  {excerpt(memory.content, _TEXT)!r}{tags}{marks}"


def _why_former(memory: Memory) -> str:
    if memory.forgotten_at is not None:
        return f"forgotten at {memory.forgotten_at:%Y-%m-%d %H:%M:%S}"
    return f"replaced by {memory.superseded_by}" if memory.superseded_by else "expired"


def _told(wanted: Sequence[Wanted], fields: dict[str, Any]) -> str:
    words = [f"/{one.pattern}/" if isinstance(one, re.Pattern) else repr(one) for one in wanted]
    return " and ".join([*words, *(f"{name}={value!r}" for name, value in fields.items())])


def _call(tool: str, arguments: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={'...' if value is ... else repr(value)}" for name, value in arguments.items())
    return f"{tool}({given})"
