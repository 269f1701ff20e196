"""The real all-MiniLM-L6-v2 of the extra, through the real onnxruntime."""

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.core.embedding.loading import once_loaded

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.embedding import minilm as minilm_module
from hybrid_memory.embedding.minilm import MinilmEmbedder, word_pieces
from hybrid_memory.embedding.registry import make_embedder, setting_for
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings

SCOPE = Scope(session="s")
SAID = (
    "My daughter was admitted to medical school.",
    "We adopted a puppy from the shelter.",
    "The furnace stopped working during the cold snap.",
    "I pay my rent on the first of each month.",
    "The train to the airport takes forty minutes.",
)
ASKED = {
    "Which pet lives with us?": SAID[1],
    "What broke in winter?": SAID[2],
    "Who wants to become a doctor?": SAID[0],
}


@pytest.fixture(scope="module")
def embedder(minilm):
    return make_embedder(minilm)


def opened(home, embedder):
    return MemoryService.open(
        home,
        clock=SystemClock(),
        random_source=SystemRandomSource(),
        settings=StoreSettings(embedder=embedder, former_embedder=None),
    )


def ready(service):
    """Wait until the model is loaded, however long the machine takes."""
    once_loaded(service._encoder.active)


def folder_for_fastembed(folder):
    """The same model and the same word pieces in the form that fastembed loads."""
    package = importlib.util.find_spec(minilm_module.PACKAGE).submodule_search_locations[0]
    (folder / "model.onnx").symlink_to(Path(package) / "model.onnx")
    word_pieces().save(str(folder / "tokenizer.json"))
    settings = {
        "config.json": {"hidden_size": 384, "pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 256, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]", "unk_token": "[UNK]"},
    }
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_the_vectors_are_those_of_the_published_model(embedder):
    # The first values and the cosine are those of the float32 model.
    a, b = embedder.embed(["This is an example sentence", "Each sentence is converted"])
    assert embedder.dimensions == 384
    assert a[:5] == pytest.approx([0.06766, 0.06350, 0.04871, 0.07930, 0.03745], abs=0.005)
    assert float(a @ b) == pytest.approx(0.4046, abs=0.01)


@pytest.mark.daily
@pytest.mark.slow
def test_fastembed_makes_the_same_vectors_of_the_same_files(embedder, tmp_path):
    texts = [*SAID, *ASKED, "word " * 400, "naïve Ünïcode №5", "日本語 text"]
    other = make_embedder(f"fastembed:{folder_for_fastembed(tmp_path)}").embed(texts)
    assert np.einsum("ij,ij->i", embedder.embed(texts), other).min() > 0.9999


def test_a_vector_hardly_depends_on_its_company(embedder):
    alone = embedder.embed([SAID[0]])[0]
    together = embedder.embed([SAID[0], "word " * 200, ""])[0]
    assert float(alone @ together) > 0.9999


def test_vectors_come_in_the_order_of_the_texts(embedder):
    texts = [*SAID, "x", *(f"Note {number} of many" + " more" * (number % 7) for number in range(70))]
    rows = embedder.embed(texts)
    for at in (0, 5, 17, 75):
        assert float(rows[at] @ embedder.embed([texts[at]])[0]) > 0.9999


def test_rows_are_float32_of_length_one(embedder):
    rows = embedder.embed(["a", "", "👍", " ", "x" * 50_000])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), abs=1e-5)


@pytest.mark.slow
def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 384)


def test_words_beyond_256_pieces_do_not_count(embedder):
    long = "word " * 254
    a, b = embedder.embed([long, long + "puppy " * 50])
    assert float(a @ b) > 0.9999


@pytest.mark.slow
def test_several_threads_load_the_model_once(minilm, monkeypatch):
    loads = []
    real = minilm_module._load
    monkeypatch.setattr(minilm_module, "_load", lambda file: (loads.append(1), real(file))[1])
    shared = MinilmEmbedder()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: shared.embed([SAID[0]])[0], range(8)))
    assert len(loads) == 1
    assert all(np.allclose(rows[0], row) for row in rows)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [101, 102]),
        ("Hello, world!", [101, 7592, 1010, 2088, 999, 102]),
        ("[MASK]", [101, 1031, 7308, 1033, 102]),  # what somebody writes is words, never a special piece
        ("\U0001f9ff", [101, 100, 102]),
    ],
)
def test_the_word_pieces_are_those_of_bert(text, ids):
    assert word_pieces().encode(text).ids == ids


def test_the_identity_names_the_pinned_file_and_leads_back_to_the_setting():
    identity = MinilmEmbedder().identity
    assert identity == "minilm:8199be6f699a395f"
    assert setting_for(identity) == "minilm"


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(minilm_module, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderUnavailable, match=r'uv tool install "hybrid-memory-mcp\[minilm\]"'):
        _ = MinilmEmbedder().dimensions


def test_another_file_than_the_pinned_one_is_not_run(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_bytes(b"anything")
    with pytest.raises(EmbedderUnavailable, match="SHA-256 differs") as raised:
        MinilmEmbedder(file).embed(["x"])
    assert str(tmp_path) not in str(raised.value)


def test_a_file_that_cannot_be_read_is_an_unavailable_model(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        MinilmEmbedder(tmp_path / "absent.onnx").embed(["x"])


def test_a_failing_run_is_an_unavailable_embedder(embedder, monkeypatch):
    monkeypatch.setattr(minilm_module._Model, "embed", lambda *_: 1 / 0)
    with pytest.raises(EmbedderUnavailable, match="failed to run"):
        embedder.embed(["x"])


@pytest.mark.slow
def test_questions_in_other_words_find_their_answer(tmp_path, minilm):
    service = opened(tmp_path, minilm)
    ready(service)
    try:
        for words in SAID:
            assert not service.write(SCOPE, WriteRequest(content=words)).pending
        for question, answer in ASKED.items():
            assert service.read(SCOPE, ReadRequest(query=question)).hits[0].memory.content == answer
        status = service.status(SCOPE)
        assert status.embedder == MinilmEmbedder().identity
        assert (status.pending_vectors, status.notices) == (0, ())
    finally:
        service.close()


@pytest.mark.slow
def test_a_store_changes_from_the_static_table_to_the_model_and_back(tmp_path, minilm):
    service = opened(tmp_path, "static")
    for words in SAID:
        service.write(SCOPE, WriteRequest(content=words))
    service.close()
    service = opened(tmp_path, minilm)
    assert not service.write(SCOPE, WriteRequest(content="A robin nests under the roof.")).pending
    once_loaded(service._encoder.pending_change)
    while service.run_background_step():
        pass
    assert service.store.info().dimensions == 384
    for question, answer in ASKED.items():
        assert service.read(SCOPE, ReadRequest(query=question)).hits[0].memory.content == answer
    service.reembed(make_embedder("static"))
    assert service.status(SCOPE).embedder.startswith("static")
    assert service.status(SCOPE).pending_vectors == 0
    service.close()


@pytest.mark.slow
def test_a_store_without_the_setting_keeps_the_model(tmp_path, minilm):
    service = opened(tmp_path, minilm)
    ready(service)
    service.write(SCOPE, WriteRequest(content=SAID[1]))
    service.close()
    service = MemoryService.open(tmp_path, clock=SystemClock(), random_source=SystemRandomSource())
    ready(service)
    assert service.read(SCOPE, ReadRequest(query="Which pet lives with us?")).hits[0].memory.content == SAID[1]
    assert service.status(SCOPE).embedder == MinilmEmbedder().identity
    service.close()


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.parametrize("fault", ["uninstalled", "changed"])
def test_a_store_whose_model_is_gone_answers_by_words_and_has_its_vectors_again_when_it_is_back(
    tmp_path, minilm, monkeypatch, fault
):
    service = opened(tmp_path, minilm)
    ready(service)
    service.write(SCOPE, WriteRequest(content=SAID[0]))
    service.close()
    with monkeypatch.context() as broken:
        name, value = {"uninstalled": ("PACKAGE", "no_such_package"), "changed": ("SHA256", "8199be6f699a395f00")}[
            fault
        ]
        broken.setattr(minilm_module, name, value)
        service = opened(tmp_path, minilm)
        assert service.write(SCOPE, WriteRequest(content=SAID[1])).pending
        answer = service.read(SCOPE, ReadRequest(query="puppy"))
        assert answer.words_alone
        assert answer.hits[0].memory.content == SAID[1]
        assert "minilm" in service.status(SCOPE).notices[0]
    service._encoder.target._retry_after = 0
    ready(service)
    while service.run_background_step():
        pass
    assert service.status(SCOPE).pending_vectors == 0
    assert service.read(SCOPE, ReadRequest(query="Which pet lives with us?")).hits[0].memory.content == SAID[1]
    service.close()


@pytest.mark.skipif(not importlib.util.find_spec("onnx"), reason="the tool needs onnx: uv sync --group static-table")
def test_the_tool_stops_at_weights_that_are_not_the_published_ones(tmp_path, pytestconfig):
    for name in (
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "config.json",
        "special_tokens_map.json",
    ):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    tool = pytestconfig.rootpath / "tools" / "build_minilm_onnx.py"
    done = subprocess.run(
        [sys.executable, str(tool), "--source", str(tmp_path), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,  # noqa: TID251 - as this process
    )
    assert done.returncode == 1
    assert "nothing was built" in done.stderr
    assert not (tmp_path / "out" / "model.onnx").exists()
