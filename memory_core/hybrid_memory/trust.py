"""Which way effects may run between memories of different trust. Pure.

A link never carries an effect from what is less trusted to what is more trusted: what a tool or an import says may dispute what
a person or their assistant said, not displace it, and forgetting or purging it takes nothing better along. (Biba, "Integrity
Considerations for Secure Computer Systems", 1977: no write up.)

The user's and the assistant's words have one authority: the assistant calls every tool in its user's name, and nobody can tell
over stdio which of the two spoke. A reader who asks for ``min_trust`` user is shown the user's own words all the same
(`MemoryColumns.visible`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hybrid_memory.model import TRUST_OF, TRUST_ORDER, Memory, Origin, Trust

_AUTHORITY: Mapping[Trust, int] = {Trust.UNTRUSTED: 0, Trust.AGENT: 1, Trust.USER: 1, Trust.CONFIRMED: 2}

BESIDE_OTHERS = "+pasted"
"""How the source of a memory ends that was captured from a message which also holds somebody else's words."""


def may_displace(newer: Trust, older: Trust) -> bool:
    """Return True if a statement of one trust may take the place of one of another."""
    return _AUTHORITY[newer] >= _AUTHORITY[older]


def takes_along(newer: Trust, older: Trust) -> bool:
    """Return True if an older version is forgotten and purged with a newer one: never one that is more trusted."""
    return TRUST_ORDER.index(newer) >= TRUST_ORDER.index(older)


def have_one_authority(first: Trust, second: Trust) -> bool:
    """Return True if two statements weigh the same: either may take the place of the other."""
    return _AUTHORITY[first] == _AUTHORITY[second]


def may_outdate(later: Memory) -> bool:
    """Return False for a memory by which no earlier one is over.

    That is what was said in passing, and, until a person calls it true, what may be somebody else's words.
    """
    if later.trust is Trust.CONFIRMED:
        return True
    return not later.is_episode and not (later.source or "").endswith(BESIDE_OTHERS)


def least_trust(levels: Iterable[Trust]) -> Trust:
    """Return the lowest of some levels of trust."""
    return min(levels, key=TRUST_ORDER.index)


def trust_of(origin: Origin, sources: Iterable[Trust] = ()) -> Trust:
    """Return the trust of a statement: that of who says it, and no more than that of anything it was made from."""
    return least_trust([TRUST_OF.get(origin, Trust.AGENT), *sources])
