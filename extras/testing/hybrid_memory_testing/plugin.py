"""The pytest plugin: fixture ``memory``, marker ``hybrid_memory``, options ``--hybrid-memory-off`` and ``--hybrid-memory-record``.

pytest loads it wherever the program is installed, so it imports nothing but pytest until a test asks for a memory.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hybrid_memory_testing.harness import MemoryForTests

MARKER = "hybrid_memory"
_OFF = "HYBRID_MEMORY_TEST_OFF"  # `testing.settings.OFF`, which is not imported here: it needs pydantic
_PROPERTY = "hybrid_memory"
_MEMORY = pytest.StashKey["MemoryForTests"]()
_FORMER = pytest.StashKey["str | None"]()
_RECORDINGS = "recordings"
_LONGEST_NAME = 100  # characters of a recording's file, of those that a file system takes


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("hybrid-memory", "hybrid-memory-mcp: a memory for tests of agents")
    group.addoption(
        "--hybrid-memory-off",
        action="store_true",
        dest="hybrid_memory_off",
        help="Switch the memory of all tests off: what passes all the same does not test the memory.",
    )
    group.addoption(
        "--hybrid-memory-record",
        choices=("once", "none", "rewrite"),
        default="once",
        dest="hybrid_memory_record",
        help="Recordings: once (where there is none; the default), none (a missing one fails), rewrite (all anew).",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Announce the marker, and switch the memories off where the option says so."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(transport, namespace, timezone, start, seed, settings, recorded): what the fixture `memory` of a test is like",
    )
    if config.getoption("hybrid_memory_off"):
        config.stash[_FORMER] = os.environ.get(_OFF)  # noqa: TID251 - a switch of a whole run of tests, for its own memories
        os.environ[_OFF] = "1"  # noqa: TID251 - as above


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave the environment as it was."""
    if _FORMER not in config.stash:
        return
    former = config.stash[_FORMER]
    del config.stash[_FORMER]
    if former is None:
        os.environ.pop(_OFF, None)  # noqa: TID251 - as above
    else:
        os.environ[_OFF] = former  # noqa: TID251 - as above


@pytest.fixture
def memory(request: pytest.FixtureRequest) -> Generator[MemoryForTests]:
    """A memory for this test alone: empty, in this process, with a clock that stands still and the same ids in each run.

    ``async with memory.client() as client`` connects the SDK's client, ``memory.remember("...")`` prepares,
    ``memory.assert_remembered("peanuts")`` checks. See docs/testing.md of hybrid-memory-mcp.
    """
    from hybrid_memory_testing.harness import memory_for_tests

    options = _options_of(request)
    with memory_for_tests(**options) as made:
        request.node.stash[_MEMORY] = made
        yield made
        del request.node.stash[_MEMORY]  # a run has thousands of tests


def _options_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return what the markers of a test say, the nearest first."""
    options: dict[str, Any] = {}
    for marker in request.node.iter_markers(MARKER):
        if marker.args:
            raise pytest.UsageError(f"{MARKER} takes named arguments only, as transport='stdio'")
        options = marker.kwargs | options
    recorded: str | bool = options.pop("recorded", False)
    if recorded:
        options |= {
            "recorded": _file_of(request, recorded),
            "record_mode": request.config.getoption("hybrid_memory_record"),
        }
    return options


def _file_of(request: pytest.FixtureRequest, recorded: str | bool) -> Path:
    """Return the file of a recording: as named, from the test's folder on; with True one of the test's own."""
    folder = Path(request.path).parent
    if isinstance(recorded, str):
        return folder / recorded
    named = ".".join(request.node.nodeid.split("::")[1:])
    name = re.sub(r"[^\w.-]+", "-", named).strip("-")
    if len(name) > _LONGEST_NAME or not re.fullmatch(r"[\w.]+(\[[\w.-]+\])?", named):  # else two names could become one
        name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(named.encode()).hexdigest()[:8]}"
    return folder / _RECORDINGS / Path(request.path).stem / f"{name}.json"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failed test what its memory holds, and note which tests have one."""
    report = yield
    memory = item.stash.get(_MEMORY, None)
    if memory is None or call.when != "call":
        return report
    if memory.is_off:
        report.user_properties.append((_PROPERTY, "off"))
    if report.failed:
        memory.discard_recording()
        if call.excinfo is not None and not call.excinfo.errisinstance(AssertionError):
            report.sections.append(("The memory of this test", memory.report()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that pass without their memory."""
    stats = terminalreporter.stats
    used = {
        outcome: [
            one.nodeid for one in stats.get(outcome, ()) if (_PROPERTY, "off") in getattr(one, "user_properties", ())
        ]
        for outcome in ("passed", "failed")
    }
    if not any(used.values()):
        return
    # What passes and is then not as recorded has noticed it too.
    later = {one.nodeid for one in stats.get("error", ())}
    used["failed"] += [name for name in used["passed"] if name in later]
    used["passed"] = [name for name in used["passed"] if name not in later]
    terminalreporter.section("the memory was switched off")
    count = len(set(used["failed"]))
    terminalreporter.line(f"{count} {'test notices' if count == 1 else 'tests notice'} that it is missing.")
    unnoticed = sorted(set(used["passed"]))
    if unnoticed:
        terminalreporter.line("These pass all the same: they do not test the memory.")
        for name in unnoticed:
            terminalreporter.line(f"  {name}")
