"""The real all-MiniLM-L6-v2 through the real fastembed and onnxruntime."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service import MemoryService
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


@pytest.fixture(scope="session")
def embedder(minilm):
    return make_embedder(f"fastembed:{minilm}")


def opened(home, embedder):
    return MemoryService.open(
        home,
        clock=SystemClock(),
        random_source=SystemRandomSource(),
        settings=StoreSettings(embedder=embedder, former_embedder=None),
    )


def ready(service):
    """Wait until the model is loaded, however long the machine takes."""
    while service._encoder.active() is None:
        pass


def test_the_vectors_are_those_of_the_published_model(embedder):
    # The first values and the cosine are those of the float32 model; int8 is near them.
    a, b = embedder.embed(["This is an example sentence", "Each sentence is converted"])
    assert embedder.dimensions == 384
    assert a[:5] == pytest.approx([0.06766, 0.06350, 0.04871, 0.07930, 0.03745], abs=0.02)
    assert float(a @ b) == pytest.approx(0.4046, abs=0.02)


def test_a_vector_hardly_depends_on_its_company(embedder):
    alone = embedder.embed([SAID[0]])[0]
    together = embedder.embed([SAID[0], "word " * 200, ""])[0]
    assert float(alone @ together) > 0.98


def test_texts_without_any_word_have_finite_vectors(embedder):
    assert np.isfinite(embedder.embed(["", " ", "👍", "x" * 50_000])).all()


def test_questions_in_other_words_find_their_answer(tmp_path, minilm):
    service = opened(tmp_path, f"fastembed:{minilm}")
    ready(service)
    try:
        for words in SAID:
            assert not service.write(SCOPE, WriteRequest(content=words)).pending
        for question, answer in ASKED.items():
            assert service.read(SCOPE, ReadRequest(query=question)).hits[0].memory.content == answer
        status = service.status(SCOPE)
        assert status.embedder.startswith("fastembed:local/")
        assert (status.pending_vectors, status.notices) == (0, ())
    finally:
        service.close()


def test_a_store_changes_from_the_static_table_to_the_model_and_back(tmp_path, minilm):
    service = opened(tmp_path, "static")
    for words in SAID:
        service.write(SCOPE, WriteRequest(content=words))
    service.close()
    service = opened(tmp_path, f"fastembed:{minilm}")
    assert not service.write(SCOPE, WriteRequest(content="A robin nests under the roof.")).pending
    while service._encoder.pending_change() is None:
        pass
    while service.run_background_step():
        pass
    assert service.store.info().dimensions == 384
    for question, answer in ASKED.items():
        assert service.read(SCOPE, ReadRequest(query=question)).hits[0].memory.content == answer
    service.reembed(make_embedder("static"))
    assert service.status(SCOPE).embedder.startswith("static")
    assert service.status(SCOPE).pending_vectors == 0
    service.close()


def test_a_store_whose_model_is_gone_answers_by_words_and_has_its_vectors_again_when_it_is_back(tmp_path, minilm):
    model, away = tmp_path / "model", tmp_path / "away"
    model.symlink_to(minilm, target_is_directory=True)
    service = opened(tmp_path / "home", f"fastembed:{model}")
    ready(service)
    service.write(SCOPE, WriteRequest(content=SAID[0]))
    service.close()
    model.rename(away)
    service = opened(tmp_path / "home", f"fastembed:{model}")
    assert service.write(SCOPE, WriteRequest(content=SAID[1])).pending
    answer = service.read(SCOPE, ReadRequest(query="puppy"))
    assert answer.words_alone
    assert answer.hits[0].memory.content == SAID[1]
    assert "does not exist" in service.status(SCOPE).notices[0]
    away.rename(model)
    service._encoder.target._retry_after = 0
    ready(service)
    while service.run_background_step():
        pass
    assert service.status(SCOPE).pending_vectors == 0
    assert service.read(SCOPE, ReadRequest(query="Which pet lives with us?")).hits[0].memory.content == SAID[1]
    service.close()


@pytest.mark.skipif(not importlib.util.find_spec("onnx"), reason="the tool needs onnx: uv sync --group minilm")
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
