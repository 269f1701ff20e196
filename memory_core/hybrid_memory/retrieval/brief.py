"""What a brief shows and in which order: who the user is, what is open, what was decided, what happened last. Pure.

`select_lines` gives each memory that deserves a line its section; `fair_order` puts the lines in an order of which every beginning
keeps the sections' shares, so that a page of any size does, and pages continue without repeats. `in_sections` groups what is shown.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from hybrid_memory.language import lexicon
from hybrid_memory.language.text import words
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.model import TRUST_ORDER, TRUSTED_FROM, Kind, Memory, MemoryId, Tier
from hybrid_memory.retrieval.aspects import Aspect, fold, names_in, sentences, user_names, with_labels
from hybrid_memory.retrieval.commitments import account_of, closes, is_open_commitment, is_past
from hybrid_memory.retrieval.disputes import disputed_first
from hybrid_memory.trust import may_outdate

T = TypeVar("T")
Q = TypeVar("Q")


class Section(StrEnum):
    """The parts of a brief in the order in which they are shown; their names are headings."""

    PINNED = "pinned"
    CONVERSATION = "this conversation"
    USER = "about the user"
    OPEN = "open"
    DECISIONS = "decisions"
    LAST_SESSION = "last session"
    RECENT = "recent"


_ORDER = tuple(Section)


class Queue(StrEnum):
    """What waits for lines of a brief; two sections have two queues, so that many preferences leave room for a name."""

    PINNED = "pinned"
    WHO = "who"
    PREFERENCES = "preferences"
    WORKING = "working"
    COMMITMENTS = "commitments"
    DECISIONS = "decisions"
    LAST_SESSION = "last session"
    RECENT = "recent"


# Set by hand where no reason is named.
SHARES: Mapping[Queue, float] = {
    Queue.PINNED: 0.20,
    Queue.WHO: 0.22,
    Queue.PREFERENCES: 0.18,
    Queue.WORKING: 0.08,
    Queue.COMMITMENTS: 0.12,
    Queue.DECISIONS: 0.10,
    Queue.LAST_SESSION: 0.06,
    Queue.RECENT: 0.04,
}
"""The share of each queue in the tokens of a brief; what one does not use goes to the others in proportion."""

SHARES_AT_BEGINNING: Mapping[Queue, float] = {
    Queue.PINNED: 0.20,
    Queue.WHO: 0.16,
    Queue.PREFERENCES: 0.16,
    Queue.WORKING: 0.06,
    Queue.COMMITMENTS: 0.10,
    Queue.DECISIONS: 0.10,
    Queue.LAST_SESSION: 0.18,
    Queue.RECENT: 0.04,
}
"""The shares where a conversation begins: nobody asks for a second page there, and what was said last is what people look for first."""

SECTION_OF: Mapping[Queue, Section] = {
    Queue.PINNED: Section.PINNED,
    Queue.WHO: Section.USER,
    Queue.PREFERENCES: Section.USER,
    Queue.WORKING: Section.OPEN,
    Queue.COMMITMENTS: Section.OPEN,
    Queue.DECISIONS: Section.DECISIONS,
    Queue.LAST_SESSION: Section.LAST_SESSION,
    Queue.RECENT: Section.RECENT,
}
LINE_TOKENS = 100  # of the text of one line; a longer memory is cut there and counts no more
_FRAME_TOKENS = 90  # of a line alongside its text: id, time, names of fields
_HEAD_START = 0.3  # of a line's cost that counts before it is shown: small queues get their first line early
_QUEUE_LINES = 30  # waiting in a queue at most; beyond them come the most recent
_OFTEN = 3  # statements that begin with a name, from which it may be the user's
UNTRUSTED_EVERY = 4  # a line of a tool or an import at every fourth place at most
FEW_TRUSTED = 3  # lines; with fewer there is no fourth place for another
# Of an untrusted line: somebody who is trusted pinned it, and of the last session it is true whoever says it.
_KEPT_SECTIONS = (Section.PINNED, Section.LAST_SESSION)
_WEIGHTY = 0.8  # the importance from which a memory of no aspect belongs to what is known about the user
_LONG = 300  # characters; a longer text is talk rather than a statement
_ALIKE = 0.8  # of the words of two memories, from which they say the same


# Plain numbers: a brief asks some thousand times.
_IDENTITY = int(Aspect.IDENTITY)
_HEALTH = int(Aspect.HEALTH)
_PREFERENCE = int(Aspect.PREFERENCE)
_TRAIT = int(Aspect.TRAIT)
_COMMITMENT = int(Aspect.COMMITMENT)
_DONE = int(Aspect.DONE)
_DECISION = int(Aspect.DECISION)
_ABOUT_USER = int(Aspect.ABOUT_USER)
_ABOUT_FAMILY = int(Aspect.ABOUT_FAMILY)
_NAME = int(Aspect.NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefMemories:
    """What a brief is chosen from: each list newest first, a memory may stand in several.

    ``weighty`` are candidates for what is known about the user, open and decided; ``as_of`` is when the brief was asked for;
    ``disputes`` leads from memories to those that they dispute, ``changed`` to later ones that likely changed them; ``outdated`` are
    those to whose value a later one gives another ("the deploy is on Tuesday", "... on Thursday"), ``over`` those that speak of what
    has passed (`hybrid_memory.changes.endings`).
    """

    pinned: Sequence[Memory]
    working: Sequence[Memory]
    weighty: Sequence[Memory]
    last_session: Sequence[Memory]
    recent: Sequence[Memory]
    as_of: datetime
    disputes: Mapping[MemoryId, MemoryId] = field(default_factory=dict)
    changed: Mapping[MemoryId, MemoryId] = field(default_factory=dict)
    outdated: frozenset[MemoryId] = frozenset()
    over: frozenset[MemoryId] = frozenset()


class Dropped(StrEnum):
    """Why a memory that was looked at has no line."""

    OUTDATED = "outdated"
    """A later one gives another value for the same thing, or likely changed it."""
    DONE = "done"
    """A later one says that it is done."""
    PAST = "past"
    """Its day lies too far back, or what it speaks of is over."""
    REPEATS = "repeats"
    """A line says nearly the same."""
    UNTRUSTED = "untrusted"
    """It is a tool's or an import's, which have a share of the lines."""
    DISPUTES = "disputes"
    """It disputes a more trusted memory that has no line."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where a memory is in a brief: its section, the queue whose turn it was, and what its words were taken to tell."""

    section: Section
    queue: Queue
    aspects: Aspect = Aspect.NONE


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a brief's head in their order, and why others that were looked at have none."""

    shown: Mapping[MemoryId, Line]
    dropped: Mapping[MemoryId, Dropped]


@dataclass(frozen=True, slots=True)
class _Candidate:
    memory: Memory
    aspects: int


def select_lines(memories: BriefMemories, *, begins_in: str | None = None) -> dict[MemoryId, Section]:
    """Return the memories of a brief's head with their sections, as `lines_of` chooses them."""
    return {one: line.section for one, line in lines_of(memories, begins_in=begins_in).shown.items()}


def lines_of(memories: BriefMemories, *, begins_in: str | None = None) -> Lines:
    """Return the memories of a brief's head, in an order of which every beginning keeps the shares, with what gave each its line.

    Left out are near-copies, commitments that are done or long past, and statements that a later one takes back. Where a conversation
    begins, ``begins_in`` names the namespace that it writes to: what was decided and left open there goes before what was elsewhere, and
    what the last sessions said comes in their share even if it waits in another queue too.
    """
    candidates, hidden = _judge(memories)
    known = _about_somebody_known(candidates)
    queues: dict[Queue, list[Memory]] = {
        Queue.PINNED: list(memories.pinned),
        Queue.WORKING: list(memories.working),
        # An appointment that has been keeps nobody safe.
        Queue.WHO: sorted(_best(known, _worth_as_who), key=lambda one: is_past(one, memories.as_of)),
        Queue.PREFERENCES: _best(known, _worth_as_preference),
        Queue.COMMITMENTS: _best(candidates, _worth_as_commitment),
        Queue.DECISIONS: _best(candidates, _worth_as_decision),
        Queue.LAST_SESSION: [one for one in memories.last_session if one.id not in hidden],
        Queue.RECENT: [one for one in memories.recent if one.id not in hidden],
    }
    by_trust: dict[bool, list[tuple[Section, Memory]]] = {}
    shares = SHARES
    if begins_in is not None:
        shares = SHARES_AT_BEGINNING
        for queue in (Queue.COMMITMENTS, Queue.DECISIONS):
            queues[queue].sort(key=lambda memory: memory.namespace != begins_in)
    waiting = without_copies(queues)
    section_of = {memory.id: SECTION_OF[queue] for queue, some in waiting.items() for memory in some}
    if begins_in is not None:
        waiting[Queue.LAST_SESSION] = [
            one
            for one in queues[Queue.LAST_SESSION]
            if one.id in section_of and (may_outdate(one) or section_of[one.id] is Section.LAST_SESSION)
        ]
    queue_of: dict[MemoryId, Queue] = {}
    for untrusted in (False, True):
        lines = {
            queue: [one for one in some if is_untrusted(one) is untrusted][:_QUEUE_LINES]
            for queue, some in waiting.items()
        }
        in_turn = [
            (queue, memory)
            for queue, memory in fair_order(lines, shares, lambda memory: line_cost(memory.content), _id_of)
        ]
        queue_of |= {memory.id: queue for queue, memory in in_turn}
        by_trust[untrusted] = [
            (Section.RECENT if memory.id in memories.disputes else section_of[memory.id], memory)
            for _, memory in in_turn
        ]
    trusted, others = by_trust[False], by_trust[True]
    if others and all(section is not Section.RECENT for section, _ in trusted):
        trusted += [(Section.RECENT, one) for one in _leader(memories.recent, trusted)]
    shown = _behind_the_disputed(with_few_untrusted(trusted, others), memories.disputes)
    # A wrong guess must not hide what keeps somebody safe.
    beside = {one.memory.id for one in candidates if one.aspects & _HEALTH or one.memory.pinned or one.memory.key}
    shown = _with_what_changed(shown, memories.changed, beside)
    aspects = {one.memory.id: Aspect(one.aspects) for one in candidates}
    return Lines(
        {
            one: Line(section, queue_of.get(one, Queue.RECENT), aspects.get(one, Aspect.NONE))
            for one, section in shown.items()
        },
        _dropped(queues, shown, section_of, memories) | {one: why for one, why in hidden.items() if one not in shown},
    )


def _dropped(
    queues: Mapping[Queue, Sequence[Memory]],
    shown: Collection[MemoryId],
    waited: Collection[MemoryId],
    memories: BriefMemories,
) -> dict[MemoryId, Dropped]:
    """Return why those have no line that stood in a queue, but for those that wait for room."""
    found: dict[MemoryId, Dropped] = {}
    for some in queues.values():
        for one in some:
            if one.id in shown:
                continue
            if one.id not in waited:
                found[one.id] = Dropped.REPEATS
            elif one.id in memories.changed:
                found[one.id] = Dropped.OUTDATED
            elif one.id in memories.disputes:
                found[one.id] = Dropped.DISPUTES
            elif is_untrusted(one):
                found[one.id] = Dropped.UNTRUSTED
    return found


def _id_of(memory: Memory) -> MemoryId:
    return memory.id


def _leader(recent: Sequence[Memory], lines: Sequence[tuple[Section, Memory]]) -> list[Memory]:
    """Return the newest trusted memory that has no line, not even by a repetition: it leads the recent ones where others would."""
    said = {_wording(memory) for _, memory in lines}
    return [one for one in recent if not is_untrusted(one) and _wording(one) not in said][:1]


def _behind_the_disputed(
    lines: Sequence[tuple[Section, Memory]], disputes: Mapping[MemoryId, MemoryId]
) -> dict[MemoryId, Section]:
    """Return the lines without those that dispute a memory that has none; of the others each disputed one is in front."""
    known = {memory.id: section for section, memory in lines}
    ids = [one for one in known if one not in disputes or disputes[one] in known]
    return {ids[at]: known[ids[at]] for at in disputed_first(ids, disputes)}


def _with_what_changed(
    shown: Mapping[MemoryId, Section], changed: Mapping[MemoryId, MemoryId], beside: Collection[MemoryId]
) -> dict[MemoryId, Section]:
    """Return the lines with the last statement that likely changed one in its place; those of ``beside`` keep theirs, behind it."""
    found: dict[MemoryId, Section] = {}
    for one, section in shown.items():
        chain = [one]
        while (later := changed.get(chain[-1])) is not None and later not in chain:
            chain.append(later)
        last = chain[-1]
        if last != one:
            own = found.get(last, shown.get(last, section))
            found[last] = min(section, own, key=_ORDER.index)
        if last == one or one in beside:
            found.setdefault(one, section)
    return found


def repeats_of(shown: Collection[MemoryId], memories: BriefMemories) -> set[MemoryId]:
    """Return the memories that are not shown because one that is shown says the same in the same words, by the same speaker."""
    known = {
        one.id: one
        for some in (memories.pinned, memories.working, memories.weighty, memories.last_session, memories.recent)
        for one in some
    }
    said: dict[tuple[str, str], bool] = {}
    for one in shown:
        if one in known:
            wording = _wording(known[one])
            said[wording] = said.get(wording, True) and is_untrusted(known[one])
    # What a tool says stands for no other's words.
    return {
        one.id
        for one in known.values()
        if one.id not in shown
        and (by_tool := said.get(_wording(one))) is not None
        and (is_untrusted(one) or not by_tool)
    }


def _wording(memory: Memory) -> tuple[str, str]:
    return fold(memory.speaker or ""), " ".join(fold(memory.content).split()).rstrip(" .!。！")


def open_and_done(memories: BriefMemories) -> tuple[list[Memory], set[MemoryId]]:
    """Return the commitments that are open, working memory first, and the ids of those that are done, and of what says so."""
    candidates, hidden = _judge(memories)
    done = {one.id for one in memories.weighty if _aspects_of(one) & _DONE}
    return [*memories.working, *_best(candidates, _worth_as_commitment)], hidden.keys() | done


def _judge(memories: BriefMemories) -> tuple[list[_Candidate], dict[MemoryId, Dropped]]:
    """Return the candidates that still hold, with the names of user and family known, and why the others do not."""
    candidates = _with_known_names([_Candidate(one, _aspects_of(one)) for one in memories.weighty])
    hidden = (
        dict.fromkeys(_past(candidates, memories.as_of) | memories.over, Dropped.PAST)
        | dict.fromkeys(_closed(candidates), Dropped.DONE)
        | dict.fromkeys(memories.outdated, Dropped.OUTDATED)
    )
    return [one for one in candidates if one.memory.id not in hidden], hidden


def fair_order(
    queues: Mapping[Q, Sequence[T]],
    shares: Mapping[Q, float],
    cost: Callable[[T], float],
    name: Callable[[T], Hashable] | None = None,
) -> Iterator[tuple[Q, T]]:
    """Yield everything that waits, so that in every beginning each queue has about its share of the costs.

    Within a queue the order is kept. A queue is never behind another one by more than a line in proportion to their shares while it
    waits; what an empty queue leaves goes to the others. Equals come in the order of ``shares``. Costs are above 0. What waits in several
    queues under one ``name`` comes once, for the queue that has it first.
    """
    waiting = {queue: deque(queues[queue]) for queue in shares if queues.get(queue)}
    spent = dict.fromkeys(waiting, 0.0)
    given: set[Hashable] = set()

    def turn(queue: Q) -> float:
        return (spent[queue] + _HEAD_START * cost(waiting[queue][0])) / shares[queue]

    while waiting:
        queue = min(waiting, key=turn)
        item = waiting[queue].popleft()
        known = name is not None and name(item) in given
        if not known:
            spent[queue] += cost(item)
        if not waiting[queue]:
            del waiting[queue]
        if not known:
            given |= {name(item)} if name is not None else set()
            yield queue, item


def line_cost(content: str) -> int:
    """Return the tokens of a line of a brief, about: its text, cut if it is long, and what is around it."""
    # Above the cut the exact figure does not matter, so a long text is not counted whole.
    return _FRAME_TOKENS + min(estimate_tokens(content[: 4 * LINE_TOKENS]), LINE_TOKENS)


def in_sections(items: Iterable[T], section_of: Callable[[T], str | None]) -> list[T]:
    """Return items grouped in the order of `Section`; what has no section comes first, and order within a group is kept."""
    return sorted(items, key=lambda item: _PLACES.get(section_of(item) or "", -1))


def without_copies(queues: Mapping[Queue, Sequence[Memory]]) -> dict[Queue, list[Memory]]:
    """Return the queues with each memory in the first that has it, and of memories that say the same only the first one.

    Those that are trusted come first in this: they stand in no other's shadow.
    """
    shown: set[MemoryId] = set()
    said: dict[int, list[frozenset[str]]] = {}
    found: dict[Queue, list[Memory]] = {queue: [] for queue in SHARES}
    for untrusted in (False, True):
        for queue in SHARES:
            some = [memory for memory in queues.get(queue, ()) if is_untrusted(memory) is untrusted]
            found[queue] += _new_among(some, queue, shown, said)
    return found


def _new_among(
    some: Iterable[Memory], queue: Queue, shown: set[MemoryId], said: dict[int, list[frozenset[str]]]
) -> list[Memory]:
    """Return the first memories of a queue that say what nothing before them does; adds them to what is ``shown`` and ``said``."""
    found: list[Memory] = []
    for memory in some:
        if memory.id in shown or len(found) == _QUEUE_LINES:
            continue
        statement = _statement(memory.content)
        # Statements that are alike have nearly as many words.
        sizes = range(int(len(statement) * _ALIKE), int(len(statement) / _ALIKE) + 1)
        near = (other for size in sizes for other in said.get(size, ()))
        if queue in (Queue.LAST_SESSION, Queue.RECENT):
            near = (other for other in said.get(len(statement), ()) if other == statement)
        else:
            said.setdefault(len(statement), []).append(statement)
            near = (other for other in near if other is not statement)
        if any(_say_the_same(statement, other) for other in near):
            continue
        shown.add(memory.id)
        found.append(memory)
    return found


def with_few_untrusted(
    trusted: Sequence[tuple[Section, T]], untrusted: Sequence[tuple[Section, T]]
) -> list[tuple[Section, T]]:
    """Return trusted lines, and of untrusted ones so many that of every beginning a quarter at most is untrusted, of every section too.

    A section that has trusted lines begins with one. An untrusted line is no statement about the user, commitment or decision alongside
    trusted ones: it is under `Section.RECENT`, but for one that is pinned or of the last session and fits there. Recent lines may
    all be untrusted. Those that find no place are left out. Fewer than `FEW_TRUSTED` trusted lines are followed by as many others. Where
    nothing is trusted, all stand in their sections.
    """
    if len(trusted) < FEW_TRUSTED:
        others = [(Section.RECENT, item) for _, item in untrusted[: len(trusted)]] if trusted else untrusted
        return [*trusted, *others]
    mixed = {section for section, _ in trusted}
    found: list[tuple[Section, T]] = []
    counts: Counter[tuple[Section, bool]] = Counter()
    waiting = list(untrusted)
    strangers = 0

    def fits(section: Section) -> bool:
        if section not in mixed:
            return section is Section.RECENT
        return (UNTRUSTED_EVERY - 1) * (counts[section, True] + 1) <= counts[section, False]

    def place(own: Section) -> Section | None:
        if own in _KEPT_SECTIONS and fits(own):
            return own
        return Section.RECENT if fits(Section.RECENT) else None

    for line in trusted:
        found.append(line)
        counts[line[0], False] += 1
        if UNTRUSTED_EVERY * (strangers + 1) > len(found) + 1:
            continue
        at, section = next(((at, to) for at, (own, _) in enumerate(waiting) if (to := place(own))), (0, None))
        if section is not None:
            found.append((section, waiting.pop(at)[1]))
            counts[section, True] += 1
            strangers += 1
    return found


def is_untrusted(memory: Memory) -> bool:
    """Return True for what is trusted less than who asks: what a tool or an import says, and what was concluded from it."""
    return TRUST_ORDER.index(memory.trust) < TRUST_ORDER.index(TRUSTED_FROM)


def _aspects_of(memory: Memory) -> int:
    if not memory.tags and memory.kind is Kind.OBSERVATION:
        return memory.aspects
    return int(with_labels(Aspect(memory.aspects), memory.content, memory.tags, memory.kind))


def _with_known_names(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the candidates with what is said by name about the user, or about their family, marked as such."""
    users = _names_of_user(candidates)
    found = [_Candidate(one.memory, _about(one, users, frozenset())) for one in candidates]
    related = _IDENTITY | _ABOUT_USER | _ABOUT_FAMILY
    telling = (one.memory for one in _trusted_or_all(found) if one.aspects & related == related)
    family = frozenset().union(*(names_in(one.content) for one in telling))
    return [_Candidate(one.memory, _about(one, users, family - users)) for one in found]


def _names_of_user(candidates: Sequence[_Candidate]) -> frozenset[str]:
    """Return the names that memories give the user."""
    told = (one.memory.content for one in candidates if one.aspects & _NAME and not is_untrusted(one.memory))
    return frozenset().union(*map(user_names, told))


def _trusted_or_all(candidates: Sequence[_Candidate]) -> Sequence[_Candidate]:
    """Return the candidates that are trusted; all where none is."""
    return [one for one in candidates if not is_untrusted(one.memory)] or candidates


def _about(one: _Candidate, users: frozenset[str], family: frozenset[str]) -> int:
    aspects, about = one.aspects, _ABOUT_USER | _ABOUT_FAMILY
    if not aspects or aspects & _ABOUT_USER or (aspects & about and not aspects & _IDENTITY):
        return aspects
    subject = _subject_of(one.memory)
    if subject in users or fold(one.memory.speaker or "") in users:
        return aspects | _ABOUT_USER
    return aspects | _ABOUT_FAMILY if subject in family else aspects


@lru_cache(maxsize=8192)
def _name_at_beginning(content: str) -> str:
    first = next(sentences(content), None)
    if first is None or not first.written[0][:1].isupper():
        return ""
    return first.words[0].removesuffix("'s")


def _subject_of(memory: Memory) -> str:
    return _name_at_beginning(memory.content)


def _about_somebody_known(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return what is about the user and their family, with what matters to anybody; all where too little tells who that is."""
    about = _ABOUT_USER | _ABOUT_FAMILY
    telling = [one for one in _trusted_or_all(candidates) if one.aspects & about and one.aspects & (_LASTING | _HEALTH)]
    if len(telling) < _OFTEN:
        return list(candidates)
    return [
        one
        for one in candidates
        if one.aspects & (about | _HEALTH) or one.memory.importance >= _WEIGHTY or not one.aspects
    ]


def _closed(candidates: Sequence[_Candidate]) -> set[MemoryId]:
    """Return the commitments that a later memory says are done."""
    telling: dict[str, list[Memory]] = {}
    for one in candidates:
        account = account_of(one.memory.content)
        if account.tells_done and not one.aspects & _COMMITMENT:
            for word in account.objects:
                telling.setdefault(word, []).append(one.memory)
    found: set[MemoryId] = set()
    for one in candidates:
        if one.aspects & _COMMITMENT:
            task = one.memory
            near = {later.id: later for word in account_of(task.content).objects for later in telling.get(word, ())}
            if any(_may_change(later, task) and closes(later.content, task.content) for later in near.values()):
                found.add(task.id)
    return found


def _may_change(later: Memory, earlier: Memory) -> bool:
    """Return True if what a memory says may end what another says: it is later, and no other's word against the user's."""
    if later.id == earlier.id or later.created_at < earlier.created_at or not may_outdate(later):
        return False
    return is_untrusted(earlier) or not is_untrusted(later)


def _past(candidates: Sequence[_Candidate], now: datetime) -> set[MemoryId]:
    return {
        one.memory.id
        for one in candidates
        if one.aspects & _COMMITMENT and not is_open_commitment(one.memory, Aspect(one.aspects), now)
    }


def _best(candidates: Sequence[_Candidate], worth: Callable[[_Candidate], float]) -> list[Memory]:
    """Return the memories of some worth, the best first, of equals the newest; what may be somebody else's words comes behind them."""
    ranked = [(worth(one), one.memory) for one in candidates]
    ranked = [(value, memory) for value, memory in ranked if value > 0]
    ranked.sort(key=lambda pair: (may_outdate(pair[1]), pair[0], pair[1].created_at), reverse=True)
    return [memory for _, memory in ranked]


# What a memory is worth for its queue: by whom it is about, then by its importance (0 to 1). Set by hand.


def _worth_as_who(one: _Candidate) -> float:
    aspects = one.aspects
    if aspects & _NAME:
        return 5 + _weight(one)
    for wanted, worth in (
        (_HEALTH | _ABOUT_USER, 4),
        (_HEALTH | _ABOUT_FAMILY, 3.3),
        (_HEALTH, 3.1),
        (_IDENTITY | _ABOUT_USER, 3),
        (_IDENTITY | _ABOUT_FAMILY, 2),
        (_IDENTITY, 0.5),
    ):
        if aspects & wanted == wanted:
            return max(worth + _weight(one), 0.1)
    weighty = not aspects and one.memory.importance >= _WEIGHTY and one.memory.kind is Kind.OBSERVATION
    return 2 + one.memory.importance if weighty else 0


def _worth_as_preference(one: _Candidate) -> float:
    aspects = one.aspects
    for wanted, worth in (
        (_PREFERENCE | _ABOUT_USER, 4),
        (_TRAIT | _ABOUT_USER, 3),
        (_PREFERENCE | _ABOUT_FAMILY, 1.5),
        (_TRAIT | _ABOUT_FAMILY, 1),
        (_PREFERENCE, 0.5),
    ):
        if aspects & wanted == wanted:
            return max(worth + _weight(one), 0.1)
    return 0


def _worth_as_commitment(one: _Candidate) -> float:
    if not one.aspects & _COMMITMENT or one.memory.tier is Tier.WORKING:
        return 0
    own = one.aspects & (_ABOUT_USER | _ABOUT_FAMILY) or not _name_at_beginning(one.memory.content)
    return (2 if own else 1) + (1 if one.memory.importance >= _WEIGHTY else 0)


def _worth_as_decision(one: _Candidate) -> float:
    if not one.aspects & _DECISION:
        return 0
    return 1


def _weight(one: _Candidate) -> float:
    talk = len(one.memory.content) > _LONG and one.memory.kind is Kind.OBSERVATION
    return one.memory.importance - (1.5 if talk else 0)


@lru_cache(maxsize=8192)
def _statement(content: str) -> frozenset[str]:
    """Return what a text says as a set of words: with negations, without those for the user."""
    folded = fold(content[:_LONG])
    negation = {"not"} if any(f" {one} " in f" {folded} " for one in lexicon.words("brief.negations")) else set()
    return (frozenset(words(content[:_LONG])) - lexicon.words("brief.fillers")) | negation


def _say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other or ("not" in one) != ("not" in other):
        return False
    return len(one & other) >= _ALIKE * len(one | other) and {w for w in one if w.isdigit()} == {
        w for w in other if w.isdigit()
    }


_LASTING = _PREFERENCE | _TRAIT | _IDENTITY
_PLACES: Mapping[str, int] = {section.value: place for place, section in enumerate(Section)}
