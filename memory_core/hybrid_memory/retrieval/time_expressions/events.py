"""Events that stand for a time: "before the move", "when the storm hit", "on the night of the cut-over"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from hybrid_memory.language import lexicon
from hybrid_memory.retrieval.time_expressions.calendar_math import HIGHEST, LOWEST
from hybrid_memory.retrieval.time_expressions.expressions import Phrase
from hybrid_memory.retrieval.time_expressions.lexer import TokenCursor

Relation = Literal["before", "after", "during", "on", "around", "since", "until"]

MAX_PHRASE_WORDS = 12  # of an event's phrase; more would find what is not the event

_PARTS = lexicon.words("events.day_parts", "en")
_RELATIONS: dict[tuple[str, ...], Relation] = {
    tuple(wording.split()): cast("Relation", relation)
    for wording, relation in lexicon.meanings("events.relations", "en").items()
} | {(*start, part, link): "on" for part in _PARTS for start in (("on", "the"), ("the",)) for link in ("of", "that")}
_HEADS = frozenset(words[0] for words in _RELATIONS)
_AUXILIARIES = lexicon.words("events.auxiliaries", "en")
_ASKING = lexicon.words("events.asking", "en")
_REPORTING = lexicon.words("events.reporting", "en")
_PARTICLE_VERBS = lexicon.words("events.particle_verbs", "en")
_POINTLESS = lexicon.words("events.pointless", "en")
_TITLES = lexicon.words("people.titles", "en") | {"st"}
_EMPTY = lexicon.words("events.empty", "en")
_WITHIN = frozenset("-'’&/+")


def _names_something(cursor: TokenCursor, begin: int, end: int) -> bool:
    """Return True if tokens name anything."""
    return any(cursor.token(at).kind == "word" and cursor.word(at) not in _EMPTY for at in range(begin, end))


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that stands for a time: "before the move" is the relation "before" and the phrase "the move"."""

    relation: Relation
    phrase: str


class EventMatch(NamedTuple):
    """An anchor, the tokens of its connective from ``begin`` up to ``middle``, and the place behind its phrase."""

    anchor: Anchor
    begin: int
    middle: int
    end: int


def find_events(cursor: TokenCursor, text: str, found: list[Phrase]) -> list[EventMatch]:
    """Return the anchors of a question whose times are ``found``."""
    taken = {at for phrase in found for at in range(phrase.begin, phrase.end)}
    result: list[EventMatch] = []
    at = 0
    while at < len(cursor.tokens):
        related = _relation(cursor, at) if at not in taken else None
        begin = at + related[1] if related else at
        end = _end(cursor, begin, taken) if related else begin
        if related is None or end <= begin or not _names_something(cursor, begin, end):
            at += 1
            continue
        phrase = text[cursor.token(begin).start : cursor.token(end - 1).end]
        result.append(EventMatch(Anchor(related[0], phrase), at, begin, end))
        other = _and_after(cursor, end)
        if other is not None:
            result.append(EventMatch(Anchor(other[0], phrase), end, other[1], other[1]))
        at = other[1] if other else end
    return result


def extend_dated_events(found: list[Phrase], events: list[EventMatch]) -> list[Phrase]:
    """Return the phrases; one that dates an anchor, as in "before the move in May", reaches from there as the anchor does."""
    ends = {event.end: event.anchor.relation for event in events}
    return [_extended(phrase, ends.get(phrase.begin)) for phrase in found]


def _extended(phrase: Phrase, relation: str | None) -> Phrase:
    if relation not in {"before", "after", "since", "until"} or phrase.relation != "during":
        return phrase
    if any(period.grain in {"day", "hour", "week", "weekend"} for period in phrase.periods):
        return phrase
    softer = [period._replace(certainty=round(period.certainty * 0.8, 3)) for period in phrase.periods]
    if relation in {"before", "until"}:
        return phrase._replace(periods=tuple(period._replace(start=LOWEST) for period in softer))
    return phrase._replace(periods=tuple(period._replace(end=HIGHEST) for period in softer))


def _relation(cursor: TokenCursor, at: int) -> tuple[Relation, int] | None:
    word, before = cursor.word(at), cursor.word(at - 1)
    if word not in _HEADS:
        return None
    length, relation = next(
        (
            (n, _RELATIONS[words])
            for n in (4, 3, 2, 1)
            if len(words := cursor.words(at, n)) == n and words in _RELATIONS
        ),
        (0, None),
    )
    after = cursor.word(at + length)
    if word in {"the", "on"} and relation is None:
        return _part_with_clause(cursor, at)
    if relation is None or after in _POINTLESS or after == "" or (word == "following" and before == "the"):
        return None
    if word == "when" and (after in _AUXILIARIES or before in _REPORTING or _is_habit(cursor)):
        return None
    if (
        word in {"after", "before"}
        and before in _PARTICLE_VERBS
        and not (before in {"day", "week"} and word == "before")
    ):
        return ("after", length) if before in {"day", "week"} and cursor.word(at - 2) == "the" else None
    return (relation, length) if relation != "since" or after != "when" else None


def _part_with_clause(cursor: TokenCursor, at: int) -> tuple[Relation, int] | None:
    """Read "the day" of "the day I met Tom"."""
    place = cursor.skip(cursor.skip(at, "on"), "the")
    if cursor.word(place) not in _PARTS or cursor.word(place + 1) not in {"i", "we", "he", "she", "they"}:
        return None
    return ("on", place + 1 - at) if cursor.word(place - 1) == "the" else None


def _is_habit(cursor: TokenCursor) -> bool:
    """Return True if the question asks what is done whenever something happens."""
    return cursor.word(1) in {"do", "does", "should", "can"} or cursor.word(0) in {"do", "does", "should", "can"}


def _end(cursor: TokenCursor, begin: int, taken: set[int]) -> int:
    """Return the place behind a phrase: it ends at a mark, a time, or where the question itself goes on."""
    at = begin
    while at < len(cursor.tokens) and at - begin < MAX_PHRASE_WORDS and at not in taken:
        token = cursor.token(at)
        if token.kind == "mark" and not (token.text in _WITHIN or cursor.word(at - 1) in _TITLES):
            break
        if at > begin and (token.text in _ASKING - _AUXILIARIES or _goes_on(cursor, at)):
            break
        if (
            at > begin
            and token.text in {"did", "do", "does"}
            and cursor.word(at + 1) in {"i", "we", "you", "he", "she", "they"}
        ):
            break
        at += 1
    while at > begin and cursor.token(at - 1).kind == "mark":
        at -= 1
    return at


def _goes_on(cursor: TokenCursor, at: int) -> bool:
    """Return True if another relation follows, as in "after Tom left and before Anna came"."""
    if _and_after(cursor, at) is not None:
        return True
    return cursor.word(at) in {"and", "or"} and _relation(cursor, at + 1) is not None


def _and_after(cursor: TokenCursor, at: int) -> tuple[Relation, int] | None:
    """Read "and just after" without an event of its own, or "and after it"."""
    if cursor.word(at) not in {"and", "or"}:
        return None
    place = cursor.skip(at + 1, "just", "right", "shortly", "immediately", "soon")
    word = cursor.word(place)
    end = cursor.skip(place + 1, "it", "that", "this")
    if word not in {"before", "after", "afterwards"} or cursor.token(end).kind not in {"none", "mark"}:
        return None
    return ("before" if word == "before" else "after"), end
