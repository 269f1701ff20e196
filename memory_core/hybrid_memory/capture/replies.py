"""How likely a reply to a question of the assistant is worth keeping: "phone 14" means nothing without it. Deterministic.

A logistic regression over what a transformer makes of the reply when it reads it behind the question, and over the encoder's vectors of
both. ``tools/fit_replies.py`` fits it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.capture.sentences import Sentence, sentence_of, sentences
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.passwords import may_hold_keys, may_hold_passwords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

REPLIES = Path(__file__).with_name("data") / "replies.npz"
_LONGEST = 300  # characters of a question
_VECTOR_WEIGHT = 3.0  # as in `gate`
_AROUND = LazyPattern(r"^[^\w¿]+|[^\w?？؟]+$")
_PIN = LazyPattern(r"\bpin\b")


def question_of(answers: str) -> str:
    """Return the question that ends what the assistant said; "" if it does not end with one.

    A question of over 300 characters counts as none. So does one for a password or key: that makes no answer worth keeping.
    """
    lines = [line for line in answers.splitlines() if line.strip()]
    # What is written around a question (emphasis, a quotation mark, an emoji) ends it no less.
    said = list(sentences(_AROUND.sub("", lines[-1]).replace("؟", "?"))) if lines else []
    if not said or not said[-1].asks or len(said[-1].raw) > _LONGEST or _asks_for_a_secret(said[-1].low):
        return ""
    return f"{said[-1].raw}?"


def _asks_for_a_secret(low: str) -> bool:
    return may_hold_passwords(low) or may_hold_keys(low) or _PIN.search(low) is not None


def reply_features(
    own: Sequence[Sentence],
    message: str,
    question: str,
    vectors: Callable[[Sequence[str]], NDArray[np.float32]],
    in_context: Callable[[Sequence[tuple[Sequence[Sentence], str]]], list[NDArray[np.float32]]],
) -> NDArray[np.float32]:
    """Return (sentences, features) float32: what the model sees of the sentences of a message that replies to a question.

    ``vectors`` and ``in_context`` are those of the `Gate`.
    """
    import numpy as np

    *rows, asked = vectors([*(one.raw for one in own), question])
    # The adapted layers see the reply behind the question; the last row is that of both together.
    seen = in_context([([sentence_of(question), *own], f"{question} {message}")])[0][1, 1:-1]
    found: NDArray[np.float32] = np.concatenate(
        (seen, np.repeat(_VECTOR_WEIGHT * asked[None], len(own), axis=0), _VECTOR_WEIGHT * np.array(rows)),
        axis=1,
        dtype=np.float32,
    )
    return found


def reply_chances(rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the chance (0..1) of each row; the last of the ``weights`` is constant."""
    import numpy as np

    found: NDArray[np.float32] = 1 / (1 + np.exp(-np.clip(rows @ weights[:-1] + weights[-1], -30, 30)))
    return found


@cache
def load_replies() -> NDArray[np.float32]:
    """Return the fitted weights.

    Raises:
        EmbedderUnavailable: a file of the installation cannot be read.
    """
    from hybrid_memory.embedding.contextual import installed_arrays

    with installed_arrays(REPLIES) as held:
        return held["weights"].astype("float32")
