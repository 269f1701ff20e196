"""The log in plain English."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.model import Tier
from hybrid_memory_mcp.words.event_words import event_in_words, first_tier, moves_of


@each(
    "action, note, title, details",
    [
        ("remember", "sensory", "Learned", ["began as “just heard”"]),
        (
            "remember",
            "sensory to short_term (the sensory buffer was full)",
            "Something else was learned",
            ["moved from “just heard” to “in mind”: more came in, so everything just heard was sorted"],
        ),
        (
            "remember",
            "superseded by 06fp4dr202j0z7fp4t9c",
            "Something newer was learned",
            ["was replaced by a newer version"],
        ),
        ("update", "long_term, supersedes 06fp4dr202j0z7fp4t9c", "Corrected: these words began", None),
        ("update", "pinned", "Changed", ["comes first in every brief"]),
        ("reflect", "long_term", "Concluded", None),
        ("import chatgpt 3f2a", "long_term, trust user", "Imported from chatgpt", None),
        ("judge", "forgotten, verdict untrue", "Called untrue", ["is no longer found", "you called it untrue"]),
        ("judge", "trust user to confirmed", "Judged", ["trust from your word to confirmed"]),
        ("something new", "who knows", "Something new", ["who knows"]),
        ("end session", "", "The conversation ended", []),
    ],
)
def test_what_was_done_is_told(action, note, title, details):
    words = event_in_words(action, note)
    assert words["title"] == title
    assert details is None or words["details"] == details


def test_a_reason_with_a_comma_stays_whole():
    assert moves_of("short_term to long_term (enhanced, and twice), pinned") == (
        Tier.SHORT_TERM,
        Tier.LONG_TERM,
        "enhanced, and twice",
    )


def test_a_note_of_an_earlier_version_tells_no_tier():
    assert first_tier("") is None


@given(action=st.text(max_size=12), note=st.text(max_size=40))
@settings(max_examples=25, deadline=None)
def test_whatever_stands_in_a_log_is_told(action, note):
    event_in_words(action, note)
    moves_of(note)
    first_tier(note)
