"""The change of the embedder while the memory is used, in both stores."""

import threading

import numpy as np
import pytest
from tests.core.store.empty_database import discard, lay_empty
from tests.postgres.fixtures import POSTGRES
from tests.tables import each

from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.embedding.registry import choose_embedders, setting_for
from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory.encoding.text_encoder import text_of
from hybrid_memory.errors import EmbedderUnavailable, InvalidInput
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service import background
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.duck.vss import extension_file
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import HashEmbedder

COUNT, BATCH = 24, 8
OLD, NEW = HashEmbedder(64, "old"), HashEmbedder(48, "new")
SAME_LENGTH = HashEmbedder(64, "new of the same length")


class Counting(HashEmbedder):
    """Tells how many texts it was given; stops the work when it has had enough."""

    def __init__(self, enough=10**9):
        super().__init__(48, "new")
        self.texts = 0
        self.enough = enough

    def embed(self, texts):
        if self.texts + len(texts) > self.enough:
            raise EmbedderUnavailable("the model is gone")
        self.texts += len(texts)
        return super().embed(texts)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(background, "BATCH_MEMORIES", BATCH)
    monkeypatch.setattr(background, "PAGE_MEMORIES", 3 * BATCH)
    monkeypatch.setattr(background, "SWITCH_MEMORIES", 4)


@pytest.fixture(params=["memory", "duck", POSTGRES])
def store(request, clock, tmp_path, open_postgres):
    if request.param == "postgres":
        store = open_postgres(clock)
    else:
        store = MemoryStore(clock) if request.param == "memory" else DuckStore.open(lay_empty(tmp_path), clock)
    yield store
    if isinstance(store, DuckStore):
        discard(store)


IN_MEMORY = pytest.mark.parametrize(
    "store", ["memory"], indirect=True
)  # where the store takes no part in what is tested


@pytest.fixture
def opened(store, clock, random_source):
    return lambda embedder=OLD, previous=None: MemoryService(
        store, embedder, clock=clock, random_source=random_source, previous=previous
    )


@pytest.fixture
def filled(opened, scope):
    service = opened()
    fill(service, scope, COUNT)
    return service


def fill(service, scope, count, word="number"):
    for at in range(count):
        service.write(scope, WriteRequest(content=f"{word} {at} is about thing{at}", session=f"s{at % 7}"))


def all_memories(service, namespace="default"):
    ids = [MemoryId(one.decode()) for part in service.store.snapshot(namespace).ids for one in part.tolist()]
    return service.store.get(namespace, ids)


def assert_all_embedded_by(service, embedder, namespace="default"):
    memories = all_memories(service, namespace)
    assert memories
    stored = service.store.vectors(namespace, memories)
    searched = service._index_cache.get(namespace).vectors_of(list(memories))
    for id_, memory in memories.items():
        wanted = embedder.embed([text_of(memory)])[0]
        assert np.array_equal(stored[id_], wanted)
        assert np.array_equal(searched[id_], wanted)


def found_first(service, scope, query):
    return service.read(scope, ReadRequest(query=query)).hits[0].memory.content


@pytest.mark.slow
@pytest.mark.parametrize("new", [NEW, SAME_LENGTH], ids=["another length", "the same length"])
def test_all_memories_of_all_namespaces_get_vectors_of_the_new_embedder(filled, scope, new):
    other = Scope(namespace="other", session="s")
    fill(filled, other, 5)
    told = []
    done = filled.reembed(new, progress=told.append)
    assert (done.embedder, done.done, done.total) == (new.identity, COUNT + 5, COUNT + 5)
    assert [one.done for one in told][:2] == [BATCH, 2 * BATCH]
    assert filled.store.info().embedder == new.identity
    assert_all_embedded_by(filled, new)
    assert_all_embedded_by(filled, new, "other")
    assert filled.status(scope).pending_vectors == 0
    assert filled.status(scope).reembedding is None


@pytest.mark.slow
def test_a_change_that_was_interrupted_is_continued_not_repeated(opened, filled, scope):
    with pytest.raises(EmbedderUnavailable):
        filled.reembed(Counting(enough=2 * BATCH))
    assert filled.store.info().embedder == "old"
    assert found_first(filled, scope, "thing17") == "number 17 is about thing17"
    again = opened()
    rest = Counting()
    again.reembed(rest)
    assert rest.texts == COUNT - 2 * BATCH
    assert_all_embedded_by(again, NEW)


@pytest.mark.slow
def test_until_the_switch_reads_and_writes_use_the_former_embedder(filled, opened, scope):
    service = opened(NEW, OLD)
    assert service.run_background_step()
    assert service.store.embedder_change.next_embedder().done == BATCH
    written = service.write(scope, WriteRequest(content="a walrus came by"))
    assert not written.pending
    assert np.array_equal(
        service.store.vectors("default", [written.id])[written.id], OLD.embed(["a walrus came by"])[0]
    )
    answer = service.read(scope, ReadRequest(query="walrus"))
    assert (answer.hits[0].memory.id, answer.words_alone) == (written.id, False)
    status = service.status(scope)
    assert (status.reembedding.done, status.reembedding.total) == (BATCH, COUNT + 1)
    assert any(f"{BATCH} of {COUNT + 1}" in notice for notice in status.notices)
    while service.run_background_step():
        pass
    assert_all_embedded_by(service, NEW)
    assert service.status(scope).notices == ()


@IN_MEMORY
def test_without_the_former_embedder_words_alone_answer_until_the_switch(filled, opened, scope):
    service = opened(NEW)
    answer = service.read(scope, ReadRequest(query="thing17"))
    assert answer.words_alone
    assert answer.hits[0].memory.content == "number 17 is about thing17"
    assert service.write(scope, WriteRequest(content="a walrus came by")).pending
    assert any("words alone" in notice for notice in service.status(scope).notices)
    while service.run_background_step():
        pass
    assert_all_embedded_by(service, NEW)
    assert not service.read(scope, ReadRequest(query="walrus")).words_alone


@pytest.mark.slow
def test_writers_and_readers_go_on_while_the_embedder_changes(filled, scope):
    stop, problems = threading.Event(), []

    def live(name):
        at = 0
        while at < 5 or (at < 30 and not stop.is_set()):
            at += 1
            try:
                own = filled.write(scope, WriteRequest(content=f"{name} says {at} times {name}{at}"))
                hits = filled.read(scope, ReadRequest(query=f"{name}{at}")).hits
                if own.pending or own.id not in {hit.memory.id for hit in hits}:
                    problems.append(own)
            except Exception as error:  # noqa: BLE001 - the test tells what it was
                problems.append(error)

    threads = [threading.Thread(target=live, args=(name,)) for name in ("ada", "bob")]
    for thread in threads:
        thread.start()
    for embedder in (NEW, SAME_LENGTH):
        filled.reembed(embedder)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert_all_embedded_by(filled, SAME_LENGTH)


@IN_MEMORY
def test_a_model_that_stops_running_is_told_and_the_work_goes_on_when_it_runs_again(filled, opened, scope):
    model = Counting(enough=BATCH)
    service = opened(model, OLD)
    assert service.run_background_step()
    with pytest.raises(EmbedderUnavailable, match="gone"):
        service.run_background_step()
    assert found_first(service, scope, "thing17") == "number 17 is about thing17"
    model.enough = 10**9
    while service.run_background_step():
        pass
    assert_all_embedded_by(service, NEW)


@IN_MEMORY
def test_only_one_thread_does_late_work(filled, opened):
    service = opened(NEW, OLD)
    with service._background._busy:
        assert not service.run_background_step()
    assert service.run_background_step()


def test_a_change_that_nobody_wants_any_more_is_dropped(filled, opened):
    changing = opened(NEW, OLD)
    while (
        filled.store.embedder_change.next_embedder() is None
    ):  # until the database has no row any more of who was there before
        changing.run_background_step()
    filled.run_background_step()
    assert filled.store.embedder_change.next_embedder() is None
    assert filled.store.info().embedder == "old"


@IN_MEMORY
def test_a_change_to_the_embedder_that_is_there_does_nothing(filled):
    assert filled.reembed(OLD).done == COUNT
    assert filled.store.embedder_change.next_embedder() is None


def test_a_store_without_vectors_takes_the_new_embedder_at_once(opened, scope):
    service = opened()
    assert service.reembed(NEW).total == 0
    service.write(scope, WriteRequest(content="a walrus came by"))
    assert_all_embedded_by(service, NEW)


@IN_MEMORY
def test_a_model_that_comes_back_is_found_without_a_restart(opened, scope):
    class Absent(HashEmbedder):
        there = False

        @property
        def dimensions(self):
            if not self.there:
                raise EmbedderUnavailable("the model is not on this machine")
            return 64

    model = Absent(64, "late")
    service = opened(BackgroundEmbedder(model, "late", load_wait=20, retry_after=0))
    ids = [service.write(scope, WriteRequest(content=f"a walrus came by {at}")) for at in range(30)]
    assert all(one.pending for one in ids)
    status = service.status(scope)
    assert status.pending_vectors == 30
    assert "is not on this machine" in status.notices[0]
    assert service.read(scope, ReadRequest(query="walrus")).words_alone
    assert not service.run_background_step()
    model.there = True
    while service.run_background_step():
        pass
    assert service.status(scope).pending_vectors == 0
    assert service.status(scope).notices == ()
    assert not service.read(scope, ReadRequest(query="walrus")).words_alone


@IN_MEMORY
def test_a_text_that_a_model_cannot_embed_is_like_nothing(filled):
    class Failing(HashEmbedder):
        def embed(self, texts):
            return np.full((len(texts), 48), np.nan, np.float32)

    filled.reembed(Failing(48, "not a number"))
    one = MemoryId(next(iter(all_memories(filled))))
    assert not filled.store.vectors("default", [one])[one].any()


def test_a_new_store_gets_the_embedder_of_the_setting():
    assert isinstance(choose_embedders(StoreSettings(embedder="static"), None)[0], StaticEmbedder)


def test_a_store_keeps_its_embedder_when_no_setting_names_one(monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)
    wanted, previous = choose_embedders(StoreSettings(), "fastembed:BAAI/bge-small-en-v1.5@00ff")
    assert (wanted.identity, previous) == ("fastembed:BAAI/bge-small-en-v1.5", None)


def test_a_setting_changes_the_embedder_and_the_former_one_is_told_from_the_store():
    wanted, previous = choose_embedders(StoreSettings(embedder="fastembed:BAAI/bge-small-en-v1.5"), "static-v1:00ff")
    assert wanted.identity == "fastembed:BAAI/bge-small-en-v1.5"
    assert isinstance(previous, StaticEmbedder)


def test_the_former_model_of_a_folder_is_told_by_a_setting(tmp_path):
    settings = StoreSettings(embedder="static", former_embedder=f"fastembed:{tmp_path}")
    assert choose_embedders(settings, "fastembed:local/x@00ff")[1].identity == f"fastembed:{tmp_path}"


def test_the_model_of_a_folder_that_nobody_names_is_missed_not_replaced(monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)
    wanted, previous = choose_embedders(StoreSettings(), "fastembed:local/x@00ff")
    assert previous is None
    with pytest.raises(EmbedderUnavailable, match="folder"):
        wanted.embed(["x"])
    with pytest.raises(EmbedderUnavailable, match="folder"):
        _ = wanted.dimensions


@each(
    "identity, spec",
    [
        ("static-v1:00ff", "static"),
        ("fastembed:a/b@00ff", "fastembed:a/b"),
        ("fastembed:a/b", "fastembed:a/b"),
        ("fastembed:local/x@00ff", None),
        ("hash-1", None),
    ],
)
def test_an_identity_leads_back_to_its_setting(identity, spec):
    assert setting_for(identity) == spec


@pytest.mark.slow
@pytest.mark.skipif(extension_file() is None, reason="the package of the extension is not installed")
def test_an_approximate_index_is_built_anew_from_the_new_vectors(tmp_path, clock, random_source, scope):
    service = MemoryService.open(tmp_path, clock=clock, random_source=random_source, hnsw_from=10)
    fill(service, scope, 30)
    index = service._index_cache.get("default")
    previous = index._matrix.approximate
    previous.wait()
    assert previous.ready
    service.reembed(NEW)
    assert service._index_cache.get("default") is index
    present = index._matrix.approximate
    present.wait()
    assert present is not previous
    assert present.ready
    assert not previous.ready
    assert_all_embedded_by(service, NEW)
    assert found_first(service, scope, "thing17") == "number 17 is about thing17"
    service.close()


@pytest.mark.slow
def test_a_store_of_an_earlier_built_in_table_gets_vectors_of_this_one(tmp_path, clock, random_source, scope):
    store = DuckStore.open(tmp_path / "memory.duckdb", clock)
    fill(MemoryService(store, HashEmbedder(32, "static-v0:00ff"), clock=clock, random_source=random_source), scope, 20)
    store.close()
    service = MemoryService.open(tmp_path, clock=clock, random_source=random_source)
    assert service.read(scope, ReadRequest(query="thing17")).words_alone
    while service.run_background_step():
        pass
    assert_all_embedded_by(service, StaticEmbedder())
    service.close()


def test_a_wrong_embedder_is_told_before_the_store_is_made(tmp_path, clock, random_source):
    with pytest.raises(InvalidInput, match="embedder"):
        MemoryService.open(
            tmp_path, clock=clock, random_source=random_source, settings=StoreSettings(embedder="openai:x")
        )
    assert list(tmp_path.iterdir()) == []
