"""How sentences are said that are kept, and those that put something right: expressions of the lexicon, matched at their beginning.

They look at small letters and at a bounded number of characters. In English an apostrophe may be missing. What a sentence must not say
is in ``refusals.py``. Where a fitted model judges (`gate`), the rules only say of which kind a statement is; in a store without it they
alone say what is kept unasked, so they are few and plain (`docs/decisions/0123`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from hybrid_memory.capture.model import StatementKind as Kind
from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH_CODE, character_codes, letter_codes
from hybrid_memory.language.lazy_pattern import LazyPattern


@dataclass(frozen=True, slots=True)
class Rule:
    """Sentences that match ``pattern`` at their beginning are of a kind.

    ``asked`` says that the person asked for it to be remembered. The group ``text``, if it takes part, is all that is kept of the
    sentence. ``names`` are groups that must begin with a capital as they were written.
    """

    kind: Kind
    pattern: LazyPattern
    importance: float
    asked: bool = False


def spelled(source: str) -> str:
    """Return an English expression with apostrophes that may be left out."""
    return source.replace("'", "'?")


def english(key: str) -> LazyPattern:
    """Return the expression of an entry in English."""
    return LazyPattern(lambda: spelled(lexicon.pattern(key, ENGLISH_CODE)))


@functools.cache
def asking_rules(*, dense: bool) -> tuple[Rule, ...]:
    """Return how somebody asks to have something remembered. What is to be remembered need not look like anything else."""
    codes = character_codes() if dense else (ENGLISH_CODE, *letter_codes())
    return tuple(rule for code in codes for rule in _asking_rules_of(code))


def _asking_rules_of(code: str) -> Iterator[Rule]:
    for key, importance in (("capture.asked", 0.85), ("capture.asked_weakly", 0.8)):
        for source in lexicon.patterns(key, code):
            pattern = LazyPattern(spelled(source) if code == ENGLISH_CODE else source)
            yield Rule(Kind.FACT, pattern, importance, asked=True)


@functools.cache
def telling_rules() -> tuple[Rule, ...]:
    """Return how plans, preferences, decisions and facts are stated in English."""
    kinds = (
        ("capture.plans", Kind.PLAN, 0.65),
        ("capture.preferences", Kind.PREFERENCE, 0.8),
        ("capture.decisions", Kind.DECISION, 0.75),
        ("capture.facts", Kind.FACT, 0.7),
    )
    return tuple(
        Rule(kind, LazyPattern(spelled(source)), importance)
        for key, kind, importance in kinds
        for source in lexicon.patterns(key, ENGLISH_CODE)
    )


REMEMBER_BEFORE = english("capture.remember_before")
"""The sentence before is to be remembered."""
WEAK_NOTE = english("capture.weak_note")
"""What follows may be worth keeping, if it says something of its own."""
LED_IN = english("capture.led_in")
"""What may come before "I prefer ...": "In Python", "For work projects", "At home"."""


def corrects(low: str) -> int:
    """Return where what is put right begins, behind "no, sorry" and the like; 0 where nobody says so."""
    found = _CORRECTS.match(low) or _CORRECTS_FOREIGN.match(low)
    return 0 if found is None else found.end()


def only_corrects(low: str) -> bool:
    """Return True if a text says "no, sorry" and the like, and nothing more."""
    return any(one.fullmatch(low) is not None for one in (_CORRECTS, _CORRECTS_FOREIGN))


_CORRECTS = english("capture.corrects")
_CORRECTS_FOREIGN = LazyPattern(
    lambda: (
        rf"(?:(?:{lexicon.pattern('capture.correcting_leads')})[,.! ]+){{0,2}}"
        rf"(?:(?:{lexicon.pattern('capture.correcting')})(?:\s*[,.!:;–—]+\s*|$)){{1,2}}"
    )
)
CORRECTED = (
    (english("capture.corrected"), english("capture.value")),
    (
        LazyPattern(
            lambda: (
                rf"(?:{lexicon.pattern('capture.corrected_subject')})(?:{lexicon.pattern('capture.corrected_verbs')})\b.{{2,}}"
            )
        ),
        LazyPattern(lambda: rf"\d|\b(?:{lexicon.pattern('capture.denied_or_day')})\b|, no\b"),
    ),
)
"""What was put right, if it names what it is about, and the value that it then has to hold."""


def corrected_dense(low: str) -> int | None:
    """Return where a text in Chinese or Japanese, which says of something what it is and is not, names it; None for another."""
    found = (one.match(low) for one in _corrected_dense())
    return next((one.start("text") for one in found if one is not None), None)


@functools.cache
def _corrected_dense() -> tuple[LazyPattern, ...]:
    return tuple(map(LazyPattern, lexicon.patterns("capture.corrected", *character_codes())))
