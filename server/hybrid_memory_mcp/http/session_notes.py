"""What is known of a session over HTTP after a restart: to what its client subscribed, and whether its client ended it.

It is in ``http.sessions`` of the store's folder, one line for each change, and is made short when the server starts. Only
`HttpSessions` uses it. Nothing of it lets anybody in: a session goes on for the token alone that it was given to. A file that cannot
be written is no reason not to serve: then such things are forgotten at the next restart, as they would be without it.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from hybrid_memory.private_files import replace_private
from hybrid_memory_mcp.relay import processes

NOTES = "http.sessions"
MAX_ENDED = 10_000  # sessions that are remembered as ended; some clients begin and end one for each call
MAX_SUBSCRIBED = 1_000  # sessions whose subscriptions are remembered
MAX_URIS = 32  # of one session; a client has one or two

_MAX_LINES = 4 * MAX_ENDED  # then the file is made short again
_MAX_BYTES = 64 * 1024 * 1024  # far more than so many lines have; what is longer is not ours
_NAME_BYTES = 12


class SessionNotes:
    """The notes of one store; a session has nothing more once it is ended. Belongs to the event loop: a note takes microseconds."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._subscribed: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._lines = 0
        self._load()

    def is_ended(self, session_id: str) -> bool:
        """Return whether the client ended this session."""
        return _name(session_id) in self._ended

    def subscriptions(self, session_id: str) -> tuple[str, ...]:
        """Return the URIs to which the client of a session is subscribed."""
        return self._subscribed.get(_name(session_id), ())

    def note_end(self, session_id: str) -> None:
        """Note that the client ended a session."""
        self._add([_name(session_id)])

    def note_subscriptions(self, session_id: str, uris: Iterable[str]) -> None:
        """Note to what a client is subscribed from now on."""
        kept = tuple(sorted(uris)[:MAX_URIS])
        if kept != self.subscriptions(session_id):
            self._add([_name(session_id), *kept] if kept else [_name(session_id), ""])

    def _add(self, entry: list[str]) -> None:
        self._take(entry)
        self._lines += 1
        with suppress(OSError):
            if self._lines > _MAX_LINES:
                self._shorten()
                return
            descriptor = processes.open_own(str(self._file), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                os.write(descriptor, _line(entry))
            finally:
                os.close(descriptor)

    def _take(self, entry: list[str]) -> None:
        """Take a line: a name alone is an ended session, a name with URIs one that is subscribed to them; an empty URI is none."""
        name, *uris = entry
        self._subscribed.pop(name, None)
        if not uris:
            self._ended[name] = None
            if len(self._ended) > MAX_ENDED:
                self._ended.popitem(last=False)
        elif uris != [""]:
            self._subscribed[name] = tuple(uris)
            if len(self._subscribed) > MAX_SUBSCRIBED:
                self._subscribed.popitem(last=False)

    def _load(self) -> None:
        try:
            lines = processes.read_own(str(self._file), _MAX_BYTES).splitlines()
        except OSError:
            return
        for line in lines:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the process was killed while it wrote this one
            if isinstance(entry, list) and entry and all(isinstance(one, str) for one in entry):
                self._take(entry)
        with suppress(OSError):
            self._shorten()

    def _shorten(self) -> None:
        entries = [[one] for one in self._ended] + [[one, *uris] for one, uris in self._subscribed.items()]
        replace_private(self._file, b"".join(map(_line, entries)), durable=False)
        self._lines = len(entries)


def _line(entry: list[str]) -> bytes:
    return json.dumps(entry).encode("ascii") + b"\n"


def _name(session_id: str) -> str:
    """Return what a session is noted as; its id is no secret without the token, but is nobody's business either."""
    return blake2b(session_id.encode("utf-8", "replace"), digest_size=_NAME_BYTES).hexdigest()
