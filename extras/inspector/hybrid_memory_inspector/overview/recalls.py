"""What a journal of readings tells: which of it passes some filters, how much was asked on each day, and what nothing answered. Pure."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from hybrid_memory.model import MemoryId
from hybrid_memory.store.readings import Outcome, Reading, Way


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFilter:
    """Which readings are meant; all given filters must hold. ``words`` is somewhere in the question."""

    client: str = ""
    session: str = ""
    way: Way | None = None
    memory: MemoryId | None = None
    words: str = ""
    unanswered: bool = False
    since: datetime | None = None

    def takes(self, one: Reading) -> bool:
        """Return whether a reading passes."""
        return (
            (not self.client or one.client == self.client)
            and (not self.session or one.session == self.session)
            and self.way in (None, one.way)
            and (self.memory is None or self.memory in one.shown)
            and (not self.unanswered or one.is_unanswered)
            and (self.since is None or one.at >= self.since)
            and (not self.words or _plain(self.words) in _plain(one.question))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A question that nothing answered, as it was asked last, how often it was asked, and which clients asked it."""

    question: str
    asked: int
    last: datetime
    clients: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """How many readings a day had, and how many of them were questions that nothing answered."""

    day: date
    readings: int
    unanswered: int


def gaps(readings: Iterable[Reading], limit: int) -> list[Gap]:
    """Return the questions that nothing answered, those asked most often first, of these the latest.

    ``readings`` begin with the latest. A question that was answered later, because somebody has told it meanwhile, is none.
    """
    newest: dict[str, Reading] = {}
    answered: set[str] = set()
    counts: Counter[str] = Counter()
    clients: dict[str, dict[str, None]] = {}
    for one in readings:
        if not one.is_question:
            continue
        key = " ".join(_plain(one.question).split()).rstrip("?!. ")
        if key not in newest and not one.is_unanswered:
            answered.add(key)
        if key in answered or not one.is_unanswered:
            continue
        newest.setdefault(key, one)
        counts[key] += 1
        clients.setdefault(key, {})[one.client] = None
    order = sorted(newest, key=lambda key: (-counts[key], -newest[key].number))
    return [
        Gap(
            question=newest[key].question,
            asked=counts[key],
            last=newest[key].at,
            clients=tuple(clients[key]),
            outcome=newest[key].outcome,
        )
        for key in order[:limit]
    ]


def by_day(readings: Iterable[Reading], today: date, days: int, zone: tzinfo | None) -> list[DayCount]:
    """Return the counts of the last days up to today, the first first; days without a reading have zeros."""
    all_, unanswered = Counter[date](), Counter[date]()
    for one in readings:
        day = one.at.astimezone(zone).date()
        all_[day] += 1
        unanswered[day] += one.is_unanswered
    wanted = (today - timedelta(days=back) for back in range(days - 1, -1, -1))
    return [DayCount(day=day, readings=all_[day], unanswered=unanswered[day]) for day in wanted]


def most_used(readings: Iterable[Reading], limit: int) -> list[tuple[MemoryId, int]]:
    """Return the memories that most questions and prompts used, with how often: each time the one that stood out."""
    return Counter(one.used for one in readings if one.used is not None).most_common(limit)


def named_counts(names: Sequence[str]) -> list[tuple[str, int]]:
    """Return names with how often each is there, the most frequent first, of these in the order of the alphabet."""
    return sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
