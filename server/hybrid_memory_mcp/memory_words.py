"""Words that models and people read alike, where importing what else says them would take long."""

PROBABLY_UNKNOWN = "Probably nothing is known about this. Closest:"

TIER_NAMES = {
    "sensory": "just heard",
    "short_term": "in mind",
    "long_term": "kept",
    "faded": "faded",
    "working": "at work",
    "episodic": "episode",
}
"""The parts of memory, by their names in JSON; the card in a chat and the map say the same."""
