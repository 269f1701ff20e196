"""What the hooks of one conversation must know of each other: a small file for each in the folder ``hooks`` of the store.

It says how far the client's transcript was read, which memories were shown, and what a person said while no hub could be asked. Losing it
costs little: what is sent again is known to the hub, and something may be shown twice.
"""

from __future__ import annotations

import json
import os
import time

from hybrid_memory_mcp.hooks.events import UNNAMED
from hybrid_memory_mcp.hooks.transcripts import first_folder
from hybrid_memory_mcp.relay import processes
from hybrid_memory_mcp.relay.connecting import StoreLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hybrid_memory_mcp.hooks.events import Event

FOLDER = "hooks"
RUNS = "runs.json"
MOST_SHOWN = 300  # ids; a conversation that was shown more may be shown the first again
MOST_WAITING = 50  # turns that wait for a hub
MOST_CONVERSATIONS = 200
KEPT_SECONDS = 30 * 86_400.0

SAME_START_SECONDS = 10.0

_BEGINNINGS = frozenset({"startup", "clear"})  # of the reasons why a session starts; the others take a conversation up
_LOCK = "hooks.lock"
_LOCK_SECONDS = 0.2  # it is held for a millisecond; without it something may be shown twice
_POLL_SECONDS = 0.005
_LARGEST_BYTES = 2_000_000  # fifty turns of the longest kind
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_LONGEST_PLAIN = 80


class Conversation:
    """What is known of one conversation of a client.

    ``begun`` is why, when (seconds since 1970) and by whose hook it was last started. ``folder`` and ``root`` are where it began, wherever
    the client goes; ``project`` is what the hub told of the project there (``former_projects.py``), ``noticed`` the last word about it
    that the person was told.
    ``mark`` is how far its transcript was read. ``shown`` are the ids of memories that stand in its context, which the client has
    ``shortened`` or not. ``waiting`` are the turns that no hub has had yet, each with where it was said.
    ``is_new`` says that nothing was known of it.
    """

    __slots__ = (
        "begun",
        "client",
        "folder",
        "is_new",
        "mark",
        "name",
        "noticed",
        "project",
        "root",
        "session",
        "shortened",
        "shown",
        "transcript",
        "waiting",
    )

    def __init__(self, client: str, session: str, known: dict[str, Any] | None = None) -> None:
        found = known or {}
        self.client = client
        self.session = session
        self.name = _file_name(client, session)
        self.is_new = known is None
        self.folder = _text(found.get("folder"))
        self.root = _text(found.get("root"))
        project = found.get("project")
        self.project: dict[str, Any] = project if isinstance(project, dict) else {}
        self.noticed = _text(found.get("noticed"))
        begun = _list(found.get("begun"))
        self.begun: list[Any] = begun if _is_beginning(begun) else ["", 0, ""]
        self.shortened = found.get("shortened") is True
        self.transcript = _text(found.get("transcript"))
        mark = found.get("mark")
        self.mark: dict[str, int] = (
            {str(key): value for key, value in mark.items() if isinstance(value, int)} if isinstance(mark, dict) else {}
        )
        self.shown = [one for one in _list(found.get("shown")) if isinstance(one, str)]
        self.waiting = [one for one in _list(found.get("waiting")) if isinstance(one, dict) and "text" in one]

    def begins_at(self, event: Event) -> bool:
        """Return True if an event begins a conversation of this name: then its folder decides, not what was known before."""
        return event.name == "session-start" and (event.source in _BEGINNINGS or event.session == UNNAMED)

    def follow(self, event: Event) -> None:
        """Take over the transcript, which is read from its beginning if it is another one, and where the conversation begins."""
        if self.begins_at(event):
            self.folder, self.root = event.folder, event.root
        elif not (self.folder or self.root):
            self.folder, self.root = first_folder(event.transcript) or event.folder, event.root
        if event.transcript and event.transcript != self.transcript:
            self.transcript, self.mark = event.transcript, {}

    def hear(self, text: str, at: str, answers: str = "") -> None:
        """Let what was typed wait for a hub: it belongs to where the conversation began, wherever another one of its name begins.

        ``answers`` is what the assistant had said.
        """
        where = {"folder": self.folder, "root": self.root, "project": self.project}
        said = {"text": _whole(text), "at": at, "answers": _whole(answers)}
        self.waiting.append(said | where)

    def packed(self) -> bytes:
        """Return the file's content."""
        values = {name: getattr(self, name) for name in self.__slots__ if name not in ("name", "is_new")}
        values["shown"] = self.shown[-MOST_SHOWN:]
        values["waiting"] = self.waiting[-MOST_WAITING:]
        return json.dumps(values).encode()


class Conversations:
    """The conversations of a store. Nothing here raises: where a disk cannot be written, nothing is remembered of a run."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._folder = os.path.join(home, FOLDER)

    def load(self, client: str, session: str) -> Conversation:
        """Return what is known of a conversation."""
        return Conversation(client, session, self._read(_file_name(client, session)))

    def save(self, conversation: Conversation, *, shown: list[str] | None = None, sent: int = 0) -> None:
        """Keep what a run has learned, alongside what another run of the same conversation has kept meanwhile.

        ``shown`` are ids that were shown now; ``sent`` counts the turns at the head of ``waiting`` that a hub has had.
        """
        with _Held(self._home, self._folder):
            other = self.load(conversation.client, conversation.session)
            done = [_key(one) for one in conversation.waiting[:sent]]
            own = {_key(one): one for one in conversation.waiting}  # which may know better where it was said
            kept = [own.get(_key(one), one) for one in other.waiting if _key(one) not in done]
            known = {_key(one) for one in kept}
            mine = [one for one in conversation.waiting[sent:] if _key(one) not in known]
            conversation.waiting = [*kept, *mine]
            conversation.shown = _once([*other.shown, *(shown or [])])
            conversation.begun = max(conversation.begun, other.begun, key=lambda one: one[1])
            if other.transcript == conversation.transcript and _progress(other.mark) > _progress(conversation.mark):
                conversation.mark = other.mark
            self._write(conversation.name, conversation.packed())

    def begin(self, conversation: Conversation, source: str, whose: str) -> bool:
        """Return True if the conversation starts, False if another one's hook has just taken this start up.

        ``whose`` tells hooks that a plugin brings from those that stand in the client's file: it runs both, at the same moment. The
        same hook that runs again is answered again.
        """
        with _Held(self._home, self._folder):
            other = self.load(conversation.client, conversation.session)
            now = time.time()  # noqa: TID251 - compared with what another process noted
            why, when, by = other.begun
            is_same = why == source and 0 <= now - when < SAME_START_SECONDS
            if is_same and by != whose:
                return False
            conversation.begun = other.begun = [source, now, whose]
            self._write(other.name, other.packed())
            return True

    def forget_shown(self, conversation: Conversation) -> None:
        """Note that the context of a conversation was emptied."""
        with _Held(self._home, self._folder):
            conversation.shown = []
            self._write(conversation.name, conversation.packed())

    def forget_words(self) -> None:
        """Remove what persons said that no hub has had yet, of every conversation, and what a killed hook left half written."""
        if not os.path.isdir(self._folder):
            return
        with _Held(self._home, self._folder):
            for name in self._names():
                known = self._read(name) if name.endswith(".json") else None
                if known is None:
                    _remove(os.path.join(self._folder, name))
                elif known.get("waiting"):
                    self._write(name, json.dumps(known | {"waiting": []}).encode())

    def others(self, than: Conversation | None = None) -> Iterator[Conversation]:
        """Yield the other conversations, or all, latest first; the oldest are removed."""
        now = time.time()  # noqa: TID251 - beside times of files
        for place, (changed, name) in enumerate(self._files()):
            if place >= MOST_CONVERSATIONS or now - changed > KEPT_SECONDS:
                _remove(os.path.join(self._folder, name))
                continue
            known = self._read(name) if than is None or name != than.name else None
            if known and isinstance(known.get("client"), str) and isinstance(known.get("session"), str):
                yield Conversation(known["client"], known["session"], known)

    def note_run(self, client: str, event: str, *, kept: int, loaded: int) -> None:
        """Note for `status` when a hook of a client last ran, and what all of them have kept and loaded."""
        with _Held(self._home, self._folder):
            runs = self._read(RUNS) or {}
            former = runs.get(client)
            before = former if isinstance(former, dict) else {}
            runs[client] = {
                "event": event,
                "at": int(time.time()),  # noqa: TID251 - a hook has no clock but the machine's
                "kept": _count(before.get("kept")) + kept,
                "loaded": _count(before.get("loaded")) + loaded,
            }
            self._write(RUNS, json.dumps(runs).encode())

    def runs(self) -> dict[str, Any]:
        """Return what `note_run` has noted, by client."""
        return {client: run for client, run in (self._read(RUNS) or {}).items() if isinstance(run, dict)}

    def _files(self) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        try:
            with os.scandir(self._folder) as entries:
                found.extend((one.stat().st_mtime, one.name) for one in entries if one.name.endswith(".json"))
        except OSError:
            pass
        return sorted(((changed, name) for changed, name in found if name != RUNS), reverse=True)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self._folder)
        except OSError:
            return []

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            found = json.loads(processes.read_own(os.path.join(self._folder, name), _LARGEST_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _write(self, name: str, content: bytes) -> None:
        path = os.path.join(self._folder, name)
        new = f"{path}.{os.getpid()}"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                os.write(descriptor, content)
            finally:
                os.close(descriptor)
            os.replace(new, path)
        except OSError:
            _remove(new)


class _Held:
    """The lock on the conversations, and their folder; after a moment the work is done without it."""

    def __init__(self, home: str, folder: str) -> None:
        self._lock = StoreLock(home, _LOCK)
        self._folder = folder

    def __enter__(self) -> None:
        begun = time.monotonic()
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            while not self._lock.try_acquire() and time.monotonic() - begun < _LOCK_SECONDS:
                time.sleep(_POLL_SECONDS)
        except OSError:
            pass

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _file_name(client: str, session: str) -> str:
    """Return the name of a conversation's file: readable where the client's name of it is plain, as nearly all are."""
    if len(session) <= _LONGEST_PLAIN and _PLAIN.issuperset(session):
        return f"{client}.{session}.json"
    from hashlib import blake2b

    return f"{client}.{blake2b(session.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}.json"


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _is_beginning(values: list[Any]) -> bool:
    return [type(one) for one in values] in ([str, int, str], [str, float, str])


def _progress(mark: dict[str, int]) -> tuple[int, int, int]:
    """Return how far a mark is: first how often the file was begun again."""
    return mark.get("anew", -1), mark.get("offset", 0), mark.get("count", 0)


def _whole(text: str) -> str:
    """Return a text without halves of characters, which JSON may hold and no hub takes."""
    return text.encode("utf-8", "replace").decode()


def _key(turn: dict[str, Any]) -> tuple[str, str]:
    return str(turn.get("text")), str(turn.get("at"))


def _once(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(ids))[-MOST_SHOWN:]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0
