"""An embedder that is loaded alongside the calls."""

import threading

import pytest

from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.testing import HashEmbedder


class Slow(HashEmbedder):
    """Its model is there when somebody says so."""

    def __init__(self):
        super().__init__(8, "slow-1@abc")
        self.there = threading.Event()
        self.loads = 0
        self.broken = None

    @property
    def dimensions(self):
        self.loads += 1
        assert self.there.wait(60)
        if self.broken:
            raise self.broken
        return 8


class Time:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def slow():
    slow = Slow()
    yield slow
    slow.there.set()


@pytest.fixture
def time():
    return Time()


def in_background(slow, time, load_wait=0.0):
    return BackgroundEmbedder(slow, "slow-1", load_wait=load_wait, retry_after=30, clock=time)


def finish(embedder, slow):
    loading = embedder._loading
    slow.there.set()
    if loading is not None:
        loading.join(60)


def test_a_call_does_not_wait_longer_than_its_load_wait(slow, time):
    embedder = in_background(slow, time)
    with pytest.raises(EmbedderUnavailable, match="still being loaded"):
        embedder.embed(["red"])
    assert embedder.identity == "slow-1"


def test_a_call_within_the_load_wait_waits_for_the_end_of_loading(slow, time):
    slow.there.set()
    embedder = in_background(slow, time, load_wait=20)
    assert embedder.embed(["red"]).shape == (1, 8)
    assert embedder.identity == "slow-1@abc"


def test_the_load_wait_counts_from_the_beginning_of_loading(slow, time):
    embedder = in_background(slow, time, load_wait=5)
    time.now -= 5  # the loading is begun now, and its time is up in the same moment
    with embedder._lock:
        embedder._begin()
    time.now += 10
    with pytest.raises(EmbedderUnavailable, match="still being loaded"):
        embedder.embed(["red"])


def test_after_loading_calls_go_straight_through(slow, time):
    embedder = in_background(slow, time)
    with pytest.raises(EmbedderUnavailable):
        _ = embedder.dimensions
    finish(embedder, slow)
    assert embedder.embed(["red", "blue"]).shape == (2, 8)
    assert slow.loads == 1


def test_a_missing_model_is_looked_for_again_only_later(slow, time):
    slow.broken = EmbedderUnavailable("not here")
    slow.there.set()
    embedder = in_background(slow, time, load_wait=20)
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match="not here"):
            embedder.embed(["red"])
    assert slow.loads == 1
    slow.broken = None
    time.now += 31
    assert embedder.embed(["red"]).shape == (1, 8)


def test_any_failure_of_loading_is_an_unavailable_embedder(slow, time):
    slow.broken = RuntimeError("/home/somebody")
    slow.there.set()
    with pytest.raises(EmbedderUnavailable, match="RuntimeError") as raised:
        in_background(slow, time, load_wait=20).embed(["red"])
    assert "/home" not in str(raised.value)
