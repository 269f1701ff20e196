"""Whether a sentence states what its words name: not where it denies it, supposes it, regrets it, or quotes somebody else.

"I don't have to renew it", "I should have called", "I must say" and "If I have to move" leave nothing to do; "My name is not Ida" and
`Bob said: "My name is Bob"` tell no name. Patterns in English, German, French and Spanish, for texts folded as by `aspects.fold`. Pure.
"""

from __future__ import annotations

import re

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern


def denies_duty(folded: str) -> bool:
    """Return True if a sentence with the words of a duty leaves nothing to do: denied, regretted, supposed, an idiom, an opinion."""
    if _FORGETTING.search(folded):  # "must not forget" asks for the deed
        return False
    return _NO_DUTY.search(folded) is not None or is_supposed(folded) or is_opinion_of_other(folded)


def denies_identity(folded: str) -> bool:
    """Return True if a sentence with the words of an identity says what somebody is not, or supposes it.

    What ended ("no longer works at") is stated: it takes back what was said before.
    """
    if _ENDED.search(folded):
        return False
    return _NO_IDENTITY.search(folded) is not None or is_supposed(folded) or is_opinion_of_other(folded)


def denies_deed(folded: str) -> bool:
    """Return True if a sentence with the words of a deed says that it was not done."""
    return _NO_DEED.search(folded) is not None or is_supposed(folded)


def denies_decision(folded: str) -> bool:
    """Return True if a sentence with the words of a decision says that there was none."""
    return _NO_DECISION.search(folded) is not None


def is_supposed(folded: str) -> bool:
    """Return True if a sentence begins with a condition, or wishes that something were so."""
    return _SUPPOSED.search(folded) is not None


def is_opinion_of_other(folded: str) -> bool:
    """Return True if somebody else thinks so or asks whether it is so; what they say or tell may hold."""
    return _OPINION.search(folded) is not None


def without_quotes_of_others(text: str) -> str:
    """Return a text without what somebody other than the user says in direct speech: "I" is not the user there.

    Direct speech comes behind a word for speaking, in quotation marks, or behind its colon up to the end of the sentence. The text is as
    it was written.
    """
    if not any(mark in text for mark in _QUOTING):
        return text
    if lexicon.words("factuality.saying").isdisjoint(
        _WORD.findall(text.casefold())
    ):  # sooner known than that the pattern does not fit
        return text
    return _DIRECT_SPEECH.sub(_without_speech, _SPEECH_BEFORE.sub("", text))


def _without_speech(found: re.Match[str]) -> str:
    return found.group() if _OWN_SPEECH.search(found["who"]) else found["lead"]


def _any_word(key: str) -> str:
    return lexicon.any_of(lexicon.words(key))


def _any(key: str) -> LazyPattern:
    return LazyPattern(lambda: lexicon.pattern(key))


_QUOTING = ':"“„«‘'
_WORD = LazyPattern(r"\w+")
# "I must go," said Tom
_SPEECH_BEFORE = LazyPattern(
    lambda: (
        rf"[\"“„«][^\"”“»]*[\"”“»],?\s+(?=(?:[^\W\d_]+ )?{_any_word('factuality.saying')}\b)"
        rf"(?!(?:{lexicon.pattern('factuality.speakers')}) )(?!\w+ (?:{lexicon.pattern('factuality.speakers')})\b)"
    ),
    re.IGNORECASE,
)
_DIRECT_SPEECH = LazyPattern(
    lambda: (
        rf"(?P<lead>(?P<who>(?:^|(?<=[.!?\n;]))[^.!?\n;:\"“„«]{{0,80}}?)\b{_any_word('factuality.saying')}\b"
        r"[^.!?\n:\"“„«‘]{0,40}[:,]?\s*)"
        r"(?:[\"“„«‘'][^\"”“»]*[\"”“»’']?|(?<=:)\s?[^.!?\n;]*|(?<=: )[^.!?\n;]*)"
    ),
    re.IGNORECASE,
)
_OWN_SPEECH = LazyPattern(
    lambda: (
        rf"\b(?:{lexicon.pattern('factuality.own_speakers')})\s*(?:(?:{lexicon.pattern('factuality.before_saying')}) )*$"
    ),
    re.IGNORECASE,
)
_FORGETTING = LazyPattern(lambda: rf"\b{_any_word('factuality.forgetting')}\b")
_NO_DUTY = _any("factuality.no_duty")
_NO_IDENTITY = _any("factuality.no_identity")
_ENDED = _any("factuality.ended")
_NO_DEED = _any("factuality.no_deed")
_NO_DECISION = _any("factuality.no_decision")
_SUPPOSED = _any("factuality.supposed")
# Anyone who thinks, asks or says it is not one of the "speakers".
_OPINION = LazyPattern(
    lambda: (
        rf"^\W*(?!(?:{lexicon.pattern('factuality.thinkers')}) )(?:[\w'-]+ ){{1,3}}{_any_word('factuality.thinking')} "
        rf"(?:(?:{lexicon.pattern('factuality.that')}) |, )?\w"
        rf"|{lexicon.pattern('factuality.asking')}|{lexicon.pattern('factuality.saying_of_others')}"
    )
)
