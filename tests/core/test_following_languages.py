"""A store whose user chose no embedder takes the table that fits its languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory import background
from hybrid_memory.embedding.registry import MULTILINGUAL, STATIC, setting_for
from hybrid_memory.embedding.table_choice import LANGUAGE_ENTRIES
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, WriteRequest
from hybrid_memory.service import MemoryService
from hybrid_memory.settings import StoreSettings, change_config
from hybrid_memory.testing import FakeClock, FakeRandomSource

CAT = "Wir haben eine Katze, die Minka heißt."
QUESTION = "Welches Haustier lebt bei uns?"
THINGS = ("Lampe", "Rechnung", "Leiter", "Tasse", "Jacke", "Brille", "Zange", "Kiste", "Gabel", "Vase")
MISSING = [f"Die {one} ist nicht mehr im Keller." for one in THINGS]
WANTED = [f"Ich kaufe morgen eine {one}." for one in THINGS]
GERMAN = [CAT, *MISSING, *WANTED]
ENGLISH = [f"The {one} was moved to shelf number {at}." for at, one in enumerate(THINGS + THINGS)]
CHINESE = [f"我们明天下午{at}点在办公室开会。" for at in range(1, 14)]
SCOPE = Scope(session="s")


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)
    services = []

    def open_one(**arguments):
        services.append(
            MemoryService.open(tmp_path, clock=FakeClock(), random_source=FakeRandomSource(len(services)), **arguments)
        )
        return services[-1]

    yield open_one
    for service in services:
        service.close()


def write(service, texts, scope=SCOPE):
    return [service.write(scope, WriteRequest(content=words)).id for words in texts]


def idle(service):
    while service.run_background_step():
        pass


def table(service):
    return setting_for(service.store.info().embedder)


def first(service, question):
    return service.read(SCOPE, ReadRequest(query=question)).hits[0].memory.content


@pytest.mark.slow
def test_a_store_with_german_notes_takes_the_multilingual_table(opened):
    service = opened()
    write(service, GERMAN[:20] + ENGLISH)
    assert table(service) == STATIC
    idle(service)
    assert table(service) == MULTILINGUAL
    assert first(service, QUESTION) == CAT
    status = service.status(SCOPE)
    assert status.embedder_reason == "chosen by itself: 50 % of the memories are in other languages"
    assert (status.pending_vectors, status.reembedding, status.notices) == (0, None, ())


@pytest.mark.slow
def test_a_store_with_chinese_notes_does_so_too(opened):
    service = opened()
    write(service, CHINESE)
    idle(service)
    assert table(service) == MULTILINGUAL


@pytest.mark.slow
@pytest.mark.parametrize(
    "texts", [ENGLISH, ENGLISH + GERMAN[:5], GERMAN[:11]], ids=["English", "five German", "eleven"]
)
def test_a_store_in_english_or_with_few_other_notes_stays(opened, texts):
    service = opened()
    write(service, texts)
    idle(service)
    assert table(service) == STATIC
    assert service.status(SCOPE).embedder_reason.startswith("the default: ")


@pytest.mark.slow
def test_notes_of_all_namespaces_count(opened):
    service = opened()
    for at in range(4):
        write(service, GERMAN[3 * at : 3 * at + 3], Scope(namespace=f"n{at}", session="s"))
    idle(service)
    assert table(service) == MULTILINGUAL


@pytest.mark.slow
def test_forgotten_notes_do_not_count(opened):
    service = opened()
    ids = write(service, GERMAN[:15])
    write(service, ENGLISH)
    service.forget(SCOPE, ForgetRequest(ids=tuple(ids[:5])))
    idle(service)
    assert table(service) == STATIC


@pytest.mark.slow
def test_it_is_noticed_when_the_notes_come_later(opened):
    service = opened()
    write(service, ENGLISH)
    idle(service)
    service.status(SCOPE)
    write(service, GERMAN)
    idle(service)
    assert table(service) == MULTILINGUAL


@pytest.mark.slow
def test_a_chosen_embedder_stays(opened):
    service = opened(settings=StoreSettings(embedder=STATIC, former_embedder=None))
    write(service, GERMAN)
    idle(service)
    assert table(service) == STATIC
    assert service.status(SCOPE).embedder_reason == "a setting names the embedder"


@pytest.mark.slow
def test_the_next_opening_keeps_the_table_even_when_the_notes_are_gone(opened):
    service = opened()
    ids = write(service, GERMAN)
    idle(service)
    service.forget(SCOPE, ForgetRequest(ids=tuple(ids)))
    service.close()
    again = opened()
    write(again, ENGLISH)
    idle(again)
    assert table(again) == MULTILINGUAL
    assert again.status(SCOPE).embedder_reason == "the store's own, since no setting names one"


@pytest.mark.slow
def test_static_can_be_chosen_afterwards_and_is_kept(opened, tmp_path):
    service = opened()
    write(service, GERMAN)
    idle(service)
    service.close()
    change_config(tmp_path, {"embedder": STATIC})
    for _ in range(2):
        again = opened()
        again.warm_up(SCOPE)
        idle(again)
        assert table(again) == STATIC
        again.close()


@pytest.mark.slow
def test_a_change_that_was_killed_is_continued(opened, monkeypatch):
    monkeypatch.setattr(background, "BATCH_MEMORIES", 4)
    service = opened()
    write(service, GERMAN)
    for _ in range(3):
        service.run_background_step()
    assert service.store.embedder_change.next_embedder().done > 0
    service.close()
    again = opened()
    again.warm_up(SCOPE)
    begun = again.store.embedder_change.next_embedder().done
    again.run_background_step()
    assert again.store.embedder_change.next_embedder().done > begun
    idle(again)
    assert table(again) == MULTILINGUAL
    assert first(again, QUESTION) == CAT


@pytest.mark.slow
def test_reads_and_writes_go_on_until_the_switch(opened, monkeypatch):
    monkeypatch.setattr(background, "BATCH_MEMORIES", 4)
    service = opened()
    write(service, GERMAN)
    assert service.run_background_step()
    assert not service.write(SCOPE, WriteRequest(content="Das Fahrrad steht vor der Tür.")).pending
    answer = service.read(SCOPE, ReadRequest(query="Wo steht das Fahrrad?"))
    assert (answer.hits[0].memory.content, answer.words_alone) == ("Das Fahrrad steht vor der Tür.", False)
    assert table(service) == STATIC
    idle(service)
    assert service.status(SCOPE).pending_vectors == 0


@pytest.mark.slow
def test_a_table_that_is_missing_changes_nothing(opened, monkeypatch):
    def missing(_):
        raise EmbedderUnavailable("the table is not here")

    monkeypatch.setattr("hybrid_memory.embedding.multilingual.MultilingualEmbedder.dimensions", property(missing))
    service = opened()
    write(service, GERMAN)
    idle(service)
    assert table(service) == STATIC
    assert not service.read(SCOPE, ReadRequest(query=QUESTION)).words_alone


@pytest.mark.slow
@given(st.lists(st.sampled_from(("forgotten", "german", "english")), max_size=12))
def test_live_memories_are_counted_by_their_language(kinds):
    from hybrid_memory.store.memory.store import MemoryStore
    from hybrid_memory.testing import HashEmbedder

    clock = FakeClock()
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    for at, kind in enumerate(kinds):
        words = f"The box {at} is here." if kind == "english" else f"Die Kiste {at} ist nicht hier."
        (written,) = write(service, [words])
        if kind == "forgotten":
            service.forget(SCOPE, ForgetRequest(ids=(written,)))
    german = kinds.count("german")
    assert service.store.count_named(LANGUAGE_ENTRIES) == (german + kinds.count("english"), german)
    service.close()
