"""What the five tools give: their output schemas, kept short because some clients show them to the model."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number"}
_COUNT: Final[Schema] = {"type": "integer"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}


def _object(required: Schema, **optional: Schema) -> Schema:
    return {"type": "object", "properties": required | optional, "required": list(required)}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


WRITE: Final = _object(
    {
        "id": _TEXT,
        "tier": _TEXT,
        "duplicate_of": _TEXT_OR_NULL,
        "related": _list(_object({"id": _TEXT, "text": _TEXT, "similarity": _NUMBER})),
        "moved": _list(_object({"id": _TEXT, "from": _TEXT, "to": _TEXT, "reason": _TEXT}, **{"with": _TEXTS})),
    },
    embedding=_TEXT,
)

READ: Final = _object(
    {
        "memories": _list(
            _object(
                {
                    "id": _TEXT,
                    "text": _TEXT,
                    "created_at": _TEXT,
                    "tier": _TEXT,
                    "score": {"type": ["number", "null"]},
                    "origin": _TEXT,
                },
                section=_TEXT,
                newer=_TEXT,
                repeats=_TEXTS,
                occurred_at=_TEXT,
                speaker=_TEXT,
                session=_TEXT,
                kind=_TEXT,
                key=_TEXT,
                tags=_TEXTS,
                cut=_FLAG,
                weak=_FLAG,
                explain={"type": "object"},
                importance=_NUMBER,
                pinned=_FLAG,
                trust=_TEXT,
                source=_TEXT,
                expires_at=_TEXT,
                evidence=_TEXTS,
                supersedes=_TEXT,
                metadata={"type": "object"},
            )
        ),
        "remaining": _COUNT,
        "cursor": _TEXT_OR_NULL,
        "below_floor": _COUNT,
    },
    missing=_TEXTS,
    note=_TEXT,
)

REFLECT: Final[Schema] = {
    "type": "object",
    "properties": {
        "groups": _list(
            _object(
                {
                    "ids": _TEXTS,
                    "memories": _list(_object({"id": _TEXT, "text": _TEXT, "created_at": _TEXT}, cut=_FLAG)),
                },
            )
        ),
        "instructions": _TEXT,
        "stored": _TEXTS,
    },
}

UPDATE: Final = _object({"id": _TEXT, "tier": _TEXT}, supersedes=_TEXT, embedding=_TEXT)

FORGET: Final = _object({"ids": _TEXTS, "undo": _TEXT}, forgotten=_COUNT, restored=_COUNT, unchanged=_TEXTS)
