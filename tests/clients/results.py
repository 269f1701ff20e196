"""What the runs gave, kept alongside the environments; `python -m tests.clients.results` writes their table into docs/clients.md."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.clients.driving import Outcome
from tests.clients.environments import CACHE, TABLE, ForeignClient, clients

RESULTS = CACHE / "results"
PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
_TABLE = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end -->)", re.DOTALL)


def keep_result(client: ForeignClient, run: str, outcomes: Sequence[Outcome]) -> None:
    """Keep how a client's steps ended."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    steps = {one.step: one.problem for one in outcomes}
    (RESULTS / f"{client.name} {run}.json").write_text(json.dumps(steps, indent=1), encoding="utf-8")


def table() -> str:
    """Return the table of the newest runs: one line for each client."""
    day = datetime.fromtimestamp(_oldest(), UTC).date()
    lines = [f"Run on {day} with `just clients`; what lies under the packages is that of {TABLE['as_of']}.", ""]
    lines += ["| client | version | runs | steps as the scenario says | its own ways |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for client in clients():
        runs = [json.loads(_file(client, run).read_text("utf-8")) for run in client.runs]
        good = " ".join(f"{sum(not one for one in steps.values())}/{len(steps)}" for steps in runs)
        packages = "<br>".join(f"`{one}`" for one in client.packages) or "the project's own"
        ways = "<br>".join(f"{step}: {why}" for step, why in client.differs)
        lines.append(f"| {client.shown} | {packages} | {', '.join(client.runs)} | {good} | {ways} |")
    return "\n".join(lines) + "\n"


def _file(client: ForeignClient, run: str) -> Path:
    return RESULTS / f"{client.name} {run}.json"


def _oldest() -> float:
    return min(_file(client, run).stat().st_mtime for client in clients() for run in client.runs)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: table(), page), encoding="utf-8")
