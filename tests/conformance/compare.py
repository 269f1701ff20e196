"""Comparing what was recorded with what happened."""

from __future__ import annotations

import math
import re
from typing import Any

TOLERANCE = 1e-5
_PREFIXES = re.compile(r"(^|;)(?:\[\d+\] )+")


class Mismatch(AssertionError):
    """Something happened otherwise than recorded."""


class Unknown(AssertionError):
    """The case holds something that the replay does not know how to replay."""


def plain(text: str) -> str:
    """Return a text without the counters that the reference puts before stored texts, within merges too."""
    return _PREFIXES.sub(r"\1", text)


def demand(expected: Any, actual: Any, where: str) -> None:
    """Raise Mismatch unless both are alike: floats within the tolerance, texts without counters, null for NaN."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if expected.keys() != actual.keys():
            raise Mismatch(f"{where}: keys {sorted(expected)} were recorded, but here are {sorted(actual)}")
        for key, value in expected.items():
            demand(value, actual[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(actual, list | tuple):
        if len(expected) != len(actual):
            raise Mismatch(f"{where}: {len(expected)} were recorded, but here are {len(actual)}: {actual!r}")
        for at, value in enumerate(expected):
            demand(value, actual[at], f"{where}[{at}]")
    elif not _same(expected, actual):
        raise Mismatch(f"{where}: {expected!r} was recorded, but here is {actual!r}")


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, str) and isinstance(actual, str):
        return plain(expected) == plain(actual)
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(actual, float) and math.isnan(actual):
        return expected is None
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return abs(expected - actual) <= TOLERANCE
    return bool(expected == actual and type(expected) is type(actual))
