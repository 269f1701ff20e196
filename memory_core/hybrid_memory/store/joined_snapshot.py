"""`joined`: the snapshots of several namespaces as one, as if all memories had been written into one namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hybrid_memory.store.column_batches import run_offsets
from hybrid_memory.store.snapshots import ColumnBatch, Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

_RUNS = {"terms": "term_offsets", "names": "name_offsets", "days": "day_offsets"}


def joined(snapshots: Sequence[Snapshot]) -> Snapshot:
    """Return one snapshot of all memories, in the order in which they were written; of two with one id the first is there.

    ``head`` is that of no namespace and 0. Its columns are in one batch, so that loading it takes twice their room for a moment.
    """
    sessions, session_codes = _merged([one.sessions for one in snapshots])
    speakers, speaker_codes = _merged([one.speakers for one in snapshots])
    batches: list[ColumnBatch] = []
    places: list[int] = []  # of its snapshot, for each batch
    for at, one in enumerate(snapshots):
        found = list(one.batches)
        batches += found
        places += [at] * len(found)
    columns = {name: _column(name, batches) for name in _NAMES if name not in _MAPPINGS}
    for name, codes in (("session", session_codes), ("speaker", speaker_codes)):
        parts = [_recoded(getattr(batch, name), codes[at]) for batch, at in zip(batches, places, strict=True)]
        columns[name] = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    mappings = {name: _shifted([getattr(batch, name) for batch in batches], batches) for name in _MAPPINGS}
    rows = _distinct(columns["ids"], _written_order(batches, places, columns["created_at"]))
    batch = _taken(columns, mappings, rows)
    return Snapshot(
        namespace=snapshots[0].namespace,
        head=0,
        ids=[batch.ids],
        sessions=sessions,
        speakers=speakers,
        batches=(batch,),
        # The first ones last: of two vectors under one id that one stays.
        vectors=chain.from_iterable(one.vectors for one in reversed(snapshots)),
    )


_NAMES = tuple(one.name for one in fields(ColumnBatch))
_MAPPINGS = ("key", "tags", "metadata", "superseded_by", "disputes")


def _merged(tables: Sequence[Sequence[str]]) -> tuple[list[str], list[NDArray[np.int32]]]:
    """Return all names once, and for each table the places of its names among them."""
    names = dict.fromkeys(chain.from_iterable(tables))
    place = {name: at for at, name in enumerate(names)}
    return list(names), [np.array([place[name] for name in table], np.int32) for table in tables]


def _recoded(values: NDArray[np.int32], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return numbers of names by another table; one that is negative stays."""
    if not len(codes):
        return values
    return np.where(values < 0, values, codes[np.maximum(values, 0)]).astype(np.int32)


def _column(name: str, batches: Sequence[ColumnBatch]) -> NDArray[Any]:
    """Return an array of all batches; of offsets the lengths of their runs."""
    parts = [getattr(batch, name) for batch in batches]
    if name in _RUNS.values():
        parts = [np.diff(part) for part in parts]
    if not parts:
        return np.zeros((0, 2), np.uint64) if name == "digests" else np.zeros(0, "S1" if name == "ids" else np.int64)
    return np.concatenate(parts)


def _shifted(mappings: Sequence[Mapping[int, T]], batches: Sequence[ColumnBatch]) -> dict[int, T]:
    """Return what belongs to the rows of all batches, by their places among all."""
    starts = run_offsets([len(batch.ids) for batch in batches]).tolist()
    return dict(_each(mappings, starts))


def _each(mappings: Sequence[Mapping[int, T]], starts: Sequence[int]) -> Iterator[tuple[int, T]]:
    for start, mapping in zip(starts, mappings, strict=False):
        for place, value in mapping.items():
            yield start + place, value


def _written_order(
    batches: Sequence[ColumnBatch], places: Sequence[int], created_at: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return the rows in the order in which they were written: each namespace's stay in theirs, whatever a clock said."""
    of_snapshot = np.repeat(places, [len(batch.ids) for batch in batches]).astype(np.intp)
    written = created_at.copy()
    for at in dict.fromkeys(places):
        own = np.flatnonzero(of_snapshot == at)
        written[own] = np.maximum.accumulate(created_at[own])
    return np.argsort(written, kind="stable")


def _distinct(ids: NDArray[np.bytes_], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows without those whose id an earlier one has; rows of the first snapshot are the earlier ones."""
    _, first = np.unique(ids, return_index=True)
    if len(first) == len(ids):
        return rows
    kept = np.zeros(len(ids), np.bool_)
    kept[first] = True
    return rows[kept[rows]]


def _taken(
    columns: Mapping[str, NDArray[Any]], mappings: Mapping[str, dict[int, Any]], rows: NDArray[np.intp]
) -> ColumnBatch:
    """Return some rows as a batch."""
    taken: dict[str, Any] = {}
    for name, values in columns.items():
        if name not in _RUNS and name not in _RUNS.values():
            taken[name] = values[rows]
    for name, offsets in _RUNS.items():
        starts, lengths = run_offsets(columns[offsets]), columns[offsets][rows]
        taken[offsets] = run_offsets(lengths)
        within = np.arange(int(taken[offsets][-1])) - np.repeat(taken[offsets][:-1], lengths)
        taken[name] = columns[name][np.repeat(starts[:-1][rows], lengths) + within]
    place = np.full(len(columns["ids"]), -1, np.intp)
    place[rows] = np.arange(len(rows))
    for name, mapping in mappings.items():
        at = place[np.fromiter(mapping, np.intp, len(mapping))].tolist()
        taken[name] = {to: value for to, value in zip(at, mapping.values(), strict=True) if to >= 0}
    return ColumnBatch(**taken)
