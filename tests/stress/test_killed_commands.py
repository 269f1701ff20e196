"""kill -9 of a command, or of the hub that does what it asked for, while clients write: what was acknowledged can be found."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from tests.server.hubs import short_folder
from tests.server.raw import started
from tests.stress.cases import seed_of_one
from tests.stress.processes import hub_of

pytestmark = [
    pytest.mark.stress,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL"),
]
ROUNDS = 6
LONGEST_SECONDS = 2.5  # after which a command is done, on a machine that is not busy


def command(home, *words):
    return [sys.executable, "-m", "hybrid_memory_mcp", *words, "--home", str(home)]


def done(home, *words):
    return subprocess.run(command(home, *words), capture_output=True, text=True, check=False, timeout=60)


def ids_in(home, file):
    """Return the ids of what a store holds, by the command that the documentation names."""
    said = done(home, "export", str(file))
    assert said.returncode == 0, said.stderr
    return {json.loads(line).get("id") for line in file.read_text().splitlines()}


@contextmanager
def writing(home, least):
    """A client that writes all the time; gives the ids that were acknowledged, once there are some."""
    with started(home, alone=False) as client:
        client.initialize()
        acknowledged, over, enough = [], threading.Event(), threading.Event()

        def write():
            while not over.is_set():
                number = len(acknowledged) + 1
                answer = client.call(number, "write_memory", content=f"The server number {number} is called Ferris.")
                acknowledged.append(answer["structuredContent"]["id"])
                if len(acknowledged) >= least:
                    enough.set()

        thread = threading.Thread(target=write)
        thread.start()
        try:
            assert enough.wait(30)
            yield acknowledged
        finally:
            over.set()
            thread.join(60)


def kill_within(draw, home, process, who):
    """Kill the command or the hub at some moment, unless the command was faster."""
    try:
        process.wait(draw.uniform(0.2, LONGEST_SECONDS))
    except subprocess.TimeoutExpired:
        os.kill(process.pid if who == "command" else hub_of(home) or process.pid, signal.SIGKILL)
    process.wait(60)


@pytest.mark.parametrize("who", ["command", "hub"])
def test_what_was_acknowledged_before_a_restore_that_is_killed_is_where_status_says(tmp_path, who):
    draw = random.Random(f"{seed_of_one()} {who}")
    for number in range(ROUNDS):
        with short_folder() as home:
            with writing(home, 20) as acknowledged:
                assert done(home, "backup").returncode == 0
                before = len(acknowledged)
                kill_within(draw, home, subprocess.Popen(command(home, "restore", "--yes")), who)
            told = json.loads(done(home, "status", "--json").stdout)["store"]["set_aside"]
            found = ids_in(home, tmp_path / f"{who}{number}.jsonl")
            if told["count"]:
                assert told["newest"] in done(home, "status").stdout.replace("\n", "")
                found |= ids_in(told["newest"], tmp_path / f"{who}{number}-aside.jsonl")
            assert len(acknowledged) > before
            assert set(acknowledged) <= found


def test_doctor_finds_nothing_wrong_after_a_purge_whose_hub_is_killed(tmp_path):
    draw = random.Random(seed_of_one())
    for _ in range(ROUNDS):
        with short_folder() as home, writing(home, 30) as acknowledged:
            kill_within(draw, home, subprocess.Popen(command(home, "purge", "--yes", *acknowledged[:10])), "hub")
            said = done(home, "doctor")
            assert said.returncode == 0, said.stdout
