"""Words that models and people read alike, where importing what else says them would take long."""

PROBABLY_UNKNOWN = "Probably nothing is known about this. Closest:"

KIND_NAMES = {"episode": "said in passing"}
"""What kinds of memories are called, where that is another word than their name in JSON."""

TIER_NAMES = {
    "sensory": "just heard",
    "short_term": "in mind",
    "long_term": "kept",
    "faded": "faded",
    "working": "at work",
    "episodic": "episode",
}
"""The parts of memory, by their names in JSON; `chat_app/state.js` and `page/static/map.js` say the same."""
