"""Whose an entry's words are: those that start this memory are ours, those behind them, and what was added to the start, the person's.

Only the program that is started counts. `docker run ... hybrid-memory-mcp` or `ssh box hybrid-memory-mcp` starts docker or ssh, which
look into another store, so it is somebody else's.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hybrid_memory_mcp.clients.command import MODULE, PROGRAM, shell_line

_PACKAGE = re.compile(r"hybrid[-_.]memory[-_.]mcp(\[[^\]]*\])?\s*((?:[=<>!~@]).*)?", re.IGNORECASE)
_PYTHON = re.compile(r"(?:python|pythonw|pypy)[\d.]*|pyw?")
_MODULE_OPTIONS = frozenset({"-m", "--module"})
_PLAIN_OPTIONS = frozenset({"-q", "--quiet", "--no-dev", "--no-project"})
_PLACE_OPTIONS = frozenset({"--directory", "--project"})
"""Options of a runner that say no more than where our program lies: as a path they may be another one tomorrow."""
# fmt: off
_WITH_VALUE = frozenset({
    "--from", "--spec", "--with", "--with-editable", "--with-requirements", "--with-executables-from", "--python", "--index",
    "--default-index", "--index-url", "--extra-index-url", "--find-links", "--directory", "--project", "--cache-dir",
    "--config-file", "--env-file", "--extra", "--group", "--no-group", "--only-group", "--package", "--constraint",
    "--constraints", "--override", "--overrides", "--build-constraint", "--exclude-newer", "--index-strategy",
    "--keyring-provider", "--resolution", "--prerelease", "--fork-strategy", "--config-setting", "--link-mode", "--color",
    "--refresh-package", "--upgrade-package", "--reinstall-package", "--no-binary-package", "--no-build-package",
    "--allow-insecure-host", "--no-editable-package", "--python-platform", "--torch-backend", "--pip-args", "-w", "-p", "-i",
    "-f", "-c", "-b", "-P", "-C", "-X", "-W",
})
# fmt: on
"""Options of uv, pipx and Python whose value is the word after them. With one that is not known here, an entry counts as another's."""

OPTIONS = ("home", "namespace", "agent", "project", "timezone", "prompts", "embedder")
"""What a server hears that its hooks have to know as well."""
_VARIABLE = "HYBRID_MEMORY_"


@dataclass(frozen=True)
class Started:
    """The words of an entry that starts this memory.

    ``start`` begins with the program and ends with our name, ``rest`` is what comes behind it. ``is_chosen`` tells that the start says
    more than where our program lies: extras, a Python, another index. That is the person's choice then.
    """

    start: tuple[str, ...]
    rest: tuple[Any, ...]
    is_chosen: bool = False


def read_start(words: Sequence[Any]) -> Started | None:
    """Return how the words of an entry start this memory; None if they start something else."""
    leading: list[str] = []
    for word in words:
        if not isinstance(word, str):
            break
        leading.append(word)
    at = _our_program(leading)
    if at is None:
        return None
    start = tuple(leading[: at + 1])
    return Started(start, tuple(words[at + 1 :]), _is_chosen(start))


def starts_us(words: Sequence[Any]) -> bool:
    """Return whether the words of an entry start this memory: our script, uvx, ``uv run``, ``pipx run``, ``python -m``."""
    return read_start(words) is not None


def words_of(entry: Mapping[str, Any]) -> list[Any]:
    """Return the words that an entry of a client starts, from ``command`` (a text or a list) and ``args``."""
    words = [entry.get("command"), entry.get("args")]
    return [one for word in words if word is not None for one in (word if isinstance(word, list) else [word])]


def _our_program(words: Sequence[str], at: int = 0) -> int | None:
    """Return the place of the word that names this memory, if the first word is our program or one that starts it."""
    name = re.split(r"[\\/]", words[at])[-1].lower().removesuffix(".exe") if at < len(words) else ""
    if name == PROGRAM:
        return at
    if _PYTHON.fullmatch(name):
        return _module(words, _after_options(words, at + 1, _MODULE_OPTIONS))
    if at:  # within `uv run` nothing else runs us
        return None
    if name == "uvx":
        return _packaged(words, 1)
    return _run_by(name, words) if name in ("uv", "pipx") else None


def _run_by(runner: str, words: Sequence[str]) -> int | None:
    verb = _after_options(words, 1)
    if runner == "uv" and words[verb : verb + 2] == ["tool", "run"]:
        return _packaged(words, verb + 2)
    if words[verb : verb + 1] != ["run"]:
        return None
    if runner == "pipx":
        return _packaged(words, verb + 1)
    place = _after_options(words, verb + 1, _MODULE_OPTIONS)
    return (
        _module(words, place)
        if words[place : place + 1] and words[place] in _MODULE_OPTIONS
        else _our_program(words, place)
    )


def _module(words: Sequence[str], at: int) -> int | None:
    """Return the place of our module's name if ``-m`` at ``at`` runs it."""
    return at + 1 if at + 1 < len(words) and words[at] in _MODULE_OPTIONS and words[at + 1] == MODULE else None


def _after_options(words: Sequence[str], at: int, until: Collection[str] = ()) -> int:
    """Return the place of the first word that is no option nor the value of one, or is one of ``until``."""
    while at < len(words) and words[at].startswith("-") and words[at] not in until:
        if words[at] == "--":
            return at + 1
        at += 2 if words[at] in _WITH_VALUE else 1
    return at


def _packaged(words: Sequence[str], at: int) -> int | None:
    """Return the place of our package or of its program, where a runner's own options begin at ``at``."""
    place = _after_options(words, at)
    if place >= len(words):
        return None
    source = _value_of(words[at:place], ("--from", "--spec"))
    if source is None:
        return place if _PACKAGE.fullmatch(words[place]) else None
    # A name alone is a package of the index; else it is a folder, a file or an address.
    is_ours = _PACKAGE.fullmatch(source) or re.search(r"[\\/:]", source)
    return place if is_ours and words[place].lower().removesuffix(".exe") == PROGRAM else None


def _value_of(words: Sequence[str], names: Sequence[str]) -> str | None:
    found = None
    for place, word in enumerate(words):
        for name in names:
            if word == name and place + 1 < len(words):
                found = words[place + 1]
            elif word.startswith(f"{name}="):
                found = word[len(name) + 1 :]
    return found


def _is_chosen(start: Sequence[str]) -> bool:
    place, last = 1, len(start) - 1
    if (named := _PACKAGE.fullmatch(start[last])) and _says_more(named):
        return True
    while place < last:
        word = start[place]
        name, _, value = word.partition("=")
        if word in _WITH_VALUE:
            value = start[place + 1]
            place += 1
        place += 1
        if name in ("--from", "--spec"):
            of_index = _PACKAGE.fullmatch(value)
            if _says_more(of_index) if of_index else "://" in value or value.endswith("]"):
                return True
        elif name.startswith("-") and name not in {*_PLAIN_OPTIONS, *_PLACE_OPTIONS, *_MODULE_OPTIONS}:
            return True
    return False


def _says_more(named: re.Match[str]) -> bool:
    """Return whether a requirement has extras, or another version than a single one, which `install` writes itself."""
    return bool(named[1]) or (bool(named[2]) and not named[2].startswith("=="))


def for_hooks(start: Sequence[str]) -> tuple[str, ...]:
    """Return how a hook starts the memory: uv fetches nothing for it, since a hook opens no connection."""
    name = re.split(r"[\\/]", start[0])[-1].lower().removesuffix(".exe")
    place = {"uvx": 1, "uv": 3}.get(name, 0) if name == "uvx" or tuple(start[1:3]) == ("tool", "run") else 0
    missing = [option for option in ("--offline", "--quiet") if option not in start]
    return (*start[:place], *missing, *start[place:]) if place else tuple(start)


def server_options(rest: Sequence[Any], env: Mapping[str, Any]) -> dict[str, str]:
    """Return what a server is told by the words behind its start, else by the variables of its entry; names are those of `OPTIONS`."""
    words = [str(word) for word in rest]
    found = {}
    for name in OPTIONS:
        value = _value_of(words, (f"--{name}",)) or env.get(_VARIABLE + name.upper())
        if value not in (None, ""):
            found[name] = str(value)
    return found


_TOKEN = re.compile(r"""\d?[<>]+&?\d?|[;&|]+|(?:[^\s"'\\;&|<>]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


@dataclass(frozen=True)
class HookLine:
    """A line of a shell that runs a hook of ours, and what a person put before and behind it: variables, other commands."""

    before: str
    after: str

    def with_words(self, words: Sequence[str]) -> str:
        """Return the line with other words for our part."""
        return self.before + shell_line(words) + self.after


def read_hook_line(line: str) -> HookLine | None:
    """Return the parts of a line that runs a hook of ours; None if it runs something else first."""
    tokens = list(_TOKEN.finditer(line))
    while tokens and _ASSIGNED.fullmatch(tokens[0][0]):
        tokens = tokens[1:]
    count = next((place for place, one in enumerate(tokens) if one[0][-1] in "<>;&|" or one[0][0] in "<>"), len(tokens))
    ours = tokens[:count]
    if not ours or not runs_hook([_unquoted(one[0]) for one in ours]):
        return None
    return HookLine(line[: ours[0].start()], line[ours[-1].end() :])


def runs_hook(words: Sequence[Any]) -> bool:
    """Return whether words run a hook of ours."""
    started = read_start(words)
    return started is not None and started.rest[:1] == ("hook",)


def _unquoted(token: str) -> str:
    if sys.platform == "win32" or re.match(r'"?[A-Za-z]:\\', token):
        return token.replace('"', "")
    try:
        return "".join(shlex.split(token))
    except ValueError:
        return token
