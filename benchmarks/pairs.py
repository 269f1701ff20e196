"""How well a write tells that it corrects an earlier memory: precision and recall of `related` over pairs of statements."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.sets import PAIRED_AT, Pair
from benchmarks.waiting import complete
from hybrid_memory.clock import SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock

CORRECTS = frozenset(("contradicts", "refines"))
"""The labels of pairs whose later statement bears upon the earlier one."""


def of_pairs(pairs: tuple[Pair, ...], settings: StoreSettings) -> dict[str, Any]:
    """Write all earlier statements into one namespace, then the later ones; return precision, recall and rates by label.

    A later statement is *signalled* when its own earlier one is among the memories that the write names as related. What
    it names alongside that one is not counted: the other pairs are not labelled against it.
    """
    clock = FakeClock(PAIRED_AT)
    signalled: Counter[str] = Counter()
    total = Counter(pair.label for pair in pairs)
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        service = MemoryService.open(Path(folder), clock=clock, random_source=SystemRandomSource(), settings=settings)
        older = {}
        for number, pair in enumerate(pairs):
            clock.set(PAIRED_AT + timedelta(hours=number))
            older[pair] = service.write(Scope(session=f"older {number}"), WriteRequest(content=pair.older)).id
        complete(service, Scope(session="all"))
        for number, pair in enumerate(pairs):
            clock.set(PAIRED_AT + timedelta(days=30, hours=number))
            written = service.write(Scope(session=f"newer {number}"), WriteRequest(content=pair.newer))
            named = {written.duplicate_of, *(one.id for one in written.related)}
            signalled[pair.label] += older[pair] in named
        service.close()
    right = sum(signalled[label] for label in CORRECTS)
    correcting = sum(total[label] for label in CORRECTS)
    wrong = sum(count for label, count in signalled.items() if label == "unrelated-but-similar")
    return {
        "embedder": settings.embedder,
        "precision": round(right / (right + wrong), 4) if right + wrong else None,
        "recall": round(right / correcting, 4) if correcting else None,
        "signalled": {label: round(signalled[label] / count, 4) for label, count in sorted(total.items())},
    }
