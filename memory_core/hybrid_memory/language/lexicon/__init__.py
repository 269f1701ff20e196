"""The words of languages: one TOML file for each language, read once, when an entry of it is first asked for.

An entry goes by its table and its key, as "calendar.months". What a reader does not limit to some languages, by their codes, is that of
all languages together, in the order of their files' ``language.order``. To add a language, add a file: CONTRIBUTING.md tells what is in it.

An entry is one of these. `words`: words between blanks. `phrases`: between commas, or on lines. `meanings`: lines with a meaning, a
colon, and phrases between commas. `places`: names in their order, those of one place between slashes, "-" for none. `pattern`:
alternatives of a regular expression, on lines or between bars; an indented line goes on with the one before. There ``<table.key>`` is used
for the alternatives of another entry of the language, ``<NAME>`` for those of ``parts.name``, ``<table.key*>`` for the words of one, the
longest first.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"<([A-Z_]+|[a-z]\w*(?:\.\w+)+)(\*?)>")
_CONTINUED = re.compile(r"\n +")


@functools.cache
def codes() -> tuple[str, ...]:
    """Return the codes of all languages, in their order."""
    found = (path.stem for path in _FOLDER.glob("*.toml"))
    return tuple(sorted(found, key=lambda code: _file(code)["language"]["order"]))


def texts(key: str, *some: str) -> Iterator[tuple[str, str]]:
    """Yield the code and the text of an entry for each of some languages that has it, of all if none is named."""
    for code in some or codes():
        found: Any = _file(code)
        for part in key.split("."):
            found = found.get(part, {})
        if found:
            yield code, found


@functools.cache
def words(key: str, *some: str) -> frozenset[str]:
    """Return the words of an entry."""
    return frozenset(word for _, text in texts(key, *some) for word in text.split())


@functools.cache
def phrases(key: str, *some: str) -> tuple[str, ...]:
    """Return the phrases of an entry, each once."""
    found = (phrase for _, text in texts(key, *some) for line in _lines(text) for phrase in line.split(", "))
    return tuple(dict.fromkeys(found))


@functools.cache
def meanings(key: str, *some: str) -> Mapping[str, str]:
    """Return what each phrase of an entry means."""
    return {
        phrase: meaning
        for _, text in texts(key, *some)
        for line in _lines(text)
        for meaning, _, said in [line.partition(": ")]
        for phrase in said.split(", ")
    }


@functools.cache
def places(key: str, *some: str, first: int = 0) -> Mapping[str, int]:
    """Return the place of each name of an entry, counted from ``first``."""
    return {
        name: place
        for _, text in texts(key, *some)
        for place, names in enumerate(text.split(), first)
        for name in names.split("/")
        if name != "-"
    }


@functools.cache
def pattern(key: str, *some: str) -> str:
    """Return the alternatives of an entry as one expression, which is not in a group."""
    return "|".join(dict.fromkeys(one for code, text in texts(key, *some) for one in _alternatives(code, text)))


def patterns(key: str, *some: str) -> tuple[str, ...]:
    """Return the alternatives of an entry, each as an expression of its own."""
    return tuple(one for code, text in texts(key, *some) for one in _alternatives(code, text))


@functools.cache
def tables(key: str) -> tuple[str, ...]:
    """Return the names of the tables within a table, of all languages."""
    return tuple(
        dict.fromkeys(
            name for code in codes() for name, inner in _file(code).get(key, {}).items() if isinstance(inner, dict)
        )
    )


def filled(source: str, code: str) -> str:
    """Return an expression with the entries of a language that it names."""
    return _PLACEHOLDER.sub(functools.partial(_filled, code), source)


def any_of(some: Iterable[str]) -> str:
    """Return an expression for one of some phrases, the longest first."""
    return f"(?:{'|'.join(re.escape(one) for one in sorted(some, key=lambda one: (-len(one), one)))})"


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def _alternatives(code: str, text: str) -> Iterator[str]:
    for line in _lines(_CONTINUED.sub("", text)):
        yield filled(line, code)


def _filled(code: str, found: re.Match[str]) -> str:
    key = found[1] if "." in found[1] else f"parts.{found[1].lower()}"
    return any_of(places(key, code)) if found[2] else f"(?:{pattern(key, code)})"


@functools.cache
def _file(code: str) -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
