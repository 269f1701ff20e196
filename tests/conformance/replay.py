"""Replays one recorded case with the public classes of the agent API and compares everything that was recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from typing import Any

from tests.conformance.case_format import check_form
from tests.conformance.compare import Mismatch, Unknown, demand
from tests.conformance.drivers import DRIVERS, Driver
from tests.conformance.recording import Recording
from tests.conformance.world import World

from hybrid_memory.store.base import Store
from hybrid_memory.testing import FakeClock

MARKERS = ("[FORGET]", "[MERGE]")
MESSAGES = {
    "Now time is required.": "now: is required: give the time at which these memories count as accessed",
    "importance is required.": (
        "importance: is required: give the fragment one, or set _default_importance of LongTermMemory"
    ),
}


async def replay(
    case: dict[str, Any],
    open_store: Callable[[FakeClock], Store],
    *,
    name: str | None = None,
    ours: bool = False,
    look: Callable[[World], None] | None = None,
    lenient: bool = False,
    differing: Collection[int] = (),
) -> list[str]:
    """Replay a case.

    ``ours`` uses our default settings of recall, else those of the reference. ``look`` sees the world at the end.
    ``lenient`` lets steps that are marked as quirks differ; what differed is returned. ``differing`` are the numbers of
    steps that say what is expected of us; the others must also agree with themselves, as all recordings do.

    Raises:
        Mismatch: something happened otherwise than recorded.
        Unknown: the case holds something that cannot be replayed.
    """
    check_form(case, name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "enhance_similarity_threshold")
        driver, world = await _prepared(case, open_store, ours=ours)
        recording = Recording()
        tolerated: list[str] = []
        for at, step in enumerate(case["steps"]):
            world.begin(step, as_recorded=at not in differing)
            try:
                await _replay_step(driver, world, step, recording, f"step {at} ({step['op']})")
            except Mismatch as different:
                if not (lenient and step.get("quirk") is True):
                    raise
                tolerated.append(str(different))
            recording.note(step, world.written, driver.long_term)
    if look is not None:
        look(world)
    return tolerated


async def _prepared(
    case: dict[str, Any], open_store: Callable[[FakeClock], Store], *, ours: bool
) -> tuple[Driver, World]:
    try:
        world = World(case, open_store, ours=ours)
        driver = DRIVERS[case["component"]](world)
        await driver.prepare()
    except (Mismatch, Unknown):
        raise
    except Exception as unfit:
        raise Unknown(f"config, embeddings: cannot be used: {unfit!r}") from unfit
    return driver, world


async def _replay_step(driver: Driver, world: World, step: dict[str, Any], recording: Recording, where: str) -> None:
    error: Exception | None = None
    result: Any = None
    try:
        result = await driver.do(step["op"], dict(step["input"]))
    except (Mismatch, Unknown):
        raise
    except Exception as raised:  # noqa: BLE001 - whatever a memory raises is what the case is about
        error = raised
    _compare_outcome(step, result, error, where)
    _compare_happenings(driver, world, step, recording, where)
    if "state" in step:
        demand(step["state"], driver.state(), f"{where}.state")
    elif driver.has_state and world.as_recorded:
        raise Mismatch(f"{where}.state: was not recorded, and every step of this component has one")
    driver.check(where, failed=error is not None)
    if world.as_recorded and driver.long_term is not None:
        recording.check(step, world.ranking, where)


def _compare_happenings(driver: Driver, world: World, step: dict[str, Any], recording: Recording, where: str) -> None:
    if world.draws.left:
        raise Mismatch(f"{where}.random_draws: {world.draws.left} were recorded and not used")
    demand(step.get("comparisons", []), world.comparisons, f"{where}.comparisons")
    demand(step.get("long_term_written", []), world.written, f"{where}.long_term_written")
    searches = step.get("searches", [])
    if world.as_recorded and driver.long_term is not None:
        for found, recorded in zip(world.searches, searches, strict=False):
            found["filters"] = recording.filters(found["filters"], driver.long_term, recorded.get("filters"))
    demand(searches, world.searches, f"{where}.searches")
    if "ranking" in step:
        demand([_with_flag(one) for one in step["ranking"]], world.ranking, f"{where}.ranking")
    if "faded" in step:
        demand(step["faded"], world.faded, f"{where}.faded")


def _with_flag(ranked: dict[str, Any]) -> dict[str, Any]:
    """Return a ranked candidate whose ``skipped`` says whether, where a recording says which marker it was."""
    marker = ranked.get("skipped")
    if isinstance(marker, str) and marker in MARKERS and marker in ranked.get("document", ""):
        return {**ranked, "skipped": True}
    return ranked


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
