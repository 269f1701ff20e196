"""Whatever a client says of a tool call, an agent or a compaction, its hook ends well and prints nothing.

The program's own entry is run, in processes that one Python forks, since starting 400 of them takes minutes.
"""

import json
import random
import subprocess
import sys
from itertools import product

import pytest
from tests.server.hooks.hooking import environment
from tests.server.hubs import FakeHub

from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")]

EVENTS = ("pre-tool", "post-tool", "subagent-start", "subagent-stop", "pre-compact")
GIVEN = {
    "session_id": "s",
    "cwd": "/",
    "transcript_path": "/nonexistent/s.jsonl",
    "tool_name": "Bash",
    "tool_input": {"command": "npm test"},
    "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
    "tool_use_id": "t",
    "error": "Exit code 1\nnpm: not found",
    "agent_id": "a",
    "agent_type": "Explore",
    "last_assistant_message": "Done.",
    "trigger": "auto",
}
JUNK = (
    None,
    True,
    -1,
    1e308,
    "",
    "\x00",
    "\ud800",
    "x" * 30_000,
    [],
    [[]],
    {},
    {"command": 3},
    {"": None},
    ["Bash"],
    "~/../\n",
)
FORKS = """
import json, os, sys
from hybrid_memory_mcp.hooks import program

cases, folder = json.load(open(sys.argv[1])), sys.argv[2]
codes = []
while cases:
    children = []
    for event, client, given in cases[:40]:
        name = os.path.join(folder, str(len(codes) + len(children)))
        open(name + ".in", "wb").write(given.encode("latin-1"))
        child = os.fork()
        if not child:
            for number, (kind, flags) in enumerate((("in", os.O_RDONLY), ("out", os.O_RDWR | os.O_CREAT), ("err", os.O_RDWR | os.O_CREAT))):
                os.dup2(os.open(name + "." + kind, flags), number)
            program.main([event, "--client", client])
        children.append(child)
    codes += [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    cases = cases[40:]
print(json.dumps(codes))
"""


def malformed(rng):
    """An event with something wrong in it, as bytes."""
    given = {name: value for name, value in GIVEN.items() if rng.random() < 0.9}
    for name in rng.sample(sorted(GIVEN), rng.randint(1, 4)):
        given[name] = rng.choice(JUNK)
    text = json.dumps(given).encode()
    match rng.randint(0, 7):
        case 0:
            return text[: rng.randrange(len(text))]
        case 1:
            place = rng.randrange(len(text))
            return text[:place] + rng.randbytes(4) + text[place:]
        case 2:
            return json.dumps(rng.choice([rng.choice(JUNK), [given]])).encode()
        case 3:
            return rng.choice([b"", b"\xff\xfe", text * 2, b"[" * 50_000, rng.randbytes(60)])
        case _:
            return text


def outcomes(home, folder, cases):
    """Run a hook for each event, client and what is given; return its exit code, what it printed and its errors."""
    (folder / "cases.json").write_text(
        json.dumps([(event, client, given.decode("latin-1")) for event, client, given in cases])
    )
    command = [sys.executable, "-c", FORKS, str(folder / "cases.json"), str(folder)]
    done = subprocess.run(command, env=environment(home), capture_output=True, timeout=300, check=True)
    return [
        (code, *((folder / f"{number}.{kind}").read_bytes() for kind in ("out", "err")))
        for number, code in enumerate(json.loads(done.stdout))
    ]


def test_400_malformed_events_are_passed_over_where_no_hub_can_run(tmp_path):
    rng = random.Random(31)
    (tmp_path / "file").write_text("")
    kinds = list(product(EVENTS, sorted(EVENT_NAMES)))
    cases = [(*kinds[number % len(kinds)], malformed(rng)) for number in range(400)]
    found = outcomes(tmp_path / "file" / "store", tmp_path, cases)
    assert len(found) == 400
    assert [(case, one) for case, one in zip(cases, found, strict=True) if one != (0, b"", b"")] == []


def test_a_hub_that_answers_too_late_is_left_alone_at_each_of_these_events(home, tmp_path):
    cases = [(event, client, json.dumps(GIVEN).encode()) for event, client in product(EVENTS, sorted(EVENT_NAMES))]
    with FakeHub(home) as hub:
        found = outcomes(home, tmp_path, cases)
        hub.accept()  # somebody asked
    assert set(found) == {(0, b"", b"")}
