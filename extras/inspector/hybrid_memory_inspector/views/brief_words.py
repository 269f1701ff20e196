"""Why a line is in a brief, or a memory does not, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hybrid_memory.model import Memory
from hybrid_memory.retrieval.aspects import Aspect
from hybrid_memory.retrieval.brief import SECTION_OF, Dropped, Line, Queue, Section, is_untrusted

SECTIONS: Mapping[str, str] = {
    Section.PINNED: "Pinned",
    Section.CONVERSATION: "This conversation",
    Section.USER: "About you",
    Section.OPEN: "Still open",
    Section.DECISIONS: "Decisions",
    Section.LAST_SESSION: "Last conversation",
    Section.RECENT: "Recent",
}
"""What each section of a brief is called on the page."""

QUEUES: Mapping[Queue, str] = {
    Queue.PINNED: "Pinned",
    Queue.WHO: "Who you are",
    Queue.PREFERENCES: "What you prefer",
    Queue.WORKING: "Tasks at hand",
    Queue.COMMITMENTS: "Still to do",
    Queue.DECISIONS: "Decisions",
    Queue.LAST_SESSION: "Last conversation",
    Queue.RECENT: "Recent",
}
"""What each kind of line is called on the page."""

DROPPED: Mapping[Dropped, str] = {
    Dropped.OUTDATED: "A later memory gives another value for the same thing.",
    Dropped.DONE: "A later memory says that it is done.",
    Dropped.PAST: "It is over.",
    Dropped.REPEATS: "Another line says nearly the same.",
    Dropped.UNTRUSTED: "It comes from a tool or an import, which get only some of the lines.",
    Dropped.DISPUTES: "It contradicts a more trusted memory, and is only shown with it.",
}
"""Why a memory that was looked at has no line."""

NO_ROOM = "There was no room left for it."
ROOM_LEFT = "It is among the newest, and there was room left."

_USER, _FAMILY = Aspect.ABOUT_USER, Aspect.ABOUT_FAMILY
# In the order in which they count for a brief.
_WHO: tuple[tuple[Aspect, str], ...] = (
    (Aspect.NAME, "It says what you are called."),
    (Aspect.HEALTH | _USER, "It is about your health, which must not be missed."),
    (Aspect.IDENTITY | _USER, "It says who you are: work, place, family or language."),
    (Aspect.HEALTH | _FAMILY, "It is about the health of your family."),
    (Aspect.IDENTITY | _FAMILY, "It is about your family."),
    (Aspect.HEALTH, "It is about somebody's health."),
    (Aspect.IDENTITY, "It says who somebody is."),
)
_PREFERENCES: tuple[tuple[Aspect, str], ...] = (
    (Aspect.PREFERENCE | _USER, "It is something that you prefer, or do not want."),
    (Aspect.TRAIT | _USER, "It tells a lasting habit, skill or rule of yours."),
    (Aspect.PREFERENCE | _FAMILY, "It is something that your family prefers."),
    (Aspect.TRAIT | _FAMILY, "It is lasting knowledge about your family."),
    (Aspect.PREFERENCE, "It is something that somebody prefers."),
)
_PLAIN: Mapping[Queue, str] = {
    Queue.PINNED: "It is pinned, so it is in every brief.",
    Queue.WORKING: "It belongs to a current task.",
    Queue.COMMITMENTS: "It is still to be done.",
    Queue.DECISIONS: "It is a decision.",
    Queue.LAST_SESSION: "It was said in one of the last conversations.",
    Queue.RECENT: "It is among the newest.",
}


def why_in_brief(memory: Memory, line: Line | None, dropped: Dropped | None = None) -> str:
    """Return why a memory has its line; ``line`` None: it is one of the recent ones that fill what room is left.

    ``dropped`` says why it has no better one.
    """
    if line is None:
        return ROOM_LEFT if dropped is None else f"{DROPPED[dropped]} {ROOM_LEFT}"
    why = _PLAIN.get(line.queue) or _told(memory, line)
    if line.section is SECTION_OF[line.queue]:
        return why
    if memory.disputes is not None:
        return f"{why} It is listed under “Recent”, because another memory says otherwise."
    if is_untrusted(memory):
        return f"{why} It is listed under “Recent”, because it comes from a tool or an import."
    return why


def _told(memory: Memory, line: Line) -> str:
    for aspects, words in _WHO if line.queue is Queue.WHO else _PREFERENCES:
        if line.aspects & aspects == aspects:
            return words
    return f"It is marked as important ({memory.importance:.0%})."


def why_next(dropped: Dropped | None) -> str:
    """Return why a memory comes behind a brief."""
    return NO_ROOM if dropped is None else f"{DROPPED[dropped]} So it ranks below the others."
