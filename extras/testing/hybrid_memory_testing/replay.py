"""Comparing a run with its recording, and doing a recording again without the agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory_testing.recording import Difference, Event, Recording, RecordMode, Renamed
from hybrid_memory_testing.transcript import GET_PROMPT, READ_RESOURCE

if TYPE_CHECKING:
    from hybrid_memory_testing.harness import MemoryForTests

_SHOWN = 5  # differences in one message: what comes first is the cause of the rest
ANEW = "If that is meant, record it anew: --hybrid-memory-record=rewrite, or remove the file."


@dataclass(frozen=True, slots=True)
class Tape:
    """The file that a run is compared with, or recorded in."""

    file: Path
    mode: RecordMode
    seed: int
    namespace: str
    timezone: str

    def finish(self, events: Sequence[Event], *, is_off: bool) -> None:
        """Compare the events of a run that has ended well, or record them.

        Raises:
            AssertionError: they are not as recorded, or there is no recording and none may be made.
            ValueError: the file is no recording.
        """
        __tracebackhide__ = True
        if self.mode != "rewrite" and self.file.exists():
            differences = Recording.load(self.file).differences(events)
            if differences:
                raise AssertionError(told(f"This run is not as recorded in {self.file}.", differences, ANEW))
        elif self.mode == "none":
            raise AssertionError(f"there is no recording {self.file}; make it with --hybrid-memory-record=once")
        elif not is_off:  # what a memory that is switched off answers is nothing to compare with
            self.write(events)

    def write(self, events: Sequence[Event]) -> None:
        """Record events."""
        Recording(events=events, seed=self.seed, namespace=self.namespace, timezone=self.timezone).save(self.file)


def told(head: str, differences: Sequence[Difference], foot: str) -> str:
    """Return a message that shows the first differences."""
    more = len(differences) - _SHOWN
    shown = [str(one) for one in differences[:_SHOWN]] + ([f"and {more} more"] if more > 0 else [])
    return "\n\n".join([head, *shown, foot])


def replayed(memory: MemoryForTests, file: Path) -> None:
    """Do what a recording holds with a memory.

    Raises:
        AssertionError: an answer is another one now.
        ValueError: the file is no recording.
    """
    __tracebackhide__ = True
    recording = Recording.load(file)
    events = [event for event in recording.events if event.tool not in (READ_RESOURCE, GET_PROMPT)]
    renamed, done = Renamed(), []
    for event in events:
        memory.clock.set(event.at)
        found = memory.do_again(event, renamed.of(dict(event.arguments)))
        renamed.note([event.answer, event.text], [found.answer, found.text])
        done.append(found)
    differences = Recording(events=events).differences(done)
    if differences:
        raise AssertionError(told(f"The memory answers otherwise than recorded in {file}.", differences, ANEW))
