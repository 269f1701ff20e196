"""What a person told in a message that lies in the past: more than `statements` keeps while they type. Pure.

While somebody types, only what is surely worth keeping is kept, for the assistant may ask again. A history is read once, and what is not
taken is gone: so each sentence comes in that tells of the person, of theirs or of what they have to do with, unless it asks, orders,
supposes, reports an error, or speaks of the talk itself. What `statements` finds keeps its sort; the rest are facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from hybrid_memory.capture import refusals
from hybrid_memory.capture.model import Statement, StatementKind, Turn
from hybrid_memory.capture.own_words import GAP, is_pasted
from hybrid_memory.capture.sentences import Sentence, lowered, without_fillers
from hybrid_memory.capture.statements import declared, own_sentences, statements_of
from hybrid_memory.capture.telling_words import (
    AT_WORK,
    AT_WORK_NAMED,
    BESIDE_THE_TALK,
    BROKEN,
    DROPPED,
    FOREIGN,
    FOREIGN_NOT,
    I_NOT,
    I_OR_WE,
    INTRODUCES,
    LABELLED,
    LED_IN,
    MINE,
    MINE_NOT,
    NAMED,
    NAMED_NOT,
    OURS,
    PART,
    PERSONAL_WORDS,
    REPORTED,
    SELF_AND_OTHERS,
    SETS_A_SCENE,
    STATED,
    TELLS_DENSE,
    TELLS_DENSE_NOT,
    THEIRS,
)
from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.detection import find_secrets

# Set by hand.
_LONGEST = 300  # characters of a statement; a longer sentence is a paragraph without dots
_SHORTEST_WORDS = 3
_SHORTEST_DENSE = 4  # characters
_READ = 20_000  # characters of a message; beyond them nobody typed
_SCENE = 2_000  # characters of a message in which it would be said what is played
_SHORT_TALK = 40  # characters
_MOST = 20  # of one message
_TOLD = 0.5  # importance of what no rule of capture knows
_FEW_SENTENCES = 2  # of a message that is nobody's text, though it does not say "I"
_PASTED_SENTENCES = 12  # of a message, from which on sentences about others are somebody's text
_NAME = LazyPattern(r"(?<=\s)[A-ZÀ-Þ]\w")


@dataclass(frozen=True, slots=True)
class Told:
    """What a message tells.

    ``statements`` are in its order; ``reason`` says why there are none, for people, "" where there are some. ``taken_back`` are topics of
    which what was said before is to be forgotten, "" for what was said last.
    """

    statements: tuple[Statement, ...]
    reason: str = ""
    taken_back: tuple[str, ...] = ()


def told(text: str, said_at: datetime) -> Told:
    """Return what a person told in a message; calling it again gives the same."""
    own = text[:_READ]
    if not own.strip():
        return Told((), "empty")
    if is_pasted(own):
        return Told((), "pasted: a letter or mail")
    sentences = list(own_sentences(own))
    if any(refusals.takes_message_out(sentence) for sentence in sentences):
        return Told((), "a story, a role, or not to be remembered")
    turn = Turn(own, said_at)
    alone = len(sentences) <= _FEW_SENTENCES or (
        len(sentences) < _PASTED_SENTENCES and any(not PERSONAL_WORDS.isdisjoint(one.words) for one in sentences)
    )
    known = list(statements_of(sentences, turn))
    found: list[Statement] = []
    taken_back: list[str] = []
    introduces = any(INTRODUCES.search(sentence.low) is not None for sentence in sentences)
    for sentence in sentences:
        topic = refusals.takes_back(sentence.low)
        if topic is not None:
            taken_back += [topic] if topic or not found else []
            found = found if topic else found[:-1]
            continue
        of_rules = [one for one in known if _is_within(one.text, sentence)]
        if of_rules:
            known = [one for one in known if one not in of_rules]
            found += [_whole(one, sentence) for one in of_rules]
        elif introduces and LABELLED.match(sentence.low) is not None:
            found += _fact(sentence.raw, turn)
        elif alone or sentence.dense or not PERSONAL_WORDS.isdisjoint(sentence.words):
            found += _facts(sentence, turn, alone=alone)
    found += known  # those of two sentences
    kept = [one for at, one in enumerate(found) if all(one.text != other.text for other in found[:at])][:_MOST]
    return Told(tuple(kept), "" if kept else _reason(sentences, own), tuple(taken_back))


def sets_a_scene(text: str) -> bool:
    """Return True for a message after which a conversation is a game, an exercise, or material: "let's role-play", "correct my English"."""
    return SETS_A_SCENE.search(lowered(text[:_SCENE])) is not None


def _is_within(text: str, sentence: Sentence) -> bool:
    return text in sentence.raw


def _whole(statement: Statement, sentence: Sentence) -> Statement:
    """Return "my sister and I sold the house" for "I sold the house", which is not all that was said of who did."""
    at = sentence.raw.find(statement.text)
    before = sentence.raw[:at]
    if not at or SELF_AND_OTHERS.fullmatch(lowered(before)) is None:
        return statement
    text = before + statement.text
    return statement if len(text) > _LONGEST else _with_text(statement, text)


def _with_text(statement: Statement, text: str) -> Statement:
    return Statement(
        text, statement.kind, statement.importance, statement.occurred_at, statement.tags, statement.fragment
    )


def _facts(sentence: Sentence, turn: Turn, *, alone: bool) -> Iterator[Statement]:
    """Yield what a sentence tells: each run of its parts that tell something, as it was written."""
    begin = end = -1
    for start, stop in [*_parts(sentence), (len(sentence.raw), -1)]:
        shown = None if stop < 0 else _shown(sentence, start, stop, alone=alone)
        if shown is not None:
            begin = start if begin < 0 else begin
            end = start + sentence.raw[start:stop].find(shown) + len(shown)
            if end >= start + len(sentence.raw[start:stop].rstrip(" ,;")):
                continue
        if begin >= 0:
            yield from _fact(sentence.raw[begin:end], turn)
        begin = -1


def _fact(raw: str, turn: Turn) -> Iterator[Statement]:
    text = raw.strip().strip(" ,;:-–—*_").rstrip("([ ").strip()
    if text and len(text) <= _LONGEST and GAP not in text and not find_secrets(text):
        yield Statement(text, StatementKind.FACT, _TOLD, turn.said_at)


def _parts(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a sentence begin and end, each with a subject of its own."""
    start = 0
    for found in PART.finditer(sentence.low):
        if REPORTED.search(sentence.low, 0, found.start()) is not None:
            break
        if found.start() <= start:
            start = found.end()
        elif SELF_AND_OTHERS.fullmatch(sentence.low[start : found.end()]) is None:
            yield start, found.start()
            start = found.end()
    yield start, len(sentence.raw)


def _shown(sentence: Sentence, start: int, stop: int, *, alone: bool) -> str | None:
    """Return the words of a part that tell something, without a request behind them."""
    until = sentence if stop == len(sentence.raw) else sentence.before(stop)
    if refusals.is_supposed(until):
        return None
    part = without_fillers(until.behind(start))
    if refusals.is_unsure(part):
        return None
    shown = declared(part, loose=OURS.match(part.low) is not None)
    if shown is None:
        return None
    at = refusals.request_behind(shown.low, soft=True)
    shown = shown.before(at) if at else shown
    return shown.raw if shown.raw and _tells(shown, alone=alone) else None


def _tells(shown: Sentence, *, alone: bool) -> bool:
    """Return True if a clause tells of the person, of theirs, or of somebody by name."""
    low = shown.low
    if shown.dense:
        return (
            len(low) >= _SHORTEST_DENSE and TELLS_DENSE.search(low) is not None and TELLS_DENSE_NOT.search(low) is None
        )
    if STATED.fullmatch(low) is not None:
        return True
    if len(low.split()) < _SHORTEST_WORDS or any(form.search(low) is not None for form in (BESIDE_THE_TALK, BROKEN)):
        return False
    lead = LED_IN.match(low)
    if lead is not None:
        low = low[lead.end() :]
    for form, unless in (
        (MINE, MINE_NOT),
        (I_OR_WE, I_NOT),
        (DROPPED, None),
        (OURS, None),
        (THEIRS, None),
        (AT_WORK, None),
    ):
        if form.match(low) is not None:
            return unless is None or unless.match(low) is None
    if any(form.match(low) is not None for form in FOREIGN):
        return FOREIGN_NOT.search(low) is None
    return alone and (
        _is_of_somebody(shown) or (AT_WORK_NAMED.match(low) is not None and _NAME.search(shown.raw, 1) is not None)
    )


def _is_of_somebody(shown: Sentence) -> bool:
    """Return True if a sentence begins with a name and tells what one tells of a person."""
    found = NAMED.match(shown.low)
    if found is None or not shown.raw[:1].isupper() or NAMED_NOT.match(shown.low) is not None:
        return False
    name = shown.raw[: found.end("name")] if found["name"] is not None else shown.raw[:1]
    return all(word[:1].isupper() or word in ("and", "&") for word in name.split())


def _reason(sentences: Sequence[Sentence], text: str) -> str:
    if not sentences:
        return "small talk" if len(text) <= _SHORT_TALK else "pasted, quoted or code"
    asks = sum(one.asks or refusals.is_question(one.low) for one in sentences)
    return "only asks" if asks == len(sentences) else "orders, small talk, or about the talk itself"
