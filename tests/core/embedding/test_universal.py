"""The universal encoder against what its package's own program gives, and what becomes of it without its files."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.embedding import universal as universal_module
from hybrid_memory.embedding import universal_head
from hybrid_memory.embedding.registry import is_multilingual, setting_for
from hybrid_memory.embedding.universal import DIGEST, PIECES, WEIGHTS, UniversalEmbedder, digest_of, load_encoder
from hybrid_memory.errors import EmbedderUnavailable

DATA = Path(__file__).parents[2] / "data" / "universal"
RECORDED = json.loads((DATA / "pieces.json").read_text(encoding="utf-8"))
"""Texts in several scripts and the pieces that version 0.2.1 of the package cuts them into."""

TEXTS = [one["text"] for one in RECORDED]
LONG = "The meeting moved. " * 130
VECTORS = np.load(DATA / "vectors.npy").astype(np.float32)
"""The package's vectors of the texts and of `LONG`."""


@pytest.fixture(scope="module")
def encoder(universal_cache):
    return load_encoder(universal_cache)


@pytest.fixture(scope="module")
def embedder(universal_cache):
    return UniversalEmbedder(universal_cache)


def likeness(rows, others):
    return (rows * others).sum(1) / np.linalg.norm(others, axis=1)


def test_the_digest_is_that_of_the_files():
    assert digest_of(universal_head.PROJECTION.read_bytes()) == DIGEST


def test_the_projection_keeps_lengths():
    projection = np.load(universal_head.PROJECTION).astype(np.float32)
    assert np.abs(projection.T @ projection - np.eye(universal_head.DIMENSIONS)).max() < 1e-3


def test_its_identity_leads_to_its_setting():
    identity = UniversalEmbedder().identity
    assert (setting_for(identity), is_multilingual(identity)) == ("universal", True)


@pytest.mark.slow
@pytest.mark.parametrize("one", RECORDED, ids=range(len(RECORDED)))
def test_texts_are_cut_into_the_recorded_pieces(encoder, one):
    assert encoder.tokenizer.pieces(one["text"]) == one["pieces"]


@pytest.mark.slow
def test_the_encoder_gives_the_recorded_vectors(encoder):
    assert likeness(encoder.meanings(TEXTS), VECTORS[:-1]).min() > 0.9999


@pytest.mark.slow
def test_a_long_text_is_seen_in_stretches(encoder):
    assert likeness(encoder.meanings([LONG]), VECTORS[-1:]).min() > 0.999


@pytest.mark.slow
def test_a_text_has_the_same_vector_among_others(embedder):
    together = embedder.embed([*TEXTS, LONG])
    assert np.abs(together - np.concatenate([embedder.embed([text]) for text in (*TEXTS, LONG)])).max() < 1e-5


@pytest.mark.slow
def test_vectors_are_unit_rows_of_384_values(embedder):
    rows = embedder.embed(TEXTS)
    assert (rows.shape, rows.dtype, embedder.dimensions) == ((len(TEXTS), 384), np.float32, 384)
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", " \n\t", "\u3000"])
def test_a_text_without_a_letter_is_like_nothing(embedder, text):
    rows = embedder.embed([text, "x", text])
    assert not rows[[0, 2]].any()
    assert rows[1].any()


@pytest.mark.slow
def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 384)


@pytest.mark.daily
@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_text_can_be_cut(encoder, text):
    assert all(0 <= piece < 128_000 for piece in encoder.tokenizer.pieces(text))


@pytest.mark.slow
@pytest.mark.parametrize("written", ["<s>", "</s>", "<unk>", "extra_token_id_1"])
def test_the_names_of_control_pieces_are_only_text(encoder, written):
    assert not set(range(1, 6)) & set(encoder.tokenizer.pieces(written))


@pytest.mark.slow
def test_none_of_the_packages_code_is_run(embedder):
    embedder.embed(["x"])
    assert universal_module.PACKAGE not in sys.modules


@pytest.mark.slow
def test_a_made_cache_is_enough(universal_cache, tmp_path):
    assert UniversalEmbedder(universal_cache, tmp_path / "absent").embed(["x"]).any()


@pytest.mark.slow
def test_a_damaged_cache_is_made_again(embedder, tmp_path):
    file = tmp_path / "universal.arrays"
    file.write_bytes(b"damaged")
    assert (UniversalEmbedder(tmp_path).embed(TEXTS) == embedder.embed(TEXTS)).all()
    assert file.stat().st_size > 80_000_000


@pytest.mark.daily
@pytest.mark.slow
def test_without_a_place_for_the_cache_the_model_is_loaded_all_the_same(embedder, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert (UniversalEmbedder(tmp_path / "file").embed(TEXTS) == embedder.embed(TEXTS)).all()


def test_a_missing_package_is_told_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(universal_module, "PACKAGE", "no_such_package")
    assert not universal_module.is_installed()
    with pytest.raises(
        EmbedderUnavailable, match=r"not installed; install .* again, or .*`hybrid-memory-mcp embedder use static`"
    ):
        UniversalEmbedder(tmp_path).embed(["x"])


def test_missing_files_are_told(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        UniversalEmbedder(tmp_path, tmp_path).embed(["x"])


def test_other_files_under_its_names_are_not_used(tmp_path):
    for name in (WEIGHTS, PIECES):
        (tmp_path / name).write_bytes(b"other")
    with pytest.raises(EmbedderUnavailable, match="SHA-256"):
        UniversalEmbedder(tmp_path, tmp_path).embed(["x"])
    assert not (tmp_path / "universal.arrays").exists()


def test_a_missing_projection_is_an_unavailable_embedder(tmp_path, monkeypatch):
    monkeypatch.setattr(universal_module, "load_encoder", lambda *_: None)
    monkeypatch.setattr(universal_head, "PROJECTION", tmp_path / "absent.npy")
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        UniversalEmbedder(tmp_path).embed(["x"])
