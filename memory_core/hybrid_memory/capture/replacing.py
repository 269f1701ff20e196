"""Which earlier statement a new one takes the place of: a correction of it, its reversal, or the one thing that can hold at a time. Pure.

A statement that hides another one wrongly is worse than two that stand side by side, so the same thing has to be meant for sure: the same
subject ("the retro meeting"), the named alternative ("not Tuesday", "drop Redis"), or one of the few things of which a person has one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from hybrid_memory.capture.model import Statement, StatementKind
from hybrid_memory.capture.sentences import lowered
from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.text import words

_SHARED = 2  # words of a person's own deeds that two statements share, from which one may take the other back
_HALF = 0.5  # of the words of the shorter


@functools.lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """Return the stems of a statement's words."""
    return frozenset(words(text))


def may_replace(statement: Statement) -> bool:
    """Return True if a statement may take the place of another one; of all others nobody need look for one."""
    low = lowered(statement.text)
    return statement.kind is StatementKind.CORRECTION or _REVERSES.search(low) is not None or _slot_of(low) is not None


def questions(statement: Statement) -> tuple[str, ...]:
    """Return what to search a memory for, to find what a statement may replace; nothing where it replaces nothing."""
    if not may_replace(statement):
        return ()
    slot = _slot_of(lowered(statement.text))
    return (statement.text, *(asked for name, asked, _ in _SLOTS if name == slot))


def replaced(statement: Statement, earlier: Sequence[str]) -> int | None:
    """Return the place of the earlier text that a statement replaces, None for none.

    Of several that it could mean, the one that shares the most words; of equals the last.
    """
    if not may_replace(statement):
        return None
    new = words_of(statement.text)
    places = [at for at, old in enumerate(earlier) if _replaces(statement, new, old)]
    return max(places, key=lambda at: (len(new & words_of(earlier[at])), at), default=None)


def _replaces(statement: Statement, new: frozenset[str], earlier: str) -> bool:
    low, before = lowered(statement.text), lowered(earlier)
    slot = _slot_of(low)
    if slot is not None and slot == _slot_of(before):
        return True
    old = words_of(earlier)
    gone = _GONE.search(low)
    if gone is not None:
        dropped = words_of(next(group for group in gone.groups() if group is not None))
        if dropped and not dropped <= old:
            return False
    subject, other = _subject(low), _subject(before)
    if subject and other:
        return subject == other or (statement.kind is StatementKind.CORRECTION and (subject < other or other < subject))
    if subject or other or not (gone or statement.kind is StatementKind.CORRECTION):
        return False
    own, others = new - _common(), old - _common()
    shared = len(own & others)
    return shared >= _SHARED or shared >= _HALF * min(len(own), len(others)) > 0


def _subject(low: str) -> frozenset[str]:
    """Return the words of what a statement is about: "the retro meeting is on Thursday"; none for "we use Redis"."""
    found = _SUBJECT.match(low)
    return frozenset(words(found[1])) if found is not None else frozenset()


def _slot_of(low: str) -> str | None:
    return next((name for name, _, form in _SLOTS if form.match(low)), None)


_COMMON_WORDS = """
    use go with decide will ship instead now no longer not any more drop switch move let stay stick is on at prefer like love hate want need
    have do monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays january
    february march april may june july august september october november december tomorrow next week month year
"""


@functools.cache
def _common() -> frozenset[str]:
    """Return words that two statements may share and be about different things."""
    return frozenset(words(_COMMON_WORDS))


_REVERSES = LazyPattern(
    r"\b(?:instead|no longer|any ?more|not|drop(?:ped|ping)?|scrap|ditch(?:ed)?|switch(?:ed|ing)?"
    r"|replac(?:e|ed|ing)|stopped|quit|changed|moved|rescheduled"
    r"|postponed|now|nicht mehr|statt|doch|ne \w+ plus|plutôt|au lieu|ya no|en vez|em vez"
    r"|não \w+ mais|mais não)\b|不再|改用|改成|改为|ではなく|やめ"
)
_GONE = LazyPattern(
    r"\bnot (?:on |in |at |the |by |until |for |with |a |an )*([\w.:/-]+)|\binstead of ([\w.:-]+)"
    r"|\b(?:drop(?:ped|ping)?|scrap(?:ped)?|ditch(?:ed)?|replac(?:e|ed|ing)"
    r"|no longer (?:use|support|eat|drink|work at|want|need|like)|don't (?:use|support) "
    r"|stopped (?:using|eating|drinking)|switch(?:ed|ing)? from|mov(?:ed"
    r"|ing) (?:away )?from) ([\w.+#-]+)"
)
_SUBJECT = LazyPattern(
    r"(?:my|our|the|his|her|their) ([\w' -]{2,60}?)(?:'s)? (?:is|are|was|will|got|has|goes|starts?"
    r"|ends?|moved|takes|lives?|works?|leaves?|expires?|runs|costs?|happens|begins?|falls)\b"
)
_SLOTS: tuple[tuple[str, str, LazyPattern], ...] = (
    (
        "residence",
        "where I live",
        LazyPattern(
            r"(?:i|we)(?:'ve| have)? (?:now |just |recently |actually |currently )?(?:live|moved"
            r"|relocated|reside)(?: back)? (?:in|to)\b|(?:i'm|i am) (?:now )?(?:based|living) in\b"
            r"|ich (?:wohne|lebe) (?:jetzt )?in\b|ich bin .{0,20}nach .{2,40}gezogen|j'habite\b"
            r"|j'ai déménagé\b|je vis à\b|vivo en\b|me mudé a\b|moro em\b|me mudei\b|我(?:现在)?住在?"
            r"|我搬|(?:私は)?.{1,12}に(?:住んで|引っ越しました)"
        ),
    ),
    (
        "name to be called by",
        "call me by my name",
        LazyPattern(
            r"(?:please |pls |you can |just )*call me\b|nenn mich\b|appelle[- ]moi\b|llámame\b|me chama\b|(?:请)?叫我"
        ),
    ),
    (
        "language of answers",
        "answer in which language",
        LazyPattern(
            r"(?:please |pls |always |from now on,? |you should )*(?:answer|reply|respond|talk"
            r"|speak|write)(?: to me| always| only)* in (?:english|german|french|spanish"
            r"|portuguese|italian|dutch|polish"
            r"|russian|chinese|japanese|korean)\b|(?:bitte )?(?:antworte"
            r"|schreib) .{0,30}auf (?:deutsch|englisch|französisch|spanisch)\b"
            r"|réponds .{0,20}en (?:français|anglais|allemand|espagnol)\b"
            r"|responde .{0,20}en (?:español|inglés|francés|alemán)\b"
            r"|responda .{0,20}em (?:português|inglês|francês|alemão)\b"
        ),
    ),
)
"""Of each of these a person has one at a time, and what is said last holds: its name, a question that finds it, how it is said."""
