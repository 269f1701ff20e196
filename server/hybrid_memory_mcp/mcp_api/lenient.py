"""Arguments as models send them: what is unambiguous is accepted, and made into what the schemas say. Pure.

Models write numbers and flags as text, one value where a list is wanted, a list with commas, an object as the text of its JSON, and with
strict function calling an empty value for everything that they leave out. Anything else is left as it came, and refused by its type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_BETWEEN_IDS = re.compile(r"[\s,;]+")
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_ALIASES = {"longterm": "long_term", "shortterm": "short_term", "human": "user", "assistant": "agent"}
_MAX_DIGITS = 20  # of a number written as text
_EXACT = 1 << 53  # below it a float that is whole is that number


def from_json_text(value: Any) -> Any:
    """Return the list or object whose JSON a text is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def number(value: Any) -> Any:
    """Return the number that a text writes in digits."""
    if isinstance(value, str) and len(value) <= _MAX_DIGITS and _NUMBER.fullmatch(value.strip()):
        return float(value)
    return value


def whole(value: Any) -> Any:
    """Return a whole number as such: JSON has one kind of number, so 8.0 is 8, and so is "8"."""
    value = number(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def text(value: Any) -> Any:
    """Return the text that a number is in digits: a session 42 is "42"."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def not_zero(value: Any) -> Any:
    """Return None for a zero, with which callers that can leave nothing out say that they do not mind."""
    return None if not isinstance(value, bool) and number(value) == 0 else value


def pairs(value: Any) -> Any:
    """Return the object that a list of pairs is, each an object of "key" (or "name") and "value", as strict function calling needs it."""
    value = from_json_text(value)
    if isinstance(value, list):
        value = _filled(value)
    if not isinstance(value, list) or not all(_is_pair(one) for one in value):
        return value
    return {text(one.get("key", one.get("name"))): one["value"] for one in value}


def _is_pair(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) in ({"key", "value"}, {"name", "value"}) and _is_name(value)


def _is_name(pair: Mapping[str, Any]) -> bool:
    return isinstance(text(pair.get("key", pair.get("name"))), str)


def flag(value: Any) -> Any:
    """Return the truth that a text names, and that 1 and 0 are in many languages."""
    if isinstance(value, (int, float)) and value in (0, 1):
        return bool(value)
    return _FLAGS.get(value.strip().casefold(), value) if isinstance(value, str) else value


def quiet(value: Any) -> Any:
    """Return the truth that a text names, or "text"."""
    return "text" if isinstance(value, str) and value.strip().casefold() == "text" else flag(value)


def names(value: Any) -> Any:
    """Return the list that a text with commas is; one name is a list of one. What is empty in it is left out."""
    value = text(from_json_text(value))
    if isinstance(value, list):
        return [text(one) for one in _filled(value)]
    return [one for part in value.split(",") if (one := part.strip())] if isinstance(value, str) else value


def ids(value: Any) -> Any:
    """Return the list of ids in a text; an id holds neither commas nor spaces. What is empty in it is left out."""
    value = from_json_text(value)
    if isinstance(value, list):
        return _filled(value)
    return [one for one in _BETWEEN_IDS.split(value) if one] if isinstance(value, str) else value


def one_id(value: Any) -> Any:
    """Return the id that a list of one holds."""
    value = from_json_text(value)
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _filled(members: list[Any]) -> list[Any]:
    return [one for one in members if one is not None and not (isinstance(one, str) and not one.strip())]


def several(value: Any) -> Any:
    """Return a list; an object alone is a list of one."""
    value = from_json_text(value)
    return [value] if isinstance(value, dict) else value


def choice(value: Any) -> Any:
    """Return a name of a list of choices as it is written there: "Long Term" is "long_term"."""
    if not isinstance(value, str):
        return value
    plain = re.sub(r"[\s-]+", "_", value.strip().casefold()).removesuffix("_memory")
    return _ALIASES.get(plain, plain)


def gathered(given: Any, into: str, moved: Collection[str], says: Callable[[str, Any], bool]) -> Any:
    """Return arguments with those of the names ``moved`` inside of the object ``into``, where models forget to put them.

    ``says`` tells whether a value of a name says something; one that does not is left out. One that is there already with another
    value stays outside, to be refused.
    """
    if not isinstance(given, Mapping):
        return given
    inside = from_json_text(given.get(into))
    inside = inside if says(into, inside) else {}
    outside = {name: value for name, value in given.items() if name in moved}
    if not outside or not isinstance(inside, Mapping):
        return given
    told = {name: value for name, value in outside.items() if says(name, value)}
    fits = {name: value for name, value in told.items() if not says(name, inside.get(name)) or inside[name] == value}
    stays = {name: value for name, value in given.items() if name not in outside or (name in told and name not in fits)}
    return stays | {into: {**inside, **fits}}


def is_zero(value: Any) -> bool:
    """Return True for the number zero and for false, in any way of writing them."""
    return flag(value) is False or (not isinstance(value, bool) and number(value) == 0)
