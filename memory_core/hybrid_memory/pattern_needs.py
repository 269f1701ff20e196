"""What a regular expression cannot do without: the characters it may begin with, and texts of which one must be there. Pure.

A text that lacks them need not be matched, and looking for them costs a tenth of matching. Both are read from the parsed expression of
the standard library, whose form is nobody's promise: what is not understood says nothing, so that it costs time, never a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

_MOST_CHARACTERS: Final = 400  # of a range that is written out
_MOST_TEXTS: Final = 48  # beyond them matching is as quick as looking
_MOST_BUILT: Final = 120  # while they are put together
_GOOD_LENGTH: Final = 3  # characters; a longer text tells little more
_FEW: Final = 6  # texts of one character, which nearly every text has

_EMPTY: Final = frozenset({""})
_ZERO_WIDTH: Final = frozenset({"AT", "ASSERT", "ASSERT_NOT"})
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def first_characters(source: str, flags: int = 0) -> frozenset[str] | None:
    """Return the characters with which each match of an expression begins; None where it may be any, or none, or that is not known."""
    try:
        first, may_be_empty = _first_of(_parsed(source, flags))
    except _NOT_UNDERSTOOD:
        return None
    return None if may_be_empty else first


def needed_texts(source: str, flags: int = 0) -> tuple[str, ...] | None:
    """Return texts of which each match of an expression holds one; None where none are known, or looking for them would not pay."""
    try:
        texts = _needed(_parsed(source, flags), _EMPTY)
    except _NOT_UNDERSTOOD:
        return None
    return None if texts is None else _fewest(texts)


class _Unknown(Exception):
    """An expression has a part of which nothing is known."""


_NOT_UNDERSTOOD: Final = (re.error, ImportError, AttributeError, TypeError, ValueError, _Unknown)


def _parsed(source: str, flags: int) -> Any:
    """Return an expression in its parts."""
    from re import _parser  # type: ignore[attr-defined]  # has no public name since `sre_parse` is deprecated

    parsed = _parser.parse(source, flags)
    if parsed.state.flags & re.IGNORECASE:
        raise _Unknown  # a small letter may stand for a capital
    return parsed


def _first_of(parsed: Iterable[tuple[Any, Any]]) -> tuple[frozenset[str] | None, bool]:
    """Return the characters that a sequence may begin with, None for any, and whether it may be empty."""
    found: frozenset[str] = frozenset()
    for code, value in parsed:
        first, may_be_empty = _first_of_part(str(code), value)
        if first is None:
            return None, False
        found |= first
        if not may_be_empty:
            return found, False
    return found, True


def _first_of_part(code: str, value: Any) -> tuple[frozenset[str] | None, bool]:
    if code in _ZERO_WIDTH:
        return frozenset(), True
    if code in ("LITERAL", "IN"):
        return _characters(code, value), False
    if code in _REPEATS:
        least, _, inner = value
        first, may_be_empty = _first_of(inner)
        return first, may_be_empty or least == 0
    if code == "BRANCH":
        found: frozenset[str] = frozenset()
        any_empty = False
        for branch in value[1]:
            first, may_be_empty = _first_of(branch)
            if first is None:
                return None, False
            found, any_empty = found | first, any_empty or may_be_empty
        return found, any_empty
    inner = _inside(code, value)
    return (None, False) if inner is None else _first_of(inner)


def _inside(code: str, value: Any) -> Any:
    """Return what stands in a group, None for what is no group."""
    if code == "ATOMIC_GROUP":
        return value
    if code != "SUBPATTERN":
        return None
    _, added, removed, inner = value
    if added or removed:
        raise _Unknown
    return inner


def _characters(code: str, value: Any) -> frozenset[str] | None:
    """Return the characters of a class of them, None for many."""
    if code == "LITERAL":
        return frozenset({chr(value)})
    found: set[str] = set()
    for kind, one in value:
        if str(kind) == "LITERAL":
            found.add(chr(one))
        elif str(kind) == "RANGE" and one[1] - one[0] < _MOST_CHARACTERS:
            found.update(map(chr, range(one[0], one[1] + 1)))
        else:
            return None
    return frozenset(found)


def _needed(parsed: Iterable[tuple[Any, Any]], before: frozenset[str]) -> frozenset[str] | None:
    """Return the best texts of which each match has one. ``before`` are those that stand in front, of which each match has one as well."""
    best: frozenset[str] | None = None
    run = before
    for code, value in parsed:
        if str(code) in _ZERO_WIDTH:
            continue
        whole = _whole(str(code), value)
        if whole is not None and len(run) * len(whole) <= _MOST_BUILT:
            if len(whole) > 1:
                best = _better(best, run)  # longer texts are more of them
            run = frozenset(front + behind for front in run for behind in whole)
            continue
        best = _better(best, run)
        best = _better(best, _needed_of_part(str(code), value, run))
        run = _EMPTY
    return _better(best, run)


def _needed_of_part(code: str, value: Any, before: frozenset[str]) -> frozenset[str] | None:
    if code == "BRANCH":
        found: frozenset[str] = frozenset()
        for branch in value[1]:
            texts = _needed(branch, before)
            if texts is None:
                return None
            found |= texts
        return found
    if code in _REPEATS:
        return _needed(value[2], before) if value[0] else None
    inner = _inside(code, value)
    return None if inner is None else _needed(inner, before)


def _whole(code: str, value: Any) -> frozenset[str] | None:
    """Return all texts that a part can be; None where they are many."""
    if code in ("LITERAL", "IN"):
        return _few(_characters(code, value))
    if code in _REPEATS:
        least, most, inner = value
        texts = _whole_of(inner)
        if texts is None or int(most) > 1:
            return None
        return texts if least else texts | _EMPTY
    if code == "BRANCH":
        found: frozenset[str] = frozenset()
        for branch in value[1]:
            texts = _whole_of(branch)
            if texts is None:
                return None
            found |= texts
        return _few(found)
    inner = _inside(code, value)
    return None if inner is None else _whole_of(inner)


def _whole_of(parsed: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    run = _EMPTY
    for code, value in parsed:
        if str(code) in _ZERO_WIDTH:
            continue
        whole = _whole(str(code), value)
        if whole is None or len(run) * len(whole) > _MOST_BUILT:
            return None
        run = frozenset(front + behind for front in run for behind in whole)
    return run


def _few(texts: frozenset[str] | None) -> frozenset[str] | None:
    return texts if texts is not None and len(texts) <= _MOST_BUILT else None


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """Return those texts of which fewer are in any text."""
    return max((texts for texts in (one, other) if texts is not None), key=_worth, default=None)


def _worth(texts: frozenset[str]) -> tuple[int, int, int]:
    shortest = min(map(len, texts), default=0)
    return min(_GOOD_LENGTH, shortest), -len(texts), shortest


def _fewest(texts: frozenset[str]) -> tuple[str, ...] | None:
    """Return texts without those that hold another one; None where looking for them would not pay."""
    kept: list[str] = []
    for text in sorted(texts, key=lambda one: (len(one), one)):
        if not any(one in text for one in kept):
            kept.append(text)
    return tuple(kept) if _pays(kept) else None


def _pays(texts: Sequence[str]) -> bool:
    shortest = min(map(len, texts), default=0)
    return shortest > 0 and len(texts) <= (_MOST_TEXTS if shortest > 1 else _FEW)
