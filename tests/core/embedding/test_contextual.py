"""The transformer that reads sentences in context, against the same layers in another program."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.capture.gate import READ, sentences_in_context
from hybrid_memory.capture.sentences import sentence_of
from hybrid_memory.embedding import contextual
from hybrid_memory.embedding.contextual import MOST_PIECES, SEEN, SHAPES, load_contextual
from hybrid_memory.errors import EmbedderUnavailable

DATA = Path(__file__).parents[2] / "data" / "contextual"
RECORDED = json.loads((DATA / "pieces.json").read_text(encoding="utf-8"))
"""Texts in several scripts and the numbers of their pieces."""
STATES = np.load(DATA / "states.npy").astype(np.float32)
"""What PyTorch makes of them with the weights of the package: the mean over the pieces of each."""


@pytest.fixture(scope="module")
def encoder():
    return load_contextual()


def seen(encoder, text):
    return encoder.states([encoder.pieces(text)])[0]


def read(encoder, own, message):
    """What is seen at each sentence, and at all, by the layers as they are."""
    return sentences_in_context([(own, message)], encoder, [encoder.last])[0][0]


def adapter_of(encoder, factor):
    """An adapter that adds to each matrix a product of small numbers."""
    draws = np.random.default_rng(0)
    sides = {}
    for name, (out, width) in SHAPES.items():
        sides[f"{name}_in"] = draws.normal(0, 0.1, (len(encoder.last), 2, width)).astype(np.float32)
        sides[f"{name}_out"] = factor * draws.normal(0, 0.1, (len(encoder.last), out, 2)).astype(np.float32)
    return sides


@pytest.mark.parametrize("one", RECORDED, ids=range(len(RECORDED)))
def test_texts_are_cut_into_the_recorded_pieces(encoder, one):
    assert encoder.pieces(one["text"]) == one["pieces"]


def test_the_states_are_those_of_another_program(encoder):
    rows = np.array([one.mean(0) for one in encoder.states([one["pieces"] for one in RECORDED])])
    assert np.abs(rows - STATES).max() < 0.01


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_texts_that_are_read_together_do_not_see_each_other(texts):
    encoder = load_contextual()
    for text, together in zip(texts, encoder.states([encoder.pieces(one) for one in texts]), strict=True):
        alone = seen(encoder, text)
        assert together.shape == alone.shape == (len(encoder.pieces(text)), SEEN)
        assert np.allclose(together, alone, atol=1e-3)


def test_a_word_is_seen_in_its_sentence(encoder):
    river, money = (seen(encoder, text)[-1] for text in ("we swim by the river bank", "they took it to the bank"))
    assert np.abs(river - money).max() > 0.1


def test_what_comes_after_many_pieces_is_not_seen(encoder):
    rows = seen(encoder, "port " * (MOST_PIECES + 20))
    assert rows[MOST_PIECES - 1].any()
    assert not rows[MOST_PIECES:].any()


def test_a_sentence_is_read_in_its_message(encoder):
    own = [sentence_of("it's on Thursdays")]
    here, there = (
        read(encoder, own, f"{before}it's on Thursdays")[0]
        for before in ("Our swimming course has a new teacher. ", "")
    )
    assert np.abs(here - there).max() > 0.1


def test_a_sentence_far_down_in_a_message_is_read_alone(encoder):
    own = [sentence_of("it's on Thursdays")]
    far, alone = (read(encoder, own, f"{before}it's on Thursdays")[0] for before in ("so " * READ, ""))
    assert np.allclose(far, alone, atol=1e-3)


def test_a_message_without_a_sentence_is_read_as_a_whole(encoder):
    rows = read(encoder, (), "what does that mean?")
    assert rows.shape == (1, SEEN)
    assert rows.any()


def test_a_sentence_behind_many_pieces_is_read_alone(encoder):
    own = [sentence_of("我对花生过敏")]
    far = read(encoder, own, "好" * 550 + "。我对花生过敏")
    alone = read(encoder, own, "我对花生过敏")
    assert np.allclose(far[0], alone[0], atol=1e-3)


def test_an_adapter_of_nothing_leaves_what_is_seen(encoder):
    ways = [encoder.last, encoder.adapted(adapter_of(encoder, 0))]
    (plain, adapted) = encoder.states_by([encoder.pieces("it's on Thursdays")], ways)[0]
    assert np.allclose(plain, adapted, atol=1e-5)


def test_adapted_layers_see_something_else_and_leave_the_others_as_they_are(encoder):
    pieces = [encoder.pieces("it's on Thursdays")]
    before = encoder.states(pieces)[0]
    plain, adapted = encoder.states_by(pieces, [encoder.last, encoder.adapted(adapter_of(encoder, 1))])[0]
    assert np.abs(plain - adapted).max() > 0.1
    assert np.array_equal(plain, before)


def test_an_adapter_adds_the_product_of_its_matrices(encoder):
    adapter = adapter_of(encoder, 1)
    layers = encoder.adapted(adapter)
    added = layers[1]["wide"] - encoder.last[1]["wide"]
    assert np.allclose(added.T, adapter["wide_out"][1] @ adapter["wide_in"][1], atol=1e-5)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half"], ids=["empty", "half"])
def test_a_damaged_file_is_told_as_what_it_is(content, monkeypatch, tmp_path):
    (tmp_path / "encoder.npz").write_bytes(content)
    monkeypatch.setattr(contextual, "FILE", tmp_path / "encoder.npz")
    with pytest.raises(EmbedderUnavailable, match="install it again"):
        contextual._loaded.__wrapped__()
