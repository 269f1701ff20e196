"""Entries of the log in plain English: what was done, what that changed, and why a memory moved. Pure.

The reasons of moves are those of `hybrid_memory.tiers.flow`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypedDict

from hybrid_memory.model import Tier, Trust
from hybrid_memory_mcp.words.tier_words import TIER_WORDS

_TRUST_WORDS = {
    Trust.UNTRUSTED: "not trusted",
    Trust.AGENT: "an assistant's word",
    Trust.USER: "your word",
    Trust.CONFIRMED: "confirmed",
}
_TITLES = {
    "remember": "Learned",
    "repeat": "Said again",
    "recall": "Recalled",
    "forget": "Forgotten",
    "restore": "Brought back",
    "reflect": "Used for an insight",
    "end session": "The conversation ended",
    "tidy": "Tidied up",
    "embed": "Made findable by meaning",
    "purge": "Erased for good",
    "redact": "Words taken out",
    "undo import": "An import was taken back",
    "repair": "Repaired",
    "sync": "Came from another computer",
    "merge": "Merged",
    "split": "Split",
    "adopt": "Moved into a project",
    "undo": "Undone",
    "judge": "Judged",
    "settle": "Judged by a model",
    "confirm": "Confirmed",
}
_PLAIN = {
    "current again": "counts again",
    "restored": "can be found again",
    "forgotten": "is no longer found",
    "pinned": "comes first in every brief",
    "no longer pinned": "no longer comes first in every brief",
    "served as evidence": "an insight rests on it",
    "expires at changed": "its end was changed",
    "parents changed": "what it rests on was changed",
    "disputes changed": "what it contradicts was changed",
    "erased for good": "its words are gone",
    "verdict true": "you confirmed it",
    "verdict untrue": "you called it untrue",
    "verdict ended": "you said that it is over",
    "verdict withdrawn": "your judgement was taken back",
}
_VERDICTS = {"verdict true": "Called true", "verdict untrue": "Called untrue", "verdict ended": "Called over"}
_TIER = "|".join(Tier)
_TRUST = "|".join(Trust)
_MOVED = re.compile(rf"({_TIER}) to ({_TIER})(?: \((.*)\))?")
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_MOVED, lambda found: _moved(found[1], found[2], found[3])),
    (re.compile(rf"({_TIER})"), lambda found: f"began as “{TIER_WORDS[Tier(found[1])].short}”"),
    (re.compile(r"superseded by (\S+)"), lambda _: "was replaced by a newer version"),
    (re.compile(r"supersedes (\S+)"), lambda _: "took the place of an earlier one"),
    (re.compile(r"disputes (\S+)"), lambda _: "contradicts another one"),
    (re.compile(r"importance ([\d.]+) to ([\d.]+)"), lambda found: f"importance from {found[1]} to {found[2]}"),
    (
        re.compile(rf"trust ({_TRUST}) to ({_TRUST})"),
        lambda found: f"trust from {_TRUST_WORDS[Trust(found[1])]} to {_TRUST_WORDS[Trust(found[2])]}",
    ),
    (re.compile(rf"trust ({_TRUST})"), lambda found: f"trusted as {_TRUST_WORDS[Trust(found[1])]}"),
)
_REASONS = {
    "the sensory buffer was full": "more came in, so everything just heard was sorted",
    "below the threshold of short-term": "it did not seem important enough to keep in mind",
    "the short-term buffer was full": "newer things took its place",
    "the session ended": "the conversation ended",
    "repeated": "it was said again",
    "recalled again": "it was needed again",
    "pinned": "it is pinned",
    "important": "it is important",
    "used": "it was used",
    "kept on purpose": "it was kept on purpose",
    "called true": "you called it true",
    "said before": "an earlier memory says the same",
}
_COUNTED = (
    (re.compile(r"enhanced (\d+) times"), "it came up {} times"),
    (re.compile(r"said in (\d+) sessions"), "it was said in {} conversations"),
)
_AGAIN = "written again as "
_BETWEEN = "; "  # what made it leave, and what it earned
_BETWEEN_PARTS = re.compile(r", (?![^()]*\))")  # a reason in brackets may hold a comma


class EventWords(TypedDict):
    """``title`` says what was done, ``details`` what that changed, each a part of a sentence."""

    title: str
    details: list[str]


def event_in_words(action: str, note: str) -> EventWords:
    """Return what an entry of the log tells; ``action`` is the name of the write, ``note`` what changed (`store.audit_notes`)."""
    parts = _BETWEEN_PARTS.split(note) if note else []
    return EventWords(title=_title(action, parts), details=[_detail(part) for part in parts])


def moves_of(note: str) -> tuple[Tier, Tier, str] | None:
    """Return from where to where a change moved a memory, and why; None where it did not."""
    found = next((one for one in map(_MOVED.fullmatch, _BETWEEN_PARTS.split(note)) if one), None)
    return None if found is None else (Tier(found[1]), Tier(found[2]), found[3] or "")


def first_tier(note: str) -> Tier | None:
    """Return where a new memory began; None where the log does not tell."""
    name = note.split(", ", 1)[0]
    return Tier(name) if name in _TIER_NAMES else None


_TIER_NAMES = frozenset(one.value for one in Tier)


def _title(action: str, parts: list[str]) -> str:
    began = bool(parts) and parts[0] in _TIER_NAMES
    replaced = any(part.startswith("superseded by ") for part in parts)
    verdict = next((_VERDICTS[part] for part in parts if part in _VERDICTS), None)
    special = {
        ("update", began): "Corrected: these words began",
        ("update", replaced): "Corrected: other words took over",
        ("update", not began and not replaced): "Changed",
        ("remember", replaced): "Something newer was learned",
        ("remember", bool(parts) and not began and not replaced): "Something else was learned",
        ("reflect", began): "Concluded",
        ("judge", verdict is not None): verdict or "",
    }
    if found := special.get((action, True)):
        return found
    if action.startswith("import "):
        return f"Imported from {action.split(' ')[1]}"
    return _TITLES.get(action) or action[:1].upper() + action[1:]


def _detail(part: str) -> str:
    for pattern, words in _PATTERNS:
        if found := pattern.fullmatch(part):
            return words(found)
    return _PLAIN.get(part, part)


def _moved(before: str, after: str, reason: str | None) -> str:
    moved = f"moved from “{TIER_WORDS[Tier(before)].short}” to “{TIER_WORDS[Tier(after)].short}”"
    return f"{moved}: {why_it_moved(reason)}" if reason else moved


def why_it_moved(reason: str) -> str:
    """Return a reason of the log as a part of a sentence; one that is not known as it stands."""
    return ", and ".join(_reason(one) for one in reason.split(_BETWEEN))


def _reason(reason: str) -> str:
    if reason in _REASONS:
        return _REASONS[reason]
    for pattern, words in _COUNTED:
        if found := pattern.fullmatch(reason):
            return words.format(found[1])
    return "it was said again, to be kept" if reason.startswith(_AGAIN) else reason
