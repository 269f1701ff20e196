"""Whether a command that worked is what a failed one should have been, and which other commands that is about. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum
from itertools import takewhile

from hybrid_memory.lessons.commands import Command, Words
from hybrid_memory.lessons.ruled_out import alternatives_to

_MOST_ADDED = 6  # words: "docker compose exec -T api"
_PIECE = re.compile(r"[A-Za-z]{2,}")
_PLAIN = re.compile(r"[A-Za-z][\w-]*")
_GROUPS = frozenset(
    {
        "compose",
        "run",
        "exec",
        "env",
        "pip",
        "tool",
        "image",
        "container",
        "volume",
        "network",
        "remote",
        "submodule",
        "lfs",
        "workspace",
    }
)
_ASKING = frozenset(
    {"--version", "-V", "--help", "-h", "help", "version", "--list"}
)  # follow a failure, and mend nothing
_LEAST_SHARED = 0.5  # of the words behind the subcommand, those that both commands have


class Fix(StrEnum):
    """How a command that worked differs from the one that failed."""

    PROGRAM = "program"  # another program or prefix: ``npm test`` and ``pnpm test``, ``pytest`` and ``uv run pytest``
    WORDS = "words"  # the same program and subcommand: ``git push`` and ``git push -u origin main``
    ANOTHER = "another"  # the next command, with its subcommand: ``prisma migrate`` and ``npm run db:migrate``
    FOLDER = "folder"
    GIVEN = "given"  # variables, or what was sourced or had to be run before: ``CI=1 npm test``


def fix_by(failed: Command, worked: Command) -> Fix | None:
    """Return how ``worked`` puts ``failed`` right; None where it is another command, or the same."""
    if failed.words == worked.words:
        if failed.folder != worked.folder:
            return Fix.FOLDER
        return Fix.GIVEN if set(worked.given) - set(failed.given) else None
    within = is_within(failed.words, worked.words)
    if not _ASKING.isdisjoint(added_by(failed, worked)) or (failed.folder != worked.folder and not within):
        return None
    if failed.words[0] == worked.words[0]:
        return Fix.WORDS if within or _is_alike(failed.words, worked.words) else None
    if within or _is_by_another_program(failed.words, worked.words):
        return Fix.PROGRAM
    subcommand = set(head_of(failed.words)[1:]) - _GROUPS
    return None if subcommand.isdisjoint(_PIECE.findall(" ".join(worked.words[1:]))) else Fix.ANOTHER


def is_within(failed: Words, worked: Words) -> bool:
    """Return True if a command is the failed one with more words in it or before it: ``git -c NAME=VALUE push``, ``uv run pytest``.

    ``git stash push`` is not ``git push``: plain words in front of a subcommand that has no arguments make another one of it.
    """
    failed = (failed[0].removeprefix("./"), *failed[1:])
    rest = iter(worked)
    if not 0 < len(worked) - len(failed) <= _MOST_ADDED or not all(word in rest for word in failed):
        return False
    place = shared_by(failed, worked)
    is_option = not _PLAIN.match(worked[place])
    return place in {0, len(failed)} or is_option or len(failed) > len(head_of(failed)) or place >= len(head_of(failed))


def shared_by(failed: Words, worked: Words) -> int:
    """Return how many words both commands begin with."""
    return next((at for at, (one, other) in enumerate(zip(failed, worked, strict=False)) if one != other), len(failed))


def added_by(failed: Command, worked: Command) -> tuple[str, ...]:
    """Return the words of a remedy that the failed command lacks."""
    before = {*failed.words, *failed.given}
    return tuple(dict.fromkeys(word for word in (*worked.given, *worked.words) if word not in before))


def first_added_by(failed: Command, worked: Command) -> tuple[str, ...]:
    """Return the first of them that come together: a command that has one of these is put right already."""
    place = shared_by(failed.words, worked.words)
    following = failed.words[place : place + 1]
    block = tuple(takewhile(lambda word: (word,) != following, worked.words[place:]))
    return added_by(failed, replace(worked, words=block))


def head_of(words: Words) -> Words:
    """Return the program and its subcommand, both words of one in a group: ``git push``, ``docker compose up``, ``npm run build``."""
    length = 1
    while length < len(words) and _PLAIN.fullmatch(words[length]) and (length == 1 or words[length - 1] in _GROUPS):
        length += 1
    return words[:length]


def _is_by_another_program(failed: Words, worked: Words) -> bool:
    if worked[0] in alternatives_to(failed[0]):
        return set(_arguments(failed)[1:]) <= set(_arguments(worked))
    rest = failed[1:]
    if not rest:
        return _are_of_one_name(failed[0], worked[0]) and not worked[1:]
    return any(worked[at:] == rest for at in range(1, _MOST_ADDED + 1)) or is_within(rest, worked[1:])


def _is_alike(failed: Words, worked: Words) -> bool:
    """Return True if two commands have the subcommand and half of the other words, or one has all words of the other."""
    head = head_of(failed)
    if head_of(worked)[: len(head)] != head:
        return False
    first, second = set(failed[len(head) :]), set(worked[len(head) :])
    shared = len(first & second)
    if len(failed) == len(worked) and sum(one != other for one, other in zip(failed, worked, strict=True)) == 1:
        return True
    return first <= second or second <= first or 2 * shared >= _LEAST_SHARED * (len(first) + len(second))


def _are_of_one_name(one: str, other: str) -> bool:
    """Return True for ``python`` and ``python3``, ``make`` and ``gmake``, ``jest`` and ``node_modules/.bin/jest``."""
    first, second = sorted((name.rpartition("/")[2] for name in (one, other)), key=len)
    return second.startswith(first) or second.endswith(first)


def _arguments(words: Words) -> Words:
    return tuple(word for word in words[1:] if not word.startswith("-"))
