"""Three machines, written to and synchronised in any order, with clocks apart and files torn: in the end all hold the same."""

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sync.machines import Machine

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.model import Verdict
from hybrid_memory.requests import JudgeRequest, MergeRequest, ReadRequest, SplitRequest
from hybrid_memory.testing import START

CLOCKS = st.sampled_from([0, 3, -7, 60 * 24 * 400, -60 * 24 * 400]).map(lambda minutes: timedelta(minutes=minutes))
ACTS = ["merge", "split", "true", "untrue", "ended", "undo"]
ACTIONS = st.sampled_from(
    ["write", "correct", "tag", "pin", "forget", "restore", "recall", "end", "sync", "torn sync", *ACTS]
)
STEPS = st.lists(st.tuples(st.integers(0, 2), ACTIONS, st.integers(0, 5)), min_size=4, max_size=16)
CASES = (st.lists(STEPS, min_size=1, max_size=1), st.tuples(CLOCKS, CLOCKS), st.booleans(), st.permutations([0, 1, 2]))
CHECKS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def do(machine, action, number, folder):
    """Do something on a machine; what is not possible there is not done."""
    ids = machine.ids()
    id_ = ids[number % len(ids)] if ids else None
    try:
        if action == "write":
            machine.write(f"We keep the keys in drawer {number % 3}.", session=("s", machine.home.name)[number % 2])
        elif action == "sync":
            machine.sync(folder)
        elif action == "torn sync":
            torn_sync(machine, folder, number)
        elif action == "recall":
            machine.service.read(machine.scope(), ReadRequest(query="Where are the keys?"))
            machine.service.flush_recalls()
        elif action == "end":
            machine.service.end_session(machine.scope())
        elif action in ACTS and id_ is not None:
            act(machine, action, number, ids, id_)
        elif id_ is not None:
            change(machine, action, number, id_)
    except (HybridMemoryError, IndexError):  # no act is there to be undone
        pass


def change(machine, action, number, id_):
    if action == "correct":
        machine.update(id_, content=f"The keys are at {machine.home.name}, hook {number}.")
    elif action == "tag":
        machine.update(id_, tags=(f"tag {number}",))
    elif action == "pin":
        machine.update(id_, pinned=bool(number % 2))
    else:
        machine.forget(id_, restore=action == "restore")


def act(machine, action, number, ids, id_):
    machine.clock.advance(seconds=1)
    acts, scope = machine.service.acts, machine.scope()
    if action == "merge":
        acts.merge(scope, MergeRequest((id_, ids[(number + 1) % len(ids)]), f"Both are at {machine.home.name}."))
    elif action == "split":
        acts.split(scope, SplitRequest(id_, ("One is on the hook.", f"One is at {machine.home.name}.")))
    elif action == "undo":
        acts.undo(scope, acts.recent(scope)[number % 2].undo)
    else:
        acts.judge(scope, JudgeRequest((id_,), Verdict(action)))


def torn_sync(machine, folder, number):
    """Synchronise while some segments are half there."""
    files = sorted(folder.glob("*/*.jsonl"))[number % 3 :: 2]
    whole = {file: file.read_bytes() for file in files}
    for file, data in whole.items():
        file.write_bytes(data[: len(data) * number // 6])
    machine.sync(folder)
    for file, data in whole.items():
        file.write_bytes(data)


def play(steps, clocks, order, *, copies):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        first = Machine(Path(place) / "m1", 1)
        if copies:
            for number in range(3):
                do(first, "write", number, folder)
        machines = [first]
        for seed, ahead in enumerate(clocks, 2):
            home = Path(place) / f"m{seed}"
            machines.append(first.copied(home, seed, START + ahead) if copies else Machine(home, seed, START + ahead))
        try:
            for number, action, what in steps:
                do(machines[number], action, what, folder)
            for _ in range(2):
                for number in order:
                    machines[number].sync(folder)
            exports = [machine.export() for machine in machines]
            assert exports[0] == exports[1] == exports[2]
        finally:
            for machine in machines:
                machine.discard()


@pytest.mark.daily
@pytest.mark.slow
@settings(max_examples=4, **CHECKS)
@given(*CASES)
def test_three_machines_agree(steps, clocks, copies, order):
    play(steps[0], clocks, order, copies=copies)


@pytest.mark.stress
@settings(max_examples=150, **CHECKS)
@given(*CASES)
def test_three_machines_agree_in_many_lives(steps, clocks, copies, order):
    play(steps[0], clocks, order, copies=copies)
