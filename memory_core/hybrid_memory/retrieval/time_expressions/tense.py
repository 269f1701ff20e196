"""Whether a question asks about the past, the present or the first of several states, and which way its wording looks."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.time_expressions.calendar_math import Period
from hybrid_memory.retrieval.time_expressions.expressions import Phrase
from hybrid_memory.retrieval.time_expressions.lexer import Direction, word_set

AskedState = Literal["past", "current", "first", "any"]


def direction_of(text: str, words: list[str]) -> Direction:
    """Return where a question in lower case looks for a name without a year: "either" way in the plain present tense."""
    if _FUTURE.search(text) and not _PAST_TENSE.search(text):
        return "future"
    return "either" if is_present(text, words) or _PRESENT_VERB.search(text) else "past"


def stated_direction_of(text: str, words: list[str]) -> Direction:
    """Return where a statement in lower case looks for a name without a year: ``stated`` where its tense does not tell."""
    if _PLANNED.search(text) and not _PAST_TENSE.search(text):
        return "future"
    is_past = not _PAST_VERBS.isdisjoint(words) or any(word.endswith("ed") and word not in _NO_PAST for word in words)
    # "Booked for 13 July", "moved to Friday": what was done then is no matter of the date.
    return "past" if is_past and _AIMED.search(text) is None else "stated"


def asked_state_of(
    text: str, words: list[str], phrases: list[Phrase], relations: set[str], now: datetime
) -> tuple[AskedState, list[tuple[int, int]]]:
    """Return what a question in lower case asks about, and where the words that say so are.

    What is said outright counts most: the first, then an earlier state, then the current one. Else times that are over, or
    "before" an event, tell of the past, and the plain present tense of the current state.
    """
    first, past, current = (_found(pattern, text) for pattern in (_FIRST, _EARLIER, _CURRENT))
    places = first + past + current
    periods = [period for phrase in phrases for period in phrase.periods]
    state = _stated_outright(text, first=bool(first), past=bool(past) or "before" in relations) or _by_times(
        periods, now
    )
    return state or _by_tense(text, words, said_now=bool(current), related=not relations <= {"since"}), places


def _stated_outright(text: str, *, first: bool, past: bool) -> AskedState | None:
    if first or past:
        return "first" if first else "past"
    return "current" if _NEWEST.search(text) else None


def _by_times(periods: list[Period], now: datetime) -> AskedState | None:
    if periods and all(period.end < now for period in periods):
        return "past"
    return None if all(period.start <= now <= period.end for period in periods) else "any"


def _by_tense(text: str, words: list[str], *, said_now: bool, related: bool) -> AskedState:
    if related or _PAST_TENSE.search(text):
        return "any"
    return "current" if said_now or is_present(text, words) else "any"


def is_present(text: str, words: list[str]) -> bool:
    """Return True if a question is wholly in the plain present tense, as "What is my name?", "Where does she work?"."""
    distinct = set(words)
    if _PRESENT.isdisjoint(distinct) and not _CONTRACTED.search(text):
        return False
    if not _NOT_PRESENT.isdisjoint(distinct) or any(word.endswith("ed") and word not in _NO_PAST for word in distinct):
        return False
    return not ("you" in distinct and not _MEMORY.isdisjoint(distinct)) and _FUTURE.search(text) is None


def _found(pattern: LazyPattern, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


_FUTURE = LazyPattern(
    r"\b(?:will|won't|shall|must|should|need to|have to|can (?:i|we)|upcoming|tomorrow|next|going to|gonna|planning to|plans? for"
    r"|how (?:long|many \w+) (?:until|till|before|to)"
    r"|am i (?:do|go|fly|see|meet|travel|visit|leav)ing|(?:is|are|['’]s) (?:planned|scheduled|due|booked))\b|['’]ll\b"
)
_PRESENT_VERB = LazyPattern(
    r"^\W*(?:and |so )?(?:what|who|which \w+)(?: else)? (?!was\b|does\b|has\b|is\b)\w{2,}[^s\W]s\b"
)
_PLANNED = LazyPattern(
    r"\b(?:will|won't|shall|tomorrow|upcoming|going to|gonna|planned|scheduled|booked|due)\b|['’]ll\b"
)
_AIMED = LazyPattern(
    r"\b(?:to|for|by|until|till|from) (?:the |next |this )?"
    r"(?:\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_PAST_TENSE = LazyPattern(r"\b(?:was|were|did|had|wasn't|weren't|didn't|hadn't)\b")
_NO_PAST = word_set(
    "need feed speed seed bed red breed indeed embed shed hundred exceed proceed weed naked wicked sacred kindred medicated fed named "
    "called located based married engaged employed interested supposed allowed related listed preferred divorced retired "
    "scheduled planned needed required configured installed stored hosted"
)
_IRREGULAR = word_set(
    "was were did had went got bought took saw met said told made came gave found left lost wrote began broke chose drove ate fell "
    "felt flew forgot grew heard kept knew led paid ran sat sold sent slept spent spoke stood swam taught thought wore won became "
    "built caught drank held brought didn wasn weren hadn"
)
_PAST_VERBS = _IRREGULAR - {"sat", "read", "paid"}  # Sat 5 Dec; "is paid"
_NOT_PRESENT = _IRREGULAR | word_set("been will would")
_PRESENT = word_set("am is are do does")
_MEMORY = word_set("know remember recall think")
_CONTRACTED = LazyPattern(r"\b(?:what|who|where|which|how|when)['’]s\b")
_FIRST = LazyPattern(
    r"\b(?:originally|initially|at first|in the beginning|to begin with|first (?:time|ever)|very first|earliest|original"
    r"|first(?= (?!weeks?|days?|months?|half|quarter|weekend|year|floor|name|aid|class|of|and|or|\w+ (?:of|in) |mon|tues|wednes|thurs"
    r"|fri|satur|sun)[a-z]))\b"
)
_EARLIER = LazyPattern(
    r"(?<!am )(?<!is )(?<!are )(?<!'m )(?<!’m )(?<!get )(?<!got )(?<!be )(?<!been )(?<!getting )(?<!was )(?<!were )"
    r"\buse(?:d)? to\b(?<!use to)|\b(?:did|didn't) (?:\w+ ){1,3}use to\b"
    r"|\b(?:previously|formerly|previous|former|prior (?!to)|back then|back when|at that time|in those days|in the past|no longer"
    r"|once upon|before (?:that|then|this|now)|not any ?more)\b"
    r"|\b(?:my|our|his|her|their|the) (?:old|ex)\b|\bbefore(?=\s*[?.!]?\s*$)|\bearlier(?=\s*[?.!]?\s*$)"
)
_NEWEST = LazyPattern(
    r"\b(?:current|currently|latest|newest|most recent|at the moment|nowadays|these days|presently)\b"
)
_CURRENT = LazyPattern(
    r"\b(?:current|currently|latest|newest|most recent|nowadays|presently|these days|at the moment|at present|right now"
    r"|for the time being|as of (?:now|today)|still|today|any ?more|up to date|so far)\b"
    r"|(?<!just )(?<!until )(?<!till )(?<!before )(?<!by )\bnow\b(?! and then)"
)
