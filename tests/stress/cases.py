"""Seeds that can be given from outside, and failing cases that are kept, so that a failure can be seen again.

`HYBRID_STRESS_SEED=17 just stress` repeats with one seed. A failing case lands in `tests/corpus/new`; what is moved from there to
`tests/corpus` is replayed by the quick tier for good.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tests.history.calls import Call, to_json
from tests.history.checker import faults

CORPUS = Path(__file__).parents[1] / "corpus"
GIVEN = os.environ.get("HYBRID_STRESS_SEED")  # noqa: TID251 - it belongs to these tests, not to the program


def seeds(count: int) -> list[int]:
    """Return the seeds of a test: the one that the variable names, else ``count`` of them."""
    return list(range(1, count + 1)) if GIVEN is None else [int(GIVEN)]


def seed_of_one() -> int:
    """Return the seed of a test that runs once, and print it."""
    (seed,) = seeds(1)
    print(f"HYBRID_STRESS_SEED={seed}")  # noqa: T201 - shown with a failure, to replay it
    return seed


def keep(name: str, text: str) -> str:
    """Keep a failing case and return the sentence that says where."""
    folder = CORPUS / "new"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return f"kept as tests/corpus/new/{name}"


def check(history: Sequence[Call], name: str, seed: int) -> None:
    """Fail when a history has faults, and keep it."""
    found = faults(history)
    if found:
        kept = keep(f"history-{name}-{seed}.json", to_json(history))
        raise AssertionError("\n".join([f"seed {seed}, {kept}", *found[:10]]))
