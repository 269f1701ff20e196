"""The lessons of a project, as memories: what failed there, what worked instead, and which rules of the person a command breaks.

A lesson is an episode of a tool with the tag `LESSON`: found when asked for, told by itself only at the action that it is about, gone
after ``episode_days``, and forgotten when its command works. What a command printed is not stored but for the line that names the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from hybrid_memory.lessons.commands import Command
from hybrid_memory.lessons.fixes import Fix, fix_by, head_of
from hybrid_memory.lessons.ruled_out import alternatives_to, rules_out
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Trust
from hybrid_memory.requests import ForgetRequest, ListRequest, ReadRequest, Where, WriteRequest
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import ReadResult
    from hybrid_memory.service import MemoryService

LESSON = "lesson"
"""The tag of a lesson."""

SHOWN = 2  # lessons and rules before one command: more is not read
REPEATED = 2  # conversations in which a command failed without a remedy, from which on that is told
_ABOUT_A_COMMAND = 20  # lessons of one program and subcommand that are looked at
_RULES = 12  # statements of the person that are looked at


@dataclass(frozen=True, slots=True)
class Failure:
    """A command that failed, and the line that names the error."""

    command: Command
    signature: str


class LessonBook:
    """The lessons of one project, in the namespace of ``scope``; ``source`` names the client that tells of commands."""

    def __init__(self, service: MemoryService, scope: Scope, source: str) -> None:
        self._service = service
        self._scope = scope
        self._own = replace(scope, personal=None, about_me_is_personal=False)
        self._source = source

    def note(self, failure: Failure) -> None:
        """Note that a command failed: once a conversation, however often it fails there."""
        earlier = self._lesson_of(failure.command)
        if earlier is not None and (earlier.session == self._scope.session or "worked" in earlier.metadata):
            return
        times = 1 if earlier is None else _times(earlier) + 1
        text = f"`{failure.command.line()}` failed: {failure.signature}"
        self._write(failure.command, text, {"times": times}, earlier)

    def note_fix(self, failure: Failure, worked: Command) -> None:
        """Note what worked in the place of a command that failed; it takes the place of the failure's own note."""
        fix = fix_by(failure.command, worked)
        if fix is None:
            return
        failed = failure.command
        arguments = failed.words[len(head_of(failed.words)) :]
        if fix is Fix.PROGRAM and any(len(word) > 1 and word in failure.signature.split() for word in arguments):
            fix = Fix.OPTIONS  # the error is about these arguments: with others it may well work
        text = f"`{failed.line()}` failed: {failure.signature}. `{worked.line()}` worked instead."
        self._write(failed, text, {"worked": _line(worked), "fix": fix.value}, self._lesson_of(failed))

    def forget(self, worked: Command) -> None:
        """Forget what was noted of a command that works: the same one, or of a program that was to be another one."""
        ids = [one.id for one in self._lessons(worked) if _is_of(one, worked)]
        if ids:
            self._service.forget(self._scope, ForgetRequest(ids=tuple(ids)))

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
        line = _line(command)
        return next((one for one in self._lessons(command) if one.metadata.get("failed") == line), None)

    def _lessons(self, command: Command) -> list[Memory]:
        wanted = ListRequest(
            kind=Kind.EPISODE, origin=Origin.TOOL, tags=(LESSON, _tag(command)), limit=_ABOUT_A_COMMAND
        )
        found = self._service.list_memories(self._own, wanted)
        return list(found.memories)

    def _write(self, failed: Command, text: str, told: dict[str, str | int], earlier: Memory | None) -> None:
        request = WriteRequest(
            content=masked(text),
            tags=(LESSON, _tag(failed)),
            metadata={"failed": _line(failed), "folder": failed.folder, **told},
            source=self._source,
            origin=Origin.TOOL,
            session=self._scope.session,
            supersedes=None if earlier is None else earlier.id,
            episode=True,
        )
        self._service.write(self._own, request)


def _speaks_of(lesson: Memory, command: Command) -> bool:
    """Return True if a lesson is to be told before a command."""
    told = lesson.metadata
    if told.get("worked") == _line(command):
        return False
    is_same = told.get("failed") == _line(command)
    if "worked" not in told:
        return is_same and _times(lesson) >= REPEATED
    return is_same or (told.get("fix") == Fix.PROGRAM and told.get("folder") == command.folder)


def _is_of(lesson: Memory, worked: Command) -> bool:
    """Return True if a lesson is refuted by a command that worked."""
    told = lesson.metadata
    is_same = told.get("failed") == _line(worked)
    return is_same or (told.get("fix") == Fix.PROGRAM and told.get("folder") == worked.folder)


def _is_the_persons(memory: Memory) -> bool:
    own = memory.origin is Origin.USER and memory.trust is not Trust.UNTRUSTED
    return own and not (memory.source or "").endswith(BESIDE_OTHERS)


def _line(command: Command) -> str:
    """Return a command as it is stored."""
    return masked(command.line())


def _times(lesson: Memory) -> int:
    times = lesson.metadata.get("times")
    return times if isinstance(times, int) else 1


def _tag(command: Command) -> str:
    return f"{LESSON}-{_digest(' '.join(head_of(command.words)))}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
