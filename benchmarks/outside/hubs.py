"""What only this server is asked: that its hub and its relays may die at any time, and that nothing is left behind."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.outside import machine
from benchmarks.outside.targets import OURS, Store
from benchmarks.outside.trials import LEAVE_TIMEOUT_SECONDS, Figures, Tally, counted, crowd, pause_of, spread, together
from benchmarks.outside.wire import Server, ServerGone

BARE = Path(__file__).parent.with_name("bare_server.py")
_TIMEOUT_SECONDS = 60.0


def hub_of(store: Store) -> int | None:
    """Return the id of the store's living hub process."""
    try:
        number = int((store.home / "hub.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return number if number in store.processes() else None


class ClientGroup:
    """Some clients of one store that write, and read every fourth time, until they are told to stop."""

    def __init__(self, store: Store, number: int, seed: int) -> None:
        self._store = store
        self.servers = [store.spawn() for _ in range(number)]
        for server in self.servers:
            server.initialize()
        self.tallies = [Tally() for _ in self.servers]
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(number)
        self._rng = [random.Random(seed * 1000 + one) for one in range(number)]
        self._working: list[Future[None]] = []

    def begin(self) -> None:
        """Start to write."""
        self._working = [self._pool.submit(self._work, one) for one in range(len(self.servers))]

    def end(self) -> None:
        """Let every client finish the call that it is in."""
        self._stop.set()
        for one in self._working:
            one.result(2 * _TIMEOUT_SECONDS)
        self._pool.shutdown()

    @property
    def told(self) -> int:
        """How many writes were acknowledged so far, over all clients."""
        return sum(len(tally.told) for tally in self.tallies)

    def has_told(self, writes: int) -> bool:
        """Return True if so many writes were acknowledged."""
        return self.told >= writes

    def _work(self, number: int) -> None:
        tally, server, rng = self.tallies[number], self.servers[number], self._rng[number]
        turn = 0
        try:
            while not self._stop.is_set():
                tally.write(self._store, server, rng)
                turn += 1
                if turn % 4 == 0:
                    tally.read(self._store, server, rng)
        except ServerGone as gone:
            tally.said = tally.said or str(gone)


def hub_kills(program: Path, seed: int, *, batches: int = 10, kills: int = 10, clients: int = 4) -> Figures:
    """Kill the hub in the middle of writes again and again; no client may notice more than a pause.

    Between the batches, new clients each, starts without a hub are timed on the same store.
    """
    rng, tallies = random.Random(seed), list[Tally]()
    pauses: list[float] = []
    cold: list[float] = []
    with Store(OURS, program) as store:
        for batch in range(batches):
            cold += [_cold(store) for _ in range(2)]
            group = ClientGroup(store, clients, seed * 100 + batch)
            group.begin()
            moments = _kill_hubs(store, group, rng, kills)
            group.end()
            for server in group.servers:
                server.close()
            pauses += [pause_of(at, group.tallies) for at in moments]
            tallies += group.tallies
        figures = together(tallies, counted(store))
    return figures | {
        "kills": len(pauses),
        "longest_pause": round(max(pauses, default=0), 2),
        "pauses": spread(pauses),
        "longest_cold_start": round(max(cold), 2),
        "cold_starts": spread(cold),
    }


def _kill_hubs(store: Store, group: ClientGroup, rng: random.Random, kills: int) -> list[float]:
    """Return when the hub was killed; fewer times than wanted where the clients get no further."""
    moments: list[float] = []
    while len(moments) < kills:
        before = group.told
        if machine.until(partial(group.has_told, before + 2 * len(group.servers)), _TIMEOUT_SECONDS) is None:
            break
        time.sleep(rng.uniform(0, 0.2))
        if (hub := hub_of(store)) is not None:
            moments.append(time.perf_counter())
            machine.kill_all([hub])
    return moments


def storm(program: Path, seed: int, *, kills: int = 30, clients: int = 4) -> Figures:
    """Kill each hub at some moment from its first breath on, whether or not anybody got further in between.

    A request that several hubs died of may be answered with an error then; what was acknowledged must be there.
    """
    rng = random.Random(seed)
    with Store(OURS, program) as store:
        group = ClientGroup(store, clients, seed)
        group.begin()
        for _ in range(kills):
            machine.until(lambda: hub_of(store) is not None, _TIMEOUT_SECONDS)
            time.sleep(rng.uniform(0, 4))
            machine.kill_all(filter(None, [hub_of(store)]))
        group.end()
        for server in group.servers:
            server.close()
        figures = together(group.tallies, counted(store))
    return figures | {"kills": kills, "refused": figures["sent"] - figures["acknowledged"]}


def _cold(store: Store) -> float:
    """Return the seconds from a spawn without a hub to the first acknowledged write."""
    machine.kill_all(store.processes())
    machine.until(lambda: not store.processes(), LEAVE_TIMEOUT_SECONDS)
    server = store.spawn()
    server.initialize()
    Tally().write(store, server, random.Random(server.process.pid))
    taken = time.perf_counter() - server.spawned
    server.close()
    return taken


def relay_kill(program: Path, seed: int, *, rounds: int = 5) -> Figures:
    """Kill one client's own process in the middle of its writes; the others go on."""
    with Store(OURS, program) as store:
        group = ClientGroup(store, rounds + 3, seed)
        hub = hub_of(store)
        group.begin()
        for victim in group.servers[:rounds]:
            before = group.told
            machine.until(partial(group.has_told, before + 50), _TIMEOUT_SECONDS)
            victim.kill()
        before = group.told
        machine.until(lambda: group.told >= before + 150, _TIMEOUT_SECONDS)
        same = hub is not None and hub == hub_of(store)
        group.end()
        for server in group.servers[rounds:]:
            server.close()
        survivors = counted(store)
    others = together(group.tallies[rounds:], survivors)
    everyone = together(group.tallies, survivors)
    return {
        "killed": rounds,
        "same_hub": same,
        "others_refused": others["sent"] - others["acknowledged"],
        "others_failed_reads": others["failed_reads"],
        "others_said": others["said"],
        "others_longest_call": round(max(one for tally in group.tallies[rounds:] for one in tally.seconds), 2),
    } | {name: everyone[name] for name in ("acknowledged", "survive", "lost", "doubled")}


def _close(_store: Store, servers: Sequence[Server]) -> None:
    for one in servers:
        one.close()


def _kill_relays(_store: Store, servers: Sequence[Server]) -> None:
    machine.kill_all(one.process.pid for one in servers)
    for one in servers:
        one.process.wait()


def _kill_hub_then_close(store: Store, servers: Sequence[Server]) -> None:
    if hub := hub_of(store):
        machine.kill_all([hub])
    _close(store, servers)


def _end_hub_then_close(store: Store, servers: Sequence[Server]) -> None:
    if hub := hub_of(store):
        machine.terminate(hub)
    _close(store, servers)


_ENDINGS: Mapping[str, Callable[[Store, Sequence[Server]], None]] = {
    "closed": _close,
    "relays_killed": _kill_relays,
    "hub_killed_then_closed": _kill_hub_then_close,
    "hub_terminated_then_closed": _end_hub_then_close,
}


def left_over(program: Path, seed: int) -> Figures:
    """Count what runs 15 seconds after all clients are gone, and how long the last process took to leave."""
    figures: Figures = {}
    for name, ending in _ENDINGS.items():
        with Store(OURS, program) as store:
            group = ClientGroup(store, 4, seed)
            group.begin()
            machine.until(partial(group.has_told, 40), _TIMEOUT_SECONDS)
            group.end()
            running = len(store.processes())
            began = time.perf_counter()
            ending(store, group.servers)
            gone = machine.until(store.is_left, LEAVE_TIMEOUT_SECONDS)
            time.sleep(max(0.0, began + LEAVE_TIMEOUT_SECONDS - time.perf_counter()))
            figures[name] = {
                "running": running,
                "left_after_15_s": len(store.processes()),
                "seconds": None if gone is None else round(gone, 1),
                "files": sorted(one.name for one in store.home.iterdir()),
            }
    return figures


def starting(program: Path, seed: int, *, rounds: int = 21) -> Figures:
    """Time, one with the other: an empty Python, a client's start alongside a running hub, the smallest server, a start without a hub."""
    taken: dict[str, list[float]] = {name: [] for name in ("empty_python", "beside_hub", "bare", "cold", "cold_write")}
    memory: Figures = {}
    with Store(OURS, program) as store:
        _fill(store, random.Random(seed))
        for _ in range(rounds):
            machine.kill_all(store.processes())
            machine.until(lambda: not store.processes(), LEAVE_TIMEOUT_SECONDS)
            keeper = store.spawn()
            taken["cold"].append(keeper.initialize())
            Tally().write(store, keeper, random.Random(keeper.process.pid))
            taken["cold_write"].append(time.perf_counter() - keeper.spawned)
            for _ in range(2):
                taken["empty_python"].append(_empty())
                if hub_of(store) is not None:
                    client = store.spawn()
                    taken["beside_hub"].append(client.initialize())
                    client.close()
            bare = Server([sys.executable, str(BARE)], {}, store.folder / "errors.txt")
            taken["bare"].append(bare.initialize())
            bare.close()
            memory = _memory(store, keeper)
            keeper.close()
    figures: Figures = {name: spread(many) for name, many in taken.items()}
    ratio = [("beside_hub", "empty_python"), ("cold", "bare"), ("cold_write", "bare")]
    for one, other in ratio:
        if taken[one]:
            figures[f"{one}_per_{other}"] = round(median(taken[one]) / median(taken[other]), 2)
    return figures | memory | {"rounds": rounds}


def _fill(store: Store, rng: random.Random) -> None:
    server = store.spawn()
    server.initialize()
    tally = Tally()
    for _ in range(200):
        tally.write(store, server, rng)
    server.close()


def _empty() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def _memory(store: Store, client: Server) -> Figures:
    hub = hub_of(store)
    figures: dict[str, Any] = {
        "client_rss_mb": machine.megabytes([client.process.pid]),
        "client_pss_mb": machine.megabytes([client.process.pid], "Pss"),
    }
    return figures | ({"hub_rss_mb": machine.megabytes([hub])} if hub else {})


HUB_TRIALS: Mapping[str, Callable[[Path, int], Figures]] = {
    "starting": starting,
    "hub_kills": hub_kills,
    "storm": storm,
    "relay_kill": relay_kill,
    "left_over": left_over,
    "rush": lambda program, seed: crowd(OURS, program, seed, clients=10, writes=20, read_every=5, prepared=False),
}
