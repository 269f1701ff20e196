"""Whether a statement is told of the person who speaks, or of what they work on with others. Pure."""

from __future__ import annotations

from hybrid_memory.lazy_pattern import LazyPattern

_I = LazyPattern(
    r"(?i)\b(?:i|i'm|i've|i'd|my|me|ich|mein\w*|mir|mich|je|j'|moi|mon|ma|mes|yo|mi|mis|me|eu|meu|minha|meus|minhas)\b|我(?!们)|私|僕|俺"
)
_WE = LazyPattern(
    r"(?i)\b(?:we|we're|we've|our|ours|us|wir|unser\w*|uns|nous|notre|nos|nosotros|nosotras|nuestr\w*|nós|noss\w*)\b|我们|私たち|我々"
)


def is_about_oneself(text: str) -> bool:
    """Return True for a statement in the first person singular; a "we" speaks of a common work, so that it wins."""
    return _I.search(text) is not None and _WE.search(text) is None
