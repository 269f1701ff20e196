"""A shell command as words, without what changes from call to call: paths, numbers, hashes, addresses and quoted text. Pure.

A script (a loop, a substitution, several lines) has no words here: what of it failed cannot be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from posixpath import join, normpath

Words = tuple[str, ...]
"""The words of one command, the program first."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is called, in which ``folder`` relative to the project's, and what was ``given`` before it in its line.

    Given are variables (``CI=1 npm test``), and what was sourced, exported or chosen (``nvm use``). ``line`` is the whole line as it was
    typed, which says nothing of whether two commands are the same.
    """

    words: Words
    folder: str = ""
    given: tuple[str, ...] = ()
    line: str = field(default="", compare=False)

    def shape(self) -> str:
        """Return what is the same in each such call, as one text."""
        place = (f"cd {self.folder}",) if self.folder else ()
        return " && ".join((*place, *self.given, " ".join(self.words)))


LONGEST_COMMAND = 2_000  # characters; a longer one is a script
_MOST_WORDS = 40

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<operator>\|\||&&|\|&?|;|&(?!>))
      | (?P<redirection>(?:\d*|&)>>?(?:&\d|\s*[^\s|&;<>()]+)|\d*<\s*(?![<(])[^\s|&;<>()]+)
      | (?P<word>(?:"(?:\\.|\$\w+|\$\{\w+\}|[^"\\$`])*"|'[^']*'|\\.|\$\w+|\$\{\w+\}|[^\s|&;<>()`$'"\\])+)
    )""",
    re.VERBOSE,
)
_SHELLS = frozenset({"bash", "sh", "zsh"})
_SHELL_FLAG = re.compile(r"-\w*c")
_ASSIGNMENT = re.compile(r"\w+=")
_KEYWORDS = frozenset(
    {"for", "while", "until", "if", "case", "function", "select", "{", "!", "[[", "then", "do", "done", "fi"}
)
# What these do holds for the commands behind them; the others only prepare a command, or show what another one prints.
_GIVING = frozenset({"source", ".", "export", "direnv", "workon", "module"})
_CHOOSING = frozenset({"activate", "use", "shell", "local"})  # of nvm, conda, pyenv, asdf
_PREPARING = frozenset(
    {
        "cd",
        "pushd",
        "popd",
        "export",
        "source",
        ".",
        "echo",
        "printf",
        "set",
        "unset",
        "true",
        "pwd",
        "sleep",
        "exit",
        "mkdir",
        "touch",
    }
)
# These look around, and fail in the ordinary course of that.
_LOOKING = frozenset(
    {
        "ls",
        "stat",
        "file",
        "find",
        "fd",
        "test",
        "[",
        "which",
        "type",
        "command",
        "diff",
        "cmp",
        "rm",
        "cp",
        "mv",
        "kill",
        "pkill",
        "pgrep",
        "ps",
        "lsof",
        "du",
        "df",
        "chmod",
        "vim",
        "nano",
        "code",
        "open",
        "xdg-open",
    }
)
_FILTERS = frozenset(
    {"head", "tail", "grep", "egrep", "rg", "cat", "tee", "wc", "sort", "uniq", "less", "jq", "awk", "sed", "cut", "tr"}
)

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
_NUMBER = re.compile(r"(?<![A-Za-z_])\d[\d.,]*(?![A-Za-z_])")
_SPACE = re.compile(r"\s")
_USUAL_PLACES = ("/bin/", "/usr/bin/", "/usr/local/bin/")  # of a program; one from another place is another version


def commands_in(text: str, folder: str = "") -> list[Command]:
    """Return the commands of a shell line that do something; empty for a script, for what cannot be read, and for a look at files.

    ``folder`` is where the line is run, relative to the project's folder.
    """
    line = text.strip().replace("\\\n", " ")
    if len(line) > LONGEST_COMMAND or "\n" in line:
        return []
    found: list[Command] = []
    given: list[str] = []
    for typed, after in _split(line):
        inner = _of_shell(typed)
        if inner is not None:
            return commands_in(inner, folder)
        variables = tuple(plain_value(one) for one in takewhile(_ASSIGNMENT.match, typed))
        words = list(dropwhile(_ASSIGNMENT.match, typed))
        match words:
            case ["cd", to]:
                folder = _moved(folder, to.strip("\"'"))
                continue
        if not words or (after == "|" and words[0] in _FILTERS):
            given += variables if not words else ()
            continue
        if words[0] in _KEYWORDS or len(words) > _MOST_WORDS:
            return []
        shaped = (_program(words[0]), *map(plain, words[1:]))
        if words[0] in _GIVING or _CHOOSING.intersection(words[1:3]):
            given.append(" ".join(shaped))
        elif words[0] not in _PREPARING and words[0] not in _LOOKING and words[0] not in _FILTERS:
            found.append(Command(shaped, folder, (*given, *variables), line))
    return found


def plain_value(assignment: str) -> str:
    """Return ``NAME=value`` with what changes from call to call taken out of the value."""
    name, _, value = assignment.partition("=")
    return f"{name}={plain(value) if value else ''}"


def _moved(folder: str, to: str) -> str:
    """Return the folder after ``cd``; an absolute one counts as the project's, since nobody knows how it lies to that."""
    there = normpath(join(folder, to)) if to and not to.startswith(("/", "~", "$", "-")) else ""
    return "" if there == "." else there


def plain(word: str) -> str:
    """Return a word with what changes from call to call taken out."""
    if word[:1] in "\"'" and word[-1:] == word[:1]:
        inner = word[1:-1]
        if _SPACE.search(inner) or not inner:
            return '"..."'
        word = inner
    word = _ADDRESS.sub("<url>", word)
    option, equals, value = word.partition("=") if word.startswith("-") or _ASSIGNMENT.match(word) else ("", "", word)
    if _is_path(value):
        value = "<path>"
    elif "<url>" not in value:
        value = _NUMBER.sub("<n>", _HASH.sub("<hash>", value))
    return f"{option}{equals}{value}"


def _is_path(value: str) -> bool:
    """Return True for a path; not for a package of a scope (``@types/node``) or a branch of a remote (``origin/main``)."""
    return value.startswith(("/", "./", "../", "~/")) or value.count("/") > 1


def _program(word: str) -> str:
    word = word.strip("\"'")
    return word.rpartition("/")[2] if word.startswith(_USUAL_PLACES) else word


def _split(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each command and the operator in front of it; nothing for what cannot be read."""
    parts: list[tuple[list[str], str]] = [([], "")]
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.end() == at:
            return
        at = found.end()
        if found["operator"]:
            parts.append(([], "|" if found["operator"] == "|&" else found["operator"]))
        elif found["word"]:
            parts[-1][0].append(found["word"])
    yield from parts


def _of_shell(words: Sequence[str]) -> str | None:
    """Return the line that ``bash -lc LINE`` runs; None for another command."""
    match words:
        case [program, flag, line] if _program(program) in _SHELLS and _SHELL_FLAG.fullmatch(flag):
            return line[1:-1] if line[:1] in "\"'" and line[-1:] == line[:1] else line
    return None
