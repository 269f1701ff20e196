"""Retrieval sets in their published forms, read into one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

PAIRED_AT = datetime(2025, 1, 1, 12, tzinfo=UTC)
"""When the memories of sets that carry no times were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One memory to write. ``at`` is when it is written, and for dialogue also when it was said."""

    id: str
    text: str
    at: datetime
    session: str
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    spoken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: ``gold`` answers it, ``stale`` did so earlier, ``number`` is its place in the set's list."""

    number: int
    text: str
    gold: tuple[str, ...]
    stale: tuple[str, ...] = ()
    category: str
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """The memories of one namespace, in the order of writing, and what is asked about them."""

    id: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two statements, one written after the other, and how the later relates to the earlier."""

    older: str
    newer: str
    label: str


def collections_of(data: Any) -> tuple[Collection, ...]:
    """Return the collections of a set in any of its forms.

    Raises:
        ValueError: the form is not known.
    """
    if isinstance(data, list):
        return (_paraphrases(data),)
    if "conversations" in data:
        return tuple(_conversation(one) for one in data["conversations"])
    if "stores" in data:
        return tuple(_store(one) for one in data["stores"])
    raise ValueError("expected conversations, stores, or a list of memory and question")


def pairs_of(data: Any) -> tuple[Pair, ...] | None:
    """Return the pairs of a set of pairs; None for other sets."""
    if not isinstance(data, dict) or "pairs" not in data:
        return None
    return tuple(Pair(older=one["older"], newer=one["newer"], label=one["label"]) for one in data["pairs"])


def text_of(turn: Mapping[str, Any]) -> str:
    """Return the words of a turn, a shared photo described in brackets."""
    photo = turn.get("photo")
    return f"{turn['text']} [shares photo: {photo}]" if photo else str(turn["text"])


def time_of(text: str) -> datetime:
    """Return a moment written as ISO 8601 or as ``1:56 pm on 8 May, 2023``, in UTC where no zone is given."""
    try:
        return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _conversation(data: Mapping[str, Any]) -> Collection:
    items = tuple(
        Item(
            id=turn["id"],
            text=text_of(turn),
            at=time_of(turn["at"]),
            session=str(turn["session"]),
            speaker=turn["speaker"],
            spoken=True,
        )
        for turn in data["turns"]
    )
    now = max(item.at for item in items) + timedelta(hours=1)
    questions = tuple(
        Question(
            number=number,
            text=one["question"],
            gold=tuple(dict.fromkeys(one["evidence"])),
            category=str(one["category"]),
            now=now,
        )
        for number, one in enumerate(data["questions"])
    )
    return Collection(id=str(data["conversation"]), items=items, questions=questions)


def _store(data: Mapping[str, Any]) -> Collection:
    items = (
        Item(
            id=one["id"],
            text=one["text"],
            at=time_of(one["written_at"]),
            session=one["session"],
            speaker=one["speaker"],
            tags=tuple(one["tags"]),
        )
        for one in data["memories"]
    )
    questions = tuple(
        Question(
            number=number,
            text=one["query"],
            gold=tuple(one["gold"]),
            stale=tuple(one["stale"]),
            category=one["kind"],
            now=time_of(one["now"]),
        )
        for number, one in enumerate(data["questions"])
    )
    return Collection(id=data["id"], items=tuple(sorted(items, key=lambda item: item.at)), questions=questions)


def _paraphrases(data: Sequence[Mapping[str, Any]]) -> Collection:
    items = tuple(
        Item(id=str(number), text=one["memory"], at=PAIRED_AT + timedelta(minutes=number), session=f"s{number}")
        for number, one in enumerate(data)
    )
    questions = tuple(
        Question(
            number=number,
            text=one["question"],
            gold=(str(number),),
            category="paraphrase",
            now=PAIRED_AT + timedelta(days=1),
        )
        for number, one in enumerate(data)
    )
    return Collection(id="paraphrase", items=items, questions=questions)
