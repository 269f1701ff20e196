"""What is wrong with settings, in sentences that name the setting and where it stands: an argument, a variable or ``config.toml``.

Used by `hybrid_memory.settings` alone; a sentence never quotes a value, which could be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import ValidationError

_SHOWN_NAME_LENGTH = 60  # characters of a name that is no setting's
_PROBLEMS: Mapping[str, str] = {
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a number",
    "bool": "must be true or false",
    "string_type": "must be text",
    "string_unicode": "must be text in UTF-8",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "path_type": "must be the name of a folder",
    "setting": "{problem}",
}


def setting_error(
    error: ValidationError, names: Collection[str], place_of: Callable[[str], str], alone: str | None = None
) -> InvalidInput:
    """Return the error for the first setting that is wrong.

    ``names`` are all settings; ``place_of`` says where a setting was given, as in ``in config.toml``. ``alone`` is the setting, where
    it was checked by itself; a place that is empty is left out.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    name = alone or (str(first["loc"][0]) if first["loc"] else "settings")
    if first["type"] == "extra_forbidden":
        return InvalidInput(plain(name), f"{no_setting(name, names)} ({place_of(name)})")
    place = place_of(name)
    return InvalidInput(name, _problem(first["type"], first.get("ctx", {})) + (f" ({place})" if place else ""))


def plain(name: str) -> str:
    """Return a name that somebody made up in characters that do no harm on a terminal, and not too many."""
    shown = "".join(c if c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF else "?" for c in name[:_SHOWN_NAME_LENGTH])  # noqa: PLR2004 - surrogates
    return shown + ("..." if len(name) > _SHOWN_NAME_LENGTH else "") or "an empty name"


def _problem(kind: str, context: Mapping[str, Any]) -> str:
    template = _PROBLEMS.get(kind) or _PROBLEMS.get(kind.partition("_")[0])
    return template.format(**context) if template else "has a value that cannot be used"


def nearest_name(name: str, names: Collection[str]) -> str | None:
    """Return which setting a name may have meant that is none."""
    import difflib

    found = difflib.get_close_matches(name[:_SHOWN_NAME_LENGTH].lower().replace("-", "_"), names, n=1, cutoff=0.5)
    return found[0] if found else None


def no_setting(name: str, names: Collection[str]) -> str:
    """Return what is wrong with a name that is none of the settings."""
    nearest = nearest_name(name, names)
    return "is no setting; " + (f"the nearest is {nearest}" if nearest else "`hybrid-memory-mcp config` names them all")
