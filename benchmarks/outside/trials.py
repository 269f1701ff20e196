"""What is done to every server. Each trial makes a new store, and gives plain figures that JSON can hold."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.outside import machine
from benchmarks.outside.marks import TOPICS, marks_in, secret, sentence
from benchmarks.outside.targets import Store, Target, acknowledged
from benchmarks.outside.wire import Answer, Server, ServerGone

Figures = dict[str, Any]
LEAVE_TIMEOUT_SECONDS = 15.0
_SHOWN = ("name", "description", "inputSchema")


@dataclass
class Tally:
    """What one client sent and what it was told."""

    sent: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    doubled: int = 0
    reads: int = 0
    bad_reads: int = 0
    seconds: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    said: str = ""

    def write(self, store: Store, server: Server, rng: random.Random, timeout_seconds: float = 60) -> None:
        """Write one sentence and note what came of it.

        Raises:
            ServerGone: the server did not answer.
        """
        mark, text = sentence(rng)
        self.sent.add(mark)
        self.note(mark, server.call(*store.target.write(mark, text), timeout_seconds=timeout_seconds))

    def note(self, mark: str, answer: Answer) -> None:
        """Count an answer to a write."""
        self._time(answer)
        if acknowledged(answer):
            self.told.add(mark)
        else:
            self.said = self.said or answer.text[:300]
        self.doubled += answer.structured.get("duplicate_of") is not None

    def read(self, store: Store, server: Server, rng: random.Random, timeout_seconds: float = 60) -> None:
        """Ask something and note whether it was answered.

        Raises:
            ServerGone: the server did not answer.
        """
        answer = server.call(*store.target.read(rng.choice(TOPICS)), timeout_seconds=timeout_seconds)
        self.reads += 1
        self.bad_reads += answer.error
        self._time(answer)

    def _time(self, answer: Answer) -> None:
        self.seconds.append(answer.seconds)
        self.ended.append(answer.at)


def pause_of(at: float, tallies: Iterable[Tally]) -> float:
    """Return how long after a moment the last of the calls ended that were on their way then."""
    pairs = [pair for tally in tallies for pair in zip(tally.seconds, tally.ended, strict=True)]
    return max((ended - at for seconds, ended in pairs if ended - seconds <= at < ended), default=0.0)


def together(tallies: Sequence[Tally], survivors: set[str]) -> Figures:
    """Return what several clients were told alongside what is there."""
    sent = set[str]().union(*(one.sent for one in tallies))
    told = set[str]().union(*(one.told for one in tallies))
    return {
        "sent": len(sent),
        "acknowledged": len(told),
        "survive": len(survivors & sent),
        "lost": len(told - survivors),
        "doubled": sum(one.doubled for one in tallies),
        "reads": sum(one.reads for one in tallies),
        "failed_reads": sum(one.bad_reads for one in tallies),
        "said": next((one.said for one in tallies if one.said), ""),
    }


def spread(seconds: Sequence[float]) -> Figures:
    """Return median and 95th percentile in milliseconds."""
    if len(seconds) < 2:
        return {"p50": None, "p95": None}
    taken = [1000 * one for one in seconds]
    return {"p50": round(median(taken), 1), "p95": round(quantiles(taken, n=20)[-1], 1)}


def start(target: Target, program: Path, seed: int) -> Figures:
    """Time three starts each on a new store and on the same one again, in seconds from the spawn."""
    rng = random.Random(seed)
    rows: dict[str, list[Figures]] = {"new": [], "again": []}
    for _ in range(3):
        with Store(target, program) as store:
            for kind in ("new", "again"):
                rows[kind].append(_one_start(store, rng))
    figures: Figures = {}
    for kind, found in rows.items():
        for name in ("initialize", "write", "read"):
            figures[f"{name}_{kind}"] = round(median(one[name] for one in found), 3)
    last = rows["again"][-1]
    leaves = [one["leaves"] for one in (*rows["new"], *rows["again"])]
    return figures | {
        "megabytes": last["megabytes"],
        "processes": last["processes"],
        "tools": last["tools"],
        "tokens": last["tokens"],
        "tokens_of_inputs": last["tokens_of_inputs"],
        "leaves": None if None in leaves else round(median(leaves), 2),
        "left_over": max(one["left_over"] for one in rows["again"]),
    }


def _one_start(store: Store, rng: random.Random) -> Figures:
    server = store.spawn()
    row: Figures = {"initialize": server.initialize()}
    tools = server.tools()
    row |= {"tools": len(tools), "tokens": _tokens(tools)}
    row["tokens_of_inputs"] = _tokens([{name: tool.get(name) for name in _SHOWN} for tool in tools])
    tally = Tally()
    tally.write(store, server, rng)
    row["write"] = time.perf_counter() - server.spawned
    tally.read(store, server, rng)
    row["read"] = time.perf_counter() - server.spawned
    running = store.processes()
    row |= {"megabytes": machine.megabytes(running), "processes": len(running)}
    row["leaves"] = server.close()
    store.end_helper()
    machine.until(lambda: not store.processes(), LEAVE_TIMEOUT_SECONDS)
    row["left_over"] = len(store.processes())
    machine.kill_all(store.processes())
    return row


def _tokens(value: object) -> int:
    return round(len(json.dumps(value, ensure_ascii=False)) / 4)


def inproc(target: Target, program: Path, seed: int) -> Figures:
    """Send fifty writes at once to one process."""
    rng, tally = random.Random(seed), Tally()
    with Store(target, program) as store:
        server = store.spawn()
        server.initialize()
        calls = []
        for mark, text in (sentence(rng) for _ in range(50)):
            tally.sent.add(mark)
            calls.append((mark, server.later(*target.write(mark, text))))
        for mark, call in calls:
            tally.note(mark, call(120))
        server.close()
        return together([tally], counted(store))


def crowd(
    target: Target,
    program: Path,
    seed: int,
    *,
    clients: int,
    writes: int,
    read_every: int = 0,
    seconds: float = 120,
    prepared: bool = True,
) -> Figures:
    """Let several processes write to one store at the same time; no client begins a write after ``seconds``.

    ``prepared``: another process made the store before, so that they do not also race for that.
    """
    with Store(target, program) as store, ThreadPoolExecutor(clients) as pool:
        if prepared:
            _prepare(store, random.Random(-seed))
        servers = [store.spawn() for _ in range(clients)]
        ready = [one for one in pool.map(_ready, servers) if one]
        began = time.perf_counter()

        def work(number: int) -> Tally:
            tally, rng = Tally(), random.Random(seed * 1000 + number)
            server = servers[number]
            try:
                for turn in range(writes):
                    if time.perf_counter() - began > seconds:
                        break
                    tally.write(store, server, rng)
                    if read_every and turn % read_every == 0:
                        tally.read(store, server, rng)
            except ServerGone as gone:
                tally.said = tally.said or str(gone)
            return tally

        tallies = list(pool.map(work, range(clients)))
        taken = time.perf_counter() - began
        for server in servers:
            server.close()
        survivors = counted(store)
    figures = together(tallies, survivors)
    figures |= {"clients": clients, "started": len(ready), "seconds": round(taken, 1)}
    figures["each"] = [len(one.told) for one in tallies]
    return figures | {"call": spread([one for tally in tallies for one in tally.seconds])}


def _prepare(store: Store, rng: random.Random) -> None:
    server = store.spawn()
    server.initialize()
    Tally().write(store, server, rng)
    server.close()
    _empty(store)


def _ready(server: Server) -> bool:
    try:
        server.initialize(120)
    except ServerGone:
        return False
    return True


def see(target: Target, program: Path, seed: int) -> Figures:
    """Let each of two processes write what the other must find right afterwards."""
    rng = random.Random(seed)
    seen: dict[str, list[bool]] = {"sees_its_own": [], "sees_the_other": []}
    with Store(target, program) as store, ThreadPoolExecutor(2) as pool:
        _prepare(store, rng)
        servers = [store.spawn(), store.spawn()]
        started = list(pool.map(_ready, servers))
        for writer, reader in (servers, servers[::-1]):
            mark, text, question = secret(rng)
            try:
                writer.call(*target.write(mark, text))
                found = [mark in marks_in(one.call(*target.read(question)).text) for one in (writer, reader)]
            except ServerGone:
                found = [False, False]
            for answers, one in zip(seen.values(), found, strict=True):
                answers.append(one)
    return {"started": sum(started), "clients": 2, **seen}


def kill(target: Target, program: Path, seed: int, rounds: int = 5) -> Figures:
    """Kill all processes of a store in the middle of writes, several times, then count."""
    rng, tally, reopened = random.Random(seed), Tally(), 0
    with Store(target, program) as store, ThreadPoolExecutor(1) as pool:
        for _ in range(rounds):
            server, before = store.spawn(), len(tally.told)
            try:
                server.initialize()
                tally.write(store, server, rng)
            except ServerGone as gone:
                tally.said = tally.said or str(gone)
                machine.kill_all(store.processes())
                continue
            reopened += len(tally.told) > before
            writing = pool.submit(_until_gone, tally, store, server, rng)
            time.sleep(rng.uniform(0.7, 1.5))
            machine.kill_all(store.processes())
            writing.result(90)
        try:
            survivors = counted(store)
        except ServerGone as gone:
            return {"gone": str(gone), "acknowledged": len(tally.told), "opened": reopened}
    return together([tally], survivors) | {"rounds": rounds, "opened": reopened}


def _until_gone(tally: Tally, store: Store, server: Server, rng: random.Random) -> None:
    try:
        while True:
            tally.write(store, server, rng)
    except ServerGone:
        return


def latency(target: Target, program: Path, seed: int, seconds: float = 45) -> Figures:
    """Time single writes and reads at 100 and 1,000 memories, filled through the write tool in limited time."""
    rng, figures, total = random.Random(seed), Figures(), 0
    with Store(target, program) as store:
        server = store.spawn()
        server.initialize()
        began = time.perf_counter()
        for size in (100, 1000):
            while total < size and time.perf_counter() - began < seconds:
                Tally().write(store, server, rng)
                total += 1
            if total < size:
                break
            writes, reads = Tally(), Tally()
            for _ in range(50):
                writes.write(store, server, rng)
                reads.read(store, server, rng)
            total += 50
            figures[str(size)] = {"write": spread(writes.seconds), "read": spread(reads.seconds)}
        server.close()
    return figures | {"reached": total}


def counted(store: Store) -> set[str]:
    """Wait until all processes of a store are gone, end those that stay, and return what a fresh one lists."""
    _empty(store)
    return store.survivors()


def _empty(store: Store) -> None:
    store.end_helper()
    machine.until(lambda: not store.processes(), LEAVE_TIMEOUT_SECONDS)
    machine.kill_all(store.processes())


TRIALS: Mapping[str, Callable[[Target, Path, int], Figures]] = {
    "start": start,
    "inproc": inproc,
    "two": lambda target, program, seed: crowd(target, program, seed, clients=2, writes=200),
    "ten": lambda target, program, seed: crowd(target, program, seed, clients=10, writes=100, read_every=5),
    "see": see,
    "kill": kill,
    "latency": latency,
}
