"""Fit the model that tells what a person says of themselves from what belongs to a project.

    uv run python tools/fit_oneself.py           # fits, and writes the model with its calibration
    uv run python tools/fit_oneself.py --check SET.tsv ...   # what the committed model makes of lines "label, language, text"

It learns from `tools/oneself.txt`: filters over three word pieces of the multilingual table, of each the largest value and the
mean, and weights of hashed words, as `hybrid_memory.capture.oneself` computes them. The threshold comes from a cross-validation
in which sentences of one topic, label and neighbourhood, and their translations, are held out together.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.capture.oneself import (
    BUCKETS,
    CALIBRATION,
    MODEL,
    WIDTH,
    buckets_of,
    is_about_oneself,
    may_be_of_oneself,
    pieces_of,
)
from hybrid_memory.embedding.multilingual import DIMENSIONS, MultilingualEmbedder
from hybrid_memory.language.languages import ENGLISH, language_of

TEXTS = Path(__file__).with_name("oneself.txt")
FOLDS = 5
PRECISION, PRECISION_OF_OTHERS = (
    0.91,
    0.93,
)  # English, other languages; in the cross-validation, whose sentences are much harder than what people say (docs/benchmarks.md)
SEEDS = (1, 2, 3)  # of the fits whose mean is the model
FILTERS = 32  # of each of them
EPOCHS = 20
_TOGETHER = 6  # neighbouring lines of a topic that are held out together
_BATCH = 64
_RATE, _BUCKET_RATE, _PENALTY = 2e-3, 0.3, 1e-3
_HELD_FILTERS, _HELD_BUCKETS, _HELD_PIECES = 0.4, 0.3, 0.08  # shares that a step leaves out
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the training text."""

    topic: str
    language: str
    personal: bool
    text: str
    group: str


def lines(path: Path = TEXTS) -> list[Line]:
    """Return the sentences of the training text."""
    found: list[Line] = []
    count: dict[tuple[str, ...], int] = {}
    topic = language = label = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            topic, language, label = line[2:].split()
        elif line and not line.startswith("#"):
            at = count[topic, language, label] = count.get((topic, language, label), -1) + 1
            group = f"{topic} {label} {language == 'en'} {at // _TOGETHER}"
            found.append(Line(topic, language, label == "personal", line, group))
    return found


@dataclass(frozen=True, slots=True)
class Examples:
    """What the model sees of sentences."""

    pieces: list[Array]
    buckets: list[NDArray[np.int64]]
    personal: Array

    def part(self, chosen: NDArray[np.int64]) -> Examples:
        """Return some of them."""
        return Examples([self.pieces[at] for at in chosen], [self.buckets[at] for at in chosen], self.personal[chosen])


def examples(found: Sequence[Line]) -> Examples:
    """Return what the model sees."""
    embedder = MultilingualEmbedder()
    return Examples(
        [pieces_of(line.text, embedder) for line in found],
        [np.array(buckets_of(line.text)) for line in found],
        np.array([line.personal for line in found], np.float32),
    )


class Fit:
    """A model being fitted: Adam for the filters, Adagrad for the buckets, dropout on all that it sees."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        size = WIDTH * DIMENSIONS
        self.parts: dict[str, Array] = {
            "filters": (self._random.normal(size=(size, FILTERS)) / np.sqrt(size)).astype(np.float32),
            "bias": np.zeros(FILTERS, np.float32),
            "out": (self._random.normal(size=2 * FILTERS) * 0.1).astype(np.float32),
            "constant": np.zeros(1, np.float32),
        }
        self.buckets = np.zeros(BUCKETS, np.float32)
        self._squares = np.full(BUCKETS, 1e-3, np.float32)
        self._moments = {name: (np.zeros_like(part), np.zeros_like(part)) for name, part in self.parts.items()}
        self._step = 0

    def run(self, given: Examples) -> Fit:
        """Go over the examples several times."""
        count = len(given.personal)
        steps = EPOCHS * -(-count // _BATCH)
        for _ in range(EPOCHS):
            order = self._random.permutation(count)
            for start in range(0, count, _BATCH):
                self._step += 1
                share = min(1, self._step / 50) * (1 - self._step / steps) + 1e-3
                self._learn(given.part(order[start : start + _BATCH]), np.float32(share))
        return self

    def scores(self, given: Examples) -> Array:
        """Return how surely each is personal."""
        found = [
            self._score(given.part(np.arange(at, min(at + 256, len(given.personal)))))
            for at in range(0, len(given.personal), 256)
        ]
        return np.concatenate(found)

    def _score(self, some: Examples) -> Array:
        windows, mask = _windows(some.pieces)
        _, features = self._features(windows, mask)
        wide = [self.buckets[used].sum() / np.sqrt(len(used)) for used in some.buckets]
        scores: Array = features @ self.parts["out"] + self.parts["constant"] + np.array(wide, np.float32)
        return scores

    def _features(self, windows: Array, mask: Array) -> tuple[Array, Array]:
        seen = np.maximum(windows @ self.parts["filters"] + self.parts["bias"], 0) * mask[:, :, None]
        mean = seen.sum(1) / np.sqrt(mask.sum(1, keepdims=True))
        return seen, np.concatenate([seen.max(1), mean], 1)

    def _kept(self, shape: tuple[int, ...], left_out: float) -> NDArray[np.bool_]:
        return self._random.random(shape, dtype=np.float32) >= left_out

    def _learn(self, some: Examples, share: np.float32) -> None:
        count = len(some.personal)
        windows, mask = _windows([piece * self._kept((len(piece), 1), _HELD_PIECES) for piece in some.pieces])
        seen, features = self._features(windows, mask)
        kept = (self._kept(features.shape, _HELD_FILTERS) / (1 - _HELD_FILTERS)).astype(np.float32)
        features = features * kept
        used = [one[self._kept(one.shape, _HELD_BUCKETS)] for one in some.buckets]
        weight = np.array([1 / np.sqrt(len(one)) for one in some.buckets], np.float32)
        wide = np.array([self.buckets[one].sum() for one in used], np.float32) * weight
        scores = features @ self.parts["out"] + self.parts["constant"] + wide
        wrong = ((1 / (1 + np.exp(-np.clip(scores, -30, 30))) - some.personal) / count).astype(np.float32)
        self._learn_buckets(used, wrong * weight, share)
        back = wrong[:, None] * self.parts["out"] * kept
        slope = np.repeat((back[:, FILTERS:] / np.sqrt(mask.sum(1, keepdims=True)))[:, None], seen.shape[1], 1)
        slope[np.arange(count)[:, None], seen.argmax(1), np.arange(FILTERS)] += back[:, :FILTERS]
        slope *= seen > 0
        self._move("filters", windows.reshape(-1, windows.shape[2]).T @ slope.reshape(-1, FILTERS), share)
        self._move("bias", slope.sum((0, 1)), share)
        self._move("out", features.T @ wrong, share)
        self._move("constant", wrong.sum(keepdims=True), share)

    def _learn_buckets(self, used: list[NDArray[np.int64]], wrong: Array, share: np.float32) -> None:
        each = np.repeat(wrong, [len(one) for one in used])
        slope = np.bincount(np.concatenate(used), each, BUCKETS).astype(np.float32)
        self._squares += slope**2
        self.buckets -= np.float32(_BUCKET_RATE) * share * slope / np.sqrt(self._squares)

    def _move(self, name: str, slope: Array, share: np.float32) -> None:
        part, (mean, square) = self.parts[name], self._moments[name]
        if name in ("filters", "out"):
            slope = slope + np.float32(_PENALTY) * part
        mean += np.float32(0.1) * (slope - mean)
        square += np.float32(0.001) * (slope**2 - square)
        ahead = mean / np.float32(1 - 0.9**self._step)
        part -= (
            np.float32(_RATE) * share * ahead / (np.sqrt(square / np.float32(1 - 0.999**self._step)) + np.float32(1e-8))
        )


def save(fits: Sequence[Fit], path: Path) -> None:
    """Write the mean of some models as one, its weights in 8 bits."""
    joined = {name: np.concatenate([fit.parts[name] for fit in fits], axis=-1) for name in ("filters", "bias")}
    outs = [fit.parts["out"].reshape(2, FILTERS) / len(fits) for fit in fits]
    filters, filter_scale = _packed(joined["filters"], 0)
    buckets, bucket_scale = _packed(np.mean([fit.buckets for fit in fits], axis=0), None)
    path.parent.mkdir(exist_ok=True)
    np.savez(
        path,
        filters=filters,
        filter_scale=filter_scale,
        bias=joined["bias"],
        largest=np.concatenate([out[0] for out in outs]),
        mean=np.concatenate([out[1] for out in outs]),
        constant=np.mean([fit.parts["constant"][0] for fit in fits], dtype=np.float32),
        buckets=buckets,
        bucket_scale=bucket_scale,
    )


def _windows(pieces: list[Array]) -> tuple[Array, Array]:
    """Return the neighbourhoods of all pieces of some texts, and which of them there are."""
    longest = max(map(len, pieces))
    padded = np.zeros((len(pieces), longest + WIDTH - 1, DIMENSIONS), np.float32)
    mask = np.zeros((len(pieces), longest), np.float32)
    for at, one in enumerate(pieces):
        padded[at, WIDTH // 2 : WIDTH // 2 + len(one)] = one
        mask[at, : len(one)] = 1
    return np.concatenate([padded[:, at : at + longest] for at in range(WIDTH)], 2), mask


def _packed(values: Array, axis: int | None) -> tuple[NDArray[np.int8], Array]:
    scale = np.asarray(np.abs(values).max(axis=axis) / 127, np.float32)
    return np.round(values / scale).astype(np.int8), scale


def cross_validated(found: Sequence[Line], given: Examples) -> Array:
    """Return the score of each sentence by models that saw neither it nor its neighbours and their translations."""
    fold = np.array([zlib.crc32(line.group.encode()) % FOLDS for line in found])
    scores = np.zeros(len(found), np.float32)
    for held in range(FOLDS):
        outside, inside = given.part(np.flatnonzero(fold != held)), given.part(np.flatnonzero(fold == held))
        scores[fold == held] = np.mean([Fit(seed).run(outside).scores(inside) for seed in SEEDS], axis=0)
        print(f"fold {held + 1} of {FOLDS}", flush=True)
    return scores


def figures(called: NDArray[np.bool_], personal: NDArray[np.bool_]) -> dict[str, float | int]:
    """Return how many sentences are called personal, how many of them rightly, and how many are personal."""
    right = int((called & personal).sum())
    return {
        "called": int(called.sum()),
        "right": right,
        "personal": int(personal.sum()),
        "precision": round(right / max(1, int(called.sum())), 4),
        "recall": round(right / max(1, int(personal.sum())), 4),
    }


def figures_of(said: Iterable[tuple[bool, str]]) -> dict[str, float | int]:
    """Return what the committed model makes of labelled sentences."""
    pairs = np.array([(is_about_oneself(text), personal) for personal, text in said])
    return figures(pairs[:, 0], pairs[:, 1])


def threshold_for(scores: Array, personal: NDArray[np.bool_], precision: float) -> float:
    """Return the lowest threshold, in quarters, from which on the precision is reached."""
    steps = np.arange(0, float(scores.max()), 0.25)
    return float(min(at for at in steps if personal[scores >= at].mean() >= precision))


def read_set(path: Path) -> list[tuple[bool, str, str]]:
    """Return label, language and sentence of each line of a file: "label, tab, language, tab, text"."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("p")]
    return [(label == "personal", language, text) for label, language, text in rows]


def check(path: Path) -> None:
    """Print what the committed model makes of a set, and what it wrongly calls personal."""
    said = read_set(path)
    print(path.name, "all", len(said), figures_of((personal, text) for personal, _, text in said))
    for language in sorted({language for _, language, _ in said}):
        part = [(personal, text) for personal, its, text in said if its == language]
        print(path.name, language, len(part), figures_of(part))
    for personal, language, text in said:
        if not personal and is_about_oneself(text):
            print("called personal:", language, text)


def main() -> None:
    """Fit and write the model and its calibration, or measure the committed one on sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="+", type=Path, metavar="SET.tsv")
    options = parser.parse_args()
    if options.check:
        for path in options.check:
            check(path)
        return
    everything = lines()
    found = [line for line in everything if may_be_of_oneself(line.text)]
    given = examples(found)
    personal = given.personal > 0
    scores = cross_validated(found, given)
    english = np.array([language_of(line.text) == ENGLISH for line in found])
    thresholds = {
        "english": threshold_for(scores[english], personal[english], PRECISION),
        "others": threshold_for(scores[~english], personal[~english], PRECISION_OF_OTHERS),
    }
    called = scores >= np.where(english, thresholds["english"], thresholds["others"])
    save([Fit(seed).run(given) for seed in SEEDS], MODEL)
    calibration: dict[str, object] = {
        "thresholds": thresholds,
        "cross_validated": figures(called, personal),
        "cross_validated_english": figures(called[english], personal[english]),
    }
    CALIBRATION.write_text(json.dumps(calibration, indent=2) + "\n", encoding="utf-8")
    calibration["trained_on"] = figures_of((line.personal, line.text) for line in everything)
    CALIBRATION.write_text(json.dumps(calibration, indent=2) + "\n", encoding="utf-8")
    print(CALIBRATION.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
