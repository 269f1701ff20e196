"""Look-alikes: made stores in which many people, projects, tickets, files and cities have the same attributes.

`stores` makes them from a seed. A store tells a value of every attribute of every subject, changes a fifth of them later, and
puts between them what a careless ranking takes for an answer: sentences about many subjects at once, names that begin alike, two events
or two decisions of one subject, the same sentence about another. What really replaces what is known (`AlikeStore.true_updates`).

There are two sets of words: `WORDING`, to develop on, and `CHECK`, which no rule or number may be made on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from benchmarks.alike_check_words import CHECK
from benchmarks.alike_words import WORDING, Attribute, Kind, Wording
from benchmarks.sets import Collection, Item, Question

WORDINGS = {wording.name: wording for wording in (WORDING, CHECK)}
SEED = 10
SIZES = ((5, 7), (10, 7), (20, 3), (35, 2), (50, 2))
"""Subjects of each kind in a store, and of how many attributes of a kind it tells at most."""

ASKED = {"literal": 40, "lower": 24, "reworded": 24, "update": 20, "past": 12}
"""Questions of each category in a store, where it has so many."""

UNANSWERABLE = 16  # of each of the two categories in a store
CHANGED_SHARE = 0.2
_BEGINNING = datetime(2025, 1, 6, 8, tzinfo=UTC)
_TOLD_DAYS = 200
_LATER_DAYS = (10, 90)
_LAST_DAY = 320
_RESERVED = 10  # subjects of a kind, its last ones, that no memory mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeStore:
    """A store and the truth about it: pairs (old id, new id) of which the later memory replaces the earlier."""

    collection: Collection
    true_updates: frozenset[tuple[str, str]]


def stores(seed: int = SEED, wording: Wording = WORDING) -> tuple[AlikeStore, ...]:
    """Return the five stores of a seed, the same ones every time."""
    return tuple(_Maker(size, attributes, Random(f"{seed} {size}"), wording).made() for size, attributes in SIZES)


def collections(seed: int = SEED, wording: Wording = WORDING) -> tuple[Collection, ...]:
    """Return the stores in the shape of every other retrieval set."""
    return tuple(store.collection for store in stores(seed, wording))


@dataclass(slots=True, kw_only=True, eq=False)
class _Note:
    """A sentence and the day it is written, a fraction for the hour."""

    text: str
    day: float
    id: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class _Fact:
    """An attribute of a subject: the notes that tell it, the first one outdated where it was ``changed``."""

    kind: Kind
    attribute: Attribute
    subject: str
    notes: list[_Note] = field(default_factory=list)
    changed: bool = False


class _Maker:
    """Makes one store."""

    def __init__(self, size: int, attributes: int, random: Random, wording: Wording) -> None:
        self._name = f"{wording.name}-{size:02}"
        self._wording = wording
        self._random = random
        self._notes: list[_Note] = []
        self._facts: list[_Fact] = []
        self._subjects = {kind.name: self._chosen_subjects(kind, size) for kind in wording.kinds}
        self._attributes = {
            kind.name: random.sample(kind.attributes, min(attributes, len(kind.attributes))) for kind in wording.kinds
        }

    def made(self) -> AlikeStore:
        for kind in self._wording.kinds:
            for attribute in self._attributes[kind.name]:
                self._tell(kind, attribute)
            self._fill(kind)
        self._notes.sort(key=lambda note: note.day)
        for number, note in enumerate(self._notes):
            note.id = f"{self._name}-{number:04}"
        questions = self._answerable() + self._unanswerable()
        now = _BEGINNING + timedelta(days=_LAST_DAY + 1)
        collection = Collection(
            id=self._name,
            items=tuple(_item(note) for note in self._notes),
            questions=tuple(
                Question(number=number, text=text, gold=gold, stale=stale, category=category, now=now)
                for number, (category, text, gold, stale) in enumerate(questions)
            ),
        )
        updates = frozenset((fact.notes[0].id, fact.notes[1].id) for fact in self._facts if fact.changed)
        return AlikeStore(collection=collection, true_updates=updates)

    def _chosen_subjects(self, kind: Kind, size: int) -> list[str]:
        """Return ``size`` subjects: names that are nearly the same in twos, then others, in any order."""
        twins = self._random.sample(range(0, kind.near, 2), min(kind.near // 2, size // 2))
        chosen = [kind.subjects[place + more] for place in twins for more in (0, 1)]
        chosen += self._random.sample(kind.subjects[kind.near : -_RESERVED], size - len(chosen))
        self._random.shuffle(chosen)
        return chosen

    def _tell(self, kind: Kind, attribute: Attribute) -> None:
        """Write a value for every subject, and for some of them a second one later."""
        subjects = self._subjects[kind.name]
        later = set(self._random.sample(subjects, max(1, round(CHANGED_SHARE * len(subjects)))))
        for subject in subjects:
            fact = _Fact(kind=kind, attribute=attribute, subject=subject)
            old, new = self._random.sample(attribute.values, 2)
            day = self._random.uniform(0, _TOLD_DAYS)
            form = self._random.choice(attribute.told)
            fact.notes.append(self._note(form.format(s=subject, v=old), day))
            if subject in later:
                day += self._random.uniform(*_LATER_DAYS)
                fact.notes.append(self._note(self._second(fact, old, new, day), day))
                fact.changed = attribute.change != "never"
            self._facts.append(fact)
        subject = self._random.choice(subjects)
        self._note(attribute.mention.format(s=subject), self._random.uniform(0, _LAST_DAY))

    def _second(self, fact: _Fact, old: str, new: str, day: float) -> str:
        """Return how the second value is told: with words of change, with a date, or like the first."""
        attribute = fact.attribute
        plain = self._random.choice(attribute.told).format(s=fact.subject, v=new)
        if attribute.change == "never":
            return plain
        way = self._random.choice(("words", "date", "plain"))
        if attribute.change == "mistake":  # without words of correction a second allergy would be one more
            forms = self._wording.corrected
        elif way == "plain":
            return plain
        else:
            forms = self._wording.changed_by_date if way == "date" else self._wording.changed_with_words
        noun = attribute.noun.format(s=fact.subject)
        moment = _BEGINNING + timedelta(days=day)
        return self._random.choice(forms).format(
            noun=noun, Noun=noun[0].upper() + noun[1:], v=new, old=old, day=moment.day, month=f"{moment:%B %Y}"
        )

    def _fill(self, kind: Kind) -> None:
        """Write what answers nothing: sentences that mention all subjects, and pairs of events and decisions."""
        subjects = self._subjects[kind.name]
        for sentence in kind.crowds:
            shuffled = self._random.sample(subjects, len(subjects))
            for first in range(0, len(shuffled), 5):
                group = shuffled[first : first + 5]
                self._note(sentence.format(all=_listed(group)), self._random.uniform(0, _LAST_DAY))
        for number, subject in enumerate(subjects):
            if number % 2 == 0:
                day = self._random.uniform(0, _TOLD_DAYS)
                for sentence in kind.pairs[number // 2 % len(kind.pairs)]:
                    self._note(sentence.format(s=subject), day)
                    day += self._random.uniform(3, 60)

    def _note(self, text: str, day: float) -> _Note:
        note = _Note(text=text, day=day)
        self._notes.append(note)
        return note

    def _answerable(self) -> list[_Asked]:
        steady = self._random.sample(facts := [one for one in self._facts if not one.changed], len(facts))
        changed = self._random.sample(facts := [one for one in self._facts if one.changed], len(facts))
        asked: list[_Asked] = []
        for category in ("literal", "lower", "reworded"):
            some, steady = steady[: ASKED[category]], steady[ASKED[category] :]
            for fact in some:
                gold = tuple(note.id for note in fact.notes)
                asked.append((category, self._worded(fact, category), gold, ()))
        for number, fact in enumerate(changed[: ASKED["update"]]):
            text = self._worded(fact, ("literal", "lower", "reworded")[number % 3])
            asked.append(("update", text, (fact.notes[1].id,), (fact.notes[0].id,)))
        return asked + [
            ("past", fact.attribute.past.format(s=fact.subject), (fact.notes[0].id,), ())
            for fact in changed[-ASKED["past"] :]
        ]

    def _worded(self, fact: _Fact, category: str) -> str:
        if category == "reworded":
            return self._random.choice(fact.attribute.reworded).format(s=fact.subject)
        text = fact.attribute.asked.format(s=fact.subject)
        return text.lower() if category == "lower" else text

    def _unanswerable(self) -> list[_Asked]:
        """Ask every second time in lower case: for a subject that is nowhere, and for what nobody has."""
        asked: list[_Asked] = []
        kinds = self._wording.kinds
        for number in range(UNANSWERABLE):
            kind = kinds[number % len(kinds)]
            stranger = kind.subjects[-1 - number // len(kinds)]
            attribute = self._random.choice(self._attributes[kind.name])
            text, unasked = attribute.asked.format(s=stranger), self._random.choice(kind.unknown)[0]
            asked.append(("subject-unknown", text.lower() if number % 2 else text, (), ()))
            text = unasked.format(s=self._random.choice(self._subjects[kind.name]))
            asked.append(("attribute-unknown", text.lower() if number % 2 else text, (), ()))
        return asked


_Asked = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""Category, text, gold and stale of a question."""


def _item(note: _Note) -> Item:
    at = _BEGINNING + timedelta(seconds=round(note.day * 86400))
    return Item(id=note.id, text=note.text, at=at, session=f"{at:%Y-%m-%d}")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
