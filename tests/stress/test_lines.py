"""A real server process that is sent nonsense: it stays alive, and prints nothing but answers."""

import json
import random
import threading

import pytest
from tests.server.raw import started
from tests.stress.cases import CORPUS, keep, seed_of_one
from tests.stress.lines import Lines

LAST = "the last question"
SLOW = 64 * 1024
LONG = [pytest.mark.stress, pytest.mark.timeout(300)]


class Fuzzed:
    """Sends lines and keeps what comes back; reads slowly for a while, as a busy client does."""

    def __init__(self, raw, draw):
        self.raw = raw
        self.draw = draw
        self.answered = set()
        self.stray = []
        self.told = b""
        self.finished = threading.Event()
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self):
        rest = b""
        while chunk := self.raw.process.stdout.read1(self.draw.choice([1, 100, SLOW])):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._take(line)
        if rest:
            self.stray.append(rest)

    def _read_errors(self):
        self.told = self.raw.process.stderr.read()

    def _take(self, line):
        try:
            message = json.loads(line.decode("utf-8"))
        except ValueError:
            self.stray.append(line)
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.stray.append(line)
        elif message.get("id") == LAST:
            self.finished.set()
        elif isinstance(message.get("id"), int):
            self.answered.add(message["id"])

    def end(self):
        """Ask one more question, and wait for its answer."""
        self.raw.send({"jsonrpc": "2.0", "id": LAST, "method": "ping"})
        return self.finished.wait(60)

    def close(self):
        self.raw.process.stdin.close()
        for thread in self._threads:
            thread.join(20)


def judged(raw, lines, draw):
    """Send the lines and return what was wrong: nothing, if the process answers after them and said nothing stray."""
    raw.initialize()
    fuzzed = Fuzzed(raw, draw)
    try:
        for line in lines:
            raw.send(line)
    except BrokenPipeError:
        return "the process ended while it was written to"
    reached = fuzzed.end()
    raw.process.stdin.write(b'{"jsonrpc":"2.0","id":77,"method":"pi')
    fuzzed.close()
    if raw.process.wait(20) != 0:
        return f"the process ended with {raw.process.returncode}"
    if fuzzed.stray:
        return f"stray output: {fuzzed.stray[0][:200]!r}"
    if b"Traceback" in fuzzed.told:
        return "a stack trace was printed"
    if not reached:
        return "the last question had no answer"
    left = calls_of(lines) - fuzzed.answered
    return f"calls without an answer: {sorted(left)[:5]}" if left else ""


def calls_of(lines):
    """Return the ids of all lines that are whole calls of a tool, however odd their arguments."""
    found = set()
    for line in lines:
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict) and message.get("method") == "tools/call" and type(message.get("id")) is int:
            found.add(message["id"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "alone"),
    [
        pytest.param(100, False, id="a few behind a relay"),
        pytest.param(5000, False, id="behind a relay", marks=LONG),
        pytest.param(5000, True, id="alone", marks=LONG),
    ],
)
def test_nonsense_is_answered_or_ignored_and_never_ends_the_server(tmp_path, count, alone):
    seed = seed_of_one()
    drawn = Lines(seed)
    lines = [drawn.line() for _ in range(count)]
    lines[count // 2] = drawn.huge()
    with started(tmp_path, alone=alone) as raw:
        wrong = judged(raw, lines, random.Random(seed))
    if wrong:
        kept = json.dumps([line.decode("latin-1") for line in lines], indent=0)
        wrong += f" (seed {seed}, {keep(f'lines-{seed}.json', kept)})"
    assert wrong == ""


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CORPUS.glob("lines-*.json")), ids=lambda path: path.stem)
def test_lines_that_once_broke_it_do_not_break_it_again(tmp_path, case):
    lines = [line.encode("latin-1") for line in json.loads(case.read_text(encoding="utf-8"))]
    with started(tmp_path) as raw:
        assert judged(raw, lines, random.Random(0)) == ""
