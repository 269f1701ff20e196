"""What clients did, as they saw it: the record that the checker judges.

Every statement, element of a list and value of a key is made once in a history, so what is seen tells whose call made it.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum


class Act(StrEnum):
    """What a call does.

    Topics hold statements that are written, forgotten and restored; a list grows at its end; a key holds the value set last.
    """

    WRITE = "write"
    FORGET = "forget"
    RESTORE = "restore"
    READ = "read"
    APPEND = "append"
    READ_LIST = "look"
    SET_KEY = "set"
    READ_KEY = "get"


READS = (Act.READ, Act.READ_LIST, Act.READ_KEY)
CREATIONS = (Act.WRITE, Act.APPEND, Act.SET_KEY)


class Outcome(StrEnum):
    """How a call ended: done; refused, so that nothing happened; or nobody knows."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of one client.

    ``start`` and ``end`` are places in the one order of all beginnings and ends; ``end`` is None where no answer came.
    ``seen`` is all that a reading of the place showed, in its order.
    """

    client: str
    act: Act
    place: str
    word: str = ""
    start: int
    end: int | None = None
    outcome: Outcome = Outcome.UNKNOWN
    seen: tuple[str, ...] = ()


class Recorder:
    """Notes calls as they begin and end; safe in threads and tasks."""

    def __init__(self) -> None:
        self._order = itertools.count(1)
        self._calls: list[Call] = []
        self._answers: Counter[str] = Counter()

    def begin(self, client: str, act: Act, place: str, word: str = "") -> Call:
        """Note that a call begins; what is never ended keeps its unknown outcome."""
        call = Call(client=client, act=act, place=place, word=word, start=next(self._order))
        self._calls.append(call)
        return call

    def end(self, call: Call, outcome: Outcome = Outcome.OK, seen: Iterable[str] = ()) -> None:
        """Note how a call ended."""
        self._answers[call.client] += 1
        self._calls.append(replace(call, end=next(self._order), outcome=outcome, seen=tuple(seen)))

    def answers(self, client: str) -> int:
        """Return how many calls of a client have ended."""
        return self._answers[client]

    def history(self) -> tuple[Call, ...]:
        """Return every call once, in the order of their beginnings."""
        latest = {call.start: call for call in self._calls}
        return tuple(latest[start] for start in sorted(latest))


def to_json(history: Iterable[Call]) -> str:
    """Return a history as JSON, a call a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(call), ensure_ascii=False) for call in history) + "\n]\n"


def from_json(text: str) -> tuple[Call, ...]:
    """Return the history of `to_json`."""
    return tuple(
        Call(**plain | {"act": Act(plain["act"]), "outcome": Outcome(plain["outcome"]), "seen": tuple(plain["seen"])})
        for plain in json.loads(text)
    )
