"""The passages of a long text: what a question is compared with besides the whole. Pure.

They are an index, not memories: nobody sees or counts them, and they go with their memory. `hybrid_memory.passage_vectors` stores them.
"""

from __future__ import annotations

import re
from itertools import pairwise

MOST_PASSAGES = 16
"""So many a text has at most; of more neighbours are joined."""
_SHORT = 40  # characters; a shorter sentence says little without the one before it
_LONG = 160  # up to here a passage takes short sentences in

_BETWEEN = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\s*\n\s*")


def passages_of(text: str) -> list[str]:
    """Return the passages of a text in their order, none for a text of a single one."""
    found: list[str] = []
    for sentence in filter(None, map(str.strip, _BETWEEN.split(text))):
        if found and len(sentence) < _SHORT and len(found[-1]) + len(sentence) < _LONG:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    if len(found) > MOST_PASSAGES:
        ends = [len(found) * part // MOST_PASSAGES for part in range(MOST_PASSAGES + 1)]
        found = [" ".join(found[begin:end]) for begin, end in pairwise(ends)]
    return found if len(found) > 1 else []
