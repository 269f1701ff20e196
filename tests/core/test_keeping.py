from datetime import timedelta

import pytest

from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.statements import statements
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.keeping import Change, change_by
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock, FakeRandomSource

SCOPE = Scope(namespace="default", session="one")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def service(tmp_path, clock):
    settings = StoreSettings(embedder="static")
    opened = MemoryService.open(tmp_path, clock=clock, random_source=FakeRandomSource(), settings=settings)
    yield opened
    opened.close()


def tell(service, clock, *said, origin=Origin.USER):
    for text in said:
        clock.advance(days=1)
        for said_now in statements([Turn(text, clock.now())], fragments=True):
            change = change_by(service, SCOPE, said_now)
            if change is None:
                continue
            one = change.statement
            request = WriteRequest(
                content=one.text,
                origin=origin,
                session="one",
                memory_type=MemoryType.LONG_TERM,
                importance=one.importance,
                tags=one.tags,
                occurred_at=one.occurred_at,
                source="hook:claude-code",
                supersedes=change.supersedes,
            )
            service.write(SCOPE, request)
    clock.advance(seconds=60)


def brief(service):
    found = service.read(Scope(namespace="default", session="two"), ReadRequest())
    return {hit.memory.content: hit.section for hit in found.hits}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "text", "section"),
    [
        ("btw I prefer tabs", "I prefer tabs", "about the user"),
        ("call me Sam", "call me Sam", "about the user"),
        ("my sister Ana is allergic to peanuts", "my sister Ana is allergic to peanuts", "about the user"),
        ("let's go with Postgres", "let's go with Postgres", "decisions"),
        ("I'm flying to Lisbon next week", "I'm flying to Lisbon next week", "open"),
    ],
)
def test_what_a_person_said_stands_where_they_look_for_it(service, clock, said, text, section):
    tell(service, clock, said)

    assert brief(service) == {text: section}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("our retro meeting is on Tuesday", "no, our retro meeting is on Thursday", "our retro meeting is on Thursday"),
        ("I live in Braga", "actually I moved to Porto", "I moved to Porto"),
        ("The deploy is on Tuesday.", "Actually the deploy is on Thursday.", "the deploy is on Thursday"),
        ("My name is Jon.", "Sorry, my name is John with h.", "my name is John with h"),
        ("I prefer npm.", "I changed my mind, I prefer pnpm.", "I prefer pnpm"),
        ("I always use tabs.", "Forget that, I use spaces.", "I use spaces"),
        (
            "We decided to use Kafka.",
            "Scratch Kafka, we use Redis Streams now.",
            "Scratch Kafka, we use Redis Streams now",
        ),
        ("I'm vegetarian.", "I eat meat again now.", "I eat meat again now"),
        ("My sister Nora lives in Graz.", "Nora moved to Linz.", "My sister Nora lives in Linz"),
        (
            "We decided to use Postgres 15 for the orders service.",
            "Actually it's Postgres 16, not 15.",
            "We decided to use Postgres 16 for the orders service",
        ),
        (
            "The staging server is at stage.example.org.",
            "no, that's wrong, the staging server is at stage2.example.org",
            "the staging server is at stage2.example.org",
        ),
        ("I work at Siemens.", "I quit Siemens, I work at Bosch now.", "I quit Siemens, I work at Bosch now"),
        ("My boss is Henrik.", "My new boss is Petra.", "My new boss is Petra"),
        ("call me Sam", "call me Jo", "call me Jo"),
        ("please answer in German from now on", "from now on answer in French", "from now on answer in French"),
        (
            "we use Redis for the job queue",
            "we decided to drop Redis for the job queue",
            "we decided to drop Redis for the job queue",
        ),
    ],
)
def test_a_correction_takes_the_place_of_what_it_corrects(service, clock, before, after, kept):
    tell(service, clock, before, after)

    assert list(brief(service)) == [kept]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("our retro meeting is on Tuesday", "no, our sprint meeting is on Thursday, not Tuesday"),
        ("I prefer tabs", "no, I prefer coffee"),
        ("we use Redis for the job queue", "we decided to drop Jenkins for the builds"),
        ("I live in Braga", "my sister Ana lives in Porto now"),
    ],
)
def test_a_correction_of_something_else_takes_no_place(service, clock, one, other):
    tell(service, clock, one, other)

    assert len(brief(service)) == 2


def test_of_two_values_of_one_thing_the_brief_shows_the_newest(service, clock):
    for text in ("The deploy is on Tuesday", "The deploy is on Thursday", "The demo is on Friday"):
        clock.advance(seconds=300)
        service.write(SCOPE, WriteRequest(content=text, origin=Origin.USER, memory_type=MemoryType.LONG_TERM))
    clock.advance(seconds=300)

    assert sorted(brief(service)) == ["The demo is on Friday", "The deploy is on Thursday"]


def test_what_is_not_the_persons_own_word_stays(service, clock):
    tell(service, clock, "I live in Braga", origin=Origin.IMPORT)
    (told,) = statements([Turn("I moved to Porto", clock.now() + timedelta(days=1))])

    assert change_by(service, SCOPE, told).supersedes is None


def test_a_statement_that_corrects_nothing_asks_nothing(clock):
    (told,) = statements([Turn("I like jazz", clock.now())])

    assert change_by(None, SCOPE, told) == Change(told)
