"""The English vocabulary that is shipped with the built-in embedder: word pieces by falling frequency, those of BERT (2019)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

VOCABULARY = Path(__file__).with_name("data") / "vocab.txt"
UNLISTED = 30_000  # the rank of a word that is not in the vocabulary
_FIRST_RANK = 994  # lines of the published vocabulary that are left out of ours: they stand for nothing


@functools.cache
def row_of_piece() -> Mapping[str, int]:
    """Return the row of each word piece in the table of the built-in embedder; nothing where the file is missing."""
    try:
        pieces = VOCABULARY.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return {}
    return {piece: row for row, piece in enumerate(pieces)}


def english_rank(word: str) -> int:
    """Return the place of a word in lower case among English words by frequency, `UNLISTED` if it is not among them."""
    row = row_of_piece().get(word)
    return UNLISTED if row is None else row + _FIRST_RANK
