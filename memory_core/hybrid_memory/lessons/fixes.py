"""Whether a command that worked is what a failed one should have been. Pure.

Three kinds: another program or a prefix with the same rest (``npm test`` and ``pnpm test``, ``pytest`` and ``uv run pytest``), the same
program and arguments with other options (``git push`` and ``git push -u origin main``), or the same in another folder.
"""

from __future__ import annotations

from enum import StrEnum

from hybrid_memory.lessons.commands import Command, Words

_LONGEST_PREFIX = 6  # words: "docker compose exec -T api"


class Fix(StrEnum):
    """How a command that worked differs from the one that failed."""

    PROGRAM = "program"  # another program or prefix, all the rest the same: so it will be with other arguments
    OPTIONS = "options"
    FOLDER = "folder"


def fix_by(failed: Command, worked: Command) -> Fix | None:
    """Return how ``worked`` puts ``failed`` right; None where it is another command, or the same."""
    if failed == worked:
        return None
    if failed.words == worked.words:
        return Fix.FOLDER
    return _fix_by_words(failed.words, worked.words) if failed.folder == worked.folder else None


def _fix_by_words(failed: Words, worked: Words) -> Fix | None:
    if _is_wrapped(failed, worked) or _has_another_program(failed, worked):
        return Fix.PROGRAM
    if failed[0] == worked[0] and _arguments(failed) == _arguments(worked)[: len(_arguments(failed))]:
        same_subcommand = failed[1:2] in ((), (_first_argument(worked),)) or failed[1].startswith("-")
        return Fix.OPTIONS if same_subcommand and set(_options(failed)) != set(_options(worked)) else None
    return None


def head_of(words: Words) -> Words:
    """Return the program and its subcommand: what a lesson about the program is about, whatever the arguments."""
    if len(words) > 1 and words[1].replace("-", "").isalpha() and not words[1].startswith("-"):
        return words[:2]
    return words[:1]


def _is_wrapped(failed: Words, worked: Words) -> bool:
    before = len(worked) - len(failed)
    return 0 < before <= _LONGEST_PREFIX and worked[before:] == failed


def _has_another_program(failed: Words, worked: Words) -> bool:
    """Return True for the same words behind another program, which may be two words where the first was one (``docker-compose``)."""
    if failed[1:] == worked[1:] and failed[0] != worked[0]:
        return len(failed) > 1 or _are_of_one_name(failed[0], worked[0])
    for prefix in range(2, _LONGEST_PREFIX + 1):
        if len(failed) > 1 and worked[prefix:] == failed[1:] and len(worked) > prefix:
            return True
    return "-".join(worked[:2]) == failed[0] and worked[2:] == failed[1:]


def _are_of_one_name(one: str, other: str) -> bool:
    """Return True for ``python`` and ``python3``, ``jest`` and ``node_modules/.bin/jest``."""
    first, second = (name.rpartition("/")[2] for name in (one, other))
    return first.startswith(second) or second.startswith(first)


def _arguments(words: Words) -> Words:
    return tuple(word for word in words[1:] if not word.startswith("-"))


def _options(words: Words) -> Words:
    return tuple(word for word in words[1:] if word.startswith("-"))


def _first_argument(words: Words) -> str:
    return next(iter(_arguments(words)), "")
