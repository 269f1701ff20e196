"""Text that somebody wrote down, taken apart into what can be understood alone: a sentence, with those behind it that need it. Pure."""

from __future__ import annotations

from hybrid_memory.capture.sentences import leans, lowered, pieces_of
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory_importers import otherwise

_FEW_WORDS = 2
_DENSE = "\u2e80"  # from this character on scripts write no blanks between sentences
_POINTS = LazyPattern(r"(?:this|these|those|also|however|otherwise|instead|dies\w*|ebenso|sonst|stattdessen)\b")


def apart(text: str) -> list[str]:
    """Return the statements of a text, in its words: one that needs the one before ("Use debian slim instead.") stays with it."""
    found: list[str] = []
    for sentence in pieces_of(text):
        if found and _needs(sentence, found[-1]):
            blank = "" if sentence > _DENSE else " "
            found[-1] = f"{found[-1]}{blank}{sentence}"
        else:
            found.append(sentence)
    return found


def _needs(sentence: str, before: str) -> bool:
    low = lowered(sentence).strip(" .!?\"'“”()*")
    if before.endswith((":", "?", "：", "？")) or not sentence[:1].isalnum() or sentence[:1].islower():
        return True
    if leans(low) or _POINTS.match(low) is not None or (low.isascii() and len(low.split()) <= _FEW_WORDS):
        return True
    return otherwise.is_instead(low, lowered(before))
