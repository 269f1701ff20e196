"""A test's memory in a file: what was prepared, called and answered, so that later runs can be compared with it.

Ids and names of unnamed sessions count by the order in which they appear, so that a version that draws others differs in nothing;
numbers may differ in the last digits, which depend on the machine. Everything else is to be the same. The file is JSON, made to be read
in a diff.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from hybrid_memory.ids import ID_LENGTH

FORMAT = "hybrid-memory-mcp recording"
VERSION = 1

RecordMode: TypeAlias = Literal["once", "none", "rewrite"]
"""once: record where there is no file, compare where there is one; none: never record; rewrite: record again."""

_LETTERS = "[0-9a-hjkmnp-tv-z]"
_ID = re.compile(rf"\b(?:{_LETTERS}{{{ID_LENGTH}}}|s-{_LETTERS}{{12}})\b")  # of a memory, of an unnamed session
_CLOSE = 1e-4  # of two scores: their last digits depend on the machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened: a ``call`` of the agent, the ``end`` of a conversation, or what the test prepared (``remember``)."""

    does: Literal["call", "end", "remember"]
    at: datetime
    tool: str = ""
    client: int = 0
    session: str = ""
    agent: str = "default"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    answer: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the event as it is in a file."""
        shown: dict[str, Any] = {"does": self.does, "at": self.at.isoformat()}
        if self.does == "call":
            shown |= {"tool": self.tool, "client": self.client}
        if self.does != "remember":
            shown |= {"session": self.session, "agent": self.agent}
        if self.does != "end":
            shown["arguments"] = dict(self.arguments)
        if self.does != "end":
            shown["answer"] = dict(self.answer)
        if self.does == "call":
            shown |= {"failed": self.failed, "text": self.text.split("\n")}
        return shown

    @classmethod
    def of_json(cls, shown: Mapping[str, Any]) -> Event:
        """Return the event that is in a file."""
        values = dict(shown) | {"at": datetime.fromisoformat(shown["at"])}
        if "text" in shown:
            values["text"] = "\n".join(shown["text"])
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where a run is not as recorded: the number of the event, from 1, and both sides as lines to compare."""

    number: int
    recorded: Event | None
    found: Event | None

    def __str__(self) -> str:
        before = [] if self.recorded is None else _lines(self.recorded)
        after = [] if self.found is None else _lines(self.found)
        changed = "\n".join(line.rstrip("\n") for line in difflib.ndiff(before, after) if not line.startswith("?"))
        return f"{self.number}. recorded (-), now (+):\n{changed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The events of one test, with what a memory needs to be the same again: ``seed``, ``namespace`` and ``timezone``."""

    events: Sequence[Event] = ()
    seed: int = 0
    namespace: str = "default"
    timezone: str = "UTC"

    def save(self, file: str | Path) -> None:
        """Write the recording to a file, in one step; its folder is made if need be."""
        shown = {
            "format": FORMAT,
            "version": VERSION,
            "seed": self.seed,
            "namespace": self.namespace,
            "timezone": self.timezone,
            "events": [event.to_json() for event in self.events],
        }
        file = Path(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        made = file.with_name(f".{file.name}.{os.getpid()}.new")
        made.write_text(json.dumps(shown, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
        made.replace(file)

    @classmethod
    def load(cls, file: str | Path) -> Recording:
        """Read a recording from a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is no recording, or one of a later version; says so.
        """
        try:
            shown = json.loads(Path(file).read_text(encoding="utf-8"))
            if (shown["format"], shown["version"]) != (FORMAT, VERSION):
                raise ValueError("another format")  # noqa: TRY301 - said in one place, below
            events = tuple(Event.of_json(one) for one in shown["events"])
            return cls(events=events, seed=shown["seed"], namespace=shown["namespace"], timezone=shown["timezone"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{file} is no recording that this version reads; record it anew") from error

    def differences(self, found: Sequence[Event]) -> list[Difference]:
        """Return where the events of another run are not those recorded; nothing where they are the same."""
        ours, theirs = _Numbered(), _Numbered()
        differing = []
        for at in range(max(len(self.events), len(found))):
            recorded = self.events[at] if at < len(self.events) else None
            now = found[at] if at < len(found) else None
            before = None if recorded is None else ours.of(_compared(recorded))
            after = None if now is None else theirs.of(_compared(now))
            if not _is_same(before, after):
                differing.append(Difference(number=at + 1, recorded=recorded, found=now))
        return differing


class _Numbered:
    """Replaces ids by the order in which they appear."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def of(self, value: Any) -> Any:
        """Return a value without its ids."""
        if isinstance(value, str):
            return _ID.sub(lambda found: self._seen.setdefault(found[0], f"#{len(self._seen) + 1}"), value)
        if isinstance(value, Mapping):
            return {self.of(name): self.of(one) for name, one in value.items()}
        return [self.of(one) for one in value] if isinstance(value, list | tuple) else value


class Renamed:
    """Puts the ids of this run into recorded arguments: both sides name the same things in the same order."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}

    def note(self, recorded: Any, found: Any) -> None:
        """Take in an answer of both sides."""
        before, after = (_ID.findall(json.dumps(one, ensure_ascii=False)) for one in (recorded, found))
        self._now |= dict(zip(before, after, strict=False))

    def of(self, value: Any) -> Any:
        """Return recorded arguments with the ids of this run."""
        text = json.dumps(value, ensure_ascii=False)
        return json.loads(_ID.sub(lambda found: self._now.get(found[0], found[0]), text))


def _compared(event: Event) -> dict[str, Any]:
    """Return what is compared of an event: not the session's name, which is drawn, and nothing twice."""
    shown = event.to_json()
    shown.pop("session", None)
    if event.answer:
        shown.pop("text", None)  # says the same in words, with scores cut to their digits
    return shown


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(one == other)


def _lines(event: Event) -> list[str]:
    return json.dumps(_compared(event), ensure_ascii=False, indent=1).splitlines()
