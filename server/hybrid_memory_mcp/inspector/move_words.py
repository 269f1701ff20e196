"""Why a memory moved from one part of memory to another, in words for people. Pure; the reasons are those of `hybrid_memory.tiers.flow`."""

from __future__ import annotations

import re

_WORDS = {
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


def why_it_moved(reason: str) -> str:
    """Return a reason of the log as a part of a sentence; one that is not known as it stands."""
    return ", and ".join(_part(one) for one in reason.split(_BETWEEN))


def _part(reason: str) -> str:
    if reason in _WORDS:
        return _WORDS[reason]
    for pattern, words in _COUNTED:
        if found := pattern.fullmatch(reason):
            return words.format(found[1])
    return "it was said again, to be kept" if reason.startswith(_AGAIN) else reason
