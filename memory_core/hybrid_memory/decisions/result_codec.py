"""Results as JSON and back: what the store keeps of a request with a key, for when the request comes again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.ids import as_id
from hybrid_memory.model import Json, MemoryId, Moved, Tier
from hybrid_memory.requests import ForgetResult, UpdateResult, WriteResult

_Result = TypeVar("_Result")
_KIND = re.compile("[A-Za-z0-9. ]{1,40}")  # what the kinds of secrets are named with


@dataclass(frozen=True, slots=True)
class JsonCodec(Generic[_Result]):
    """One verb's `hybrid_memory.store.writing.ResultCodec`."""

    encode: Callable[[_Result], Mapping[str, Json]]
    from_json: Callable[[Mapping[str, Any]], _Result]

    def decode(self, stored: Mapping[str, Json]) -> _Result:
        """Return the result of which `encode` gave the JSON.

        Raises:
            ConstraintViolation: the JSON is that of another verb's result.
        """
        try:
            return self.from_json(stored)
        except (KeyError, TypeError, ValueError):
            raise ConstraintViolation("this request was made before for something else; make a new one") from None


def _write_to_json(result: WriteResult) -> Mapping[str, Json]:
    """Return a write's outcome as JSON; related memories are advice of the moment and are not kept."""
    return {
        "id": result.id,
        "tier": result.tier.value,
        "duplicate_of": result.duplicate_of,
        "moved": [[m.id, m.before.value, m.after.value, m.reason, list(m.members)] for m in result.moved],
        "pending": result.pending,
        "secrets": list(result.secrets),
        "disputes": result.disputes,
        "unpinned": result.unpinned,
        "namespace": result.namespace,
    }


def _write_from_json(data: Mapping[str, Any]) -> WriteResult:
    """Return the outcome of which `_write_to_json` gave the JSON."""
    return WriteResult(
        id=as_id(data["id"]),
        tier=Tier(data["tier"]),
        duplicate_of=_id_or_none(data["duplicate_of"]),
        moved=tuple(
            Moved(id=as_id(i), before=Tier(b), after=Tier(a), reason=why, members=_ids(members))
            for i, b, a, why, members in data["moved"]
        ),
        pending=data["pending"],
        secrets=_kinds(data.get("secrets", ())),
        # Answers of an earlier version of this program, kept for a day, lack what came later.
        disputes=_id_or_none(data.get("disputes")),
        unpinned=bool(data.get("unpinned")),
        namespace=data.get("namespace", ""),
    )


def _update_to_json(result: UpdateResult) -> Mapping[str, Json]:
    """Return an update's outcome as JSON."""
    return {
        "id": result.id,
        "tier": result.tier.value,
        "supersedes": result.supersedes,
        "disputes": result.disputes,
        "pending": result.pending,
        "secrets": list(result.secrets),
    }


def _update_from_json(data: Mapping[str, Any]) -> UpdateResult:
    """Return the outcome of which `_update_to_json` gave the JSON."""
    return UpdateResult(
        id=as_id(data["id"]),
        tier=Tier(data["tier"]),
        supersedes=_id_or_none(data["supersedes"]),
        disputes=_id_or_none(data.get("disputes")),
        pending=data["pending"],
        secrets=_kinds(data.get("secrets", ())),
    )


def _forget_to_json(result: ForgetResult) -> Mapping[str, Json]:
    """Return a forgetting's outcome as JSON."""
    return {
        "ids": list(result.ids),
        "unchanged": list(result.unchanged),
        "restored": result.restored,
        "revived": list(result.revived),
        "held": {str(one): str(holder) for one, holder in result.held.items()},
    }


def _forget_from_json(data: Mapping[str, Any]) -> ForgetResult:
    """Return the outcome of which `_forget_to_json` gave the JSON."""
    held = {as_id(one): as_id(holder) for one, holder in data.get("held", {}).items()}
    return ForgetResult(
        ids=_ids(data["ids"]),
        unchanged=_ids(data["unchanged"]),
        restored=data["restored"],
        revived=_ids(data.get("revived", ())),
        held=held,
    )


def _ids_to_json(ids: Sequence[MemoryId]) -> Mapping[str, Json]:
    return {"ids": [str(one) for one in ids]}


def _ids_from_json(data: Mapping[str, Any]) -> tuple[MemoryId, ...]:
    """Return the ids of an outcome that holds nothing else."""
    return _ids(data["ids"])


def _kinds(values: Sequence[str]) -> tuple[str, ...]:
    """Return the names of kinds of secrets, which are shown without quotes."""
    if not all(map(_KIND.fullmatch, values)):
        raise ValueError("no kind of secret")
    return tuple(values)


def _ids(values: Sequence[str]) -> tuple[MemoryId, ...]:
    return tuple(map(as_id, values))


def _id_or_none(value: str | None) -> MemoryId | None:
    return None if value is None else as_id(value)


WRITE = JsonCodec(_write_to_json, _write_from_json)
UPDATE = JsonCodec(_update_to_json, _update_from_json)
FORGET = JsonCodec(_forget_to_json, _forget_from_json)
INSIGHTS = JsonCodec(_ids_to_json, _ids_from_json)
