"""What filters and ranking need to know about each memory, as columns; a row is a memory.

`MemoryColumns` is the table, `LiveMask` which of its rows a reading may find now, `SessionOrder` who follows whom in a session.
All are fed by ``index.py`` with the store's changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.model import (
    ITEM_SESSIONS,
    MEMORY_TYPE_OF,
    TRUST_ORDER,
    TRUSTED_FROM,
    Json,
    Kind,
    Memory,
    MemoryId,
    MemoryType,
    Tier,
    Trust,
)
from hybrid_memory.retrieval.arrays import ABSENT, UNKNOWN, GrowableArray, GrowableRuns, LabelIndex, StringTable
from hybrid_memory.retrieval.dialogues import Dialogues
from hybrid_memory.retrieval.id_columns import DigestColumn, IdColumn
from hybrid_memory.store.snapshots import NO_TIME

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.requests import Where
    from hybrid_memory.store.snapshots import ColumnBatch

Mask = NDArray[np.bool_]

TIERS = tuple(Tier)
KINDS = tuple(Kind)
_TIER_CODE = {str(tier): code for code, tier in enumerate(TIERS)}
_KIND_CODE = {str(kind): code for code, kind in enumerate(KINDS)}
_TRUST_CODE = {str(trust): code for code, trust in enumerate(TRUST_ORDER)}
FADED = _TIER_CODE[Tier.FADED]
_TRUSTED = _TRUST_CODE[TRUSTED_FROM]
_EPISODE, _OBSERVATION, _LONG_TERM = _KIND_CODE[Kind.EPISODE], _KIND_CODE[Kind.OBSERVATION], _TIER_CODE[Tier.LONG_TERM]
_WORKING = _TIER_CODE[Tier.WORKING]


class MemoryColumns:
    """The columns of all memories of a namespace; a row keeps its number until the process ends.

    Times are int64 microseconds, `NO_TIME` for none. ``successor`` is the row of the memory that replaced one, `ABSENT`, or
    `UNKNOWN` where that memory is not here. ``conversation`` tells sessions apart, and in each what is trusted from what is not:
    whoever writes as a tool into the user's session is no part of that conversation. A purged row stays as an empty one, marked
    ``gone``, as does one that cannot be read. ``days`` are the days that each row speaks of, since 1970-01-01: ``days.of(rows)``
    gives them with the places of their rows.
    """

    def __init__(self, sessions: Iterable[str] = (), speakers: Iterable[str] = ()) -> None:
        self.ids = IdColumn()
        self.tier = GrowableArray(np.int8)
        self.kind = GrowableArray(np.int8)
        self.trust = GrowableArray(np.int8)
        self.session = GrowableArray(np.int32)
        self.conversation = GrowableArray(np.int32)
        self.speaker = GrowableArray(np.int32)
        self.pinned = GrowableArray(np.bool_)
        self.gone = GrowableArray(np.bool_)
        self.importance = GrowableArray(np.float64)
        self.aspects = GrowableArray(np.int32)
        self.created_at = GrowableArray(np.int64)
        self.occurred_at = GrowableArray(np.int64)
        self.expires_at = GrowableArray(np.int64)
        self.forgotten_at = GrowableArray(np.int64)
        self.reflected_at = GrowableArray(np.int64)
        self.accessed_at = GrowableArray(np.int64)
        self.access_count = GrowableArray(np.int64)
        self.successor = GrowableArray(np.int32)
        self.days = GrowableRuns()
        self.sessions = StringTable(sessions)
        self.speakers = StringTable(speakers)
        self._dialogues = Dialogues()
        self.tags = LabelIndex()
        self.metadata = LabelIndex()
        self._digests = DigestColumn()
        self._disputes: dict[int, MemoryId] = {}
        self._disputed_by: dict[MemoryId, list[int]] = {}
        self._keys: dict[str, list[int]] = {}
        self._key_of: dict[int, str] = {}
        self._rows_awaiting: dict[MemoryId, list[int]] = {}
        self._live = LiveMask(self)
        self._trusted: tuple[Mask, Mask | None] | None = None

    def __len__(self) -> int:
        return len(self.created_at)

    def reserve(self, count: int) -> None:
        """Make room for rows that are to come."""
        for name in (*_COPIED_COLUMNS, *_CODED_COLUMNS, "conversation", "gone", "successor", "days"):
            getattr(self, name).reserve(count)

    def extend(self, batch: ColumnBatch) -> None:
        """Add the rows of a snapshot's batch, whose ids are here already."""
        first, count = len(self), len(batch.ids)
        self._digests.extend(batch.digests)
        self.gone.extend(batch.unreadable)
        self.successor.fill(count, ABSENT)
        for name in (*_COPIED_COLUMNS, *_CODED_COLUMNS):
            getattr(self, name).extend(getattr(batch, name))
        self.conversation.extend(_conversations(self.session.values[first:], self.trust.values[first:]))
        self._dialogues.load(self.conversation.values[first:], self.speaker.values[first:])
        self.days.extend(batch.days, batch.day_offsets)
        for place, key in batch.key.items():
            self._set_key(first + place, key)
        self.tags.load({first + place: tags for place, tags in batch.tags.items()})
        labels = ((first + place, _pairs(metadata)) for place, metadata in batch.metadata.items())
        self.metadata.load({row: tuple(dict.fromkeys(pairs)) for row, pairs in labels})
        for place, successor in batch.superseded_by.items():
            self._set_successor(first + place, successor)
        for place, disputed in batch.disputes.items():
            self._set_dispute(first + place, disputed)
        self._live.forget()

    def add(self, memory: Memory) -> int:
        """Add a memory and return its row."""
        row = self.ids.append(memory.id)
        for name in (*_COPIED_COLUMNS, *_CODED_COLUMNS, "conversation", "gone"):
            getattr(self, name).append(0)
        self.successor.append(ABSENT)
        self.days.append(memory.days)
        self.created_at.values[row] = to_micros(memory.created_at)
        self.accessed_at.values[row] = NO_TIME
        self._digests.append(memory.content_hash)
        self.change(row, memory)
        self._resolve_successor(memory.id)
        return row

    def change(self, row: int, memory: Memory) -> None:
        """Take over everything about a memory that can change."""
        self.tier.values[row] = _TIER_CODE[memory.tier]
        self.kind.values[row] = _KIND_CODE[memory.kind]
        self.trust.values[row] = _TRUST_CODE[memory.trust]
        self.session.values[row] = self.sessions.code(memory.session)
        self.speaker.values[row] = self.speakers.code(memory.speaker)
        self.conversation.values[row] = _conversations(self.session.values[row], self.trust.values[row])
        self._dialogues.note(int(self.conversation.values[row]), int(self.speaker.values[row]))
        self.pinned.values[row] = memory.pinned
        self.importance.values[row] = memory.importance
        self.aspects.values[row] = memory.aspects
        for name in ("occurred_at", "expires_at", "forgotten_at", "reflected_at"):
            getattr(self, name).values[row] = _micros(getattr(memory, name))
        self._set_key(row, memory.key)
        self._set_dispute(row, memory.disputes)
        self.tags.put(row, memory.tags)
        self.metadata.put(row, _pairs(memory.metadata))
        self.successor.values[row] = ABSENT
        if memory.superseded_by is not None:
            self._set_successor(row, memory.superseded_by)
        self._live.update(row)

    def row_of(self, id_: str) -> int | None:
        """Return the row of a memory, None where it is not here or purged."""
        row, gone = self.ids.row(id_), self.gone.values
        return None if row is None or (row < len(gone) and gone[row]) else row

    def purge(self, row: int) -> None:
        """Make a row an empty one, and what it replaced a memory replaced by something unknown."""
        self.gone.values[row] = True
        successors = self.successor.values
        successors[successors == row] = UNKNOWN
        self.tags.put(row, ())
        self.metadata.put(row, ())
        self._set_key(row, None)
        self._set_dispute(row, None)
        self._live.update(row)

    def visible(
        self,
        now: datetime,
        *,
        as_of: datetime | None = None,
        asked_at: datetime | None = None,
        min_trust: Trust | None = None,
        replaced: bool = False,
    ) -> Mask:
        """Return the rows that a reading at ``now`` may find: not forgotten, expired, replaced or purged.

        ``replaced``: those that something newer has replaced, too.

        ``as_of`` goes back to an earlier moment: what was created by then, replaced only later, and not expired then.
        What was forgotten since stays hidden. ``asked_at`` hides rows created later. For who asks for ``min_trust``, what is trusted
        less has replaced nothing. What was created later than ``now``, while the clock was wrong, is hidden by neither: for all that is
        known, it was there. The mask cannot be written to where it is the same as at the last time.
        """
        if as_of is not None and as_of >= now:
            as_of = None
        if as_of is None and min_trust is None and not replaced:
            live = self._live.at(to_micros(now))
            return live if asked_at is None else live & self._known(asked_at, now)
        moment = to_micros(now if as_of is None else min(as_of, now))
        expires = self.expires_at.values
        mask: Mask = (
            ~self.gone.values & (self.forgotten_at.values == NO_TIME) & ((expires == NO_TIME) | (expires > moment))
        )
        if not replaced:
            mask &= self._current(moment if as_of is not None else None, min_trust)
        if as_of is not None:
            mask &= self.created_at.values <= moment
        if asked_at is not None:
            mask &= self._known(asked_at, now)
        return mask

    def _known(self, asked_at: datetime, now: datetime) -> Mask:
        """Return the rows that were there at ``asked_at``, and those of which nobody can tell, because they are of the future."""
        created = self.created_at.values
        return (created <= to_micros(asked_at)) | (created > to_micros(now))

    def _current(self, moment: int | None, min_trust: Trust | None) -> Mask:
        """Return the rows that nothing of this trust had replaced by a moment; None: until now."""
        successors, created = self.successor.values, self.created_at.values
        least = 0 if min_trust is None else _TRUST_CODE[Trust(min_trust)]
        current: Mask = successors == ABSENT
        rows = np.flatnonzero(successors >= 0)
        newer = successors[rows]
        # From version to version, until one counts or the chain ends; one that is unknown counts.
        for _ in range(_LONGEST_CHAIN):
            counts = self.trust.values[newer] >= least
            if moment is not None:
                counts &= created[newer] <= moment
            rows, newer = rows[~counts], successors[newer[~counts]]
            current[rows[newer == ABSENT]] = True
            rows, newer = rows[newer >= 0], newer[newer >= 0]
            if not len(rows):
                break
        return current

    def trusted_among(self, visible: Mask) -> Mask | None:
        """Return those of the visible rows that are trusted; None where this divides nothing, for all of them are or none is.

        The same mask for the same ``visible``, by which its statistics are kept.
        """
        kept = self._trusted
        if kept is None or kept[0] is not visible:
            trusted: Mask = visible & self.is_trusted()
            count = np.count_nonzero(trusted)
            kept = self._trusted = (visible, trusted if 0 < count < np.count_nonzero(visible) else None)
        return kept[1]

    def is_trusted(self, rows: NDArray[np.intp] | int | None = None) -> Mask:
        """Return which rows, of all, of some, or one, are trusted as far as `TRUSTED_FROM`."""
        trust = self.trust.values if rows is None else self.trust.values[rows]
        trusted: Mask = trust >= _TRUSTED
        return trusted

    def is_episode(self, rows: NDArray[np.intp] | None = None) -> Mask:
        """Return which rows (of all, when not given) were said in passing, and nothing came of them yet (`Memory.is_episode`)."""
        kind, tier = (
            (self.kind.values, self.tier.values) if rows is None else (self.kind.values[rows], self.tier.values[rows])
        )
        episodes: Mask = (kind == _EPISODE) & (tier != _LONG_TERM)
        return episodes

    def _is_unpinned_item(self) -> Mask:
        """Return which rows are items of programs (`ITEM_SESSIONS`) that nobody pinned."""
        sessions = [code for code in map(self.sessions.find, ITEM_SESSIONS) if code != UNKNOWN]
        if not sessions:
            return np.zeros(len(self), np.bool_)
        items: Mask = np.isin(self.session.values, sessions) & (self.tier.values == _WORKING) & ~self.pinned.values
        return items

    def are_statements(self, *, in_passing: bool = False) -> Mask:
        """Return which rows somebody who is not named stated to be kept: no turns of a dialogue, tasks, summaries or insights.

        With ``in_passing`` those that were said in passing instead.
        """
        episodes = self.is_episode()
        told = (self.kind.values == _OBSERVATION) | (self.kind.values == _EPISODE)
        stated = episodes if in_passing else told & ~episodes
        mask: Mask = stated & (self.speaker.values == ABSENT)
        return mask

    def lately_visible(self) -> Mask:
        """Return the rows that could be found at the time of the last reading."""
        return self._live.latest()

    def matching(self, where: Where) -> Mask:
        """Return the rows for which all filters hold but ``as_of``, visible or not."""
        mask: Mask = ~self.gone.values
        if where.memory_type is not None:
            mask &= _OF_TYPE[where.memory_type][self.tier.values]
        if where.unasked:
            mask &= ~self.is_episode() & ~self._is_unpinned_item()
        if where.session is not None:
            mask &= self.session.values == self.sessions.find(where.session)
        if where.speaker is not None:
            mask &= self.speaker.values == self.speakers.find(where.speaker)
        if where.min_trust is not None:
            mask &= self.trust.values >= _TRUST_CODE[Trust(where.min_trust)]
        if where.since is not None or where.until is not None:
            mask &= self._happened_within(where.since, where.until)
        for labels, wanted in ((self.tags, where.tags), (self.metadata, _pairs(where.metadata))):
            for label in wanted:
                carrying = np.zeros(len(self), np.bool_)
                carrying[labels.having(label)] = True
                mask &= carrying
        return mask

    def _happened_within(self, since: datetime | None, until: datetime | None) -> Mask:
        happened = self.happened_at()
        mask: Mask = np.ones(len(happened), np.bool_)
        if since is not None:
            mask &= happened >= to_micros(since)
        if until is not None:
            mask &= happened < to_micros(until)
        return mask

    def happened_at(self, rows: NDArray[np.intp] | None = None, now: datetime | None = None) -> NDArray[np.int64]:
        """Return when what rows (all, when not given) tell happened: its own time, or else that of the writing.

        With ``now`` the writing is that of `written_at`.
        """
        occurred = self.occurred_at.values
        created = self.created_at.values if now is None else self.written_at(now)
        if rows is not None:
            occurred, created = occurred[rows], created[rows]
        return np.where(occurred != NO_TIME, occurred, created)

    def turns(self, rows: NDArray[np.intp]) -> Mask:
        """Return which of some rows are turns of a dialogue; the others are notes."""
        return self._dialogues.turns(self.conversation.values[rows], self.speaker.values[rows])

    def with_hash(self, content_hash: str) -> list[int]:
        """Return the rows of a content hash."""
        return self._digests.rows(content_hash)

    def contents_of(self, rows: NDArray[np.intp]) -> list[tuple[int, int, int, str | None]]:
        """Return for some rows what is equal where they say the same: words but for case and width, speaker, and key."""
        high, low = self._digests.halves_of(rows)
        speakers = self.speaker.values[rows].tolist()
        return list(zip(high, low, speakers, map(self._key_of.get, rows.tolist()), strict=True))

    def disputes(self, rows: Iterable[int]) -> dict[int, MemoryId]:
        """Return which of some rows dispute a memory, and that one."""
        return {row: self._disputes[row] for row in rows if row in self._disputes} if self._disputes else {}

    def all_disputes(self) -> Mapping[int, MemoryId]:
        """Return every row that disputes a memory, and that one."""
        return self._disputes

    def disputing(self, memory_id: MemoryId) -> list[int]:
        """Return the rows that dispute a memory."""
        return self._disputed_by.get(memory_id, [])

    def with_key(self, key: str) -> list[int]:
        """Return the rows that hold a key of working memory."""
        return self._keys.get(key, [])

    def ahead(self, moment: datetime) -> int:
        """Return how many rows were created later than a moment, purged ones apart."""
        return int(np.count_nonzero((self.created_at.values > to_micros(moment)) & ~self.gone.values))

    def written_at(self, now: datetime) -> NDArray[np.int64]:
        """Return when the rows were written: of one from the future, about when by its place among the others."""
        created = self.created_at.values
        of_the_future = created > to_micros(now)
        if not of_the_future.any():
            return created
        before: NDArray[np.int64] = np.maximum.accumulate(np.where(of_the_future, NO_TIME, created))
        return np.where(of_the_future, before, created)

    def newest_first(self, mask: Mask, now: datetime | None = None) -> NDArray[np.intp]:
        """Return the rows of a mask, newest first; of those created together the later row first.

        With ``now`` what is from the future is where it was written (`written_at`).
        """
        found = np.flatnonzero(mask)[::-1]
        created = (self.created_at.values if now is None else self.written_at(now))[found]
        if np.all(created[1:] <= created[:-1]):
            return found
        return found[np.argsort(-created, kind="stable")]

    def _set_successor(self, row: int, successor: MemoryId) -> None:
        """Note what replaced a row; a memory that is not here yet is filled in by `_resolve_successor`."""
        successor_row = self.row_of(successor)
        self.successor.values[row] = UNKNOWN if successor_row is None else successor_row
        if successor_row is None:
            self._rows_awaiting.setdefault(successor, []).append(row)

    def _resolve_successor(self, successor: MemoryId) -> None:
        """Fill in a new memory as the successor of the rows that were waiting for it."""
        successor_row = self.row_of(successor)
        for row in self._rows_awaiting.pop(successor, ()):
            if successor_row is not None and self.successor.values[row] == UNKNOWN:
                self.successor.values[row] = successor_row

    def _set_dispute(self, row: int, disputed: MemoryId | None) -> None:
        """Note which memory a row disputes."""
        old = self._disputes.pop(row, None)
        if old is not None:
            self._disputed_by[old].remove(row)
        if disputed is not None:
            self._disputes[row] = disputed
            self._disputed_by.setdefault(disputed, []).append(row)

    def _set_key(self, row: int, key: str | None) -> None:
        """Note under which key of working memory a row is held."""
        old = self._key_of.pop(row, None)
        if old is not None:
            self._keys[old].remove(row)
        if key is not None:
            self._key_of[row] = key
            self._keys.setdefault(key, []).append(row)


class LiveMask:
    """Which rows a reading finds now, kept while rows change and until the next of them expires."""

    def __init__(self, columns: MemoryColumns) -> None:
        self._columns = columns
        self._mask = GrowableArray(np.bool_)
        self._from = 0
        self._until = 0
        self._shown: Mask | None = None

    def forget(self) -> None:
        """Compute the whole mask again when it is asked for next."""
        self._from = self._until = 0

    def at(self, moment: int) -> Mask:
        """Return the mask of a moment in microseconds: read-only, and a new array whenever anything changed."""
        if not self._from <= moment < self._until:
            self._compute(moment)
        if self._shown is None:
            self._shown = self._mask.values
            self._shown.flags.writeable = False
        return self._shown

    def latest(self) -> Mask:
        """Return the mask that was made last."""
        return self.at(self._from)

    def update(self, row: int) -> None:
        """Follow a change of a row, which may be a new one."""
        self._shown = None
        if self._until == self._from:
            return
        columns, expires = self._columns, int(self._columns.expires_at.values[row])
        if row == len(self._mask):
            self._mask.append(False)
        live = not (
            columns.gone.values[row]
            or columns.forgotten_at.values[row] != NO_TIME
            or columns.successor.values[row] != ABSENT
        )
        if live and expires != NO_TIME:
            live = expires > self._from
            self._until = min(self._until, expires) if live else self._until
        self._mask.values[row] = live

    def _compute(self, moment: int) -> None:
        columns = self._columns
        expires = columns.expires_at.values
        has_expiry = expires != NO_TIME
        mask = ~columns.gone.values & (columns.forgotten_at.values == NO_TIME) & (columns.successor.values == ABSENT)
        mask &= ~has_expiry | (expires > moment)
        ends = expires[has_expiry]
        self._from = int(ends[ends <= moment].max(initial=NO_TIME))
        self._until = int(ends[ends > moment].min(initial=_FOREVER))
        self._mask = GrowableArray(np.bool_)
        self._mask.extend(mask)
        self._shown = None


_LONGEST_CHAIN = 10_000  # versions that a reading goes through; only a damaged chain, which bites its tail, is longer
_FOREVER = 2**63 - 1  # microseconds; the end of int64

_COPIED_COLUMNS = (
    "pinned",
    "aspects",
    "importance",
    "created_at",
    "occurred_at",
    "expires_at",
    "forgotten_at",
    "reflected_at",
    "accessed_at",
    "access_count",
)

_CODED_COLUMNS = ("tier", "kind", "trust", "session", "speaker")

_OF_TYPE: Mapping[MemoryType, Mask] = {
    wanted: np.array([MEMORY_TYPE_OF[tier] == wanted for tier in TIERS]) for wanted in MemoryType
}


def _micros(moment: datetime | None) -> int:
    return NO_TIME if moment is None else to_micros(moment)


def _conversations(session: Any, trust: Any) -> Any:
    """Return the conversation of a row, or of several, by session and trust."""
    return 2 * session + (trust < _TRUSTED)


def _pairs(metadata: Mapping[str, Json]) -> list[str]:
    """Return top-level keys with their values as text that is equal when the values are."""
    return [json.dumps([key, _plain(value)], sort_keys=True) for key, value in metadata.items()]


def _plain(value: Any) -> Any:
    """Return a JSON value in which numbers of equal value have one form."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


_MOST_STEPS = 32  # back along a session, for a row that came late; then all rows are looked at together


class SessionOrder:
    """The chain of each session's rows by time and then by row, kept while rows come, move and go."""

    def __init__(self) -> None:
        self._before = GrowableArray(np.int32)
        self._after = GrowableArray(np.int32)
        self._last: dict[int, int] = {}

    @property
    def before(self) -> NDArray[np.int32]:
        """For each row the one before it in its session, `ABSENT` where it is the first."""
        return self._before.values

    @property
    def after(self) -> NDArray[np.int32]:
        """For each row the one after it in its session, `ABSENT` where it is the last."""
        return self._after.values

    def load(self, sessions: NDArray[np.int32], created_at: NDArray[np.int64]) -> None:
        """Make the chains of all rows again."""
        order = np.argsort(sessions, kind="stable").astype(np.int32)
        earlier, later = order[:-1], order[1:]
        together = sessions[earlier] == sessions[later]
        if np.any(together & (created_at[earlier] > created_at[later])):
            order = np.lexsort((created_at, sessions)).astype(np.int32)
            earlier, later = order[:-1], order[1:]
        before, after = np.full((2, len(sessions)), ABSENT, np.int32)
        before[later[together]] = earlier[together]
        after[earlier[together]] = later[together]
        self._before, self._after = GrowableArray(np.int32), GrowableArray(np.int32)
        self._before.extend(before)
        self._after.extend(after)
        ends = order[np.append(~together, np.ones(min(len(order), 1), np.bool_))]
        self._last = dict(zip(sessions[ends].tolist(), ends.tolist(), strict=True))

    def add(self, row: int, sessions: NDArray[np.int32], created_at: NDArray[np.int64]) -> None:
        """Put a row into the chain of its session; new rows come in order, without gaps."""
        session = int(sessions[row])
        if row == len(self._before):
            self._before.append(ABSENT)
            self._after.append(ABSENT)
        before, after = self._last.get(session, ABSENT), ABSENT
        moment = (int(created_at[row]), row)
        steps = 0
        while before >= 0 and (int(created_at[before]), before) > moment:
            before, after = int(self.before[before]), before
            steps += 1
            if steps == _MOST_STEPS:
                before, after = self._place_of(row, sessions, created_at)
        self._link(before, row)
        self._link(row, after)
        if after < 0:
            self._last[session] = row

    def remove(self, row: int, session: int) -> None:
        """Take a row out of the chain of its session."""
        before, after = int(self.before[row]), int(self.after[row])
        self._link(before, after)
        self.before[row] = self.after[row] = ABSENT
        if after >= 0:
            return
        if before >= 0:
            self._last[session] = before
        else:
            del self._last[session]

    def _place_of(self, row: int, sessions: NDArray[np.int32], created_at: NDArray[np.int64]) -> tuple[int, int]:
        """Return between which two rows of its session a row belongs, by one look at all rows; the session has two at least."""
        chained = (self.before != ABSENT) | (self.after != ABSENT)
        rows = np.flatnonzero(chained & (sessions[: len(chained)] == sessions[row]))
        moments, moment = created_at[rows], created_at[row]
        earlier = (moments < moment) | ((moments == moment) & (rows < row))
        if not earlier.any():
            return ABSENT, int(rows[np.lexsort((rows, moments))[0]])
        rows, moments = rows[earlier], moments[earlier]
        before = int(rows[moments == moments.max()].max())
        return before, int(self.after[before])

    def _link(self, before: int, after: int) -> None:
        if before >= 0:
            self.after[before] = after
        if after >= 0:
            self.before[after] = before
