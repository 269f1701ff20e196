"""What the messages of one conversation tell together: what was taken back, and what was put right. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hybrid_memory.capture.frames import frame_of
from hybrid_memory.capture.model import StatementKind
from hybrid_memory.capture.replacing import corrected, is_fragment, is_of_the_person, may_replace, words_of
from hybrid_memory.capture.sentences import lowered
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory_importers.record import Chosen, Record, Skipped
from hybrid_memory_importers.telling import Chances, ToldOne, joined, sets_a_scene, told

_LOOKED_BACK = 60  # statements of a conversation among which a correction looks for what was wrong
_LONGEST_COMPARED = 120  # characters of a statement that gives one thing a value
_ONE_AT_A_TIME = frozenset({"residence", "work", "name", "nickname", "diet", "language of answers"})
_LONGEST_JOINED = 420  # characters of a statement with what it corrects, or needs before it
_MEANT_AMONG = 12  # statements said last, of which a correction means one
_NEAR = 2  # messages, within which "he" is whom the last statement names
_ALIKE = 2  # words that a correction has in common with what it corrects
_MUCH_MORE = 2  # words of a correction beyond the value
_DENIED = LazyPattern(
    r"\b(?:not|nicht|pas|no|não|nao|non|niet|而不是|不是|instead of|statt|rather than) (?:on |in |at |the |am |um |le |la |el |o |a "
    r"|de |der |den |dem |die |das )*([\w:.-]*\w)"
)
_FIGURES = LazyPattern(r"\d+")
_SMALL_DIGITS = 2
_ABOUT = LazyPattern(
    r"\b(?!(?:The|And|But|Not|Actually|What|Change|There|This|That|They|Our|His|Her|For|One|You|She|Die|Der|Das|Und|Ich|Wir|Nee"
    r"|Nein|Doch|Les|Une|Mon|Mes|Los|Las|Una|Mis)\b)[A-ZÀ-ÖØ-Þ][\w-]{2,}|\b[^\W\d_]{6,}\b|[\u4e00-\u9fff]{2}"
)
_MONTHS = LazyPattern(
    r"(?i)\b(?:january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz|mai|juni"
    r"|juli|oktober|dezember|enero|febrero|marzo|abril"
    r"|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre"
    r"|octobre|novembre|décembre|janeiro|fevereiro|março"
    r"|maio|junho|julho|setembro|outubro|dezembro|(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch"
    r"|donnerstag|freitag|samstag|sonntag)\b"
)
_SELF = frozenset({"self"})
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Conversation:
    """The messages of a person in one conversation, in its order."""

    _found: list[Chosen | Skipped] = field(default_factory=list)
    _cores: dict[int, str] = field(default_factory=dict)
    _plays: bool = False
    _fiction: bool = False
    _messages: int = 0
    _last_told: int = 0

    def add(self, record: Record, let: Chances | None = None) -> Skipped | None:
        """Look at the next message, and what a gate makes of it; return why nothing of it comes in, None where something does."""
        self._messages += 1
        self._plays = self._plays or sets_a_scene(record.text)
        if self._plays:
            return Skipped("in a role play, an exercise or a game", record.key)
        found = told(record.text, record.at or _UNKNOWN, fiction=self._fiction, let=let)
        self._fiction = self._fiction or found.fiction
        for topic in found.taken_back:
            self._take_back(topic)
        kept = 0
        for one in found.all:
            for placed, core in self._placed(record, one, kept):
                self._cores[len(self._found)] = core
                self._found.append(placed)
                kept += 1
        if kept:
            self._last_told = self._messages
            return None
        return Skipped(found.reason or "said before in the conversation", record.key)

    def chosen(self) -> Iterator[Chosen | Skipped]:
        """Yield what comes in, and what was taken back."""
        yield from self._found

    def _take_back(self, topic: str) -> None:
        """Leave out what was said of a topic, or what was said last."""
        meant = words_of(topic) if topic else frozenset()
        for at in range(len(self._found) - 1, -1, -1):
            one = self._found[at]
            if isinstance(one, Skipped) or (topic and meant.isdisjoint(words_of(one.text))):
                continue
            self._found[at] = Skipped("taken back later in the conversation", one.record.key)
            if not topic:
                return

    def _placed(self, record: Record, one: ToldOne, part: int) -> Iterator[tuple[Chosen, str]]:
        """Yield what comes in of a statement, each with its core: in the place of what it corrects, or behind what it needs."""
        statement = one.statement
        new = Chosen(
            record=record,
            text=statement.text,
            importance=statement.importance,
            tags=tuple(dict.fromkeys((*record.tags, *statement.tags))),
            part=part,
        )
        corrects = one.corrects or statement.kind is StatementKind.CORRECTION
        fragment = is_fragment(lowered(one.core))
        if (
            fragment
            or corrects
            or (len(one.core) <= _LONGEST_COMPARED and may_replace(replace(statement, text=one.core)))
        ):
            earlier = [at for at in range(len(self._found)) if isinstance(self._found[at], Chosen)][-_LOOKED_BACK:]
            change = corrected(one.core, [self._cores[at] for at in earlier], corrects=corrects)
            if change is not None:
                yield from self._in_its_place(new, one.core, earlier[change.place], change.text)
                return
        old = self._meant_by(new.text) if corrects else None
        if old is not None:
            before = self._chosen_at(old)
            text = joined(before.text, new.text)
            yield _in_place(new, before, text), text
        elif (one.leans or (corrects and fragment)) and (before_it := self._before(new.text)) is not None:
            yield replace(new, text=joined(before_it, new.text)), new.text
        else:
            yield new, one.core

    def _in_its_place(self, new: Chosen, core: str, at: int, holds: str) -> Iterator[tuple[Chosen, str]]:
        """Yield what takes the place of an earlier statement: it says all of that, or that one holds on with another value."""
        old = self._chosen_at(at)
        if holds == core:
            rest = old.text if old.text != self._cores[at] else ""
            text = joined(rest, new.text) if rest and len(rest) + len(new.text) <= _LONGEST_JOINED else new.text
            yield _in_place(new, old, text) if not rest or text != new.text else new, core
        elif self._cores[at] in old.text:
            yield _in_place(new, old, old.text.replace(self._cores[at], holds, 1)), holds
            if len(words_of(new.text) - words_of(core)) > _MUCH_MORE:
                yield replace(new, part=new.part + 1), new.text
        else:
            yield new, core

    def _chosen_at(self, at: int) -> Chosen:
        one = self._found[at]
        assert isinstance(one, Chosen)  # noqa: S101 - places of those only
        return one

    def _meant_by(self, text: str) -> int | None:
        """Return the place of the one statement that a correction means: it holds what is "not" so, or was said just before of the same."""
        lately = [at for at, one in enumerate(self._found) if isinstance(one, Chosen)][-_MEANT_AMONG:]
        denied = [found[1] for found in _DENIED.finditer(lowered(text))]
        if denied:
            holds = [at for at in lately if any(_is_denied(self._chosen_at(at).text, one, text) for one in denied)]
            if holds:
                return _fits(holds[-1], self._chosen_at(holds[-1]), text)
        said = _telling(text)
        for at in reversed(lately):
            one = self._chosen_at(at)
            alike = said & _telling(one.text)
            if len(alike) >= _ALIKE or (at == lately[-1] and _MONTHS.search(text) and _same_month(text, one.text)):
                return _fits(at, one, text)
        return None

    def _before(self, text: str) -> str | None:
        """Return the statement said last that one with "he" or "it" needs, if it was said just before."""
        if self._messages - self._last_told > _NEAR:
            return None
        last = next((one for one in reversed(self._found) if isinstance(one, Chosen)), None)
        return None if last is None or len(last.text) + len(text) > _LONGEST_JOINED else last.text


def _fits(at: int, one: Chosen, text: str) -> int | None:
    return at if len(one.text) + len(text) <= _LONGEST_JOINED else None


def _in_place(new: Chosen, old: Chosen, text: str) -> Chosen:
    importance = max(new.importance or 0.0, old.importance or 0.0)
    tags = tuple(dict.fromkeys((*new.tags, *old.tags)))
    return replace(new, text=text, tags=tags, importance=importance, supersedes=(old.record.key, old.part))


def _is_denied(earlier: str, value: str, text: str) -> bool:
    """Return whether an earlier statement holds what a text says is not so; a small number alone ("not 7") may be of anything."""
    figures = _FIGURES.findall(value)
    if not any(_holds(earlier, one) for one in figures or [value]):
        return False
    is_small = value.isdigit() and len(value) <= _SMALL_DIGITS
    return not is_small or not _telling(text).isdisjoint(_telling(earlier)) or _same_month(text, earlier)


def _holds(text: str, value: str) -> bool:
    low, at = lowered(text), -1
    while (at := low.find(value, at + 1)) >= 0:
        before, behind = low[at - 1 : at] if at else "", low[at + len(value) : at + len(value) + 1]
        if not (before.isdigit() or behind.isdigit()) and (
            not value.isalpha() or not (before.isalpha() or behind.isalpha())
        ):
            return True
    return False


def _telling(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about: names, and long words."""
    return frozenset(lowered(one) for one in _ABOUT.findall(text))


def _same_month(text: str, other: str) -> bool:
    return not {one.lower() for one in _MONTHS.findall(text)}.isdisjoint(one.lower() for one in _MONTHS.findall(other))


def is_one_at_a_time(one: Chosen) -> bool:
    """Return True if a statement tells what a person has one of at a time, in whatever conversation they say so."""
    if len(one.text) > _LONGEST_COMPARED:
        return False
    frame = frame_of(one.text.strip(" .!"))
    of_self = frame is not None and frame.attribute in _ONE_AT_A_TIME and (frame.scope <= _SELF or not frame.names)
    return of_self or is_of_the_person(one.text)


def newest_of_the_person(found: Sequence[Chosen]) -> Iterator[Chosen]:
    """Yield statements of many conversations, each with the earlier one whose place it takes, in the order of time."""
    ordered = sorted(found, key=lambda one: one.record.at or _UNKNOWN)
    done: list[Chosen] = []
    for one in ordered:
        new = one if one.supersedes is not None else _superseding(one, done[-_LOOKED_BACK:], corrects=False) or one
        done.append(new)
        yield new


def _superseding(new: Chosen, earlier: Sequence[Chosen], *, corrects: bool) -> Chosen | None:
    """Return a statement that takes the place of one of some earlier ones; None where it takes none's."""
    change = corrected(new.text, [one.text for one in earlier], corrects=corrects)
    if change is None:
        return None
    old = earlier[change.place]
    tags = tuple(dict.fromkeys((*new.tags, *old.tags))) if change.text != new.text else new.tags
    return replace(new, text=change.text, tags=tags, supersedes=(old.record.key, old.part))
