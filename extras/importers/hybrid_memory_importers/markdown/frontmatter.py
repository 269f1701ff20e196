"""The YAML block at the head of a Markdown file: taken off, read safely, and written so that every reader of YAML takes the same from it.

Files of others are hostile until shown otherwise: no aliases (a few lines of them expand to gigabytes), no deep nesting, no types but
those of JSON. Dates stay the text that they are written as, and only what YAML 1.2 calls a number or a truth value is one: a note whose
``answer`` is ``no`` does not say False.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory.model import Json

LONGEST = 256 * 1024
"""Characters of a block at most: all that our own files can hold with room to spare; what is longer is no frontmatter."""
_DEEPEST = 40  # levels of nesting
_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)

_BOOLEAN = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_INTEGER = re.compile(r"^[-+]?(?:0|[1-9][0-9]{0,18})$")
_NUMBER = re.compile(r"^[-+]?[0-9]{1,20}(?:\.[0-9]{0,30}(?:[eE][-+]?[0-9]{1,3})?|[eE][-+]?[0-9]{1,3})$")

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./@-]*(?: [A-Za-z0-9_./@-]+)*")
_PLAIN_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?")
_WORDS_OF_YAML = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# What JSON leaves as it is and YAML does not take, or takes for the end of a line; and what template languages and editors act on
# anywhere in a file: their signs, and links to notes.
_TO_ESCAPE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]|<(?=%)|\{(?=[{%])|\[(?=\[)")


class FrontmatterError(ValueError):
    """The block of a file is not what this program reads as one."""


def split(text: str) -> tuple[str | None, str]:
    """Return the block of a file, without its lines of dashes, and what follows; None and the whole text where there is none."""
    opening = _OPENING.match(text)
    if opening is None:
        return None, text
    closing = _CLOSING.search(text, opening.end(), opening.end() + LONGEST)
    if closing is None:
        return None, text
    return text[opening.end() : closing.start()], text[closing.end() :]


def parse(block: str) -> dict[str, Any]:
    """Return the fields of a block as values of JSON.

    Raises:
        FrontmatterError: it is no YAML, holds aliases, is nested too deep, or is no list of fields.
    """
    import yaml

    if len(block) > LONGEST:
        raise FrontmatterError("is too long")
    try:
        _check_events(block)
        value = yaml.load(block, Loader=_loader())  # noqa: S506 - a safe loader with fewer types
    except FrontmatterError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError, KeyError) as error:
        raise FrontmatterError("is not YAML that can be read") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FrontmatterError("has no fields")
    fields: dict[str, Any] = _plain(value)
    return fields


def written(fields: Mapping[str, Json]) -> str:
    """Return the fields as a block with its lines of dashes; None is left out. `parse` gives the same values back."""
    lines = [f"{name}: {_value(value)}\n" for name, value in fields.items() if value is not None]
    return "---\n" + "".join(lines) + "---\n"


def _check_events(block: str) -> None:
    """Refuse aliases and deep nesting before anything is built of the block."""
    import yaml

    depth = 0
    for event in yaml.parse(block, Loader=_loader()):
        if isinstance(event, yaml.AliasEvent):
            raise FrontmatterError("holds aliases")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                raise FrontmatterError("is nested too deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


@functools.cache
def _loader() -> Any:
    """Return the class that reads: PyYAML's safe one, in C where it is there, with the scalars of YAML 1.2."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # which of the two is known at run time
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own name and form

    digits = list("-+0123456789")
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOLEAN, list("tTfF"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:null", _NULL, ["~", "n", "N", ""])
    Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INTEGER, digits)
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, digits)
    return Loader


def _plain(value: Any) -> Any:
    """Return a value of YAML as one of JSON; what JSON does not have becomes text."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


def _value(value: Any) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)


def _float(value: float) -> str:
    # YAML 1.1 takes 1e-07 for a text: it wants the point.
    digits, e, exponent = repr(value).partition("e")
    return digits + e + exponent if "." in digits or not e else f"{digits}.0{e}{exponent}"


def _text(text: str) -> str:
    if _PLAIN_MOMENT.fullmatch(text) or (_PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML):
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
