"""Histories of clients of several hubs over one store, where a reading may be a little behind what another hub was told.

What a hub has acknowledged is in the store, and every decision sees it; but a reading in another hub shows it only once that hub has heard
of it. So a history is judged twice: as a whole, with readings that may show a moment shortly before they began; and for each hub, whose own
clients' writes are seen at once, with others' writes that may arrive shortly after they were answered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tests.history.calls import READS, Act, Call, Outcome, Recorder
from tests.history.checker import faults


class TimedRecorder(Recorder):
    """Notes too when each call began and ended, by the ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self.times: list[float] = [0.0]
        """The time of each place in the order of beginnings and ends; the first is none."""

    def begin(self, client: str, act: Act, place: str, word: str = "") -> Call:
        """Note that a call begins."""
        call = super().begin(client, act, place, word)
        self._note(call.start)
        return call

    def end(self, call: Call, outcome: Outcome = Outcome.OK, seen: Iterable[str] = ()) -> None:
        """Note how a call ended."""
        super().end(call, outcome, seen)
        self._note(self._calls[-1].end or 0)

    def _note(self, place: int) -> None:
        # All clients are tasks of one thread, so the places come one by one.
        assert place == len(self.times)
        self.times.append(self._clock())


def faults_over_hubs(
    history: Sequence[Call], times: Sequence[float], hub_of: Callable[[str], str], late: float
) -> list[str]:
    """Return what is wrong with a history whose hubs may be ``late`` by so many seconds; nothing when it can be explained."""
    found = [f"of all: {told}" for told in faults(_ordered(_begun_earlier(call, times, late) for call in history))]
    for hub in sorted({hub_of(call.client) for call in history}):
        own = [_as_seen_by(call, hub_of(call.client) == hub, times, late) for call in history]
        found.extend(f"in {hub}: {told}" for told in faults(_ordered(call for call in own if call is not None)))
    return found


def _begun_earlier(call: Call, times: Sequence[float], late: float) -> Call:
    """Return a reading as one that began earlier, when what it shows was the newest."""
    if call.act not in READS:
        return call
    return replace(call, start=max(bisect_left(times, times[call.start] - late), 1))


def _as_seen_by(call: Call, own: bool, times: Sequence[float], late: float) -> Call | None:
    """Return a call as a hub sees it: its own as they were, another's write as one that may last longer, and no reading of others."""
    if own:
        return call
    if call.act in READS:
        return None
    if call.end is None:
        return call
    return replace(call, end=bisect_left(times, times[call.end] + late))


def _ordered(calls: Iterable[Call]) -> list[Call]:
    return sorted(calls, key=lambda call: call.start)
