"""Where the reference is wrong, and what is expected of us instead: case by case, exactly.

Each entry replaces parts of a recorded case; the result is replayed like any other case. The reasons stand in
``docs/differences.md``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.world import World

from hybrid_memory.model import Tier

NOON = 1768046400.0
FIRST_AXIS = [1.0, *[0.0] * 15]
SECOND_AXIS = [0.0, 1.0, *[0.0] * 14]


@dataclass(frozen=True)
class Ours:
    """Our side of a difference: keys of steps by number, more vectors, our own settings of recall, a last look.

    ``same`` says that what was recorded happens here too, and only its consequence or our way there differs.
    """

    steps: dict[int, dict[str, Any]] = field(default_factory=dict)
    embeddings: dict[str, list[float]] = field(default_factory=dict)
    more_steps: list[dict[str, Any]] = field(default_factory=list)
    settings: bool = False
    look: Callable[[World], None] | None = None

    @property
    def same(self) -> bool:
        return not self.steps and not self.more_steps

    def differing(self, case: dict[str, Any]) -> set[int]:
        """Return the numbers of the steps that are not as recorded."""
        recorded = len(case["steps"])
        return {*self.steps, *range(recorded, recorded + len(self.more_steps))}


def applied(case: dict[str, Any], ours: Ours) -> dict[str, Any]:
    """Return a case with our side of the difference in it."""
    changed = copy.deepcopy(case)
    for at, keys in ours.steps.items():
        step = changed["steps"][at]
        if "result" in keys:
            step.pop("error", None)
        if "error" in keys:
            step.pop("result", None)
        step.update(keys)
    changed["steps"] += ours.more_steps
    if ours.embeddings:
        changed["embeddings"] = {**changed.get("embeddings", {}), **ours.embeddings}
    return changed


def said(text: str, importance: float | None = None) -> dict[str, Any]:
    return {"text": text, "importance": importance}


def discarded(*fragments: dict[str, Any]) -> dict[str, Any]:
    return {"fragments": list(fragments), "insights": []}


def held(text: str, importance: float | None = 4.5, by: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"text": text, "importance": importance, "enhance_count": len(by), "enhanced_by": list(by)}


def written(text: str, index: int = 0, importance: float = 4.5, accessed: float = NOON) -> dict[str, Any]:
    metadata = {
        "buffer_idx": index,
        "importance": importance,
        "last_accessed_at": accessed,
        "memory_type": "long_term",
    }
    return {"document": text, "metadata": metadata}


def search(count: int, query: str = "query", topk: int | None = 200) -> dict[str, Any]:
    return {
        "query": query,
        "topk": topk,
        "score_threshold": 0,
        "filters": [["memory_type", "==", "long_term"]],
        "candidate_count": count,
    }


def ranked(
    text: str, relevance: float, recency: float, importance: float, score: float | None = None
) -> dict[str, Any]:
    return {
        "document": text,
        "relevance": relevance,
        "recency": recency,
        "importance": importance,
        "score": relevance + recency + importance if score is None else score,
        "skipped": False,
    }


def comparison(similarity: float, probability: float, draw: float | None = None) -> dict[str, Any]:
    return {"similarity": similarity, "probability": probability, "draw": draw, "enhanced": False}


def hybrid(*short_term: dict[str, Any], count: int, aggregate: float) -> dict[str, Any]:
    return {
        "sensory": [],
        "short_term": list(short_term),
        "long_term_count": count,
        "aggregate_importance": aggregate,
    }


def long_term(count: int, aggregate: float, stream: int) -> dict[str, Any]:
    return {"long_term_count": count, "aggregate_importance": aggregate, "memory_stream_len": stream}


def evicted_row_is_kept(world: World) -> None:
    vectors = world.vectors
    log = vectors.store.changes(vectors.name, 0)
    rows = vectors.rows([entry.id for entry in log]).values()
    assert [(row.content, row.tier) for row in rows if row.tier is Tier.FADED] == [("a", Tier.FADED)]


_ONLY_BETA = ranked("a", 0.9, 4.3171e-05, 1.0, 0.9), ranked("b", 0.1, 1.0, 1.0, 0.1)

DIFFERENCES: dict[str, Ours] = {
    "agent-01-write-drops-op": Ours({0: {"result": discarded(), "state": []}}),
    "agent-02-default-memory": Ours({5: {"result": discarded(said("m0"))}, 6: {"result": "m1\nm2\nm3\nm4\nm5"}}),
    "agent-03-structured-fragment": Ours(
        {3: {"result": said('[{"question": "q", "thought": "t1"}, {"thought": "from long-term"}]')}}
    ),
    "enhanced-05-threshold-unreachable": Ours(),
    "enhanced-10-none-importance-mixed": Ours(
        {2: {"result": discarded(), "state": [held("mid"), held("new")], "faded": ["low"]}}
    ),
    "enhanced-12-size-zero": Ours({0: {"result": discarded(), "state": [], "faded": ["low"]}}),
    "enhanced-16-zero-vector": Ours(),
    "enhanced-18-pending-enhancement-lost": Ours({3: {"faded": ["a1"]}}),
    "enhanced-19-same-text-purge-overcounts": Ours(
        {3: {"state": [held("base", 9.0, ("dup",)), held("dup", 2.0), held("x", 5.0)], "faded": ["dup"]}}
    ),
    "gpts-01-message-queries": Ours({8: {"result": "fyi"}}),
    "gpts-02-delete-then-append-overwrites": Ours({2: {"result": ["c2 one", "c2 two"]}}),
    "gpts-04-get-agent-messages-crash": Ours({1: {"result": ["hi"]}}),
    "hybrid-05-empty-insight-crash": Ours(
        {
            1: {
                "result": None,
                "long_term_written": [written("a1;a2")],
                "state": hybrid(held("a2"), count=1, aggregate=4.5),
            }
        },
        embeddings={"a1;a2": SECOND_AXIS},
    ),
    "hybrid-06-batch-recovery-loses": Ours(
        {0: {"long_term_written": [written("a1;a2")], "state": hybrid(held("a2"), count=1, aggregate=4.5)}},
        embeddings={"a1;a2": SECOND_AXIS},
    ),
    "hybrid-08-sensory-not-readable": Ours({1: {"result": [said("a")]}}),
    "hybrid-11-prefix-nesting": Ours(),
    "hybrid-12-clock-frozen": Ours({1: {"long_term_written": [written("a1;a2", accessed=NOON + 48 * 3600)]}}),
    "hybrid-13-evicted-never-longterm": Ours({2: {"faded": ["a"]}}, look=evicted_row_is_kept),
    "hybrid-14-plain-short-term": Ours({2: {"long_term_written": [written("a")]}}, embeddings={"a": FIRST_AXIS}),
    "hybrid-15-clear-noop": Ours({1: {"result": [said("a1", 4.5)], "state": hybrid(count=0, aggregate=0.0)}}),
    "hybrid-16-uninitialised": Ours({2: {"result": [said("L1", 4.5)]}}),
    "hybrid-17-own-writes-mask-older": Ours(
        {
            2: {"searches": [search(1, topk=None)]},
            5: {
                "result": [said("older", 9.0), said("a1;a2", 4.5), said("a2", 4.5)],
                "random_draws": [0.9],
                "comparisons": [comparison(0.9, 0.710949503, 0.9), comparison(0.3, 0.574442517)],
                "searches": [search(2, topk=None)],
                "ranking": [ranked("older", 0.891, 1.0, 9.0), ranked("a1;a2", 0.297, 1.0, 4.5)],
            },
        },
        settings=True,
    ),
    "longterm-01-direct-write-needs-time": Ours(
        {0: {"result": None, "long_term_written": [written("x", importance=0.5)], "state": long_term(1, 0.5, 1)}},
        embeddings={"x": FIRST_AXIS},
    ),
    "longterm-06-importance-dominates": Ours(
        more_steps=[
            {
                "op": "read",
                "input": {"observation": "query", "gamma": 0.1},
                "result": [said("relevant", 4.5), said("important", 9.0)],
                "searches": [search(2)],
                "ranking": [
                    ranked("relevant", 0.99, 1.0, 4.5, 2.44),
                    ranked("important", 0.01, 4.3171e-05, 9.0, 0.910043),
                ],
            }
        ]
    ),
    "longterm-09-filter-pollution": Ours(
        {
            3: {
                "result": [said("first", 9.0), said("second", 4.5)],
                "searches": [search(2)],
                "ranking": [ranked("first", 0.95, 1.0, 9.0), ranked("second", 0.5, 1.0, 4.5)],
            },
            5: {
                "result": [said("first", 9.0), said("second", 4.5), said("third", 4.5)],
                "searches": [search(3)],
                "ranking": [
                    ranked("first", 0.95, 1.0, 9.0),
                    ranked("second", 0.5, 1.0, 4.5),
                    ranked("third", 0.4, 0.99, 4.5),
                ],
            },
        }
    ),
    "longterm-12-access-not-persisted": Ours(
        {
            3: {"searches": [search(2, topk=None)]},
            5: {
                "result": [said("m", 1.0), said("n", 1.0)],
                "searches": [search(2, topk=None)],
                "ranking": [ranked("m", 0.5, 1.0, 1.0), ranked("n", 0.49, 1.0, 1.0)],
            },
            6: {"result": [["m", NOON], ["n", NOON]]},
        },
        settings=True,
    ),
    "longterm-13-clone-restarts-index": Ours({4: {"result": None}}),
    "longterm-14-future-access": Ours(
        {
            3: {
                "result": [said("present", 1.0), said("future", 1.0)],
                "ranking": [ranked("present", 0.5, 1.0, 1.0), ranked("future", 0.5, 1.0, 1.0)],
            }
        }
    ),
    "longterm-16-empty-query": Ours(
        {1: {"result": [said("m", 1.0)], "searches": [search(1, "")], "ranking": [ranked("m", 0.0, 1.0, 1.0)]}}
    ),
    "longterm-17-aggregate-and-clear": Ours(
        {2: {"result": [said("m3.5", 3.5), said("m2.0", 2.0)], "state": long_term(0, 0.0, 2)}}
    ),
    "longterm-19-coefficients-ignored": Ours(
        {4: {"result": [said("a", 1.0), said("b", 1.0)], "ranking": list(_ONLY_BETA)}}
    ),
    "longterm-20-candidate-cutoff": Ours(
        {
            1: {
                "result": [said("star", 9.0), said("b000", 0.1), said("b001", 0.1), said("b002", 0.1)],
                "searches": [search(204, topk=None)],
            }
        },
        settings=True,
    ),
    "longterm-21-embedding-failure-swallowed": Ours(
        {
            0: {
                "error": {"type": "RuntimeError", "message": "embedding backend refused the text"},
                "state": long_term(0, 0.0, 0),
            },
            1: {"long_term_written": [written("fine", 0, 1.0)], "state": long_term(1, 1.0, 1)},
        }
    ),
    "sensory-06-all-dropped": Ours({1: {"faded": ["x", "y"]}}),
    "sensory-07-importance-overwritten": Ours({0: {"result": discarded(said("caller said 9", 9.0))}}),
    "sensory-09-concurrent-writes-race": Ours(
        {1: {"result": [discarded(said("held", 4.5), said("w1", 4.5)), None], "state": [said("w2")]}}
    ),
    "short-01-fifo-wrong-fragment": Ours({3: {"result": discarded(said("a"))}, 4: {"result": discarded(said("b"))}}),
    "short-03-size-zero": Ours({0: {"result": discarded(said("a"))}}),
    "short-04-size-one": Ours({1: {"result": discarded(said("a"))}}),
    "short-05-insights-on-overflow": Ours(
        {
            2: {
                "result": {
                    "fragments": [said("a")],
                    "insights": [[{"text": "insight of a", "importance": None, "is_insight": True}]],
                }
            }
        }
    ),
    "short-06-retrieval-op-ignored": Ours({1: {"state": [said("a")]}}),
    "short-07-batch": Ours({0: {"result": discarded(said("a", 1.0), said("b", 1.0))}}),
    "timeweighted-02-vector-only-loses-time": Ours(
        {
            2: {
                "result": [
                    {
                        "text": "fresh",
                        "buffer_idx": 1,
                        "last_accessed_at": "2026-01-10T12:00:00",
                        "created_at": "2026-01-10T12:00:00",
                    },
                    {
                        "text": "stale",
                        "buffer_idx": 0,
                        "last_accessed_at": "2026-01-10T12:00:00",
                        "created_at": "2025-06-16T04:00:00",
                    },
                ]
            }
        }
    ),
    "timeweighted-04-longterm-stream-mode-broken": Ours(
        {1: {"result": [said("old hit", 1.0)], "searches": [search(1)], "ranking": [ranked("old hit", 0.9, 1.0, 1.0)]}}
    ),
}
