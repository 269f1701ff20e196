"""Fit the model that says which statements are of a passing matter (``changes/endings.py``).

    uv run python -m tools.fit_endings                   fits it, writes the model and its calibration
    uv run python -m tools.fit_endings --check FILE ...  measures the committed one on lines that nothing was fitted on

It learns from ``tools/dated``: lines that speak of a day to come, whose authors marked whether they hold on after it, and what is marked
as worth keeping in ``tools/dialogues``, of which ``dialogues.txt`` names what is over three months later.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tools.fit_gate import DIALOGUES, fitted

from hybrid_memory.changes.endings import CALIBRATION, MODEL, VECTOR_WEIGHT, EndingModel, load_endings
from hybrid_memory.embedding.universal import UniversalEmbedder
from hybrid_memory.retrieval.time_expressions.stated_days import stated_days

DATED = Path(__file__).with_name("dated")
OVER = DATED / "dialogues.txt"
FOLDS = 10
PENALTY = 3.0
PRECISION = 0.75
"""Of what counts as passing, in the cross-validation, of the lines that name a day to come."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BATCH = 64
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """What somebody told at a moment, and whether it is over by and by."""

    text: str
    told: datetime
    ends: bool

    @property
    def names_day(self) -> bool:
        """Whether it speaks of a day to come that can be read."""
        days = stated_days(self.text, self.told)
        return bool(days) and _EPOCH + timedelta(days=max(days)) > self.told


def dated(paths: Iterable[Path]) -> list[Line]:
    """Return lines with what their authors marked."""
    told = (json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return [Line(one["text"], _noon(one["said"]), one["ends"]) for one in told]


def of_dialogues(folder: Path, over: Path) -> list[Line]:
    """Return what is worth keeping in the dialogues that a file names, which says of each what is over by and by."""
    named = {line.partition(" ")[0]: set(line.split()[1:]) for line in over.read_text(encoding="utf-8").splitlines()}
    found = []
    for life, passing in named.items():
        for line in (folder / f"{life}.jsonl").read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            marked = told["keep"] if told.get("role") != "assistant" else ()
            found += [Line(one["text"], _noon(told["at"][:10]), one["id"] in passing) for one in marked]
    return found


def _noon(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


def rows_of(lines: Sequence[Line], embedder: UniversalEmbedder) -> Array:
    """Return (lines, values): what the regression reads."""
    texts = [one.text for one in lines]
    batches = [embedder.embed(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
    return VECTOR_WEIGHT * np.concatenate(batches).astype(np.float64)


def cross_validated(rows: Array, wanted: Array) -> Array:
    """Return the chance of each line, by models that did not see it."""
    fold = np.arange(len(rows)) % FOLDS
    chances = np.zeros(len(rows))
    for held in range(FOLDS):
        weights = fitted(rows[fold != held], wanted[fold != held], PENALTY)
        chances[fold == held] = 1 / (1 + np.exp(-(rows[fold == held] @ weights[:-1] + weights[-1])))
    return chances


def figures(chances: Array, wanted: Array, at: float) -> dict[str, float | int]:
    """Return how many lines count as passing from a chance on, how many rightly, and how many should."""
    called = chances >= at
    right = int((called & (wanted > 0)).sum())
    return {
        "lines": len(wanted),
        "passing": int(wanted.sum()),
        "called": int(called.sum()),
        "precision": round(right / max(1, int(called.sum())), 3),
        "recall": round(right / max(1, int(wanted.sum())), 3),
    }


def threshold_for(chances: Array, wanted: Array, precision: float) -> float:
    """Return the lowest threshold, in hundredths, from which on the precision is reached."""
    steps = np.arange(0.3, 0.99, 0.01).round(2).tolist()
    return next(at for at in steps if wanted[chances >= at].mean() >= precision)


def main() -> None:
    """Fit and write the model, or measure the committed one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args()
    embedder = UniversalEmbedder()
    if options.check:
        lines, model = [one for one in dated(options.check) if one.names_day], load_endings()
        chances = model.chances((rows_of(lines, embedder) / VECTOR_WEIGHT).astype(np.float32)).astype(np.float64)
        print(figures(chances, np.array([float(one.ends) for one in lines]), model.threshold))
        return
    talk = of_dialogues(DIALOGUES, OVER)
    lines = [*dated(sorted(DATED.glob("*.jsonl"))), *talk]
    rows, wanted = rows_of(lines, embedder), np.array([float(one.ends) for one in lines])
    chances = cross_validated(rows, wanted)
    named = np.array([one.names_day for one in lines])
    is_talk = np.arange(len(lines)) >= len(lines) - len(talk)
    threshold = threshold_for(chances[named], wanted[named], PRECISION)
    model = EndingModel(weights=fitted(rows, wanted, PENALTY).astype(np.float32), threshold=threshold)
    calibration = {
        "threshold": threshold,
        "with_a_day": figures(chances[named], wanted[named], threshold),
        "with_a_day_of_dialogues": figures(chances[named & is_talk], wanted[named & is_talk], threshold),
        "passing_of_chance": {
            f"{low / 10:.1f}": [int(inside.sum()), round(float(wanted[inside].mean()), 2)]
            for low in range(10)
            if (inside := (chances >= low / 10) & (chances < (low + 1) / 10)).any()
        },
    }
    np.savez(MODEL, weights=model.weights)
    CALIBRATION.write_text(json.dumps(calibration, indent=2) + "\n", encoding="utf-8")
    print(CALIBRATION.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
