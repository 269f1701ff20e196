"""Whether a message may also hold somebody else's words: pasted, quoted, or of a dialogue. Pure.

What is kept of such a message takes no other statement's place. So this errs on one side: only one line of few, plain sentences is
surely the person's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hybrid_memory.capture import refusals
from hybrid_memory.capture.own_words import GAP, lowered_safe, own_lines
from hybrid_memory.capture.rules import corrects
from hybrid_memory.capture.sentences import lowered, sentences
from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

# Set by hand.
_LONGEST = 300  # characters of a message that corrects something
_MOST_SENTENCES = 4
_READ = 3_000  # characters of a message whose sentences are looked at


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for somebody else's words in a message, each 0 or 1; none of it in a line of few, plain sentences."""

    several_lines: bool
    long: bool
    many_sentences: bool
    asks_before: bool
    names_a_text: bool
    reports: bool
    labels: bool

    def __iter__(self) -> Iterator[bool]:
        """Yield the signs, in their order."""
        return (getattr(self, name) for name in self.__slots__)


def signs_of_others_words(text: str) -> Signs:
    """Return what speaks for somebody else's words in a message."""
    text = lowered_safe(text).strip()
    low = lowered(text)
    said = list(sentences(text[:_READ]))
    labelled = corrects(low)
    return Signs(
        several_lines=len(text.splitlines()) > 1 or list(own_lines(text)) != [text],
        long=len(text) > _LONGEST,
        many_sentences=len(said) > _MOST_SENTENCES,
        asks_before=any(one.asks for one in said[:-1]),
        names_a_text=_OTHERS.search(low) is not None
        or any(GAP in one.low or refusals.is_about_material(one.low) for one in said),
        reports=any(reports(one.low) for one in said),
        labels=any(
            found.end() > labelled and _OWN_LABEL.fullmatch(low[: found.start()]) is None
            for found in _COLON.finditer(low)
        ),
    )


def holds_others_words(text: str) -> bool:
    """Return True unless a message is surely the person's own words alone."""
    return any(signs_of_others_words(text))


def announces_others_words(text: str) -> bool:
    """Return True if the message after this one is somebody else's: "here is what Tom wrote:", "summarize this"."""
    low = lowered(lowered_safe(text).strip())
    return low.endswith((":", "：", "...", "…")) or any(refusals.is_about_material(one.low) for one in sentences(low))


def reports(low: str, end: int | None = None) -> bool:
    """Return True if a sentence, up to ``end``, tells what somebody else said: "Nora says that ..."."""
    return _REPORT.search(low, 0, len(low) if end is None else end) is not None


_REPORT = LazyPattern(lambda: rf"\b(?<!i )(?<!we )(?:{lexicon.pattern('others.reporting')})\b")
# A bullet, something pointed at, code, how letters begin and end; what somebody does with a text, and where it is from.
_OTHERS = LazyPattern(
    lambda: (
        rf"^[-*•–]\s|\^|↑|👆|👇|`[^`]{{12,}}`|\b(?:{lexicon.pattern('letters.formal_greetings')}) \w"
        rf"|\b(?:{lexicon.pattern('letters.regards')})\b"
        r"|\b(?:best|sincerely|yours|cheers|thanks|abraços?), ?\w{1,20}\W*$"
        rf"|^(?:{lexicon.pattern('letters.casual_greetings')}) (?!there\b|again\b|claude\b|codex\b|gemini\b|cursor\b)\w+,"
        rf"|\s[–—] ?\w+\W*$|\b(?:{lexicon.pattern('material.worked_on')})|\b(?:{lexicon.pattern('others.texts')})\b"
        rf"|{lexicon.any_of(lexicon.words('material.worked_on_characters'))}"
    )
)
_COLON = LazyPattern(r":(?=\s|$)|：")
_OWN_LABEL = LazyPattern(
    lambda: rf"(?:{lexicon.any_of(lexicon.words('others.label_leads'))} )*(?:{lexicon.pattern('others.labels')})"
)
