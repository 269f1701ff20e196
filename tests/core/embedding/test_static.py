"""The built-in embedder against its pinned files and against the reference tokenizer."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.embedding.static import DATA, DIGEST, SIZES, StaticEmbedder, digest_of
from hybrid_memory.errors import EmbedderUnavailable

SHA256 = {
    "table.npy": "438fe135135a979d3a4ad1c17f8af2ea4edeb173561982296ea457b78f3a7425",
    "scale.npy": "44c1e24c7b1f170d0f816879f3e9aa28f5e4eb5408963591d8c01d996dfb9df0",
    "vocab.txt": "7039169b5d11e3b0a132984a485013b5d4a686d3179e78a992066b16bf9caa23",
    "layer.npy": "eda91f2cd75d36ac41f3d0eb85e7124c8f13f8db6af77ed290a291831c138d28",
}
TEXTS = [
    "Melanie's dog didn't like the vet, e-mail me: a.b@example.com!",
    "naïve café, Ångström, ﬁne, Straße, İstanbul, ΣΊΣΥΦΟΣ",
    "5€ 20°C ©2026 ½ x² → ≠ ™",
    "我有一只猫，東京に行きました。カタカナ・ひらがな",
    "한국어 문장입니다 서울",
    "Привет, мир! Ёлка й",
    "مرحبًا بالعالم، كيف الحال؟ שלום עולם",
    "हिन्दी में लिखो। বাংলা தமிழ் తెలుగు",
    "สวัสดีครับ ភាសាខ្មែរ မြန်မာ ລາວ",
    "👩‍👩‍👧 👍🏽 🇩🇪 ❤️ text👍stuck",
    "zero\u200bwidth soft\u00adhyphen no\u00a0break thin\u2009space\ufeff",
    "tab\tline\nreturn\rnext \ufffd end",
    "snake_case camelCase x=1;y[2] `code` $5 ^_^ ~",
    "a" * 101 + " " + "b" * 100,
    "\U00020000\U0002a700\u3400\uf900 \u3007〇々",
    "",
    "   ",
]


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder()


@pytest.fixture(scope="module")
def reference():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = (DATA / "vocab.txt").read_text(encoding="utf-8").split("\n")
    rows = {piece: row for row, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(rows, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return lambda text: [piece for piece in tokenizer.encode(text).tokens if piece != "[UNK]"]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_the_reference_tokenizer(embedder, reference, text):
    assert embedder.tokens(text) == reference(text)


@given(st.text(st.sampled_from("".join(TEXTS)), max_size=60))
def test_tokens_of_any_mixture_are_those_of_the_reference_tokenizer(embedder, reference, text):
    assert embedder.tokens(text) == reference(text)


def test_the_shipped_files_are_the_pinned_ones():
    assert {name: hashlib.sha256((DATA / name).read_bytes()).hexdigest() for name in SIZES} == SHA256
    assert {name: (DATA / name).stat().st_size for name in SIZES} == SIZES
    assert digest_of(DATA) == DIGEST


def test_the_identity_names_the_digest_of_the_files(embedder):
    assert embedder.identity == f"static-v2:{DIGEST}"


def test_the_same_files_elsewhere_have_the_same_identity(tmp_path, embedder):
    for name in SIZES:
        shutil.copy(DATA / name, tmp_path)
    assert StaticEmbedder(tmp_path).identity == embedder.identity


def test_rows_are_unit_vectors(embedder):
    rows = embedder.embed(["a cat sat", "我", "hello world " * 400])
    assert rows.shape == (3, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_text_without_known_tokens_gives_a_zero_row(embedder):
    assert not embedder.embed(["", "👍"]).any()


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 256)


def test_a_vector_does_not_depend_on_the_batch(embedder):
    texts = ["one fish", "two fishes swim", "red"]
    together = embedder.embed(texts)
    assert np.array_equal(together, np.concatenate([embedder.embed([text]) for text in texts]))


def test_a_vector_is_the_scaled_sum_of_its_rows_and_what_the_layer_adds(embedder):
    table, scale = np.load(DATA / "table.npy"), np.load(DATA / "scale.npy").astype(np.float64)
    layer = np.load(DATA / "layer.npy").astype(np.float64)
    size = table.shape[1]
    pieces = (DATA / "vocab.txt").read_text(encoding="utf-8").split("\n")
    rows = [pieces.index(token) for token in embedder.tokens("The unbelievable orangutan")]
    total = (scale[rows, None] * table[rows]).sum(axis=0)
    total /= np.linalg.norm(total)
    hidden = np.maximum(layer[:, :size] @ total + layer[:, size], 0)
    total += hidden @ layer[:, size + 1 :]
    assert np.allclose(embedder.embed(["The unbelievable orangutan"])[0], total / np.linalg.norm(total), atol=1e-5)


def test_a_long_text_is_summed_like_a_short_one(embedder):
    short, long = embedder.embed(["red fish blue fish", "red fish blue fish " * 300])
    assert np.allclose(short, long, atol=1e-5)


def test_alike_sentences_are_nearer_than_others(embedder):
    a, b, c = embedder.embed(["My dog loves the park", "The puppy enjoys walks", "Interest rates rose again"])
    assert a @ b > a @ c + 0.2


@pytest.mark.parametrize(
    ("question", "answer", "others"),
    [
        (
            "Which vegetables grow behind the house?",
            "Beans and courgettes are doing well in the back garden.",
            ["The house was painted white last year.", "Nobody answers the phone behind the counter."],
        ),
    ],
)
def test_a_question_finds_its_answer_in_other_words(embedder, question, answer, others):
    asked, told, *rest = embedder.embed([question, answer, *others])
    assert all(asked @ told > asked @ other for other in rest)


@pytest.mark.parametrize(
    ("near", "alike", "far"),
    [("кошка", "кошка", "Деньги"), ("我有一只猫", "我有", "天"), ("مرحبا بالعالم", "مرحبا", "سيارة")],
)
def test_other_scripts_are_at_least_compared_by_their_characters(embedder, near, alike, far):
    a, b, c = embedder.embed([near, alike, far])
    assert np.isfinite(a @ b)
    assert a @ b > a @ c


def test_several_threads_get_the_same_vectors():
    fresh = StaticEmbedder()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: fresh.embed(["hello threads"])[0], range(16)))
    assert all(np.array_equal(row, rows[0]) for row in rows)


def test_a_missing_folder_is_an_unavailable_embedder(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        StaticEmbedder(tmp_path / "absent").embed(["x"])
    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        _ = StaticEmbedder(tmp_path / "absent").identity


@pytest.mark.parametrize(("pieces", "columns"), [("a\nb", 17), ("a\nb\nc", 16)])
def test_files_that_do_not_fit_each_other_are_refused(tmp_path, pieces, columns):
    np.save(tmp_path / "table.npy", np.zeros((3, 8), np.int8))
    np.save(tmp_path / "scale.npy", np.ones(3, np.float16))
    np.save(tmp_path / "layer.npy", np.ones((2, columns), np.float16))
    (tmp_path / "vocab.txt").write_text(pieces, encoding="utf-8")
    with pytest.raises(EmbedderUnavailable, match="belong together"):
        StaticEmbedder(tmp_path).embed(["a"])


def test_nothing_heavy_is_imported_by_choosing_an_embedder():
    script = (
        "import sys, hybrid_memory.language.text, hybrid_memory.validation; from hybrid_memory.embedding.registry import make_embedder;"
        "hybrid_memory.validation.check_text('content', 'x', limit=9);"
        "assert not {'numpy', 'fastembed', 'py_rust_stemmers', 'onnxruntime'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
