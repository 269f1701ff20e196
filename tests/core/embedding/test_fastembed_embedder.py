"""The fastembed adapter, on a tiny model of its own and on models that are not there."""

from __future__ import annotations

import hashlib
import json
import socket
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.core.embedding.tiny_model import write_tiny_model
from tests.tables import each

from hybrid_memory.embedding import fastembed_embedder
from hybrid_memory.embedding.fastembed_embedder import FastEmbedder
from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.errors import EmbedderUnavailable, InvalidInput


class FakeModel:
    """Stands where fastembed's model would; remembers in which order it was given texts."""

    def __init__(self):
        self.seen = []

    def embed(self, texts, **_options):
        self.seen.extend(texts)
        return iter([np.array([len(text), 1.0]) for text in texts])


@pytest.fixture
def loaded():
    embedder = FastEmbedder("fake/model")
    embedder._model, embedder._dimensions, embedder._identity = FakeModel(), 2, "fastembed:fake/model@0"
    return embedder


@pytest.fixture
def tiny(tmp_path):
    return make_embedder(f"fastembed:{write_tiny_model(tmp_path)}")


@pytest.mark.slow
def test_a_model_in_a_folder_is_run(tiny, offline):
    rows = tiny.embed(["red blue red red", "blue", "red", ""])
    assert rows.dtype == np.float32
    assert rows[1:3].tolist() == [[0, 1], [1, 0]]
    assert rows[0].tolist() == pytest.approx([3 / 10**0.5, 1 / 10**0.5])


@pytest.mark.slow
def test_a_model_in_a_folder_says_what_it_is(tiny, tmp_path, offline):
    files = (tmp_path / "model.onnx").read_bytes() + (tmp_path / "tokenizer.json").read_bytes()
    digest = hashlib.sha256(files).hexdigest()[:16]
    assert tiny.dimensions == 2
    assert tiny.identity == f"fastembed:local/{tmp_path.name}@{digest}"


def test_the_same_folder_can_be_opened_twice(tiny, tmp_path, offline):
    again = make_embedder(f"fastembed:{tmp_path}")
    assert np.array_equal(again.embed(["red blue"]), tiny.embed(["red blue"]))


def test_folders_of_one_name_are_told_apart(tmp_path, offline):
    mean, cls = (tmp_path / part / "model" for part in ("a", "b"))
    for folder in (mean, cls):
        folder.mkdir(parents=True)
        write_tiny_model(folder)
    (cls / "1_Pooling").mkdir()
    (cls / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}), encoding="utf-8")
    by_mean, by_cls = (make_embedder(f"fastembed:{folder}").embed(["red blue"])[0].tolist() for folder in (mean, cls))
    assert by_mean == pytest.approx([0.5**0.5, 0.5**0.5])
    assert by_cls == [1, 0]


def test_several_threads_load_the_model_once(tiny, monkeypatch, offline):
    loads = []
    original = tiny._load
    monkeypatch.setattr(tiny, "_load", lambda: (loads.append(1), original()))
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: tiny.embed(["red"])[0].tolist(), range(8)))
    assert rows == [[1, 0]] * 8
    assert len(loads) == 1


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the network was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_texts_are_run_sorted_by_length_and_answered_in_order(loaded):
    rows = loaded.embed(["ccc", "a", "bb"])
    assert loaded._model.seen == ["a", "bb", "ccc"]
    assert np.allclose(rows[:, 0] / rows[:, 1], [3, 1, 2])


def test_rows_have_length_one(loaded):
    assert np.allclose(np.linalg.norm(loaded.embed(["abc", "d"]), axis=1), 1)


def test_no_texts_give_no_rows(loaded):
    assert loaded.embed([]).shape == (0, 2)


def test_a_failing_run_is_an_unavailable_embedder(loaded):
    loaded._model.embed = lambda *_args, **_kwargs: iter([])
    with pytest.raises(EmbedderUnavailable, match="failed to run"):
        loaded.embed(["x"])


def test_a_model_that_is_not_in_the_cache_is_unavailable_without_trying_the_network(tmp_path, offline):
    embedder = FastEmbedder("BAAI/bge-small-en-v1.5", cache_dir=tmp_path)
    with pytest.raises(EmbedderUnavailable, match=r"bge-small-en-v1\.5 is not on this machine"):
        embedder.embed(["x"])
    assert embedder.identity == "fastembed:BAAI/bge-small-en-v1.5"


def test_an_unknown_model_is_unavailable(tmp_path, offline):
    with pytest.raises(EmbedderUnavailable, match="no/such-model"):
        _ = FastEmbedder("no/such-model", cache_dir=tmp_path).dimensions


def test_a_missing_folder_is_unavailable(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="does not exist"):
        FastEmbedder("local/model", tmp_path / "absent").embed(["x"])


def test_an_error_does_not_name_the_folder(tmp_path):
    with pytest.raises(EmbedderUnavailable) as raised:
        FastEmbedder("local/model", tmp_path).embed(["x"])
    assert str(tmp_path) not in str(raised.value)


def test_the_pooling_is_read_from_the_folder(tmp_path):
    assert fastembed_embedder._pooling(tmp_path) == "mean"
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}), encoding="utf-8")
    assert fastembed_embedder._pooling(tmp_path) == "cls"


def test_the_digest_is_that_of_all_files_that_decide_the_vectors(tmp_path):
    class Inner:
        _model_dir = tmp_path

        class model_description:  # noqa: N801 - fastembed's attribute
            model_file = "model.onnx"

    class Outer:
        model = Inner

    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "config.json").write_bytes(b"does not count")
    written = b""
    for name in ("model.onnx", "model.onnx_data", "tokenizer.json", "1_Pooling/config.json"):
        (tmp_path / name).write_bytes(name.encode())
        written += name.encode()
        assert fastembed_embedder._digest(Outer) == hashlib.sha256(written).hexdigest()[:16]


def test_a_text_that_a_model_cannot_embed_is_like_nothing(loaded):
    loaded._model.embed = lambda texts, **_: iter([np.array([np.nan, np.inf]) for _ in texts])
    assert loaded.embed(["x"]).tolist() == [[0, 0]]


def test_a_model_is_named_behind_a_prefix(tmp_path):
    assert make_embedder("fastembed:BAAI/bge-small-en-v1.5", cache_dir=tmp_path)._folder is None
    assert make_embedder(f"fastembed:{tmp_path}")._folder == tmp_path


@each("spec", ["", "fastembed:", "openai:x", "Static"])
def test_an_unknown_embedder_is_refused(spec):
    with pytest.raises(InvalidInput, match="embedder"):
        make_embedder(spec)
