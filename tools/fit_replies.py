"""Fit the model that says which replies to a question of the assistant are worth keeping (``capture/replies.py``).

It learns from the exchanges in ``tools/replies``, from what answers a question in ``tools/dialogues``, and with less weight from the lives
in ``tools/short_lives``, in which nearly all replies tell something.

    uv run --group fit python -m tools.fit_replies
    uv run python -m tools.fit_replies --check FILE ...

The first fits it and writes the model, in two minutes on two cores; run it again after ``tools/fit_gate.py``, whose layers it reads. The
second measures what is kept of exchanges that nothing was fitted on, with the question and without.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from tools.fit_gate import figures

from hybrid_memory.capture.gate import Gate, load_gate
from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.replies import REPLIES, question_of, reply_features
from hybrid_memory.capture.statements import own_sentences, statements
from hybrid_memory.embedding.universal import load_encoder

HERE = Path(__file__).parent
FULL, SHORT = ("replies", "dialogues"), "short_lives"
SHORT_WEIGHT = 0.3
"""Of a reply in a short life: 24 of 25 are worth keeping there, one in three elsewhere."""
STRENGTH = 0.003
"""Inverse of the penalty, chosen with authors held out."""
_SAID_AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person said when the assistant had said what it ``answers``, and whether it is worth keeping."""

    text: str
    answers: str
    kept: bool


def read(paths: Iterable[Path]) -> list[Reply]:
    """Return what replies to a question in files of exchanges, dialogues, or short lives."""
    found = []
    for path in paths:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found += [one for one in _replies(lines) if question_of(one.answers)]
    return found


def _replies(lines: Sequence[dict[str, Any]]) -> Iterator[Reply]:
    said = ""
    for line in lines:
        if "before" in line:
            for at, one in enumerate(line["before"]):
                yield Reply(one["user"], one.get("assistant", ""), at in line["keep"])
            if line["kind"] != "decoy":
                yield Reply(line["later"]["user"], line["later"].get("assistant", ""), kept=True)
        elif "user" in line:
            yield Reply(line["user"], line["assistant"], line["keep"])
        elif line.get("role") == "assistant":
            said = line["text"]
        else:
            yield Reply(line["text"], said, bool(line["keep"]))
            said = ""


def fitted(gate: Gate) -> np.ndarray:
    """Return the weights of a logistic regression over each sentence of the replies, the constant last."""
    from sklearn.linear_model import LogisticRegression  # of the group "fit"
    from sklearn.preprocessing import StandardScaler

    rows, kept, weights = [], [], []
    for name in (*FULL, SHORT):
        for one in read(sorted((HERE / name).glob("*.jsonl"))):
            own = list(own_sentences(one.text))
            if own:
                rows.append(reply_features(own, one.text, question_of(one.answers), gate.vectors, gate.in_context))
                kept += [one.kept] * len(own)
                weights += [(SHORT_WEIGHT if name == SHORT else 1.0) / len(own)] * len(own)
    scaler = StandardScaler().fit(np.concatenate(rows))
    model = LogisticRegression(C=STRENGTH, max_iter=3_000)
    model.fit(scaler.transform(np.concatenate(rows)), kept, sample_weight=weights)
    scaled = model.coef_[0] / scaler.scale_
    return np.append(scaled, model.intercept_[0] - scaled @ scaler.mean_).astype(np.float32)


def check(paths: Sequence[Path], gate: Gate) -> None:
    """Print what is kept of replies behind their questions, and of the same read alone."""
    for path in paths:
        replies = read([path])
        kept = np.array([one.kept for one in replies])
        for how, behind in (("behind the question", True), ("alone", False)):
            said = [
                statements(
                    [Turn(one.text, _SAID_AT, answers=one.answers if behind else "")],
                    fragments=True,
                    gate=gate,
                    episodes=True,
                )
                for one in replies
            ]
            called = np.array([any(not (some.episode or some.fragment) for some in one) for one in said])
            lost = sum(not some for some, is_kept in zip(said, kept, strict=True) if is_kept)
            print(path.stem, how, figures(called, kept), f"{lost} of those worth it are not even an episode")


def main() -> None:
    """Fit and write the model, or measure the committed one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args()
    gate = load_gate(load_encoder().meanings)
    if options.check:
        check(options.check, gate)
        return
    np.savez_compressed(REPLIES, weights=fitted(gate))


if __name__ == "__main__":
    main()
