"""Fit the projection of the default embedder: the 384 directions that lose least of the likeness of two texts.

    python tools/fit_universal.py [--text FOLDER ...] [--each 1500] [--out FILE]

--text  checkouts of the projects in multilingual_text.PROJECTS, each folder with its project's name; README.md says which were used
--each  texts of a language, drawn by a fixed seed; of English, with the families, eight times as many

It prints how much of the texts' length is kept, and the digest for ``universal.py``.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import multilingual_text
import numpy as np
import training_families

from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory.embedding.universal import digest_of, load_encoder
from hybrid_memory.embedding.universal_head import DIMENSIONS, PROJECTION, side_by_side

ENGLISH_SHARE = 8


def texts(folders: list[Path], each: int) -> list[str]:
    """Return the texts to fit on: families and English projects, then the other languages."""
    rng = random.Random(7)
    found: dict[str, dict[str, None]] = {language: {} for language in multilingual_text.LANGUAGES}
    for _, question, statement in training_families.pairs({}, rng):
        found["en"] |= {question: None, statement: None}
    for folder in folders:
        for language, text in multilingual_text.PROJECTS[folder.name](folder):
            if 2 <= len(text) <= 2 * multilingual_text.LONGEST:
                found[language][text] = None
    drawn: list[str] = []
    for language, lines in found.items():
        most = each * (ENGLISH_SHARE if language == "en" else 1)
        drawn += rng.sample(list(lines), min(most, len(lines)))
        print(language, len(lines))
    return drawn


def main() -> None:
    """Write the projection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, nargs="*", default=[])
    parser.add_argument("--each", type=int, default=1_500)
    parser.add_argument("--out", type=Path, default=PROJECTION)
    given = parser.parse_args()
    lines = texts(given.text, given.each)
    meanings, words = load_encoder(), StaticEmbedder()
    rows = np.concatenate(
        [
            side_by_side(meanings.meanings(some), words.embed(some))
            for some in (lines[at : at + 500] for at in range(0, len(lines), 500))
        ]
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    strength, directions = np.linalg.eigh(rows.T @ rows / len(rows))  # not around the mean: a dot product is to be kept
    chosen = np.argsort(strength)[::-1][:DIMENSIONS]
    np.save(given.out, directions[:, chosen].astype(np.float16))
    print(
        f"{len(lines)} texts, {strength[chosen].sum():.4f} of their squared length kept, digest {digest_of(given.out.read_bytes())}"
    )


if __name__ == "__main__":
    main()
