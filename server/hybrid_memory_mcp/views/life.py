"""A memory's life as data: in which part of memory it stood from when to when and why, and what happened to it on the way. Pure.

The page and the terminal draw the same picture of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.model import MemoryId, Tier
from hybrid_memory_mcp.words.event_words import event_in_words, first_tier, moves_of, why_it_moved

if TYPE_CHECKING:
    from hybrid_memory.admin.history import MemoryEvent
    from hybrid_memory.model import Memory
    from hybrid_memory.overview.times import MemoryTimes

LEVELS = (Tier.LONG_TERM, Tier.EPISODIC, Tier.WORKING, Tier.SHORT_TERM, Tier.SENSORY, Tier.FADED)
"""The parts of memory as the picture has them, from the top."""

_SHOWN_ANYWAY = frozenset({"recall", "repeat", "end session", "tidy", "embed"})  # of which only a move is worth a mark


def times_as_json(times: MemoryTimes) -> dict[str, Any]:
    """Return when a memory was true and believed, as every view shows it."""
    moments = {
        "learned": times.learned,
        "believed_until": times.believed_until,
        "true_from": times.true_from,
        "true_until": times.true_until,
    }
    told = {name: None if moment is None else moment.isoformat() for name, moment in moments.items()}
    return told | {"stated": times.stated, "ended": times.ended}


def life_of(
    versions: Sequence[Memory], ends: Mapping[MemoryId, datetime | None], events: Iterable[MemoryEvent], now: datetime
) -> dict[str, Any]:
    """Return the life of a memory through its versions, the oldest first.

    ``ends`` says until when each version was believed, None for still. The answer holds ``from`` and ``to`` (ISO 8601), the ``levels``
    that are in use from the top, ``stages`` in order (``tier``, ``from``, ``until`` or None, ``why`` it came there, ``id`` of the version,
    ``x`` and ``width`` in a picture, ``seconds``), and ``marks`` (``at``, ``kind`` that is the name of the write, ``title``, ``by``,
    ``id``, ``x``).
    """
    by_version: dict[MemoryId, list[MemoryEvent]] = {one.id: [] for one in versions}
    for event in events:
        by_version.setdefault(event.id, []).append(event)
    stages: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    for one in versions:
        stages += _stages(one, ends.get(one.id), by_version[one.id])
        marks += _marks(one, by_version[one.id])
    in_use = {stage["tier"] for stage in stages}
    last = max([now, *(one.created_at for one in versions)])
    _lay_out(stages, marks, last)
    return {
        "from": min(one.created_at for one in versions).isoformat() if versions else last.isoformat(),
        "to": last.isoformat(),
        "levels": [tier.value for tier in LEVELS if tier.value in in_use],
        "stages": stages,
        "marks": sorted(marks, key=lambda mark: mark["at"]),
    }


def _lay_out(stages: list[dict[str, Any]], marks: list[dict[str, Any]], last: datetime) -> None:
    """Give stages their ``x`` and ``width`` and marks their ``x``, from 0 to 1.

    The seconds of the first attention and the years afterwards stand side by side: a stage ten times as long is one step wider.
    """
    spans = [(_moment(one["from"]), last if one["until"] is None else _moment(one["until"])) for one in stages]
    weights = [1 + math.log10(1 + max((until - since).total_seconds(), 0.0) / 60) for since, until in spans]
    begin = 0.0
    for stage, (since, until), weight in zip(stages, spans, weights, strict=True):
        width = weight / sum(weights)
        stage |= {"x": round(begin, 5), "width": round(width, 5), "seconds": round((until - since).total_seconds(), 3)}
        for mark in marks:
            at = _moment(mark["at"])
            if mark["id"] == stage["id"] and since <= at <= until and "x" not in mark:
                share = (at - since) / (until - since) if until > since else 0.0
                mark["x"] = round(begin + share * width, 5)
        begin += width
    for mark in marks:
        mark.setdefault("x", 1.0)


def _moment(written: str) -> datetime:
    return datetime.fromisoformat(written)


def _stages(memory: Memory, end: datetime | None, events: Sequence[MemoryEvent]) -> list[dict[str, Any]]:
    """Return where a version stood; what happened to it after it was replaced is no part of it."""
    moves = [(event.at, found) for event in events if (found := moves_of(event.note)) is not None]
    told = next((tier for event in events if (tier := first_tier(event.note)) is not None), None)
    begin = told or (moves[0][1][0] if moves else memory.tier)
    steps = [(memory.created_at, begin, "")]
    steps += [(at, after, why_it_moved(why)) for at, (_, after, why) in moves if end is None or at < end]
    stages = []
    for place, (at, tier, why) in enumerate(steps):
        until = steps[place + 1][0] if place + 1 < len(steps) else end
        stage = {"tier": tier.value, "from": at.isoformat(), "until": until.isoformat() if until else None}
        stages.append(stage | {"why": why, "id": memory.id})
    return stages


def _marks(memory: Memory, events: Sequence[MemoryEvent]) -> list[dict[str, Any]]:
    # That a newer version came is told by the mark of that one.
    told = [
        one
        for one in events
        if (one.note or one.action not in _SHOWN_ANYWAY) and not one.note.startswith("superseded by ")
    ]
    marks = [
        {
            "at": one.at.isoformat(),
            "kind": one.action,
            "title": event_in_words(one.action, one.note)["title"],
            "by": one.by,
        }
        for one in told
    ]
    return [mark | {"id": memory.id} for mark in marks]
