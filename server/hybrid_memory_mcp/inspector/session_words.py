"""What a person calls a conversation: by the name that somebody gave it, else by the first words of what was kept in it.

Most clients name a conversation by an id, which tells a person nothing; such a name is never a title.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hybrid_memory.overview.sessions import session_starts
from hybrid_memory.project_names import project_of, shown_project
from hybrid_memory_mcp.inspector.calendar import date_in_words
from hybrid_memory_mcp.inspector.session_names import first_words, given_name, source_of
from hybrid_memory_mcp.inspector.view import told

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Memory
    from hybrid_memory.overview.sessions import SessionStart
    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.inspector.view import ViewRequest


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
    return service.overviews.kept(scope, "session starts", lambda: service.look(scope, session_starts))


def _by_day(first: datetime, memory: Memory | None, request: ViewRequest) -> str:
    day = date_in_words(first.astimezone(request.zone))
    project = project_of(memory.namespace) if memory is not None else None
    return f"Project {shown_project(project)}, {day}" if project else f"Conversation of {day}"
