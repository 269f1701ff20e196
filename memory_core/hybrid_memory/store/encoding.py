"""The values that every store refuses (`check_*`), and the JSON text in which free values are stored."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hybrid_memory.errors import ConstraintViolation, StoreDamaged
from hybrid_memory.model import Json
from hybrid_memory.moments import OUT_OF_RANGE, is_in_range

MAX_LEVELS = 64  # of lists and objects in a value: more than anybody means, less than makes a reader fail
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
        return plain_json(text)
    except ValueError:
        raise StoreDamaged("a stored value cannot be read; nothing was changed, keep the store's file") from None


def plain_json(text: str) -> Any:
    """Return the value of JSON text whatever wrote it; what comes back could be written again.

    Raises:
        ValueError: it is no JSON, or holds what no store keeps: a number that is not finite, half a surrogate pair, too many levels.
    """
    try:
        value = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
        _check_levels(text, value)
    except RecursionError:
        raise ValueError("too many levels") from None
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)


def _check_levels(text: str, value: Any) -> None:
    """Raise ValueError for a value of more than `MAX_LEVELS`."""
    if text.count("[") + text.count("{") > MAX_LEVELS and _levels(value) > MAX_LEVELS:
        raise ValueError("too many levels")


def _levels(value: Any) -> int:
    levels, inside = 0, [value]
    while inside and levels <= MAX_LEVELS:
        inside = [
            one
            for outer in inside
            if isinstance(outer, (dict, list))
            for one in (outer.values() if isinstance(outer, dict) else outer)
        ]
        levels += 1
    return levels


def object_to_json(body: Mapping[str, Json]) -> str:
    """Return the JSON text of an object whose values may be read-only mappings at the top.

    Raises:
        ConstraintViolation: it is no JSON, or has more than `MAX_LEVELS` levels.
    """
    plain = dict(body)
    text = to_json(plain)
    try:
        _check_levels(text, plain)
    except ValueError:
        raise ConstraintViolation(f"a value is nested deeper than {MAX_LEVELS} levels") from None
    return text
