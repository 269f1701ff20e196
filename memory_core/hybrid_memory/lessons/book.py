"""The lessons of a project, as memories: what failed there, what worked instead, and which rules of the person a command breaks.

A lesson is an episode of a tool with the tag `LESSON`: found when asked for, shown unasked only at the action that it is about, gone
after ``episode_days``, and forgotten when its command works. What a command printed is not stored but for the line that names the error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from hybrid_memory.language.text import excerpt
from hybrid_memory.lessons.commands import Command, Words
from hybrid_memory.lessons.fixes import Fix, added_by, first_added_by, fix_by, head_of, is_within, shared_by
from hybrid_memory.lessons.ruled_out import alternatives_to, rules_out
from hybrid_memory.model import Json, Kind, Memory, MemoryId, Origin, Trust
from hybrid_memory.requests import ForgetRequest, ListRequest, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import ReadResult
    from hybrid_memory.service.memory_service import MemoryService

LESSON = "lesson"
"""The tag of a lesson."""

SHOWN = 2  # lessons and rules before one command: more is not read
REPEATED = 2  # a failure without a remedy is shown once that many conversations had it
_ABOUT_A_COMMAND = 50  # lessons of one program that are looked at
_MOST_TAGS = 10  # of a lesson: those of the subcommands that it is not about
_RULES = 12  # statements of the person that are looked at
_LONGEST_LINE = 200  # characters of a command that are shown
_WRONG_WORD = re.compile(
    r"\b(?:unrecogni[sz]ed|unknown|invalid|unexpected|unsupported|no such option|removed)\b", re.IGNORECASE
)
_VALUE = re.compile(r"[=+\d<]|^-[A-Z]\w")  # ``-I=include``, ``+nightly``, ``-j2``, ``-Iinclude``
_MISSING = re.compile(r"not found|not recognized|no such file|cannot find|not installed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """A command that failed, and the line that names the error; ``of_the_code`` if that is about the code at hand, as ``of_tests`` is."""

    command: Command
    signature: str
    of_the_code: bool = False
    of_tests: bool = False


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
        if fix is None or (fix in {Fix.WORDS, Fix.ANOTHER} and not _tells_more(failure, worked)):
            return
        text = f"{_typed(failure.command)} failed: {failure.signature}. {_typed(worked)} worked instead."
        told: dict[str, Json] = {
            "worked": _shape(worked),
            "about": " ".join(about(failure, worked, fix)),
            "options": sorted(_options(failure.command)) if fix is Fix.WORDS else [],
            "added": [masked(word) for word in first_added_by(failure.command, worked)],
        }
        self._write(failure, text, told, self._lesson_of(failure.command))

    def forget(self, worked: Command) -> None:
        """Forget the lessons that a command which works proves wrong; of those about more, note that they are not about this one."""
        wrong = [one for one in self._lessons(worked) if _shape_of(one) == _shape(worked) or _speaks_of(one, worked)]
        narrower = [one for one in wrong if one.metadata.get("head", _head(worked)) != _head(worked)]
        for one in narrower:
            if len(one.tags) < _MOST_TAGS:
                self._service.update(self._own, UpdateRequest(id=one.id, tags=(*one.tags, _works_tag(worked))))
        if ids := tuple(one.id for one in wrong if one not in narrower):
            self._service.forget(self._own, ForgetRequest(ids=ids))

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
            "head": _head(failed),
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


def about(failure: Failure, worked: Command, fix: Fix) -> Words:
    """Return with which words the commands begin that a lesson is about, besides the one that failed; none for no other.

    What was sourced or chosen, and a variable named like the program, is about the whole program; words in front of the subcommand are
    about all before them, an option behind it about the subcommand.
    Other arguments alone (``record.sh``, ``record.sh 3s``) say nothing of other commands.
    """
    failed, error = failure.command.words, failure.signature
    is_missing = failed[0] in error and _MISSING.search(error) is not None
    within = is_within(failed, worked.words)
    if is_missing or fix is Fix.FOLDER or (within and fix is Fix.PROGRAM) or _is_of_the_program(failed[0], worked, fix):
        return failed[:1]
    head, shared = head_of(failed), shared_by(failed, worked.words)
    if within and shared < len(head):
        return failed[:shared]
    return () if fix is Fix.WORDS and not _has_option(failure.command, worked) else head


def _is_of_the_program(program: str, worked: Command, fix: Fix) -> bool:
    """Return True for ``nvm use``, and for ``DOCKER_HOST`` of ``docker``."""
    names = (one.partition("=") for one in worked.given)
    return fix is Fix.GIVEN and any(not equals or name.lower().startswith(program) for name, equals, _ in names)


def _has_option(failed: Command, worked: Command) -> bool:
    """Return True if a remedy has another option, or another value behind one."""
    added = added_by(failed, worked)
    behind = {word for option, word in pairwise(worked.words) if option.startswith("-")}
    return any(word[0] in "-+" or "=" in word or word in behind for word in added)


def _tells_more(failure: Failure, worked: Command) -> bool:
    """Return True if other words tell what was wrong with a command.

    Not if it only lacks words that the error does not call wrong (``fmt --check`` and ``fmt``). Code that fails works for other tests, or
    is changed by ``--fix``: there only options with values tell more.
    """
    failed = failure.command
    if failure.of_the_code:
        added = added_by(failed, worked)
        is_value = len(added) > 1 or any(_VALUE.search(word) for word in added)
        return (
            is_value and not failure.of_tests and is_within(failed.words, worked.words) and _has_option(failed, worked)
        )
    return bool(added_by(failed, worked)) or _WRONG_WORD.search(failure.signature) is not None


def _speaks_of(lesson: Memory, command: Command) -> bool:
    """Return True if a lesson is to be told before a command."""
    told = lesson.metadata
    same = _shape_of(lesson) == _shape(command)
    if "worked" not in told:
        return same and _times(lesson) >= REPEATED
    head = str(told.get("about", "")).split()
    if not head:
        return told.get("typed") == masked(command.line)
    return same or (list(command.words[: len(head)]) == head and _is_like_it(lesson, command))


def _is_like_it(lesson: Memory, command: Command) -> bool:
    """Return True for a command in the same folder, with the same options, that is not put right already."""
    told = lesson.metadata
    added, options = (
        set(map(str, found)) if isinstance(found := told.get(key), list) else set() for key in ("added", "options")
    )
    is_there = told.get("folder") == command.folder and _works_tag(command) not in lesson.tags
    return is_there and added.isdisjoint((*command.given, *command.words)) and options <= _options(command)


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


def _options(command: Command) -> set[str]:
    return {word.partition("=")[0] for word in command.words if word.startswith("-")}


def _head(command: Command) -> str:
    return " ".join(head_of(command.words))


def _tag(command: Command) -> str:
    return f"{LESSON}-{_digest(command.words[0])}"


def _works_tag(command: Command) -> str:
    """Return the tag of lessons that are about more than a subcommand which works without them."""
    return f"{LESSON}-not-{_digest(_head(command))}"


def _digest(words: str) -> str:
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
