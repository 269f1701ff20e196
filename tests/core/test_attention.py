"""What is asked for stays in mind; what merely stood alongside it does not."""

from dataclasses import replace

import pytest
from tests.core.speaking import remember

from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory.model import Tier
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.memory.store import MemoryStore

THINGS = (
    "passport ladder violin kettle tent compass sledge typewriter telescope accordion wheelbarrow chessboard lantern anvil hammock",
    "drawer attic cellar garage shed wardrobe locker suitcase bookshelf basket chest cupboard pantry balcony workshop",
)
LENT = (
    "stapler guitar drill blender toaster projector microscope canoe trumpet rucksack thermos saxophone iron broom vase",
    "Ada Bruno Chiara Dmitri Elif Farid Greta Hugo Ines Jonas Kaito Lena Marek Nadia Olivia",
)
HABITS = (
    "swims jogs paints knits sings cooks climbs dances fences gardens sketches rows skates bakes juggles",
    "Petra Quentin Rosa Stefan Tamara Ulrich Valeria Wanda Xaver Yvonne Zoran Birgit Cosimo Dario Emilia",
)
PAYS = (
    "rent gym insurance newspaper piano electricity gas phone parking garden ferry library choir theatre allotment",
    "12 25 31 44 58 63 77 82 96 105 118 121 134 149 153",
)
NOTES = [
    *(
        (f"The {thing} is in the {place}.", f"Where is the {thing}?")
        for thing, place in zip(*map(str.split, THINGS), strict=True)
    ),
    *(
        (f"{who} borrowed the {thing}.", f"Who borrowed the {thing}?")
        for thing, who in zip(*map(str.split, LENT), strict=True)
    ),
    *(
        (f"{who} {does} every Sunday.", f"What does {who} do on Sundays?")
        for does, who in zip(*map(str.split, HABITS), strict=True)
    ),
    *(
        (f"The {bill} bill is {sum_} euros.", f"How much is the {bill} bill?")
        for bill, sum_ in zip(*map(str.split, PAYS), strict=True)
    ),
]
DAILY = NOTES[0]  # the one that is asked for again and again


@pytest.fixture
def lived(clock, random_source):
    """A memory of sixty small facts, told in six sessions that have ended."""
    service = MemoryService(
        MemoryStore(clock), StaticEmbedder(), clock=clock, random_source=random_source, settings=StoreSettings()
    )
    yield service
    service.close()


def tell(service, scope, clock, **fields):
    ids = {}
    for at, (text, _) in enumerate(NOTES):
        session = replace(scope, session=f"day {at // 10}")
        ids[text] = remember(service, session, text, importance=0.3, **fields).id
        clock.advance(seconds=300)
        if at % 10 == 9:
            service.end_session(session)
            clock.advance(days=1)
    return ids


def ask(service, scope, question, **fields):
    return service.read(scope, ReadRequest(query=question, **fields))


@pytest.mark.slow
def test_after_fifty_questions_the_tiers_still_say_what_mattered(lived, scope, clock):
    ids = tell(lived, scope, clock, episode=True)
    questions = [question for _, question in NOTES[1:46]] + [DAILY[1]] * 5
    for at, question in enumerate(questions):
        ask(lived, replace(scope, session=f"evening {at // 10}"), question)
        clock.advance(hours=1)
        if at % 10 == 9:
            lived.end_session(replace(scope, session=f"evening {at // 10}"))
    lived.flush_recalls()
    tiers = {text: lived.get(scope, id_).tier for text, id_ in ids.items()}
    assert tiers[DAILY[0]] is Tier.LONG_TERM
    assert sum(tier is Tier.LONG_TERM for text, tier in tiers.items() if text != DAILY[0]) <= 6


@pytest.mark.parametrize(
    "how", [{"recalls": False}, {"cursor": "of the first page"}, {"limit": 1, "query": "What is there?"}]
)
def test_a_look_from_outside_a_later_page_and_a_vague_question_recall_nothing(lived, scope, clock, how):
    tell(lived, scope, clock)
    lived._recalls._waiting.clear()
    fields = {"query": DAILY[1], "limit": 8} | how
    if "cursor" in how:
        fields["cursor"] = ask(lived, scope, DAILY[1]).cursor_after(1)
        lived._recalls._waiting.clear()
    lived.read(scope, ReadRequest(**fields))
    assert not lived._recalls
