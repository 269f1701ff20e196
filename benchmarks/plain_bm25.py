"""BM25 as a textbook has it: a measure that does not move when the product's own words, stems and stop words do."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u4e00-\u9fff]+")


def terms_of(text: str) -> list[str]:
    """Return the words of a text in lower case; of Chinese and Japanese writing each two neighbouring characters."""
    lower = text.lower()
    pairs = [run[at : at + 2] for run in _IDEOGRAPHS.findall(lower) for at in range(max(len(run) - 1, 1))]
    return _WORD.findall(_IDEOGRAPHS.sub(" ", lower)) + pairs


def ranked(query: str, texts: Sequence[str]) -> list[int]:
    """Return the places of the texts that share a word with the query, best first; of equals the later one.

    Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 1.2 and b 0.75.
    """
    counts = [Counter(terms_of(text)) for text in texts]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / max(len(lengths), 1) or 1.0
    scores = [0.0] * len(texts)
    for term in set(terms_of(query)):
        holding = sum(term in count for count in counts)
        weight = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for at, count in enumerate(counts):
            often = count[term]
            scores[at] += weight * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * lengths[at] / mean))
    found = [at for at, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda at: (-scores[at], -at))
