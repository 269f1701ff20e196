"""The figures that the README shows, measured by the benchmarks of this folder, next to those that are recorded.

    python -m benchmarks.figures [PART ...] [--accept]

Parts: service, context, kills, retrieval, import; without one all, in that order, about ten minutes on two free cores. What was
measured goes into `docs/figures.json`, with commit, day and machine. Where a figure has moved by more than a third nothing is written,
and the exit code is 1; `--accept` writes it all the same. Times are compared as ratios to a yardstick of the same run (an echo over the
same SDK, its start, or a loop in bare Python), so another machine moves nothing. Linux only.

Not measured here: the mean over fourteen sets of questions, the 30 questions without a common word and the facts of imported
conversations need sets that are not in the repository (`python -m benchmarks.ablation SET ...`); a million memories is `benchmarks.scale`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from rich.console import Console
from rich.table import Table

PROJECT = Path(__file__).parent.parent
FILE = PROJECT / "docs" / "figures.json"
TOLERATED = 1 / 3
MESSAGES, CONVERSATIONS = 50_000, 2_500
_DATA = PROJECT / "tests" / "data"
_LOOP = "sum(number * number for number in range(10_000_000))"
_BEGUN = 1_700_000_000  # when the first message of the export was sent


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured; ``yardstick`` is what it is compared to, measured in the same run and the same unit."""

    value: float
    unit: str
    yardstick: float | None = None

    @property
    def compared(self) -> float:
        """What is compared between runs: the ratio to the yardstick, or the value itself."""
        return self.value / self.yardstick if self.yardstick else self.value

    def moved_from(self, recorded: Figure) -> bool:
        """Return whether it is more than a third away from what was recorded; what was 0 has to stay 0."""
        return abs(self.compared - recorded.compared) > TOLERATED * recorded.compared


Figures = Mapping[str, Figure]


def service(folder: Path) -> dict[str, Figure]:
    """Measure reads, writes and starts at 10,000 memories."""
    found = {}
    for embedder in ("universal", "static"):
        options = ("--sizes", "10000", "--texts", "mixed", "--rounds", "100", "--starts", "3", "--json")
        command = [sys.executable, "-m", "benchmarks.service", *options, "--embedder", embedder]
        done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, check=True, env=_environment(folder))
        found |= of_service(json.loads(done.stdout)["here"], embedder)
    return found


def of_service(taken: Mapping[str, list[float]], embedder: str) -> dict[str, Figure]:
    """Return the figures of what `benchmarks.service` prints of one program, in milliseconds."""
    yardsticks = {"write": "echo", "read": "echo", "start": "start of echo"}
    return {
        f"{what}, {embedder}, p50": Figure(round(median(taken[what]), 1), "ms", round(median(taken[yardstick]), 1))
        for what, yardstick in yardsticks.items()
    }


def context(folder: Path) -> dict[str, Figure]:
    """Count what a model's context holds: the tools, and the limits of what is told unasked."""
    from benchmarks.client import memory
    from hybrid_memory_mcp.hooks.definitions import RECALL_TOKENS
    from hybrid_memory_mcp.mcp_api.opening_brief import BRIEF_TOKENS

    async def tools() -> list[dict[str, Any]]:
        async with memory(folder / "context") as client:
            return [one.model_dump(by_alias=True, mode="json") for one in (await client.list_tools()).tools]

    listed = anyio.run(tools)
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed]
    return {
        "tools": Figure(len(seen), "tools"),
        "list of tools": Figure(round(len(json.dumps(seen)) / 4), "tokens"),
        "brief, at most": Figure(BRIEF_TOKENS, "tokens"),
        "prompt, at most": Figure(RECALL_TOKENS, "tokens"),
    }


def kills(_folder: Path) -> dict[str, Figure]:
    """Kill the hub a hundred times while four clients write."""
    from benchmarks.outside.hubs import hub_kills
    from benchmarks.outside.targets import installed

    ((_, program),) = installed(None, [])
    return of_kills(hub_kills(program, 1))


def of_kills(found: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of what `benchmarks.outside` found; how much is sent in that time depends on the machine."""
    return {
        "kills of the hub": Figure(found["kills"], "kills"),
        "writes acknowledged, of those sent": Figure(found["acknowledged"], "writes", found["sent"]),
        "writes lost": Figure(found["lost"], "writes"),
        "writes doubled": Figure(found["doubled"], "writes"),
        "reads failed": Figure(found["failed_reads"], "reads"),
    }


def retrieval(_folder: Path) -> dict[str, Figure]:
    """Ask the sets of questions that are in the repository; each has one vote."""
    from benchmarks.indexed import load_sets, mean_of
    from hybrid_memory.embedding.registry import make_embedder

    files = sorted(one for name in ("half_years", "lives") for one in (_DATA / name).glob("*.json"))
    sets = load_sets([*files, "alike"], make_embedder("universal"))
    first, among_ten, _ = mean_of({one.name: one.triple() for one in sets})
    plain_first, plain_among_ten, _ = mean_of({one.name: one.plain_triple() for one in sets})
    return {
        "sets of questions": Figure(len(sets), "sets"),
        "right memory first": Figure(round(100 * first, 1), "%"),
        "right memories among ten": Figure(round(100 * among_ten, 1), "%"),
        "right memory first, BM25": Figure(round(100 * plain_first, 1), "%"),
        "right memories among ten, BM25": Figure(round(100 * plain_among_ten, 1), "%"),
    }


def importing(folder: Path) -> dict[str, Figure]:
    """Import an export of ChatGPT with 50,000 messages, and take it back."""
    export = folder / "export.zip"
    texts = [
        json.loads(line)
        # the sets with which the published figure was measured
        for file in sorted((_DATA / "dialogues").glob("check[-2]*.jsonl"))
        for line in file.open(encoding="utf-8")
    ]
    with zipfile.ZipFile(export, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(list(conversations(texts))))
    bare = [_seconds(sys.executable, "-I", "-S", "-c", _LOOP)[0]]
    home = ("--home", str(folder / "imported"))
    program = (sys.executable, "-m", "hybrid_memory_mcp", "import")
    shown, _ = _seconds(*program, str(export), "--dry-run", *home)
    both, said = _seconds(*program, str(export), "--yes", "--json", *home)
    bare.append(_seconds(sys.executable, "-I", "-S", "-c", _LOOP)[0])
    done = json.loads(said)
    undone, _ = _seconds(*program, "--undo", done["id"], "--yes", *home)
    yardstick = round(min(bare), 2)
    return {
        "import of 50,000 messages: shown": Figure(round(shown, 1), "CPU s", yardstick),
        "... shown and stored": Figure(round(both, 1), "CPU s", yardstick),
        "... taken back": Figure(round(undone, 1), "CPU s", yardstick),
        "... memories": Figure(done["new"], "memories"),
    }


def conversations(lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield conversations as ChatGPT exports them, of lines with role and text over and over.

    In a third of them a number makes each statement a new one; in the others it is said again.
    """
    said = cycle(lines)
    for number in range(CONVERSATIONS):
        each = range(MESSAGES // CONVERSATIONS)
        begun = _BEGUN + 7200 * number
        ending = f", number {number}." if number % 3 == 0 else "."
        mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
        for at, line in zip(each, said, strict=False):
            mapping[str(at)] = {
                "id": str(at),
                "parent": str(at - 1) if at else "root",
                "children": [str(at + 1)] if at + 1 in each else [],
                "message": {
                    "id": f"{number}-{at}",
                    "author": {"role": line["role"]},
                    "create_time": begun + 60 * at,
                    "content": {"content_type": "text", "parts": [line["text"].rstrip(".!") + ending]},
                },
            }
        ends = {"create_time": begun, "update_time": begun + 60 * len(each), "current_node": str(each[-1])}
        yield {
            "id": f"c{number}",
            "conversation_id": f"c{number}",
            "title": f"Talk {number}",
            "mapping": mapping,
        } | ends


def _seconds(*command: str) -> tuple[float, str]:
    """Return how many seconds of a processor a command takes, which other programs hardly change, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(folder)}  # noqa: TID251 - handed on to a benchmark


PARTS: Mapping[str, Callable[[Path], dict[str, Figure]]] = {
    "service": service,
    "context": context,
    "kills": kills,
    "retrieval": retrieval,
    "import": importing,
}


def read(text: str) -> dict[str, dict[str, Figure]]:
    """Return the figures that a file holds, by part."""
    parts = json.loads(text)["parts"]
    return {part: {name: Figure(**one) for name, one in held["figures"].items()} for part, held in parts.items()}


def written(text: str, measured: Mapping[str, Figures], where: Mapping[str, Any]) -> str:
    """Return the file with what was measured in place of what it has of these parts, each with the commit, day and machine of its run."""
    parts = json.loads(text)["parts"] | {
        part: dict(where) | {"figures": {name: asdict(one) for name, one in figures.items()}}
        for part, figures in measured.items()
    }
    return json.dumps({"parts": {name: parts[name] for name in PARTS if name in parts}}, indent=1) + "\n"


def moved(measured: Mapping[str, Figures], recorded: Mapping[str, Figures]) -> list[str]:
    """Return the names of figures that have moved; one that was not recorded has not."""
    return [
        name
        for part, figures in measured.items()
        for name, one in figures.items()
        if (former := recorded.get(part, {}).get(name)) and one.moved_from(former)
    ]


def _recorded() -> str:
    return FILE.read_text(encoding="utf-8") if FILE.exists() else '{"parts": {}}'


def _where() -> dict[str, Any]:
    command = ["git", "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    return {
        "commit": commit.stdout.strip(),
        "day": datetime.now(UTC).date().isoformat(),  # noqa: TID251 - it is measured today
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1),
    }


def _shown(one: Figure | None) -> str:
    if one is None:
        return ""
    yardstick = f" ({one.compared:.2f} times {one.yardstick:g})" if one.yardstick else ""
    return f"{one.value:g} {one.unit}{yardstick}"


def _print(measured: Mapping[str, Figures], recorded: Mapping[str, Figures], out: Iterable[str]) -> None:
    table = Table("", "now", "recorded", "")
    for part, figures in measured.items():
        for name, one in figures.items():
            former = recorded.get(part, {}).get(name)
            table.add_row(name, _shown(one), _shown(former), "moved" if name in out else "")
    Console(width=120).print(table)


def main(arguments: list[str]) -> int:
    """Measure, print, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--accept", action="store_true")
    given = parser.parse_args(arguments)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    recorded, measured = read(_recorded()), {}
    where = _where()  # before the measuring itself is a load
    for part in given.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
            measured[part] = PARTS[part](Path(folder))
    out = moved(measured, recorded)
    _print(measured, recorded, out)
    if out and not given.accept:
        print(f"moved by more than a third: {', '.join(out)}. Nothing was written; --accept records them.")
        return 1
    FILE.write_text(written(_recorded(), measured, where), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
