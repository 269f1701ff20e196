"""Replays one recorded case with the public classes of the agent API and compares everything that was recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import anyio
from tests.conformance.compare import Mismatch, Unknown, demand
from tests.conformance.drivers import DRIVERS
from tests.conformance.world import World

from hybrid_memory.store.interface import Store
from hybrid_memory.testing import FakeClock

SCHEMA = "dbgpt-memory-golden/1"
KINDS = ("core", "quirk")
CASE_KEYS = {"schema", "id", "component", "kind", "title", "notes", "source", "config", "embeddings", "steps"}
STEP_KEYS = {
    "op",
    "input",
    "result",
    "error",
    "random_draws",
    "comparisons",
    "long_term_written",
    "searches",
    "ranking",
    "state",
    "quirk",
    "faded",
}
CONFIG_KEYS = {
    "SensoryMemory": {"buffer_size", "importance_weight", "threshold_to_short_term", "scorer"},
    "ShortTermMemory": {"buffer_size", "scorer", "extractor"},
    "EnhancedShortTermMemory": {
        "buffer_size",
        "enhance_similarity_threshold",
        "enhance_threshold",
        "scorer",
        "extractor",
    },
    "LongTermMemory": {
        "_default_importance",
        "bulk",
        "decay_rate",
        "fetch",
        "k",
        "top_k",
        "metadata",
        "now",
        "reflection_threshold",
        "score_threshold",
        "session",
        "session_id",
        "storage",
    },
    "HybridMemory": {
        "_default_importance",
        "enhance_similarity_threshold",
        "enhance_threshold",
        "extractor",
        "importance_weight",
        "now",
        "scorer",
        "sensory_buffer",
        "session",
        "session_id",
        "short_term",
        "short_term_buffer",
    },
    "TimeWeightedEmbeddingRetriever": {"decay_rate", "default_salience", "k", "other_score_keys", "storage", "top_k"},
    "AgentMemory": {"memory", "buffer_size"},
    "LLMImportanceScorer": {"rule"},
    "LLMInsightExtractor": {"rule"},
}
MESSAGES = {
    "Now time is required.": "now: is required: give the time at which these memories count as accessed",
    "importance is required.": (
        "importance: is required: give the fragment one, or set _default_importance of LongTermMemory"
    ),
}
POLLUTION = {"importance", "last_accessed_at"}


def replay(
    case: dict[str, Any],
    open_store: Callable[[FakeClock], Store],
    *,
    name: str | None = None,
    ours: bool = False,
    look: Callable[[World], None] | None = None,
    lenient: bool = False,
) -> list[str]:
    """Replay a case.

    ``ours`` uses our default settings of recall, else those of the reference. ``look`` sees the world at the end.
    ``lenient`` lets steps that are marked as quirks differ; what differed is returned.

    Raises:
        Mismatch: something happened otherwise than recorded.
        Unknown: the case holds something that cannot be replayed.
    """
    _check_form(case, name)
    world = World(case, open_store, ours=ours)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "enhance_similarity_threshold")
        return anyio.run(_replay, case, world, look, lenient)


async def _replay(case: dict[str, Any], world: World, look: Callable[[World], None] | None, lenient: bool) -> list[str]:
    driver = DRIVERS[case["component"]](world)
    await driver.prepare()
    tolerated: list[str] = []
    for at, step in enumerate(case["steps"]):
        try:
            await _replay_step(driver, world, step, f"step {at} ({step['op']})")
        except Mismatch as different:
            if not (lenient and step.get("quirk") is True):
                raise
            tolerated.append(str(different))
    if look is not None:
        look(world)
    return tolerated


async def _replay_step(driver: Any, world: World, step: dict[str, Any], where: str) -> None:
    world.begin(step.get("random_draws", []))
    error: Exception | None = None
    result: Any = None
    try:
        result = await driver.do(step["op"], dict(step["input"]))
    except (Mismatch, Unknown):
        raise
    except Exception as raised:  # noqa: BLE001 - whatever a memory raises is what the case is about
        error = raised
    _compare_outcome(step, result, error, where)
    if world.draws.left:
        raise Mismatch(f"{where}.random_draws: {world.draws.left} were recorded and not used")
    demand(step.get("comparisons", []), world.comparisons, f"{where}.comparisons")
    demand(step.get("long_term_written", []), world.written, f"{where}.long_term_written")
    demand([_unpolluted(one) for one in step.get("searches", [])], world.searches, f"{where}.searches")
    if "ranking" in step:
        demand(step["ranking"], world.ranking, f"{where}.ranking")
    if "faded" in step:
        demand(step["faded"], world.faded, f"{where}.faded")
    if "state" in step:
        demand(step["state"], driver.state(), f"{where}.state")
    driver.check(where, failed=error is not None)


def _compare_outcome(step: dict[str, Any], result: Any, error: Exception | None, where: str) -> None:
    if "error" not in step:
        if error is not None:
            raise Mismatch(f"{where}: nothing was raised when it was recorded, but here {error!r}") from error
        demand(step["result"], result, f"{where}.result")
        return
    if error is None:
        raise Mismatch(f"{where}: {step['error']} was raised when it was recorded, but nothing here")
    if step["error"]["type"] not in {kind.__name__ for kind in type(error).__mro__}:
        raise Mismatch(f"{where}.error.type: {step['error']['type']} was recorded, but here is {error!r}")
    message = step["error"]["message"]
    demand(MESSAGES.get(message, message), str(error), f"{where}.error.message")


def _unpolluted(search: dict[str, Any]) -> dict[str, Any]:
    """Leave out the filters that the reference only has because its last write leaked into them."""
    filters = search.get("filters")
    if not isinstance(filters, list):
        return search
    return {**search, "filters": [one for one in filters if not isinstance(one, list) or one[0] not in POLLUTION]}


def _check_form(case: dict[str, Any], name: str | None) -> None:
    if case.get("schema") != SCHEMA or case.get("kind") not in KINDS:
        raise Unknown(f"schema {case.get('schema')!r}, kind {case.get('kind')!r} are not known")
    if name is not None and case.get("id") != name:
        raise Unknown(f"the case calls itself {case.get('id')!r} in a file named {name!r}")
    if case["component"] not in DRIVERS:
        raise Unknown(f"component {case['component']!r} is not known")
    _only(set(case) - CASE_KEYS, "case")
    _only(set(case["config"]) - CONFIG_KEYS.get(case["component"], set()), "config")
    for at, step in enumerate(case["steps"]):
        _only(set(step) - STEP_KEYS, f"step {at}")
        if not {"op", "input"} <= set(step) or ("result" in step) == ("error" in step):
            raise Unknown(f"step {at} must have op, input, and either result or error")


def _only(unknown: set[str], where: str) -> None:
    if unknown:
        raise Unknown(f"{where}: nobody knows what {sorted(unknown)} means")
