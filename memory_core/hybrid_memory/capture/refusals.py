"""What is never kept, whatever else it looks like: questions, suppositions, irony, reports of others, tasks at hand. Pure.

`takes_message_out` looks at a whole message, `takes_rest_out` at what a line announces, the others at one sentence in small letters.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hybrid_memory.capture.own_words import GAP
from hybrid_memory.capture.sentences import Sentence
from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH_CODE, character_codes, letter_codes
from hybrid_memory.language.lazy_pattern import LazyPattern


@dataclass(frozen=True, slots=True)
class _Sign:
    """An expression of a language, and words of which a sentence has one if it may fit; without words: for dense scripts."""

    pattern: LazyPattern
    words: frozenset[str]


@functools.cache
def _signs(key: str) -> tuple[_Sign, ...]:
    return tuple(
        _Sign(LazyPattern(functools.partial(lexicon.pattern, key, code)), lexicon.words(f"{key}_words", code))
        for code, _ in lexicon.texts(key)
    )


def _any_within(key: str, sentence: Sentence) -> bool:
    """Return True if a sign of an entry is in a sentence."""
    for sign in _signs(key):
        may_fit = not sign.words.isdisjoint(sentence.words) if sign.words else sentence.dense
        if may_fit and sign.pattern.search(sentence.low) is not None:
            return True
    return False


def takes_message_out(sentence: Sentence) -> bool:
    """Return True if nothing of a message may be kept: it asks not to be remembered, plays a role, or tells a story."""
    return is_not_to_be_kept(sentence) or plays(sentence)


def is_not_to_be_kept(sentence: Sentence) -> bool:
    """Return True if a sentence asks that what its message says is not remembered: "off the record"."""
    return _any_within("refusals.not_to_keep", sentence)


def plays(sentence: Sentence) -> bool:
    """Return True if a sentence plays a role, or tells or orders a story."""
    return _any_within("refusals.play", sentence)


def begins_material(low: str) -> int | None:
    """Return the place in a line from which on material for a task stands ("translate: ..."), None where none begins."""
    if ":" not in low and "：" not in low:
        return None
    found = _MATERIAL.match(low)
    return None if found is None else found.start("at")


def is_about_material(low: str) -> bool:
    """Return True if a line asks for something to be done with the text that is around it."""
    return _ABOUT_MATERIAL.match(low) is not None


def takes_back(low: str) -> str | None:
    """Return what a sentence asks to forget: its topic, "" for what was said last; None where it asks for nothing of the sort."""
    found = _FORGET.match(low)
    return None if found is None else (found["topic"] or "").strip()


def said_instead(low: str) -> int | None:
    """Return where "forget that, I use spaces" goes on with what holds instead; None where nothing is said instead."""
    found = _FORGET.match(low)
    if found is None or found["topic"]:
        return None
    told = _INSTEAD.match(low, found.end() - 1)
    return None if told is None else told.end()


def is_question(low: str) -> bool:
    """Return True if a sentence asks by its first words, with or without a question mark."""
    return _ASKING.match(low) is not None


def is_refused(sentence: Sentence) -> bool:
    """Return True if a sentence is supposed, ironical, hedged, reported, or made of test words."""
    return is_supposed(sentence) or is_unsure(sentence)


def is_supposed(sentence: Sentence) -> bool:
    """Return True if a sentence is supposed, ironical, or lacks words: what comes behind that is so as well."""
    if GAP in sentence.low or any(mark in sentence.low for mark in _IRONY):
        return True
    return _any_within("refusals.supposed", sentence)


def is_unsure(sentence: Sentence) -> bool:
    """Return True if a sentence is hedged, or made of test words."""
    return _any_within("refusals.unsure", sentence)


def is_loose(low: str) -> bool:
    """Return True if a sentence means something only alongside what was said before: its subject is "it", its object "the second one"."""
    return _LOOSE_SUBJECT.match(low) is not None or _LOOSE_OBJECT.search(low) is not None


def request_behind(low: str, *, soft: bool) -> int | None:
    """Return where a request begins behind a statement ("..., so what can I cook?"); with ``soft`` one that says "use" as well."""
    forms = _REQUESTS_SOFT if soft else _REQUESTS
    found = [place.start() for form in forms if (place := form.search(low)) is not None]
    if "，" in low and (dense := _REQUEST_DENSE.search(low)) is not None:
        found.append(dense.start())
    return min(found, default=None)


_IRONY = ("🙄", "😒")


def _pattern(key: str, *, dense: bool = False) -> str:
    return lexicon.pattern(key, *(character_codes() if dense else (ENGLISH_CODE, *letter_codes())))


_MATERIAL = LazyPattern(
    lambda: (
        rf"(?:(?:{_pattern('material.polite')}) |{_pattern('material.polite', dense=True)}){{0,3}}"
        rf"(?:(?![^\n:]{{0,40}}\bmemory\b)(?:{_pattern('material.verbs')})\b|{_pattern('material.verbs', dense=True)})"
        r"[^\n:：]{0,100}(?P<at>[:：])"
    )
)
_ABOUT_MATERIAL = LazyPattern(
    lambda: (
        rf"(?:(?:{_pattern('material.polite')}) |{_pattern('material.polite', dense=True)}){{0,4}}"
        rf"(?:{lexicon.pattern('material.about')})"
    )
)
_FORGET = LazyPattern(
    lambda: (
        rf"(?:(?:{lexicon.pattern('refusals.forget_leads')})[, ]+){{0,3}}(?:{lexicon.pattern('refusals.forget')})(?: about)? ?"
        rf"(?:(?:{lexicon.pattern('refusals.said_before')})(?: (?:{lexicon.pattern('refusals.on')}) (?P<topic>[^,.;]{{2,60}}))?)"
        r"(?:$|[ ,.;!-])"
    )
)
_INSTEAD = LazyPattern(r"\s*[,.;!–—-]+\s*(?:so |and |but )?(?=(?:i|we|my|our|the|it's|i'm|we're)\b)")
_ASKING = LazyPattern(
    lambda: (
        r"(?:(?:so|and|but|ok|then|or|now|please|also|hey|uh|um|well)[, ]+){0,2}"
        rf"(?:{_pattern('refusals.asking')})\b|{_pattern('refusals.asking', dense=True)}"
    )
)
_LOOSE_SUBJECT = LazyPattern(
    lambda: (
        rf"(?:{_pattern('refusals.loose_subject')})\b(?! (?:repo|project|codebase|team|company|year|month|week|weekend))"
        rf"|{_pattern('refusals.loose_subject', dense=True)}"
    )
)
_LOOSE_OBJECT = LazyPattern(
    lambda: rf"\b(?:{_pattern('refusals.loose_object')})(?!\w)|{_pattern('refusals.loose_object', dense=True)}"
)
_REQUESTS = (
    LazyPattern(lambda: rf"[,;–—-]\s*(?:{_pattern('requests.behind_comma')})"),
    LazyPattern(lambda: rf"\s(?:{_pattern('requests.behind_blank')})"),
)
# A request that a preference could begin with as well: "use", "keep".
_REQUESTS_SOFT = (
    LazyPattern(lambda: rf"[,;–—-]\s*(?:{_pattern('requests.behind_comma')}|{_pattern('requests.soft')})"),
    LazyPattern(lambda: rf"\s(?:{_pattern('requests.behind_blank')}|{_pattern('requests.soft_behind_blank')})"),
)
_REQUEST_DENSE = LazyPattern(lambda: rf"[，,](?:{_pattern('requests.behind_comma', dense=True)})")
