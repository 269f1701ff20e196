"""What the messages of one conversation tell together: what was taken back, and what was put right. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hybrid_memory.capture.frames import frame_of
from hybrid_memory.capture.model import Statement, StatementKind
from hybrid_memory.capture.replacing import corrected, is_fragment, is_of_the_person, may_replace, words_of
from hybrid_memory.capture.sentences import lowered
from hybrid_memory.capture.telling import sets_a_scene, told
from hybrid_memory.importing.chosen import Chosen
from hybrid_memory.importing.record import Record, Skipped

_LOOKED_BACK = 60  # statements of a conversation among which a correction looks for what was wrong
_LONGEST_COMPARED = 120  # characters of a statement that gives one thing a value
_ONE_AT_A_TIME = frozenset({"residence", "work", "name", "nickname", "diet", "language of answers"})
_SELF = frozenset({"self"})
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Conversation:
    """The messages of a person in one conversation, in its order."""

    _found: list[Chosen | Skipped] = field(default_factory=list)
    _plays: bool = False

    def add(self, record: Record) -> Skipped | None:
        """Look at the next message; return why nothing of it comes in, None where something does."""
        self._plays = self._plays or sets_a_scene(record.text)
        if self._plays:
            return Skipped("in a role play, an exercise or a game", record.key)
        found = told(record.text, record.at or _UNKNOWN)
        for topic in found.taken_back:
            self._take_back(topic)
        kept = 0
        for statement in found.statements:
            chosen = Chosen(
                record=record,
                text=statement.text,
                importance=statement.importance,
                tags=tuple(dict.fromkeys((*record.tags, *statement.tags))),
                part=kept,
            )
            placed = self._in_its_place(chosen, statement)
            if placed is None:
                continue
            self._found.append(placed)
            kept += 1
        if kept:
            return None
        return Skipped(found.reason or "puts right something that was not told here", record.key)

    def chosen(self) -> Iterator[Chosen | Skipped]:
        """Yield what comes in, and what was taken back."""
        yield from self._found

    def _take_back(self, topic: str) -> None:
        """Leave out what was said of a topic, or what was said last."""
        meant = words_of(topic) if topic else frozenset()
        for at in range(len(self._found) - 1, -1, -1):
            one = self._found[at]
            if isinstance(one, Skipped) or (topic and meant.isdisjoint(words_of(one.text))):
                continue
            self._found[at] = Skipped("taken back later in the conversation", one.record.key)
            if not topic:
                return

    def _in_its_place(self, new: Chosen, statement: Statement) -> Chosen | None:
        """Return a statement with what it takes the place of; None for a fragment that corrects nothing which was told here."""
        earlier = [one for one in self._found[-_LOOKED_BACK:] if isinstance(one, Chosen)]
        fragment = is_fragment(lowered(new.text))
        corrects = statement.kind is StatementKind.CORRECTION
        if not fragment and not corrects and (len(new.text) > _LONGEST_COMPARED or not may_replace(statement)):
            return new
        return _superseding(new, earlier, corrects=corrects) or (None if fragment else new)


def is_one_at_a_time(one: Chosen) -> bool:
    """Return True if a statement tells what a person has one of at a time, in whatever conversation they say so."""
    if len(one.text) > _LONGEST_COMPARED:
        return False
    frame = frame_of(one.text.strip(" .!"))
    of_self = frame is not None and frame.attribute in _ONE_AT_A_TIME and (frame.scope <= _SELF or not frame.names)
    return of_self or is_of_the_person(one.text)


def newest_of_the_person(found: Sequence[Chosen]) -> Iterator[Chosen]:
    """Yield statements of many conversations, each with the earlier one whose place it takes, in the order of time."""
    ordered = sorted(found, key=lambda one: one.record.at or _UNKNOWN)
    done: list[Chosen] = []
    for one in ordered:
        new = one if one.supersedes is not None else _superseding(one, done[-_LOOKED_BACK:], corrects=False) or one
        done.append(new)
        yield new


def _superseding(new: Chosen, earlier: Sequence[Chosen], *, corrects: bool) -> Chosen | None:
    """Return a statement that takes the place of one of some earlier ones; None where it takes none's."""
    change = corrected(new.text, [one.text for one in earlier], corrects=corrects)
    if change is None:
        return None
    old = earlier[change.place]
    tags = tuple(dict.fromkeys((*new.tags, *old.tags))) if change.text != new.text else new.tags
    return replace(new, text=change.text, tags=tags, supersedes=(old.record.key, old.part))
