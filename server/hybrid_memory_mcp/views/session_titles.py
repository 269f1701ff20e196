"""What a person calls a conversation: by the name that somebody gave it, else by the first words of what was kept in it.

Most clients name a conversation by an id, which tells a person nothing; such a name is never a title.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.clock import from_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.project_names import project_of, shown_project
from hybrid_memory_mcp.views.view import told
from hybrid_memory_mcp.words.session_names import first_words, given_name, source_of
from hybrid_memory_mcp.words.times_and_numbers import date_in_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.views.view import ViewRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """How a session began: when, with which memory, and with which of those that are still found (None: none is)."""

    first: datetime
    began: MemoryId
    opening: MemoryId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRuns:
    """Rows in the order of session and time, and where each session begins and ends in them."""

    rows: NDArray[np.intp]
    begins: NDArray[np.intp]
    ends: NDArray[np.intp]

    def of(self, place: int) -> NDArray[np.intp]:
        """Return the rows of one session, the first first."""
        return self.rows[self.begins[place] : self.ends[place]]


def session_titles(service: MemoryService, request: ViewRequest, sessions: Iterable[str]) -> dict[str, str]:
    """Return what a person calls some conversations in which something was written, by their names in the store."""
    wanted = list(dict.fromkeys(sessions))
    unnamed = [one for one in wanted if given_name(one) is None]
    known = starts_of(service, request) if unnamed else {}
    starts = {name: known[name] for name in unnamed if name in known}
    memories = service.revealed(request.scope, [one.opening or one.began for one in starts.values()])
    titles = {}
    for name in wanted:
        start = starts.get(name)
        if start is not None:
            memory = memories.get(start.opening or start.began)
            words = told(service, request, memory)["content"] if memory is not None and start.opening else ""
            titles[name] = first_words(words) or _by_day(start.first, memory, request)
        else:
            given = given_name(name) or ""
            titles[name] = (
                (given if request.reveal else service.secrets.shown_text(given)) or source_of(name) or "A conversation"
            )
    return titles


def starts_of(service: MemoryService, request: ViewRequest) -> Mapping[str, SessionStart]:
    """Return how each session that a request sees began, by its name."""
    scope = request.scope
    return service.derived.value(scope, "session starts", lambda: service.look(scope, session_starts))


def _by_day(first: datetime, memory: Memory | None, request: ViewRequest) -> str:
    day = date_in_words(first.astimezone(request.zone))
    project = project_of(memory.namespace) if memory is not None else None
    return f"Project {shown_project(project)}, {day}" if project else f"Conversation of {day}"


def session_starts(columns: MemoryColumns, now: datetime) -> dict[str, SessionStart]:
    """Return how each session began, by its name."""
    runs = session_runs(columns)
    live = columns.visible(now)
    starts = {}
    for at, code in enumerate(columns.session.values[runs.rows[runs.begins]].tolist()):
        rows = runs.of(at)
        current = rows[live[rows]][:1]
        starts[columns.sessions.names[code]] = SessionStart(
            first=from_micros(int(columns.created_at.values[rows[0]])),
            began=columns.ids.ids_of(rows[:1])[0],
            opening=columns.ids.ids_of(current)[0] if len(current) else None,
        )
    return starts


def session_runs(columns: MemoryColumns) -> SessionRuns:
    """Return the rows of all sessions of a namespace."""
    there = np.flatnonzero(~columns.gone.values & (columns.session.values >= 0))
    sessions = columns.session.values[there]
    order = np.lexsort((columns.created_at.values[there], sessions))
    rows, sessions = there[order], sessions[order]
    begins = np.flatnonzero(np.diff(sessions, prepend=-1)) if len(rows) else np.zeros(0, np.intp)
    return SessionRuns(rows=rows, begins=begins, ends=np.append(begins[1:], len(rows)) if len(rows) else begins)
