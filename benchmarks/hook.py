"""What a client waits for a hook alongside a running hub, from the start of its process to its end.

    uv run python -m benchmarks.hook [--memories 10000] [--rounds 40]

Each round runs, one after the other, a Python that does nothing (`python -I -S -c pass`), and the installed program with each event of
Claude Code or Codex. The fastest and the median of each, and its ratio to the Python that does nothing, are printed as a table; alongside
other programs the fastest is nearest to an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
import anyio.to_thread
from mcp import Client, StdioServerParameters

from benchmarks.client import call

EVENTS = (
    "session-start",
    "prompt",
    "pre-tool",
    "post-tool",
    "stop (nothing new)",
    "stop (one new turn)",
    "session-end",
)
QUESTION = "Which database did we choose for the billing service?"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hm-") as name:
        times = anyio.run(beside_a_hub, Path(name), given.memories, given.rounds)
    print("| | fastest ms | p50 ms | p95 ms | p50 / nothing |\n| --- | --- | --- | --- | --- |")
    nothing = statistics.median(times["nothing"])
    for name, found in times.items():
        ordered = sorted(found)
        p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
        print(f"| {name} | {ordered[0] * 1000:.1f} | {p50 * 1000:.1f} | {p95 * 1000:.1f} | {p50 / nothing:.1f} |")


async def beside_a_hub(folder: Path, memories: int, rounds: int) -> dict[str, list[float]]:
    """Measure while a client is connected, over a store with some memories."""
    home = folder / "home"
    arguments = ["-m", "hybrid_memory_mcp", "--home", str(home)]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        for number in range(memories):
            text = f"The part number {number} lies in shelf {number % 97} of hall {number % 7}."
            await call(client, "write_memory", content=text)
        await call(
            client, "write_memory", content="We decided to use PostgreSQL for the billing service.", importance=0.9
        )
        return await anyio.to_thread.run_sync(measure, folder, home, rounds)


def measure(folder: Path, home: Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each round, by what was run."""
    program = shutil.which("hybrid-memory-mcp", path=str(Path(sys.executable).parent)) or "hybrid-memory-mcp"
    environment = dict(os.environ) | {"HYBRID_MEMORY_HOME": str(home)}  # noqa: TID251 - of the processes that are measured
    times: dict[str, list[float]] = {name: [] for name in ("nothing", *EVENTS)}
    for number in range(rounds + 2):
        transcript = folder / f"{number}.jsonl"
        transcript.write_text(turn("Good morning!"))
        base = {"session_id": f"s{number}", "transcript_path": str(transcript), "cwd": str(folder)}
        for name, found in times.items():
            if name == "nothing":
                command = [sys.executable, "-I", "-S", "-c", "pass"]
            else:
                command = [program, "hook", name.split()[0], "--client", "codex" if name == "prompt" else "claude-code"]
            if "one new" in name:
                with transcript.open("a") as file:
                    file.write(turn(f"I always prefer shelf {number}."))
            call = {"tool_name": "Bash", "tool_input": {"command": "npm install lodash"}}
            told = json.dumps(base | call | {"source": "startup", "prompt": QUESTION}).encode()
            begun = time.perf_counter()
            subprocess.run(command, input=told, env=environment, stdout=subprocess.DEVNULL, check=True)
            if number >= 2:  # the first find cold caches
                found.append(time.perf_counter() - begun)
    return times


def turn(text: str) -> str:
    """Return a line of a transcript."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


if __name__ == "__main__":
    main()
