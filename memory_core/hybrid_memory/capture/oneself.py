"""Decide whether a statement is plainly what a person says of themselves.

Whatever is unclear belongs to the project: a customer's words in another customer's repository are the accident to prevent. A
small model judges the words (``tools/fit_oneself.py`` makes it, ``data/oneself.json`` has its thresholds and figures). Before it,
rules of grammar turn away what cannot be plain: nobody who speaks, a "we", code, and languages that the model has not learned.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import unicodedata
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH, language_of
from hybrid_memory.language.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.multilingual import MultilingualEmbedder

MODEL = Path(__file__).with_name("data") / "oneself.npz"
CALIBRATION = MODEL.with_suffix(".json")
BUCKETS = 8192
WIDTH = 3
"""Pieces that a filter of the model sees at once."""

_LONGEST = 300
"""Characters; a longer text is pasted, or tells several things."""
_MOST_PIECES = 60
_FEW_WORDS = 4
_CLAUSE_WORDS = 3
_KNOWN = frozenset({ENGLISH, "german", "french", "spanish", "italian", "portuguese", "dutch"})
_OTHER_LETTER = LazyPattern(r"(?i)[^\W\d_a-zàáâãäçèéêëìíîïñòóôõöùúûüÿßœ々\u3041-\u30ff\u4e00-\u9fff]")
_CODE = LazyPattern(
    r"[`{}<>=\\|]|::|//|\S@\S|\w\(|\w_\w|\w\.[^\W\d]\w+|(?:^|\s)[~.]{0,2}/\w|(?:^|\s)--?\w|(?<=[a-z])[A-Z]+[a-z]+[A-Z]"
)
_WE = LazyPattern(
    lambda: rf"\b(?:{lexicon.pattern('oneself.we')})\b|{lexicon.any_of(lexicon.words('oneself.we_characters'))}",
    re.IGNORECASE,
)
# Also what is asked of the assistant.
_SPEAKER = LazyPattern(
    lambda: (
        rf"\b(?:{lexicon.pattern('oneself.speaker')})\b|\b[jm]['’]|{lexicon.any_of(lexicon.words('oneself.speaker_characters'))}"
        r"|^(?:please |always |from now on,? |bitte )*"
        rf"{lexicon.any_of(lexicon.words('oneself.orders'))}\b"
    ),
    re.IGNORECASE,
)
# Spanish, Portuguese and Italian say "I" by the end of a verb, or put "me" behind it; English words and names end so too.
_VERB = LazyPattern(r"(?:^\w|\b[^\W\dA-Z])[^\W\d]+(?:o|[^rwb]ei|me|mi|é)\b")
_ENGLISH = LazyPattern(lambda: rf"\b{lexicon.any_of(lexicon.words('oneself.english_words'))}\b", re.IGNORECASE)
_FRAGMENT = LazyPattern(lambda: rf"{lexicon.any_of(lexicon.words('oneself.fragments'))}\b", re.IGNORECASE)
_SENTENCE = LazyPattern(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_WORD = LazyPattern(r"[^\W\d_]+|\d+|[^\w\s]|_")
_IDEOGRAPHS = 0x3040
_ENDS = " .!。！"  # of a statement: whether somebody types them says nothing
_UNSAID = frozenset(".,!\"'’。、！")


def is_about_oneself(text: str, *, sure: bool = True) -> bool:
    """Return True if a statement is plainly what its author says of themselves, False where that is unclear.

    The author speaks in the first person, or an assistant speaks of "the user". Personal are name, family, health, home, tastes,
    plans of one's life, and how somebody wants to be answered. Without ``sure`` it is enough that the model rather thinks so. Any
    text can be given.
    """
    if not may_be_of_oneself(text):
        return False
    judge = _judge()
    threshold = judge.thresholds["english" if language_of(text) == ENGLISH else "others"] if sure else 0.0
    if judge.score(text) < threshold:
        return False
    parts = _SENTENCE.split(text)
    return len(parts) == 1 or all(judge.score(part) > 0 for part in parts if len(words_of(part)) >= _CLAUSE_WORDS)


def may_be_of_oneself(text: str) -> bool:
    """Return False for what cannot be plain whatever the model says of it."""
    text = text.strip()
    if not text or len(text) > _LONGEST or "\n" in text or not _has_speaker(text):
        return False
    if _OTHER_LETTER.search(text) or _WE.search(text) or _CODE.search(text) or language_of(text) not in _KNOWN:
        return False
    return _FRAGMENT.match(text) is None or len(words_of(text)) > _FEW_WORDS


def _has_speaker(text: str) -> bool:
    return _SPEAKER.search(text) is not None or (_ENGLISH.search(text) is None and _VERB.search(text) is not None)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, numbers as "0", each Chinese or Japanese character alone."""
    words: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()):
        if word.isdigit():
            words.append("0")
        elif ord(word[0]) >= _IDEOGRAPHS:
            words.extend(word)
        elif word not in _UNSAID:
            words.append(word)
    return words


def buckets_of(text: str) -> list[int]:
    """Return the buckets of a text's words, of words that stand near each other, and of parts of words."""
    words = words_of(text)
    row = ["^", *words, "$"]
    found = {f"n{min(len(words) // 2, 8)}"}
    found.update("u" + word for word in words)
    found.update(f"b{one} {two}" for one, two in itertools.pairwise(row))
    found.update(f"s{one} {two}" for one, two in zip(row, row[2:], strict=False))
    found.update(f"t{one} {two} {three}" for one, two, three in zip(row, row[1:], row[2:], strict=False))
    for word in {f"<{word}>" for word in words}:
        found.update("c" + word[at : at + size] for size in (3, 4, 5) for at in range(len(word) - size + 1))
    return sorted({zlib.crc32(one.encode("utf-8", "replace")) % BUCKETS for one in found})


def pieces_of(text: str, embedder: MultilingualEmbedder) -> NDArray[np.float32]:
    """Return the vectors of a text's first pieces, frequent ones nearly as long as rare ones; a row of zeros if there are none."""
    import numpy as np

    rows = embedder.piece_vectors(text.strip().rstrip(_ENDS))[:_MOST_PIECES]
    if not len(rows):
        return np.zeros((1, embedder.dimensions), np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (rows * (20 / np.sqrt(lengths + 1e-6))).astype(np.float32)
    return scaled


@dataclass(frozen=True, slots=True)
class Judge:
    """A fitted model: filters over pieces, the largest and the mean of each, and weights of buckets."""

    filters: NDArray[np.float32]
    bias: NDArray[np.float32]
    largest: NDArray[np.float32]
    mean: NDArray[np.float32]
    constant: float
    buckets: NDArray[np.float32]
    thresholds: Mapping[str, float]
    embedder: MultilingualEmbedder

    def score(self, text: str) -> float:
        """Return how surely a text is personal: above 0 it rather is."""
        import numpy as np

        pieces = np.pad(pieces_of(text, self.embedder), ((WIDTH // 2, WIDTH // 2), (0, 0)))
        windows = np.concatenate([pieces[at : len(pieces) - WIDTH + 1 + at] for at in range(WIDTH)], axis=1)
        seen = np.maximum(windows @ self.filters + self.bias, 0)
        used = buckets_of(text)
        deep = seen.max(axis=0) @ self.largest + seen.sum(axis=0) @ self.mean / np.sqrt(len(windows))
        return float(deep + self.buckets[used].sum() / np.sqrt(len(used)) + self.constant)


@functools.cache
def _judge() -> Judge:
    import numpy as np

    from hybrid_memory.embedding.multilingual import MultilingualEmbedder

    with np.load(MODEL, allow_pickle=False) as held:
        parts = {name: held[name].astype(np.float32) for name in held.files}
    return Judge(
        filters=parts["filters"] * parts["filter_scale"],
        bias=parts["bias"],
        largest=parts["largest"],
        mean=parts["mean"],
        constant=float(parts["constant"]),
        buckets=parts["buckets"] * parts["bucket_scale"],
        thresholds=json.loads(CALIBRATION.read_text(encoding="utf-8"))["thresholds"],
        embedder=MultilingualEmbedder(),
    )
