"""A thousand teams and ten million memories, on paper: what each part of an installation costs, and which breaks first.

    python -m benchmarks.team_model [--teams 1000] [--people 10] [--memories 10000000] [--dimensions 256] [--json]

Nothing is run. The constants are measured (`MEASURED`, each with where it comes from); the rest is arithmetic, which the tests hold.
Two ways to run it are compared: a hub on each person's machine, and a few hubs over HTTP between which a proxy divides the teams.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Measured:
    """Constants of one machine with two cores; docs/benchmarks.md says how each was measured."""

    disk_bytes: float = (
        1_140.0  # a memory without its vector, with its log and indexes (PostgreSQL, moved store of 100,000)
    )
    ram_bytes: float = 1_640.0  # a memory in a hub without its vector (benchmarks.scale)
    loaded_each_second: float = 150_000.0  # memories of 256 values that a hub loads (benchmarks.postgres_reading)
    product_each_second: float = 7.5e9  # values that one core multiplies (benchmarks.nearest, exact)
    writes_each_second: float = 88.0  # of a hub with one client that also reads (benchmarks.postgres_writing)
    commits_each_second: float = (
        2_000.0  # of four namespaces that the server takes (benchmarks.postgres_writing, pgbench)
    )
    reads_each_second: float = 140.0  # of a hub with one client that also writes
    poll_seconds_a_head: float = 0.28e-6  # processor of the server, for each namespace's head that a poll looks at
    polls_each_second: float = 4.0  # of a hub
    wake_seconds: float = 18e-6  # processor of the server for each hub that a hint wakes
    idle_connections: int = 3  # of a hub: one of the pool, one that listens, one that announces
    busy_connections: int = 12  # at most, with the 10 of `PostgresStore.open`
    backend_bytes: float = 9e6  # of the server for each connection


@dataclass(frozen=True, slots=True)
class Teams:
    """How many there are, and what they do at their busiest minute."""

    teams: int = 1_000
    people: int = 10  # of a team
    memories: int = 10_000_000  # of all teams
    dimensions: int = 256
    reads_a_minute: float = 1.0  # of a person
    writes_a_minute: float = 0.2

    @property
    def reads(self) -> float:
        """Reads a second of all."""
        return self.teams * self.people * self.reads_a_minute / 60

    @property
    def writes(self) -> float:
        """Writes a second of all."""
        return self.teams * self.people * self.writes_a_minute / 60


@dataclass(frozen=True, slots=True)
class Load:
    """One part of an installation: what is used of what there is; ``share`` above 1 does not work."""

    what: str
    used: float
    limit: float
    unit: str
    answer: str

    @property
    def share(self) -> float:
        """Return the part that is used."""
        return self.used / self.limit


def loads(
    of: Teams, hubs: int, *, connections: int = 500, hub_ram: float = 16e9, measured: Measured = Measured()
) -> list[Load]:
    """Return each part's load with so many hubs between which the teams are divided; the fullest first.

    ``connections`` are those that the server takes, ``hub_ram`` are bytes of one hub's machine.
    """
    vector = 4 * of.dimensions
    of_a_hub = of.memories / min(hubs, of.teams)
    # A person's hub holds the person's team, and is idle but for one person.
    wanted = measured.idle_connections if hubs >= of.teams else measured.busy_connections
    follow = hubs * measured.polls_each_second * of.teams * measured.poll_seconds_a_head
    return sorted(
        (
            Load("connections", hubs * wanted, connections, "", "hubs over HTTP in the middle, or a pooler"),
            Load(
                "following: polls and hints",
                follow + of.writes * hubs * measured.wake_seconds,
                1.0,
                "cores of the server",
                "fewer hubs",
            ),
            Load("RAM of a hub", of_a_hub * (measured.ram_bytes + vector), hub_ram, "bytes", "more hubs, or pgvector"),
            Load(
                "RAM of the server for connections",
                hubs * wanted * measured.backend_bytes,
                16e9,
                "bytes",
                "as for connections",
            ),
            Load("writes of a hub", of.writes / hubs, measured.writes_each_second, "a second", "more hubs"),
            Load(
                "commits of the server",
                of.writes,
                measured.commits_each_second,
                "a second",
                "a faster disk, a server a region",
            ),
            Load("reads of a hub", of.reads / hubs, measured.reads_each_second, "a second", "more hubs"),
            Load(
                "a team's first answer after a start",
                of.memories / of.teams / measured.loaded_each_second,
                2.0,
                "seconds",
                "a smaller namespace",
            ),
            Load("disk", of.memories * (measured.disk_bytes + vector), 500e9, "bytes", "a larger one"),
            Load(
                "transaction numbers between two freezes",
                of.writes * 86_400 * 14,
                2e9,
                "in two weeks",
                "autovacuum as it is",
            ),
        ),
        key=lambda one: -one.share,
    )


def largest_namespace(
    dimensions: int, *, hub_ram: float = 16e9, patience: float = 0.1, measured: Measured = Measured()
) -> dict[str, float]:
    """Return how many memories one namespace can have, by what ends first: a hub's RAM, a read's time, a start's time (10 s)."""
    vector = 4 * dimensions
    return {
        "RAM": hub_ram / (measured.ram_bytes + vector),
        "a read of .1 s": patience * measured.product_each_second / dimensions,
        "a start of 10 s": 10 * measured.loaded_each_second * 256 / dimensions,
    }


def main() -> None:
    """Print the loads of both ways, and the largest namespace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teams", type=int, default=1_000)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--memories", type=int, default=10_000_000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    of = Teams(given.teams, given.people, given.memories, given.dimensions)
    ways = {"a hub for each person": of.teams * of.people, "20 hubs over HTTP": 20, "5 hubs over HTTP": 5}
    found = {name: loads(of, hubs) for name, hubs in ways.items()}
    if given.json:
        print(
            json.dumps(
                {name: [asdict(one) | {"share": one.share} for one in by] for name, by in found.items()}, indent=1
            )
        )
        return
    for name, by in found.items():
        table = Table("part", "used", "limit", "share", "what helps", title=name)
        for one in by:
            table.add_row(one.what, _short(one.used), f"{_short(one.limit)} {one.unit}", f"{one.share:.1%}", one.answer)
        Console().print(table)
    Console().print({what: f"{count:,.0f}" for what, count in largest_namespace(of.dimensions).items()})


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}" if number < 1 else f"{number:.1f}"


if __name__ == "__main__":
    main()
