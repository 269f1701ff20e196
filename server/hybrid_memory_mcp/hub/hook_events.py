"""What the hub does at an event of a client's conversation: gives a brief or what a prompt is about, and keeps what a person said.

Asked by ``hooks/asking.py`` in one frame. No answer waits for a model, and nothing reaches a client but by that answer.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, Field, ValidationError

from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.others_words import announces_others_words
from hybrid_memory.capture.statements import statements
from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.model import Kind, MemoryId, Scope, Tier
from hybrid_memory.requests import Hit, ListRequest, ReadRequest, ReadResult
from hybrid_memory.retrieval.brief import Section
from hybrid_memory.retrieval.prompt_gist import gist_of
from hybrid_memory.service.corrections import keep
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.settings import hook_switches, store_settings
from hybrid_memory.store.readings import Way
from hybrid_memory.store.reviewing import HOOK_SOURCE
from hybrid_memory.store.writing import RequestKey
from hybrid_memory_mcp.former_projects import former_of, keep_project, read_former
from hybrid_memory_mcp.hooks.definitions import ACTOR_OF_HOOKS, RECALL_TOKENS
from hybrid_memory_mcp.mcp_api.opening_brief import fenced, opening_request, opening_text
from hybrid_memory_mcp.mcp_api.tool_results import quiet_text
from hybrid_memory_mcp.projects import PROJECT_FOLDER, Place, place_of
from hybrid_memory_mcp.runtime.client_options import Options, read_options
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.judges import judges

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.hub.handshake import Hello
    from hybrid_memory_mcp.runtime.provider import ServiceProvider

OPERATION = "hook_event"
# Two hooks of one moment tell the same: who comes second finds it kept, and does not count it.
_KEEPING = threading.Lock()
# Conversations whose next message may be somebody else's, the newest last.
_ANNOUNCING: dict[tuple[Path, str, str], None] = {}
_MOST_ANNOUNCING = 200
_WORD = re.compile(r"\w+")
_STILL_HOLDS = frozenset({"resume", "fork"})  # conversations that are taken up with all that they were given
_LOSES_ITS_BRIEF = frozenset({"gemini"})  # takes a conversation up without its first turn, in which the brief stands
_COMPACTED = "compact"  # the reason of a start after which the client has thrown away what was said
_OF_THIS_CONVERSATION = 12  # lines that come back then
_LONGEST_SESSION = 200
_ECHOES = 100  # memories whose words are looked for among a person's


class TurnTold(BaseModel):
    """A turn of a person, as a hook tells it; ``answers`` is the end of what the assistant had said."""

    text: str = Field(max_length=100_000)
    at: str = ""
    answers: str = Field(default="", max_length=2_000)
    folder: str = ""
    root: str | None = None
    project: dict[str, Any] | None = None


class BatchTold(BaseModel):
    """What a person said in one conversation. A turn that tells no ``folder``, ``root`` or ``project`` of its own has the batch's."""

    client: str = Field(max_length=50)
    session: str = Field(max_length=200)
    folder: str = ""
    root: str = ""
    project: dict[str, Any] = {}
    turns: list[TurnTold] = Field(max_length=2_000)


class EventTold(BaseModel):
    """An event, as a hook tells it.

    ``root`` is the project's folder where the client names one; ``project`` is the one that was at hand at an earlier event; ``shown``
    are memories that stand in the conversation already, which may have been ``shortened``.
    """

    event: str
    client: str = Field(max_length=50)
    session: str = Field(max_length=200)
    folder: str = ""
    root: str = ""
    project: dict[str, Any] = {}
    source: str = ""
    prompt: str = ""
    shortened: bool = False
    shown: list[str] = Field(default=[], max_length=1_000)
    batches: list[BatchTold] = Field(default=[], max_length=200)


class Told(Protocol):
    """What tells in which conversation something happened."""

    client: str
    session: str
    folder: str
    root: str
    project: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What an event puts into a conversation."""

    context: str = ""
    ids: tuple[MemoryId, ...] = ()


@dataclass(frozen=True, slots=True)
class At:
    """Where a conversation takes place, and on whose behalf."""

    options: Options
    place: Place
    scope: Scope

    def keeps_as(self, other: At) -> bool:
        """Return True if what is said in both places is kept in the same way."""
        here, there = self.place, other.place
        return (here.namespaces, here.about_me, here.refuses_writes) == (
            there.namespaces,
            there.about_me,
            there.refuses_writes,
        )


def hook_event(provider: ServiceProvider, home: Path, hello: Hello) -> dict[str, Any]:
    """Serve one event and return what the hook prints and remembers.

    ``context`` and ``shown`` (ids), ``loaded`` and ``kept`` (counts), ``done`` (for each batch, whether it need not be told again),
    ``project`` (the one at hand, to be told at later events) and ``notice`` (what the person should know about it).

    Raises:
        InvalidInput: it is no event, or an option or a switch cannot be used.
        HybridMemoryError: the store cannot be opened.
    """
    try:
        told = EventTold.model_validate(hello.given)
    except ValidationError:
        raise InvalidInput("event", "is of another version") from None
    work = _EventAtWork(provider, home, told, hello)
    # A new conversation shall know what was said before it; a prompt is not about itself.
    shown = work.shown(work.recall) if told.event == "prompt" else _Shown()
    kept = [work.keep(batch) for batch in told.batches]
    if told.event == "session-start":
        shown = work.shown(work.brief)
    return {
        "context": shown.context,
        "shown": list(shown.ids),
        "loaded": len(shown.ids),
        "kept": sum(one or 0 for one in kept),
        "done": [one is not None for one in kept],
        **work.project(),
    }


def judge_ended(provider: ServiceProvider, home: Path, hello: Hello) -> None:
    """Let the judges of extras look at a conversation that has ended, where it may be kept and read."""
    found = judges()
    if not found or not hook_switches(home).capture:
        return
    at = place_at(hello, EventTold.model_validate(hello.given))
    if at.place.refuses_reads or at.place.refuses_writes:
        return
    for one in found.values():
        one.judge(provider, home, at.scope)


class _EventAtWork:
    """One event at work; the switches of the store in ``home`` say what it may do."""

    def __init__(self, provider: ServiceProvider, home: Path, told: EventTold, hello: Hello) -> None:
        self._provider = provider
        self._home = home
        self._switches = hook_switches(home)
        self._told = told
        self._hello = hello

    def shown(self, what: Callable[[], _Shown]) -> _Shown:
        """Return what `brief` or `recall` gives, nothing where that fails: what was kept is told all the same."""
        with log_and_continue("showing memories to a conversation"):
            return what()
        return _Shown()

    def project(self) -> dict[str, Any]:
        """Return the project at hand as later events are to tell it, and what the person should know about it."""
        told = self._told
        with log_and_continue("looking for the project of a conversation"):
            place = self._at(told).place
            former = read_former(told.project) if place.is_kept else former_of(place, (told.root, told.folder))
            notice = "; ".join(place.notices) if place.is_kept else ""
            return {"project": {} if former is None else former.told(), "notice": notice}
        return {}

    def brief(self) -> _Shown:
        """Return the brief of person and project: nothing where little is known, or it may not be read here.

        A conversation that is taken up again still holds what it was given and what was said in it: only what is new since then is told.
        """
        told, at = self._told, self._at(self._told)
        if not self._switches.brief or at.place.refuses_reads:
            return _Shown()
        taken_up = told.source in _STILL_HOLDS and told.client not in _LOSES_ITS_BRIEF
        known = set(told.shown) if taken_up else set()
        said_here = at.scope.session if taken_up and not told.shortened else None

        def work(service: MemoryService) -> _Shown:
            if not taken_up:
                service.forget_shown(at.scope)
            request = opening_request(at.options.zone)
            found = service.read(at.scope, request)
            new = (hit for hit in found.hits if hit.memory.id not in known)
            hits = tuple(hit for hit in new if said_here is None or hit.memory.session != said_here)
            if told.source == _COMPACTED:
                hits = _with_this_conversation(service, at.scope, hits)
            text, ids = opening_text(found, hits, at.scope, at.options.zone)
            if not ids:
                return _Shown()
            service.note_shown(at.scope, ids)
            shown = _Shown(text, ids)
            _note(service, at, request, found, shown)
            return shown

        return self._provider.run(work)

    def recall(self) -> _Shown:
        """Return the few memories that a prompt is clearly about and that the conversation does not hold."""
        told, at = self._told, self._at(self._told)
        if not self._switches.recall or not told.prompt or at.place.refuses_reads:
            return _Shown()

        def work(service: MemoryService) -> _Shown:
            service.note_shown(at.scope, map(MemoryId, told.shown))
            request = ReadRequest(query=told.prompt, quiet=True, zone=at.options.zone)
            found = service.read(at.scope, request)
            # What was said in this conversation is in it, unless it was made shorter.
            hits = tuple(hit for hit in found.hits if told.shortened or hit.memory.session != at.scope.session)
            page, ids = quiet_text(replace(found, hits=hits), RECALL_TOKENS, at.scope, at.options.zone)
            service.note_shown(at.scope, ids)
            if not ids:
                return _Shown()
            shown = _Shown(fenced("", page), ids)
            _note(service, at, replace(request, query=gist_of(told.prompt)), found, shown)
            return shown

        return self._provider.run(work)

    def keep(self, batch: BatchTold) -> int | None:
        """Keep what a person said in a conversation, and return how many statements were new; None where the store could not.

        What is not to be kept, because somebody has switched that off, counts as done: it is not kept later either.
        """
        if not self._switches.capture:
            return 0
        with log_and_continue("keeping what was said"):
            return self._keep(batch)
        return None

    def _keep(self, batch: BatchTold) -> int:
        kept = 0
        for at, turns in self._by_place(batch):
            if not at.place.refuses_writes:
                kept += self._provider.run(partial(self._keep_alone, batch, at, turns))
        return kept

    def _by_place(self, batch: BatchTold) -> list[tuple[At, list[TurnTold]]]:
        """Return what was said in one place after the other: each turn belongs to where it was said."""
        places: dict[tuple[str, str, str], At] = {}
        found: list[tuple[At, list[TurnTold]]] = []
        for turn in batch.turns:
            said = _where_said(batch, turn)
            if said not in places:
                folder, root, project = said
                told = {"folder": folder, "root": root, "project": json.loads(project)}
                places[said] = self._at(batch.model_copy(update=told))
            at = places[said]
            if found and found[-1][0].keeps_as(at):
                found[-1][1].append(turn)
            else:
                found.append((at, [turn]))
        return found

    def _keep_alone(self, batch: BatchTold, at: At, turns: list[TurnTold], service: MemoryService) -> int:
        with _KEEPING:
            return self._keep_turns(batch, at, turns, service)

    def _keep_turns(self, batch: BatchTold, at: At, turns: list[TurnTold], service: MemoryService) -> int:
        now = service.now()
        echoes = self._echoes(service, at.scope)
        kept = 0
        said = [Turn(turn.text, _moment(turn.at, now), answers=turn.answers) for turn in turns]
        announced = self._was_announced(batch, turns)
        keeps_episodes = self._keeps_episodes(service)
        for one in statements(said, fragments=True, announced=announced, gate=service.gate(), episodes=keeps_episodes):
            # What may be somebody else's words is not known elsewhere as the person's.
            scope = replace(at.scope, about_me_is_personal=False) if one.beside_others else at.scope
            key = _request_key(batch, one.text)
            # What is about the person, or corrects something of theirs, went to them.
            known = any(service.store.result(name, key) is not None for name in scope.namespaces)
            if known or _spoken(one.text) in echoes:
                continue
            with suppress(InvalidInput):  # nothing that another try would mend
                written = keep(service, scope, one, f"{HOOK_SOURCE}{batch.client}", key=key)
                is_kept = not one.episode or (written is not None and written.tier is Tier.LONG_TERM)
                kept += written is not None and written.duplicate_of is None and is_kept
        return kept

    def _keeps_episodes(self, service: MemoryService) -> bool:
        """Return whether what is said in passing is kept; ``config.toml`` is read again, so that switching it off holds at once."""
        days = service.settings.episode_days
        with suppress(InvalidInput):  # of another setting, and the next start says so
            days = min(days, store_settings(self._home).episode_days)
        return days > 0

    def _was_announced(self, batch: BatchTold, turns: list[TurnTold]) -> bool:
        """Return whether the message before these turns announced somebody else's words; notes what the last of them announces."""
        conversation = (self._home, batch.client, batch.session)
        announced = conversation in _ANNOUNCING
        _ANNOUNCING.pop(conversation, None)
        if announces_others_words(turns[-1].text):
            _ANNOUNCING[conversation] = None
            if len(_ANNOUNCING) > _MOST_ANNOUNCING:
                del _ANNOUNCING[next(iter(_ANNOUNCING))]
        return announced

    def _echoes(self, service: MemoryService, scope: Scope) -> frozenset[tuple[str, ...]]:
        """Return the words of memories that stand in the conversation: who repeats them to the assistant says nothing new."""
        ids = tuple(MemoryId(one) for one in self._told.shown[-_ECHOES:])
        if not ids:
            return frozenset()
        found = service.read(scope, ReadRequest(ids=ids, limit=len(ids)))
        return frozenset(_spoken(hit.memory.content) for hit in found.hits)

    def _at(self, told: EventTold | BatchTold) -> At:
        return place_at(self._hello, told)


def _with_this_conversation(service: MemoryService, scope: Scope, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Return the hits of a brief behind what this very conversation decided and tried, the latest of it, in the order of time.

    What was promoted of it comes before what was said in passing and what failed, as far as there is room.
    """
    newest = ListRequest(session=scope.session, limit=_OF_THIS_CONVERSATION)
    kept = service.list_memories(scope, newest).memories
    passing = service.list_memories(scope, replace(newest, kind=Kind.EPISODE)).memories
    chosen = {one.id: one for one in (*kept, *passing)}
    here = sorted(list(chosen.values())[:_OF_THIS_CONVERSATION], key=lambda one: one.created_at)
    first = (replace(hit, section=Section.CONVERSATION) for hit in service.as_hits(scope, here))
    return (*first, *(hit for hit in hits if hit.memory.id not in chosen))


def place_at(hello: Hello, told: Told) -> At:
    """Return where a conversation takes place."""
    folder = told.folder or hello.folder
    options = read_options(hello.arguments, hello.environment, Path(folder))
    found = place_of(folder, options, roots=[(told.root, PROJECT_FOLDER)] if told.root else [])
    place = _with_former(found, told)
    scope = place.scoped(options.scope(f"{told.client}:{told.session}"[:_LONGEST_SESSION]))
    return At(options, place, replace(scope, actor=f"{ACTOR_OF_HOOKS}{told.client}"))


def _with_former(found: Place, told: Told) -> Place:
    """Return the place, that of the project which was at hand there before where its marker is gone."""
    former = read_former(told.project)
    here: tuple[str, ...] = (told.root, told.folder)
    if former is not None and former.folder is not None:
        below = former.folder + os.sep
        if any(one == former.folder or one.startswith(below) for one in here):
            here = former.roots
    return keep_project(found, former, here)


def _where_said(batch: BatchTold, turn: TurnTold) -> tuple[str, str, str]:
    project = batch.project if turn.project is None else turn.project
    return (
        turn.folder or batch.folder,
        batch.root if turn.root is None else turn.root,
        json.dumps(project, sort_keys=True),
    )


def _note(service: MemoryService, at: At, request: ReadRequest, found: ReadResult, shown: _Shown) -> None:
    """Note in the journal of readings what was shown to a conversation."""
    told = Shown(ids=shown.ids, tokens=estimate_tokens(shown.context))
    scope = replace(at.scope, actor=at.scope.actor.removeprefix(ACTOR_OF_HOOKS))
    service.journal.note(scope, Way.HOOK, request, found, told, service.now())


def _request_key(batch: BatchTold, text: str) -> RequestKey:
    """Return the name of a statement within its conversation: said again there, or read again, it is known."""
    conversation = f"{batch.client}\0{batch.session}".encode("utf-8", "surrogatepass")
    said = "\0".join(_spoken(text)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(said, digest_size=7).digest(), "big")
    return RequestKey(blake2b(conversation, digest_size=16).hexdigest(), number)


def _spoken(text: str) -> tuple[str, ...]:
    """Return all words of a text: those that are not searched for tell a "not" apart."""
    return tuple(_WORD.findall(text.casefold()))


def _moment(written: str, now: datetime) -> datetime:
    """Return when a turn was said: as the client tells it, never later than now."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return now
    return min(moment if moment.tzinfo else moment.replace(tzinfo=UTC), now)
