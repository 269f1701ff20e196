"""Which optional arguments of a call count as not given: the one rule, for every tool. Pure.

- An optional argument that says nothing is not given: null, a blank text, an empty list or object, a list of such members alone, or
  the text of one of these. The words "null" and "none" are null too; but "none" is a name like any other (`NAMES`), and in free
  words (`FREE_WORDS`) both are words, unless the caller writes null in this way for another argument too.
- In a call that names every argument of its tool, a zero or a false is not given if another argument is filled with the empty value of
  its kind ("", [], {}, 0 or false): that caller cannot leave anything out, as with strict function calling. Where nothing else is said,
  the tool says what false means. Alongside nulls alone, or where arguments are left out, a zero is what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hybrid_memory_mcp.mcp_api import lenient

FREE_WORDS = frozenset(("content", "query", "focus", "text"))
NAMES = frozenset(("tags", "source", "speaker", "session", "key"))

Says: TypeAlias = Callable[[str, Any], bool]
"""Whether the value of an argument of this name says something."""


def is_null(name: str, value: Any) -> bool:
    """Return True for null and for the word that a model writes instead."""
    if not isinstance(value, str) or name in FREE_WORDS:
        return value is None
    return value.strip() == "null" if name in NAMES else _is_word_for_null(value)


def _is_word_for_null(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in ("null", "none")


def is_blank(name: str, value: Any) -> bool:
    """Return True for the empty value of a kind: a blank text, a list or an object with nothing in it, or the text of one."""
    if isinstance(value, str):
        if not value.strip() or name in FREE_WORDS:
            return not value.strip()
        value = lenient.from_json_text(value)
    if isinstance(value, list):
        return all(is_null(name, one) or _is_empty(one) for one in value)
    return isinstance(value, Mapping) and not value


def _is_empty(member: Any) -> bool:
    return not member.strip() if isinstance(member, str) else member in ([], {})


def says(name: str, value: Any) -> bool:
    """Return whether the value of an argument says something."""
    return not is_null(name, value) and not is_blank(name, value)


@dataclass(frozen=True)
class Rule:
    """What the rule needs to know of a tool, or of an object in its arguments.

    ``listed`` are the arguments that callers hear of. ``told_by_emptiness`` names the kind of an empty value that says something,
    ``told_by_zero`` those whose zero or false does, ``told_alone`` those of them that do so where nothing else is said.
    """

    optional: AbstractSet[str]
    listed: AbstractSet[str]
    says: Says = says
    told_by_emptiness: Mapping[str, type] = field(default_factory=dict)
    told_by_zero: Collection[str] = ()
    told_alone: Collection[str] = ()


def only_given(arguments: Mapping[Any, Any], rule: Rule) -> dict[Any, Any]:
    """Return the arguments that are given."""
    told = {name: value for name, value in arguments.items() if _is_told(name, value, rule)}
    if any(_is_word_for_null(arguments[name]) for name in rule.optional & (arguments.keys() - told.keys())):
        words = rule.optional & FREE_WORDS
        told = {name: value for name, value in told.items() if name not in words or not _is_word_for_null(value)}
    if not rule.listed <= arguments.keys():
        return told
    zeros = {name for name in rule.told_by_zero if name in told and lenient.is_zero(told[name])}
    fillers = zeros | {name for name in rule.optional if name in arguments and is_blank(name, arguments[name])}
    dropped = {name for name in zeros if fillers - {name}}
    if not any(name in rule.optional and name not in fillers for name in told):
        dropped -= set(rule.told_alone)
    return {name: value for name, value in told.items() if name not in dropped}


def _is_told(name: Any, value: Any, rule: Rule) -> bool:
    if name not in rule.optional or rule.says(name, value):
        return True
    kind = rule.told_by_emptiness.get(name)
    if kind is None:
        return False
    found = lenient.from_json_text(value)
    return isinstance(found, kind) and not found
