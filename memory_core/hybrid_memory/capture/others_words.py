"""Whether a message may also hold somebody else's words: pasted, quoted, or of a dialogue. Pure.

What is kept of such a message takes no other statement's place. So this errs on one side: only one line of few, plain sentences is
surely the person's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hybrid_memory.capture import english, foreign, refusals
from hybrid_memory.capture.own_words import GAP, lowered_safe, own_lines
from hybrid_memory.capture.sentences import lowered, sentences
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
    corrects = english.CORRECTS.match(low) or foreign.CORRECTS.match(low)
    labelled = 0 if corrects is None else corrects.end()
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


_REPORT = LazyPattern(
    r"\b(?<!i )(?<!we )(?:said|says|say|told|wrote|writes|asked|asks|thinks|claims|claimed"
    r"|mentioned|replied|answered|states|sagte|sagt|meint|meinte|schrieb|dit|dijo|dice|disse"
    r"|diz)\b"
)
# A bullet, something pointed at, code, and how letters begin and end.
_OTHERS = LazyPattern(
    r"^[-*•–]\s|\^|↑|👆|👇|`[^`]{12,}`|\b(?:dear|sehr geehrte\w?|chère?|estimad[oa]s?|prezad[oa]s?) \w"
    r"|\b(?:(?:kind|best|warm)(?:est)? (?:regards|wishes)|regards|cordialement|saludos|viele grüße|liebe grüße)\b"
    r"|\b(?:best|sincerely|yours|cheers|thanks|abraços?), ?\w{1,20}\W*$"
    r"|^(?:hi|hello|hey|hallo|bonjour|hola|olá) (?!there\b|again\b|claude\b|codex\b|gemini\b|cursor\b)\w+,|\s[–—] ?\w+\W*$"
    # What somebody does with a text, and where it is from.
    r"|\b(?:translat|proof ?read|rephras|reword|rewrit|paraphras|summari[sz]|shorten|tweet"
    r"|übersetz|korrigier|tradui|résum|traduc|traduz)"
    r"|\b(?:grammar|spelling|wording|quote|unquote|bio|essay|blog|article|paragraph|sentence|minutes of|the minutes|transcript|thoughts"
    r"|according to|^(?:fyi|fwd|fw|forwarded|news) from"
    r"|(?:his|her|their) (?:answer|reply|words)|e?mail from|is (?:this|that) (?:ok|okay|right|correct|true|good))\b"
    r"|翻译|翻譯|总结|改写|润色|翻訳|要約|校正"
)
_COLON = LazyPattern(r":(?=\s|$)|：")
_OWN_LABEL = LazyPattern(
    r"(?:(?:please|ok|oh|and|so|btw|bitte) )*(?:(?:small|quick|one) )?(?:correction|update|decision|decided|note|reminder|important"
    r"|fyi|info|remember(?: this| that)?(?: for (?:later|next time|the future))?"
    r"|note to self|for the record|change of plans?|wait|no|nope|sorry|actually|from now on"
    r"|korrektur|entscheidung|entschieden|notiz|wichtig|merk dir|nein|zur info|ab jetzt"
    r"|décision|retiens|non|à noter|corrección|decisión|recuerda|nota|correção|decisão|lembre|não|更正|不对|决定|記憶|訂正|メモ|決定)"
)
