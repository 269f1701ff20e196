"""Writing and reading with 1, 2 and 4 hubs over PostgreSQL, alongside one hub over a DuckDB file, in one run.

    python -m benchmarks.postgres_writing [--seconds 5] [--hubs 1,2,4] [--clients 1,4] [--flush 0]

Each hub is a process of its own with `MemoryService` and the built-in embedder, and as many threads as it has clients; every client writes,
and reads after each fourth write. The hubs share one namespace, or have one each. A server of its own is started, with PostgreSQL's own
settings for durability; ``--flush`` is the time that its disk takes for each commit, in milliseconds (a network's disk: 5). Processor is
what all hubs, and all processes of the server, take of it for a write, its share of the reads, and following it: what else runs on the
machine changes it least. The last rows are the server's own limit on this machine: `pgbench` with the same rows for a write, and
nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.postgres.server import Database, PostgresServer

_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "512MB"}
_BEFORE = 200  # memories that a namespace holds as the clock starts
# What one write sends, as `hybrid_memory_postgres` does; the lock is that of a namespace of each client, or of one for all.
_SCRIPT = """
\\set r random(1, 1000000000000)
BEGIN;
SELECT position FROM namespace WHERE name = '{name}' FOR UPDATE;
INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned, origin,
    trust, rev) VALUES ('{name}', :client_id || '-' || :r, 's', 'a', repeat('x', 230), 'observation', 'sensory', 0.5, 1, 'h',
    decode(repeat('00', 160), 'hex'), false, 'user', 'told', 1);
INSERT INTO vector (embedder, namespace, id, vec) VALUES (1, '{name}', :client_id || '-' || :r, decode(repeat('00', 1024), 'hex'));
INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest)
    SELECT '{name}', position + 1, 'put', 'x', 1, 1, 'a', 'w', 'd' FROM namespace WHERE name = '{name}';
UPDATE namespace SET position = position + 1 WHERE name = '{name}';
COMMIT;
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    parser.add_argument("--hubs", default="1,2,4", help="processes, with commas between")
    parser.add_argument("--clients", default="1,4", help="of each hub, with commas between")
    parser.add_argument(
        "--flush", type=float, default=0, help="milliseconds that each commit waits for the disk, in addition"
    )
    parser.add_argument("--hub", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.hub:
        home, address, namespace, clients, seconds = given.hub
        json.dump(_hub(Path(home), address or None, namespace, int(clients), float(seconds)), sys.stdout)
        return
    from tests.postgres.server import running_server

    settings = _DURABLE | (
        {"commit_delay": str(int(1000 * given.flush)), "commit_siblings": "0"} if given.flush else {}
    )
    hubs, clients = ([int(one) for one in text.split(",")] for text in (given.hubs, given.clients))
    shown = Table(
        *("store", "hubs", "clients each", "namespaces", "writes/s", "write p50 / p95, ms", "read p50 / p95, ms"),
        "processor of hubs / server, ms a write",
    )
    with tempfile.TemporaryDirectory() as folder, running_server(**settings) as server:
        for each in clients:
            shown.add_row(
                "DuckDB file", *_row(_run(Path(folder) / f"duck{each}", None, 1, each, 1, given.seconds, None))
            )
        for many in hubs:
            for each in clients:
                for namespaces in sorted({1, many}):
                    database = server.create_database()
                    home = Path(folder) / database.name
                    found = _run(home, database.address, many, each, namespaces, given.seconds, server.process)
                    shown.add_row("PostgreSQL", *_row(found))
                    server.drop_database(database.name)
        for many in sorted({each * of for each in clients for of in hubs}):
            for namespaces in sorted({1, many}):
                rate = _limit(server, many, namespaces, given.seconds)
                shown.add_row("pgbench", "", str(many), str(namespaces), f"{rate:,.0f}", "", "", "")
    Console().print(shown)


def _run(
    home: Path, address: str | None, hubs: int, clients: int, namespaces: int, seconds: float, server: int | None
) -> dict[str, Any]:
    """Return what so many hubs at once measured; ``server`` is the first process of the database's."""
    running = []
    for number in range(hubs):
        namespace = f"team-{number % namespaces}"
        own = home / str(number)
        own.mkdir(parents=True)
        hub = (str(own), address or "", namespace, str(clients), str(seconds))
        command = [sys.executable, "-m", "benchmarks.postgres_writing", "--hub", *hub]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for one in running:  # each says that it is ready
        assert one.stdout is not None
        one.stdout.readline()
    before = _processor_of(server)
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    found = [json.loads(one.communicate()[0]) for one in running]
    writes = sum(len(one["write"]) for one in found)
    return {
        "hub_processor": 1000 * sum(one["processor"] for one in found) / writes,
        "server_processor": 1000 * (_processor_of(server) - before) / writes,
        "hubs": hubs,
        "clients": clients,
        "namespaces": namespaces,
        "write": [taken for one in found for taken in one["write"]],
        "read": [taken for one in found for taken in one["read"]],
        "rate": sum(len(one["write"]) / one["seconds"] for one in found),
    }


def _hub(home: Path, address: str | None, namespace: str, clients: int, seconds: float) -> dict[str, Any]:
    """Write and read until the time is over; returns how long each call took, in milliseconds."""
    from hybrid_memory.settings import limit_threads, store_settings

    limit_threads()
    from concurrent.futures import ThreadPoolExecutor

    from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

    install_pandas_stub()
    from benchmarks.scale_store import Texts
    from hybrid_memory.clock import SystemClock, SystemRandomSource
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import ReadRequest, WriteRequest
    from hybrid_memory.service.memory_service import MemoryService

    settings = store_settings(home, store=address)
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource(), settings=settings)

    def client(number: int, count: int | None) -> dict[str, list[float]]:
        texts, scope = (
            Texts(1000 * int(home.name) + number),
            Scope(namespace=namespace, session=f"{home.name}-{number}"),
        )
        texts.new_session()
        found: dict[str, list[float]] = {"write": [], "read": []}
        ends = time.perf_counter() + seconds
        while (time.perf_counter() < ends) if count is None else (len(found["write"]) < count):
            request = WriteRequest(content=f"{texts.sentence()} {texts.sentence()} {number} {len(found['write'])}")
            found["write"].append(_taken(lambda request=request: service.write(scope, request)))
            if len(found["write"]) % 4 == 0:
                question = ReadRequest(query=texts.sentence())
                found["read"].append(_taken(lambda question=question: service.read(scope, question)))
        return found

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda number: client(number, _BEFORE // clients), range(clients)))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        began, processor = time.perf_counter(), time.process_time()
        found = list(pool.map(lambda number: client(number, None), range(clients)))
        taken, processor = time.perf_counter() - began, time.process_time() - processor
    service.close()
    calls = {kind: [one for of in found for one in of[kind]] for kind in ("write", "read")}
    return calls | {"seconds": taken, "processor": processor}


def _processor_of(server: int | None) -> float:
    """Return the seconds of processor time that a server's processes have taken, those that have ended among them."""
    found = 0
    for one in Path("/proc").glob("[0-9]*/stat") if server is not None else ():
        with suppress(OSError):
            fields = one.read_text().rpartition(")")[2].split()
            if int(one.parent.name) == server:
                found += sum(map(int, fields[11:15]))
            elif int(fields[1]) == server:
                found += sum(map(int, fields[11:13]))
    return found / os.sysconf("SC_CLK_TCK")


def _limit(server: PostgresServer, clients: int, namespaces: int, seconds: float) -> float:
    """Return how many such transactions a second `pgbench` gets done."""
    from tests.postgres.server import ADMIN, programs

    database: Database = server.create_database()
    for number in range(namespaces):
        database.rows("INSERT INTO namespace (name) VALUES (%s)", f"team-{number}")
    script = server.folder / "write.sql"
    script.write_text(
        _SCRIPT.format(name="team-:client_id" if namespaces > 1 else "team-0").replace(
            "'team-:client_id'", "'team-' || :client_id"
        )
    )
    folder = programs()
    assert folder is not None
    done = subprocess.run(
        [
            *(str(folder / "pgbench"), "-n", "-M", "prepared", "-f", str(script), "-c", str(clients), "-j", "2"),
            *("-T", str(max(int(seconds), 1)), "-h", str(server.folder), "-p", server.port, "-U", ADMIN, database.name),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    server.drop_database(database.name)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    assert rate is not None
    return float(rate[1])


def _taken(work: Any) -> float:
    began = time.perf_counter()
    work()
    return round(1000 * (time.perf_counter() - began), 3)


def _row(found: dict[str, Any]) -> Sequence[str]:
    spreads = (f"{_share(found[kind], 50):.1f} / {_share(found[kind], 95):.1f}" for kind in ("write", "read"))
    processor = f"{found['hub_processor']:.1f} / {found['server_processor']:.1f}"
    return (
        str(found["hubs"]),
        str(found["clients"]),
        str(found["namespaces"]),
        f"{found['rate']:,.0f}",
        *spreads,
        processor,
    )


def _share(values: Sequence[float], share: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) * share // 100, len(ordered) - 1)] if ordered else float("nan")


if __name__ == "__main__":
    main()
