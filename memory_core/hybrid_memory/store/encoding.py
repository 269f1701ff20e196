"""The values that every store refuses (`check_*`), and the JSON text in which free values are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hybrid_memory.errors import ConstraintViolation, StoreDamaged
from hybrid_memory.model import Json
from hybrid_memory.moments import OUT_OF_RANGE, is_in_range

_INT64 = 2**63  # one more than the greatest number of a BIGINT column


def check_text(*texts: str | None) -> None:
    """Raise `ConstraintViolation` for text with a lone surrogate, which no engine can keep."""
    for text in texts:
        if text is not None and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ConstraintViolation("a text holds half of a surrogate pair; send whole characters only") from None


def check_number(number: int) -> None:
    """Raise `ConstraintViolation` for a whole number beyond 64 bits."""
    if not -_INT64 <= number < _INT64:
        raise ConstraintViolation("a number is beyond 64 bits; send a smaller one")


def check_moment(*moments: datetime | None) -> None:
    """Raise `ConstraintViolation` for a time without a zone, or outside of what can be calculated with."""
    for moment in moments:
        if moment is None:
            continue
        if moment.tzinfo is None:
            raise ConstraintViolation("a time has no zone; give every time with its zone")
        if not is_in_range(moment):
            raise ConstraintViolation(f"a time {OUT_OF_RANGE}")


def to_json(value: Any) -> str:
    """Return compact JSON text.

    Raises:
        ConstraintViolation: the value is no JSON (infinite, not a number, foreign type) or holds half a surrogate pair.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise ConstraintViolation(
            "a value is not JSON; use text, finite numbers, booleans, null, lists and objects"
        ) from None
    check_text(text)
    return text


def from_json(text: str) -> Any:
    """Return the value of JSON text that `to_json` made.

    Raises:
        StoreDamaged: it is not such text.
    """
    try:
        return json.loads(text)
    except ValueError:
        raise StoreDamaged("a stored value cannot be read; nothing was changed, keep the store's file") from None


def object_to_json(body: Mapping[str, Json]) -> str:
    """Return the JSON text of an object whose values may be read-only mappings at the top."""
    return to_json(dict(body))
