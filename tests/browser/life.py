"""A life of fourteen months in three assistants, as a store: what browser tests and the pictures of the documentation look at.

Everything in it is said, corrected, forgotten and thought by way of `MemoryService`, at moments of a clock of its own, so it is the same
in every run. The last moment is yesterday, so that "today" and "3 months ago" on the page mean something.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import SystemClock
from hybrid_memory.model import MemoryId, MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.readings import Way
from hybrid_memory.testing import FakeClock, FakeRandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

DAYS = 420
KEY = "sk-proj-9fQ2mZ7Lr4Xc8Vb1Nw6Ty3Kd5Hs0Ja"
CODE, DESKTOP, CURSOR = "claude-code", "Claude Desktop", "cursor-vscode"

# day of the life, hour, client, session, what was said
SAID: Sequence[tuple[float, str, str, str]] = (
    (0.40, DESKTOP, "first-evening", "My name is Ada Nowak and I work as a cartographer."),
    (0.41, DESKTOP, "first-evening", "I am allergic to peanuts; check every recipe for them."),
    (0.42, DESKTOP, "first-evening", "Please answer briefly and without bullet points."),
    (3.35, DESKTOP, "flat", "I am looking for a flat with a balcony for under 900 euros."),
    (9.50, CODE, "atlas-setup", "The project Atlas draws walking maps from OpenStreetMap data."),
    (9.51, CODE, "atlas-setup", "Atlas is written in Python 3.11 and uses PostGIS."),
    (9.52, CODE, "atlas-setup", "We run the tests of Atlas with `uv run pytest`, never with tox."),
    (12.6, CODE, "atlas-tiles", "Tiles of Atlas are cached for seven days."),
    (20.3, DESKTOP, "birthday", "My sister Maria has her birthday on 14 November."),
    (31.7, CURSOR, "atlas-ui", "The buttons of Atlas are 44 pixels high, so that gloves can press them."),
    (40.2, DESKTOP, "running", "I go running along the river before breakfast."),
    (47.2, DESKTOP, "running", "I go running along the river before breakfast."),
    (55.2, DESKTOP, "running", "I go running along the river before breakfast."),
    (61.4, CODE, "atlas-release", "Atlas is released on the first Tuesday of each month."),
    (75.5, DESKTOP, "dentist", "My dentist is Dr. Bauer in the Lindenstrasse."),
    (90.8, DESKTOP, "books", "I am reading The Left Hand of Darkness for the book club."),
    (101.3, DESKTOP, "portuguese", "I am learning Portuguese with a teacher called Rui."),
    (118.4, CODE, "atlas-contours", "Contour lines come from the Copernicus elevation model, 30 metres."),
    (133.4, DESKTOP, "portuguese", "Rui wants the homework by Thursday evening."),
    (149.9, DESKTOP, "music", "أحب أن أستمع إلى فيروز في الصباح."),
    (163.2, DESKTOP, "tokyo", "来年の春に東京へ旅行する予定です。"),
    (170.6, CURSOR, "atlas-ui", "Dark map style: background #10201c, paths #ffd27d."),
    (188.5, CODE, "atlas-names", "Bilingual street names are drawn on two lines, the local one first."),
    (204.3, DESKTOP, "health", "Since March I sleep badly when I drink coffee after four."),
    (222.4, DESKTOP, "maria", "Maria is moving to Ghent to study medicine."),
    (240.6, CODE, "atlas-perf", "Rendering a sheet of Atlas takes 4.2 seconds; the aim is two."),
    (262.7, DESKTOP, "bike", "My bicycle is in repair at Ponto Verde until Friday."),
    (281.5, CODE, "atlas-perf", "Simplifying geometries before clipping halved the time of a sheet to 2.1 seconds."),
    (300.3, DESKTOP, "food", "I eat no meat on weekdays."),
    (318.5, CURSOR, "atlas-print", "Printed sheets are A2, folded to 12 by 18 centimetres."),
    (333.3, DESKTOP, "budget", "We agreed that the kitchen may cost 4,000 euros."),
    (351.4, CODE, "atlas-hiring", "Jonas joins the Atlas team in December; he knows PostGIS well."),
    (367.2, DESKTOP, "book-club", "The book club meets on the last Sunday of each month."),
    (381.6, CODE, "atlas-release", "The next release of Atlas adds ferry lines."),
    (399.3, DESKTOP, "family", "Maria passed her first exam in anatomy."),
    (409.4, CODE, "atlas-ferries", "Ferry lines are dashed, 1.2 points, in the blue of the water."),
    (416.2, DESKTOP, "christmas", "For Christmas we want to go to Maria in Ghent by train."),
    (418.7, CODE, "atlas-ferries", "Remind me to ask Jonas for the timetable data of the ferries."),
    (419.5, CODE, "atlas-ferries", "The ferry layer is finished but for Madeira."),
    (419.6, DESKTOP, "today", "I bought a head lamp for night walks."),
)

SMALL: Sequence[tuple[float, str, str, str]] = (
    (419.61, DESKTOP, "today", "It rained all morning."),
    (419.62, DESKTOP, "today", "Lunch was leftover soup."),
    (419.63, DESKTOP, "today", "The parcel with the keyboard arrived."),
    *(
        (419.64 + number / 1000, DESKTOP, "today", text)
        for number, text in enumerate(
            (
                "The stand-up was moved to half past nine.",
                "The neighbour's cat slept on the balcony.",
                "I called the bank about the lost card.",
                "The build of Atlas failed because a certificate had expired.",
                "The certificate of the build server is renewed now.",
                "I watered the plants.",
                "The build of Atlas is green again.",
                "Jonas has a cold and stays at home.",
                "I had a coffee with Rui at the market.",
                "The ferry timetable is published as a PDF.",
                "Jonas has a cold and stays at home.",
                "The neighbour's cat slept on the balcony again.",
                "The evening train to Braga was late.",
            )
        )
    ),
)


class Life:
    """Writes the life into a store, and remembers the ids by what they are called here."""

    def __init__(self, home: Path, end: datetime) -> None:
        self._start = end - timedelta(days=DAYS)
        self._clock = FakeClock(self._start)
        self.service = MemoryService.open(home, clock=self._clock, random_source=FakeRandomSource(14))
        self.ids: dict[str, MemoryId] = {}

    def at(self, day: float) -> None:
        """Go to a moment."""
        self._clock.set(self._start + timedelta(days=day))

    def moment(self, day: float) -> datetime:
        """Return the moment of a day of the life."""
        return self._start + timedelta(days=day)

    def say(self, day: float, client: str, session: str, text: str, name: str = "", **more: Any) -> MemoryId:
        """Let somebody say something; ``more`` are further fields of the request."""
        self.at(day)
        scope = Scope(session=session, actor=client)
        given = {"memory_type": MemoryType.LONG_TERM, "origin": Origin.USER} | more
        written = self.service.write(scope, WriteRequest(content=text, **given))
        if name:
            self.ids[name] = written.id
        return written.id

    def correct(self, day: float, client: str, old: str, text: str, name: str, **more: Any) -> None:
        """Let somebody correct what has a name here."""
        self.say(day, client, f"{old}-again", text, name, supersedes=self.ids[old], **more)


def make_life(home: Path) -> dict[str, MemoryId]:
    """Make the store in a folder, closed when this returns; returns the ids of what tests ask for, by name."""
    now = SystemClock().now().astimezone(UTC)
    life = Life(home, now.replace(hour=20, minute=0, second=0, microsecond=0) - timedelta(days=1))
    acts = [*((day, _saying(life, *rest)) for day, *rest in (*SAID, *SMALL)), *_events(life)]
    for day, act in sorted(acts, key=lambda one: one[0]):
        act(day)
    while life.service.run_background_step():
        pass
    life.service.flush_recalls()
    life.service.close()
    return life.ids


def _saying(life: Life, client: str, session: str, text: str) -> Any:
    kind = MemoryType.SHORT_TERM if any(text == small[3] for small in SMALL) else MemoryType.LONG_TERM
    return lambda day: life.say(day, client, session, text, memory_type=kind)


def _events(life: Life) -> list[tuple[float, Any]]:
    """Return what is more than a statement: corrections, disputes, thoughts, secrets, forgetting."""
    return [
        (4.0, lambda day: life.say(day, DESKTOP, "flat", "Ada lives in Berlin.", "berlin")),
        (
            110.0,
            lambda day: life.correct(
                day, DESKTOP, "berlin", "Ada lives in Lisbon since March.", "lisbon", occurred_at=life.moment(104)
            ),
        ),
        (290.0, lambda day: life.correct(day, CODE, "lisbon", "Ada lives in Porto.", "porto")),
        (
            76.0,
            lambda day: life.say(day, DESKTOP, "dentist", "The dentist appointment is on Tuesday at ten.", "tuesday"),
        ),
        (
            78.0,
            lambda day: life.correct(
                day, DESKTOP, "tuesday", "The dentist appointment is on Thursday at four.", "thursday"
            ),
        ),
        (
            355.0,
            lambda day: life.say(
                day,
                CODE,
                "atlas-hiring",
                "Jonas lives in Porto as well.",
                "page",
                origin=Origin.TOOL,
                source="team.example",
            ),
        ),
        (
            360.0,
            lambda day: life.say(
                day, CODE, "browse", "Ada lives in Madrid.", "madrid", origin=Origin.TOOL, supersedes=life.ids["porto"]
            ),
        ),
        (
            362.0,
            lambda day: life.say(
                day,
                DESKTOP,
                "chatgpt",
                "I used to play the clarinet at school.",
                "clarinet",
                origin=Origin.IMPORT,
                source="chatgpt-export",
                occurred_at=life.moment(-900),
            ),
        ),
        (
            370.0,
            lambda day: life.say(
                day,
                CODE,
                "atlas-deploy",
                f"The API key of the tile server is {KEY}.",
                "secret",
            ),
        ),
        (
            372.0,
            lambda day: life.say(
                day,
                DESKTOP,
                "passport",
                "My passport must be renewed before 30 April.",
                "passport",
                pinned=True,
                tags=("papers",),
            ),
        ),
        (
            374.0,
            lambda day: life.say(
                day, CODE, "atlas-flag", "The ferry flag is on for testers only.", "flag", expires_at=life.moment(400)
            ),
        ),
        (376.0, lambda day: life.say(day, DESKTOP, "gym", "I want to join the climbing gym.", "gym")),
        (
            377.0,
            lambda day: _forget_gym(life, day),
        ),
        (380.0, lambda day: _reflect(life, day)),
        (382.0, lambda day: _retag(life, day)),
        *((400.0 + number * 3, _asking(life, *asked)) for number, asked in enumerate(QUESTIONS)),
    ]


QUESTIONS = (
    ("Where does Ada live?", CODE),
    ("Which ingredient must I avoid when cooking?", DESKTOP),
    ("How do we run the tests of Atlas?", CODE),
    ("Who reported ticket ATLAS-4711?", CODE),
    ("Who reported ticket ATLAS-4711?", DESKTOP),
    ("Which colours has the dark map style?", CURSOR),
)


def _reflect(life: Life, day: float) -> None:
    life.at(day)
    evidence = tuple(life.ids[name] for name in ("lisbon", "porto"))
    thought = Insight(text="Ada moves every few months, always further west.", evidence=evidence, importance=0.7)
    life.ids["insight"] = life.service.store_insights(Scope(session="thinking", actor=DESKTOP), [thought])[0]


def _forget_gym(life: Life, day: float) -> None:
    life.at(day)
    life.service.forget(Scope(session="gym", actor=DESKTOP), ForgetRequest(ids=(life.ids["gym"],)))


def _retag(life: Life, day: float) -> None:
    life.at(day)
    life.service.update(Scope(session="papers", actor=DESKTOP), UpdateRequest(id=life.ids["passport"], importance=0.95))


def _asking(life: Life, question: str, client: str) -> Any:
    def ask(day: float) -> None:
        life.at(day)
        scope, request = Scope(session="asking", actor=client), ReadRequest(query=question, concise=True)
        found = life.service.read(scope, request)
        shown = Shown(ids=[hit.memory.id for hit in found.hits], tokens=40 + 55 * len(found.hits))
        life.service.journal.note(scope, Way.TOOL, request, found, shown, life.service.now())

    return ask
