"""Whether a question asks about the past, the present or the first of several states, and which way its wording looks."""

from __future__ import annotations

import re
from datetime import datetime

from hybrid_memory.retrieval.when.almanac import HIGHEST
from hybrid_memory.retrieval.when.phrases import Phrase
from hybrid_memory.retrieval.when.reader import Lean
from hybrid_memory.retrieval.when.values import Anchor, Stance


def lean(text: str) -> Lean:
    """Return "future" if the lower-case text speaks of what is to come, else "past"."""
    return "future" if _FUTURE.search(text) and not _PAST_TENSE.search(text) else "past"


def lean_of_statement(text: str) -> Lean:
    """Return where a statement in lower case looks; "nearest" if it looks both ways or neither."""
    future, past = _FUTURE.search(text) or _PLANNED.search(text), _PAST_VERB.search(text)
    if future and not _DONE.search(text):
        return "future"
    return "past" if past and not future else "nearest"


def stance(
    text: str, phrases: list[Phrase], anchors: tuple[Anchor, ...], now: datetime
) -> tuple[Stance, list[tuple[int, int]]]:
    """Return what a question in lower case asks about, and where the words that say so are.

    What is said outright counts most: the first, then an earlier state, then the current one. Else times and events that
    are over tell of the past, and the plain present tense of the current state.
    """
    first, past, current = (_found(pattern, text) for pattern in (_FIRST, _EARLIER, _CURRENT))
    places = first + past + current
    if first:
        return "first", places
    if past or any(anchor.relation == "before" for anchor in anchors):
        return "past", places
    over = [phrase for phrase in phrases if all(period.end <= now for period in phrase.periods)]
    if over and len(over) == len(phrases):
        return ("current" if _NEWEST.search(text) else "past"), places
    spoken_of_past = _PAST_TENSE.search(text) is not None
    if _NEWEST.search(text) or (current and not spoken_of_past):
        return "current", places
    ahead = any(period.start > now for phrase in phrases for period in phrase.periods)
    open_or_none = all(
        period.end == HIGHEST or period.start <= now < period.end for p in phrases for period in p.periods
    )
    if not spoken_of_past and not ahead and open_or_none and not anchors and _is_present(text):
        return "current", places
    return "any", places


def _found(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _is_present(text: str) -> bool:
    return _PRESENT.search(text) is not None and _PAST_VERB.search(text) is None and _FUTURE.search(text) is None


_FUTURE = re.compile(
    r"\b(?:will|shall|won't|upcoming|tomorrow|going to|gonna|planning to|am i (?:do|go|fly|see|meet|travel|visit|leav)ing"
    r"|plans? for|next)\b|['’]ll\b"
)
_PLANNED = re.compile(
    r"\b(?:booked|scheduled|due|planned|planning|plans?|appointment|deadline|expires?|reserved|reservation|set for|starts?"
    r"|upcoming|until|arrives?|leaves?|invited)\b"
)
_DONE = re.compile(r"\b(?:was|were|had|did|ago)\b")
_PAST_TENSE = re.compile(r"\b(?:was|were|did|had|wasn't|weren't|didn't|hadn't)\b")
_PAST_VERB = re.compile(
    r"\b(?:was|were|did|had|wasn't|weren't|didn't|hadn't|went|got|bought|took|saw|met|said|told|made|came|gave|found|left|lost"
    r"|wrote|began|broke|chose|drove|ate|fell|felt|flew|forgot|grew|heard|kept|knew|led|paid|ran|sat|sold|sent|slept|spent|spoke"
    r"|stood|swam|taught|thought|wore|won|became|built|caught|drank|held|brought|(?!need|feed|speed|seed|bed|red|breed|indeed|"
    r"embed|shed|hundred|exceed|proceed|weed|naked|kindred|sacred|wicked)[a-z]{2,}ed)\b"
)
_FIRST = re.compile(
    r"\b(?:originally|initially|at first|in the beginning|to begin with|first (?:time|ever)|very first|earliest|original"
    r"|first(?= (?!weeks?|days?|months?|half|quarter|weekend|year|floor|name|aid|class|of|and|or|\w+ (?:of|in) |mon|tues|wednes|thurs"
    r"|fri|satur|sun)[a-z]))\b"
)
_EARLIER = re.compile(
    r"(?<!am )(?<!is )(?<!are )(?<!'m )(?<!’m )(?<!get )(?<!got )(?<!be )(?<!been )(?<!getting )(?<!was )(?<!were )"
    r"\buse(?:d)? to\b(?<!use to)|\b(?:did|didn't) (?:\w+ ){1,3}use to\b"
    r"|\b(?:previously|formerly|previous|former|prior (?!to)|back then|back when|at that time|in those days|in the past|no longer"
    r"|once upon|before (?:that|then|this|now)|not any ?more)\b"
    r"|\b(?:my|our|his|her|their|the) (?:old|ex)\b|\bbefore(?=\s*[?.!]?\s*$)|\bearlier(?=\s*[?.!]?\s*$)"
)
_NEWEST = re.compile(r"\b(?:current|currently|latest|newest|most recent|at the moment|nowadays|these days|presently)\b")
_CURRENT = re.compile(
    r"\b(?:current|currently|latest|newest|most recent|nowadays|presently|these days|at the moment|at present|right now"
    r"|for the time being|as of (?:now|today)|still|today|any ?more|up to date|so far)\b"
    r"|(?<!just )(?<!until )(?<!till )(?<!before )(?<!by )\bnow\b(?! and then)"
)
_PRESENT = re.compile(
    r"\b(?:what|who|where|which|how|when|why)(?:['’]s| is| are| am) |\b(?:am|do|is|are|does) (?:i|my|we|our|you|your|he|she|they|it"
    r"|the|[a-z]+) "
)
