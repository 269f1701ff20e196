"""The lessons of a project, as memories: what failed there, what worked instead, and which rules of the person a command breaks.

A lesson is an episode of a tool with the tag `LESSON`: found when asked for, shown unasked only at the action that it is about, gone
after ``episode_days``, and forgotten when its command works. What a command printed is not stored but for the line that names the error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING

from hybrid_memory.lessons.commands import Command
from hybrid_memory.lessons.fixes import Fix, added_by, fix_by, head_of, is_wrapped
from hybrid_memory.lessons.ruled_out import alternatives_to, rules_out
from hybrid_memory.model import Json, Kind, Memory, MemoryId, Origin, Trust
from hybrid_memory.requests import ForgetRequest, ListRequest, ReadRequest, Where, WriteRequest
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.text import excerpt
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import ReadResult
    from hybrid_memory.service import MemoryService

LESSON = "lesson"
"""The tag of a lesson."""

SHOWN = 2  # lessons and rules before one command: more is not read
REPEATED = 2  # a failure without a remedy is shown once that many conversations had it
_ABOUT_A_COMMAND = 50  # lessons of one program that are looked at
_RULES = 12  # statements of the person that are looked at
_LONGEST_LINE = 200  # characters of a command that are shown
_WRONG_WORD = re.compile(
    r"\b(?:unrecogni[sz]ed|unknown|invalid|unexpected|unsupported|no such option|removed)\b", re.IGNORECASE
)
_MISSING = re.compile(r"not found|not recognized|no such file|cannot find|not installed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """A command that failed, and the line that names the error; ``of_the_code`` if that is about the code at hand."""

    command: Command
    signature: str
    of_the_code: bool = False


class LessonBook:
    """The lessons of one project, in the namespace of ``scope``; ``source`` names the client that tells of commands."""

    def __init__(self, service: MemoryService, scope: Scope, source: str) -> None:
        self._service = service
        self._scope = scope
        self._own = replace(scope, personal=None, about_me_is_personal=False)
        self._source = source

    def note(self, failure: Failure) -> None:
        """Note that a command failed, but not for the code at hand: once a conversation, however often it fails there."""
        if failure.of_the_code:
            return
        earlier = self._lesson_of(failure.command)
        if earlier is not None and (earlier.session == self._scope.session or "worked" in earlier.metadata):
            return
        times = 1 if earlier is None else _times(earlier) + 1
        self._write(failure, f"{_typed(failure.command)} failed: {failure.signature}", {"times": times}, earlier)

    def note_fix(self, failure: Failure, worked: Command) -> None:
        """Note what worked in the place of a command that failed; it takes the place of the failure's own note.

        Code that fails also works for other words (``pytest`` and ``pytest -k one``): only the very same words otherwise called tell more.
        """
        fix = fix_by(failure.command, worked)
        if fix is None or (fix is Fix.WORDS and (failure.of_the_code or _only_asks_for_less(failure, worked))):
            return
        text = f"{_typed(failure.command)} failed: {failure.signature}. {_typed(worked)} worked instead."
        told: dict[str, Json] = {
            "worked": _shape(worked),
            "about": about(failure, worked, fix).value,
            "added": [masked(word) for word in added_by(failure.command, worked)],
        }
        self._write(failure, text, told, self._lesson_of(failure.command))

    def forget(self, worked: Command) -> None:
        """Forget the lessons that a command which works proves wrong: those that would have warned of it."""
        ids = [one.id for one in self._lessons(worked) if _shape_of(one) == _shape(worked) or _speaks_of(one, worked)]
        if ids:
            self._service.forget(self._own, ForgetRequest(ids=tuple(ids)))

    def before(self, line: str, commands: Sequence[Command]) -> tuple[ReadResult | None, frozenset[MemoryId]]:
        """Return what to say before a line is run, as a reading of at most `SHOWN` hits, and which of them are rules of the person.

        None where nothing is to be said: the usual answer.
        """
        lessons = [one.id for command in commands for one in self._lessons(command) if _speaks_of(one, command)]
        rules = self._rules(line, commands)
        ids = tuple(dict.fromkeys([*rules, *lessons]))[:SHOWN]
        if not ids:
            return None, frozenset()
        return self._service.read(self._scope, ReadRequest(ids=ids, limit=len(ids), recalls=False)), frozenset(rules)

    def _rules(self, line: str, commands: Sequence[Command]) -> list[MemoryId]:
        """Return the statements of the person that rule a command out."""
        others = sorted({other for command in commands for other in alternatives_to(command.words[0])})
        request = ReadRequest(
            query=" ".join([line, *others]), where=Where(unasked=True), limit=_RULES, weak=True, recalls=False
        )
        found = self._service.read(self._scope, request)
        return [
            hit.memory.id
            for hit in found.hits
            if _is_the_persons(hit.memory) and any(rules_out(hit.memory.content, line, one.words) for one in commands)
        ]

    def _lesson_of(self, command: Command) -> Memory | None:
        return next((one for one in self._lessons(command) if _shape_of(one) == _shape(command)), None)

    def _lessons(self, command: Command) -> list[Memory]:
        wanted = ListRequest(
            kind=Kind.EPISODE, origin=Origin.TOOL, tags=(LESSON, _tag(command)), limit=_ABOUT_A_COMMAND
        )
        found = self._service.list_memories(self._own, wanted)
        return list(found.memories)

    def _write(self, failure: Failure, text: str, told: Mapping[str, Json], earlier: Memory | None) -> None:
        failed = failure.command
        head: dict[str, Json] = {
            "failed": _shape(failed),
            "typed": masked(failed.line),
            "head": " ".join(head_of(failed.words)),
            "folder": failed.folder,
        }
        request = WriteRequest(
            content=masked(text),
            tags=(LESSON, _tag(failed)),
            metadata={**head, **told},
            source=self._source,
            origin=Origin.TOOL,
            session=self._scope.session,
            supersedes=None if earlier is None else earlier.id,
            episode=True,
        )
        self._service.write(self._own, request)


class About(StrEnum):
    """Which commands a lesson is about, besides the one that failed."""

    PROGRAM = "program"  # all of its program, in its folder
    SUBCOMMAND = "subcommand"
    NOTHING_ELSE = "nothing else"  # not even of the same shape


def about(failure: Failure, worked: Command, fix: Fix) -> About:
    """Return which commands a remedy is about. Other arguments alone (``record.sh``, ``record.sh 3s``) say nothing of other commands."""
    failed, error = failure.command, failure.signature
    is_missing = failed.words[0] in error and _MISSING.search(error) is not None
    if is_missing or fix is Fix.FOLDER or is_wrapped(failed.words, worked.words):
        return About.PROGRAM
    has_option = any(word.startswith("-") for word in added_by(failed, worked))
    return About.SUBCOMMAND if fix is not Fix.WORDS or has_option else About.NOTHING_ELSE


def _only_asks_for_less(failure: Failure, worked: Command) -> bool:
    """Return True if the command that worked only lacks words which the error does not call wrong: ``fmt --check`` and ``fmt``."""
    return not added_by(failure.command, worked) and _WRONG_WORD.search(failure.signature) is None


def _speaks_of(lesson: Memory, command: Command) -> bool:
    """Return True if a lesson is to be told before a command."""
    told = lesson.metadata
    if "worked" not in told:
        return _shape_of(lesson) == _shape(command) and _times(lesson) >= REPEATED
    scope, added = told.get("about"), told.get("added")
    if scope == About.NOTHING_ELSE:
        return told.get("typed") == masked(command.line)
    if _shape_of(lesson) == _shape(command):
        return True
    if told.get("folder") != command.folder:
        return False
    if isinstance(added, list) and any(word in added for word in (*command.given, *command.words)):
        return False  # it is put right already
    return scope == About.PROGRAM or told.get("head") == " ".join(head_of(command.words))


def _is_the_persons(memory: Memory) -> bool:
    own = memory.origin is Origin.USER and memory.trust is not Trust.UNTRUSTED
    return own and not (memory.source or "").endswith(BESIDE_OTHERS)


def _shape(command: Command) -> str:
    """Return the shape of a command as it is stored."""
    return masked(command.shape())


def _shape_of(lesson: Memory) -> str:
    return str(lesson.metadata.get("failed", ""))


def _typed(command: Command) -> str:
    return f"`{excerpt(command.line or command.shape(), _LONGEST_LINE)}`"


def _times(lesson: Memory) -> int:
    times = lesson.metadata.get("times")
    return times if isinstance(times, int) else 1


def _tag(command: Command) -> str:
    return f"{LESSON}-{blake2b(command.words[0].encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
