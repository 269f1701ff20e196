"""What embedder a store has for which nobody chose one, and how a store of an earlier version comes to it."""

from __future__ import annotations

import pytest
from tests.core.embedding.loading import once_loaded

from hybrid_memory.embedding import universal as universal_module
from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.embedding.registry import FORMER_DEFAULTS, choose_embedders, embedder_for, reason_of, setting_for
from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service import background
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings, change_config
from hybrid_memory.testing import FakeClock, FakeRandomSource

SCOPE = Scope(session="s")
CAT = "Wir haben eine Katze, die Minka heißt."
NOTES = [CAT, "I park the car in Mill Lane.", *(f"The box {at} is on shelf {at}." for at in range(20))]
QUESTION = "Which pet lives with us?"
STATIC = StaticEmbedder().identity


@pytest.fixture
def unset(monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)


@pytest.fixture
def opened(tmp_path, unset):
    services = []

    def open_one(**arguments):
        services.append(
            MemoryService.open(tmp_path, clock=FakeClock(), random_source=FakeRandomSource(len(services)), **arguments)
        )
        return services[-1]

    yield open_one
    for service in services:
        service.close()


@pytest.fixture
def of_an_earlier_version(opened):
    """Opens a store that was filled while the small table was the default."""
    service = opened(settings=StoreSettings(embedder="static"))
    write(service, NOTES)
    service.close()
    return opened


def write(service, texts):
    for words in texts:
        service.write(SCOPE, WriteRequest(content=words))


def idle(service):
    while service.run_background_step():
        pass


def spec(service):
    return setting_for(service.store.info().embedder)


def read(service, question=QUESTION):
    return service.read(SCOPE, ReadRequest(query=question))


def test_a_new_store_begins_with_the_universal_encoder(unset):
    wanted, former = choose_embedders(StoreSettings(), None)
    assert (wanted.identity, former) == ("universal", None)
    assert isinstance(wanted, BackgroundEmbedder)


@pytest.mark.parametrize("identity", [STATIC, "static-v1:00", "multilingual-v1:00"])
def test_what_an_earlier_version_chose_gives_way(unset, identity):
    wanted, former = choose_embedders(StoreSettings(), identity)
    assert wanted.identity == "universal"
    assert setting_for(former.identity) in FORMER_DEFAULTS


@pytest.mark.parametrize("identity", ["minilm:00", "fastembed:a/b@00", "universal:00"])
def test_what_somebody_chose_is_kept(unset, identity):
    wanted, former = choose_embedders(StoreSettings(), identity)
    assert (setting_for(wanted.identity) or wanted.identity, former) == (setting_for(identity), None)


@pytest.mark.parametrize("name", FORMER_DEFAULTS)
def test_a_setting_keeps_a_small_table(name):
    wanted, former = choose_embedders(StoreSettings(embedder=name), embedder_for(name).identity)
    assert (setting_for(wanted.identity), former) == (name, None)


@pytest.mark.parametrize(
    ("pinned", "words"),
    [
        (None, "a new store begins with it"),
        ("universal:00", "the default"),
        (STATIC, "the default of an earlier version, to be replaced by universal"),
        ("multilingual-v1:00", "the default of an earlier version, to be replaced by universal"),
        ("minilm:00", "the store's own, since no setting names one"),
        ("fastembed:local/x@00", "the store's own, since no setting names one"),
    ],
)
def test_the_reason_is_told(unset, pinned, words):
    assert reason_of(StoreSettings(), pinned) == words


def test_a_named_embedder_is_the_reason():
    assert reason_of(StoreSettings(embedder="universal"), None) == "a setting names the embedder"


@pytest.mark.slow
def test_a_new_store_never_waits_for_the_model_and_gets_its_vectors_later(opened, universal_cache):
    service = opened()
    assert service.write(SCOPE, WriteRequest(content=CAT)).pending
    assert read(service, "Katze").hits[0].memory.content == CAT
    once_loaded(service._encoder.active)
    idle(service)
    assert (spec(service), service.status(SCOPE).pending_vectors) == ("universal", 0)
    assert read(service).hits[0].memory.content == CAT


@pytest.mark.slow
def test_warming_up_loads_the_model_ahead(opened, universal_cache):
    service = opened()
    service.warm_up(SCOPE)
    assert not service.write(SCOPE, WriteRequest(content=CAT)).pending


@pytest.mark.slow
def test_a_store_of_an_earlier_version_moves_by_itself(of_an_earlier_version, universal_cache):
    service = of_an_earlier_version()
    once_loaded(service._encoder.pending_change)
    idle(service)
    status = service.status(SCOPE)
    assert (spec(service), status.embedder_reason) == ("universal", "the default")
    assert (status.pending_vectors, status.reembedding, status.notices) == (0, None, ())
    assert read(service).hits[0].memory.content == CAT


@pytest.mark.slow
def test_it_answers_with_its_former_vectors_until_the_switch(of_an_earlier_version, universal_cache, monkeypatch):
    monkeypatch.setattr(background, "BATCH_MEMORIES", 4)
    service = of_an_earlier_version()
    once_loaded(service._encoder.pending_change)
    assert service.run_background_step()
    assert not service.write(SCOPE, WriteRequest(content="The bicycle is behind the door.")).pending
    found = read(service, "Where is the bicycle?")
    assert (spec(service), found.words_alone) == ("static", False)
    assert found.hits[0].memory.content == "The bicycle is behind the door."
    idle(service)
    assert (spec(service), service.status(SCOPE).pending_vectors) == ("universal", 0)


@pytest.mark.slow
def test_a_move_that_was_killed_is_continued(of_an_earlier_version, universal_cache, monkeypatch):
    monkeypatch.setattr(background, "BATCH_MEMORIES", 4)
    service = of_an_earlier_version()
    once_loaded(service._encoder.pending_change)
    for _ in range(3):
        service.run_background_step()
    begun = service.store.embedder_change.next_embedder().done
    assert begun > 0
    service.close()
    again = of_an_earlier_version()
    once_loaded(again._encoder.pending_change)
    again.run_background_step()
    assert again.store.embedder_change.next_embedder().done > begun
    idle(again)
    assert spec(again) == "universal"


@pytest.mark.slow
def test_a_store_whose_file_names_the_small_table_keeps_it(of_an_earlier_version, tmp_path, universal_cache):
    change_config(tmp_path, {"embedder": "static"})
    service = of_an_earlier_version()
    service.warm_up(SCOPE)
    idle(service)
    assert (spec(service), service.status(SCOPE).embedder_reason) == ("static", "a setting names the embedder")


@pytest.fixture
def no_package(monkeypatch, tmp_path):
    monkeypatch.setattr(universal_module, "PACKAGE", "no_such_package")
    monkeypatch.setattr("hybrid_memory.settings.cache_folder", lambda: tmp_path / "cache")


@pytest.mark.slow
def test_without_the_package_a_new_store_answers_by_words_and_says_what_to_do(opened, no_package):
    service = opened()
    service.warm_up(SCOPE)
    write(service, NOTES)
    found = read(service, "Katze")
    assert (found.hits[0].memory.content, found.words_alone) == (CAT, True)
    (notice,) = service.status(SCOPE).notices
    assert "search is by words alone" in notice
    assert "embedder use static" in notice


@pytest.mark.slow
def test_without_the_package_an_earlier_store_keeps_its_vectors(of_an_earlier_version, no_package):
    service = of_an_earlier_version()
    service.warm_up(SCOPE)
    idle(service)
    assert spec(service) == "static"
    assert not read(service).words_alone
