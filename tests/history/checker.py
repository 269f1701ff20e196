"""Judges a history of concurrent calls: is there one order of them, true to real time, that explains all that was seen?

The question is asked of each statement, list and key by itself (what holds for every part holds for the whole). A call of unknown
outcome may have happened at any time after it began, or never. Of a statement orders are tried, as Wing and Gong do: next may come any
call that began before the first open one ended. A list shows its order itself, and of a key whose values are all different Gibbons and
Korach ("Testing shared memories", 1997) tell from the first end and the last beginning of each value's calls; both take no search, which
thousands of calls that lasted long would make endless.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from tests.history.calls import CREATIONS, READS, Act, Call, Outcome

_OF_LISTS = (Act.APPEND, Act.READ_LIST)

State: TypeAlias = Hashable
Step: TypeAlias = Callable[[State, Call], State | None]
"""Returns the state after a call; None where the call cannot have happened in that state."""


def faults(history: Sequence[Call]) -> list[str]:
    """Return what is wrong with a history, each fault in a sentence; nothing when it can be explained."""
    calls = [call for call in history if call.outcome is not Outcome.FAIL]
    readings = [call for call in calls if call.act in READS and call.outcome is Outcome.OK]
    found = [*_doubled(readings), *_invented(history, readings)]
    for place in sorted({call.place for call in calls}):
        here = [call for call in calls if call.place == place]
        if any(call.act in (Act.WRITE, Act.READ) for call in here):
            found.extend(_topic_faults(place, here))
        elif not (_one_list if any(call.act in _OF_LISTS for call in here) else _one_key)(here):
            found.append(f"{place}: no order of the calls explains what was seen of it")
    return found


def _doubled(readings: Iterable[Call]) -> Iterator[str]:
    for call in readings:
        for word, times in Counter(call.seen).items():
            if times > 1:
                yield f"{word}: stands {times} times in what {call.client} saw at {call.start}"


def _invented(history: Sequence[Call], readings: Iterable[Call]) -> Iterator[str]:
    made = {(call.place, call.word): call for call in history if call.act in CREATIONS}
    for call in readings:
        for word in call.seen:
            maker = made.get((call.place, word))
            if maker is None:
                yield f"{word}: was seen by {call.client} at {call.start}, and nobody made it"
            elif maker.outcome is Outcome.FAIL:
                yield f"{word}: was seen by {call.client} at {call.start}, but was refused"


def _topic_faults(place: str, calls: Sequence[Call]) -> Iterator[str]:
    readings = [call for call in calls if call.act is Act.READ and call.outcome is Outcome.OK]
    changes: dict[str, list[Call]] = {}
    for call in calls:
        if call.act is not Act.READ:
            changes.setdefault(call.word, []).append(call)
    for word, own in changes.items():
        together = sorted([*own, *readings], key=lambda call: call.start)
        if not _explained(together, "unmade", partial(_word_step, word)):
            yield f"{word} in {place}: {_how(word, own, readings)}"


def _how(word: str, own: Sequence[Call], readings: Sequence[Call]) -> str:
    """Return in words what is wrong with a statement whose calls no order explains."""
    (write, *others) = sorted(own, key=lambda call: call.act is not Act.WRITE)
    if not others and write.outcome is Outcome.OK:
        missed = [call for call in readings if word not in call.seen and call.start > (write.end or 0)]
        if missed:
            return f"acknowledged at {write.end}, not seen by {missed[0].client} at {missed[0].start}"
    return "no order of the calls explains when it was seen"


def _one_list(calls: Sequence[Call]) -> bool:
    """Return True if the readings show one list that grows at its end, each element between its call's beginning and end."""
    readings = [call for call in calls if call.act in READS and call.outcome is Outcome.OK]
    whole = max((call.seen for call in readings), key=len, default=())
    if any(call.seen != whole[: len(call.seen)] for call in readings):
        return False
    # What has to come one after the other: the readings of a length, the element that makes it longer, and so on.
    steps: list[list[Call]] = [[] for _ in range(2 * len(whole) + 2)]
    at = {word: 2 * place + 1 for place, word in enumerate(whole)}
    for call in calls:
        if call.act is Act.APPEND and (call.word in at or call.outcome is Outcome.OK):
            steps[at.get(call.word, len(steps) - 1)].append(call)
    for call in readings:
        steps[2 * len(call.seen)].append(call)
    last_start = 0
    for step in steps:
        if any(_end(call) < last_start for call in step):
            return False
        last_start = max([last_start, *(call.start for call in step)])
    return True


def _one_key(calls: Sequence[Call]) -> bool:
    """Return True if the readings of a key show what was set last, where each value is set once."""
    ends: dict[tuple[str, ...], float] = {(): -1}
    starts: dict[tuple[str, ...], float] = {(): -1}
    setting = {(call.word,): call for call in calls if call.act is Act.SET_KEY}
    readings = [call for call in calls if call.act in READS and call.outcome is Outcome.OK]
    seen = {call.seen for call in readings}
    for value, call in setting.items():
        if call.outcome is Outcome.OK or value in seen:
            ends[value], starts[value] = _end(call), call.start
    for call in readings:
        if call.seen and (call.seen not in setting or _end(call) < setting[call.seen].start):
            return False
        ends[call.seen] = min(ends.get(call.seen, math.inf), _end(call))
        starts[call.seen] = max(starts.get(call.seen, 0), call.start)
    # Neither value can have been the first of two when each had a call that ended before one of the other's began.
    return not any(
        ends[one] < starts[other] and ends[other] < starts[one] for one, other in itertools.combinations(starts, 2)
    )


def _end(call: Call) -> float:
    return call.end if call.end is not None and call.outcome is Outcome.OK else math.inf


def _word_step(word: str, state: State, call: Call) -> State | None:
    if call.act is Act.READ:
        return state if (word in call.seen) is (state == "there") else None
    if (call.act is Act.WRITE) is not (state == "unmade"):
        return None  # made once, and only then forgotten or restored
    return "forgotten" if call.act is Act.FORGET else "there"


def _explained(calls: Sequence[Call], state: State, step: Step) -> bool:
    """Return True if some order of the calls, true to real time, is one that `step` allows."""
    tried: set[tuple[int, State]] = set()
    waiting = [(0, state)]
    whole = sum(1 << at for at, call in enumerate(calls) if call.outcome is Outcome.OK)
    while waiting:
        done, state = _read_on(calls, *waiting.pop(), step)
        if done & whole == whole:
            return True
        if (done, state) in tried:
            continue
        tried.add((done, state))
        for at in _next(calls, done):
            after = step(state, calls[at]) if calls[at].act not in READS else None
            if after is not None:
                waiting.append((done | 1 << at, after))
    return False


def _read_on(calls: Sequence[Call], done: int, state: State, step: Step) -> tuple[int, State]:
    """Let all readings come next that may: they change nothing, so to wait with them helps nothing."""
    while True:
        fitting = [at for at in _next(calls, done) if calls[at].act in READS and step(state, calls[at]) is not None]
        if not fitting:
            return done, state
        done |= sum(1 << at for at in fitting)


def _next(calls: Sequence[Call], done: int) -> list[int]:
    """Return the calls that may come next: they began before any that is not done had ended."""
    first_end = math.inf
    found = []
    for at in range(_first_open(done), len(calls)):
        call = calls[at]
        if call.start > first_end:
            break
        if not done >> at & 1:
            found.append(at)
            if call.end is not None and call.outcome is Outcome.OK:
                first_end = min(first_end, call.end)
    return found


def _first_open(done: int) -> int:
    """Return the place of the lowest bit that is not set."""
    return (~done & (done + 1)).bit_length() - 1
