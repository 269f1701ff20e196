import json
import os
from functools import partial
from pathlib import Path

import anyio
import pytest
from tests.conformance.compare import Mismatch
from tests.conformance.differences import DIFFERENCES, applied
from tests.conformance.replay import replay
from tests.core.store.empty_database import discard, lay_empty
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "data" / "reference-traces"
FOLDER = Path(os.environ.get("REFERENCE_TRACES", OWN))  # noqa: TID251 - the one switch of this test


def cases_of(folder):
    """Return the files of a folder's cases; a folder without any is an error, not a run without tests."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"REFERENCE_TRACES: {folder.name!r} is no folder with cases")
    return files


FILES = cases_of(FOLDER)


def replayed(case, opened, **options):
    return anyio.run(partial(replay, case, opened, **options))


@pytest.fixture(params=[pytest.param("duck", marks=pytest.mark.slow), POSTGRES])
def open_store(request, tmp_path, open_postgres):
    stores = []

    def opened(clock):
        if not stores:
            in_database = request.param == "postgres"
            stores.append(open_postgres(clock) if in_database else DuckStore.open(lay_empty(tmp_path), clock))
        return stores[0]

    yield opened
    for store in stores:
        if isinstance(store, DuckStore):
            discard(store)


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_recorded_case_is_replayed(file, open_store):
    case = json.loads(file.read_text(encoding="utf-8"))
    ours = DIFFERENCES.get(case["id"])
    if ours is not None:
        replayed(
            applied(case, ours),
            open_store,
            name=file.stem,
            ours=ours.settings,
            look=ours.look,
            differing=ours.differing(case),
        )
        return
    try:
        tolerated = replayed(case, open_store, name=file.stem, lenient=True)
    except Mismatch as different:
        if case["kind"] == "core":
            raise
        tolerated = [str(different)]
    if tolerated:
        pytest.xfail(f"a quirk that tests/conformance/differences.py does not list yet: {tolerated}")


@pytest.mark.parametrize("file", [file for file in FILES if file.stem in DIFFERENCES], ids=lambda file: file.stem)
def test_a_listed_difference_is_one(file):
    stores = []

    def opened(clock):
        if not stores:
            stores.append(MemoryStore(clock))
        return stores[0]

    case = json.loads(file.read_text(encoding="utf-8"))
    ours = DIFFERENCES[case["id"]]
    recorded = applied(case, ours) | {"steps": case["steps"]}
    if ours.same or ours.more_steps or set(_changed(ours)) == {"faded"}:
        replayed(recorded, opened)
    else:
        with pytest.raises(Mismatch):
            replayed(recorded, opened, ours=ours.settings)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="REFERENCE_TRACES"):
        cases_of(tmp_path)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="REFERENCE_TRACES"):
        cases_of(tmp_path / "nowhere")


def test_all_own_cases_are_there():
    assert len(list(OWN.glob("*.json"))) == 78


def test_every_known_quirk_is_listed():
    quirks = set()
    for file in OWN.glob("*.json"):
        case = json.loads(file.read_text(encoding="utf-8"))
        if case["kind"] == "quirk" or any(step.get("quirk") for step in case["steps"]):
            quirks.add(case["id"])
    assert quirks == set(DIFFERENCES)


def test_every_listed_difference_is_explained():
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    assert [case for case in DIFFERENCES if f"`{case}`" not in page] == []


def _changed(ours):
    return [key for keys in ours.steps.values() for key in keys]
