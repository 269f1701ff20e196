"""How often a scripted agent repeats a command that failed before, and how often it is warned for nothing.

    uv run python -m benchmarks.lessons FILE...

Each FILE has a JSON object a line. ``lesson``: the calls of one session (``first``) in which something failed and something else worked,
what an agent that knows nothing would type later (``again``), and what would work (``right``). ``ordinary``: calls with their outcomes,
and later ones that are all right. Each is played in a repository of its own, through the hooks of Claude Code and a real hub.

The agent repeats the failure unless what it reads makes the right call plain: the text holds the program, subcommand and options of the
right call. So this measures the memory, not a model. Arms: nothing; all lessons of the repository at the start of the session; at the
action. A warning at any other call is false.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import Client, StdioServerParameters

from hybrid_memory.lessons.commands import commands_in
from hybrid_memory_mcp.hooks import program

_PATIENCE_SECONDS = 30.0


class Agent:
    """One session in one repository; ``warned`` are the calls before which something was said."""

    def __init__(self, home: Path, repository: Path, session: str, waited: list[float]) -> None:
        (repository / ".git").mkdir(parents=True, exist_ok=True)
        self._environment = {
            "HYBRID_MEMORY_HOME": str(home),
            "HOME": str(home.parent),
            "CLAUDE_PROJECT_DIR": str(repository),
        }
        self._base = {"session_id": session, "cwd": str(repository)}
        self._waited = waited

    def before(self, line: str) -> str:
        """Return what is said before a command."""
        began = time.perf_counter()
        said = self._hook("pre-tool", tool_name="Bash", tool_input={"command": line})
        self._waited.append(time.perf_counter() - began)
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""

    def play(self, call: Mapping[str, Any]) -> str:
        """Make a call with its outcome; returns what was said before it."""
        if "edit" in call:
            self._hook("post-tool", tool_name="Edit", tool_input={"file_path": call["edit"]})
            return ""
        said = self.before(call["line"])
        told: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": call["line"]}}
        if call.get("exit"):
            self._hook("post-tool", **told, error=f"Exit code {call['exit']}\n{call.get('output', '')}")
        else:
            self._hook("post-tool", **told, tool_response={"stdout": call.get("output", ""), "stderr": ""})
        return said

    def _hook(self, event: str, **told: Any) -> bytes:
        given = json.dumps(self._base | told).encode()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        return program.run([event, "--client", "claude-code"], self._environment, given, deadline)


def makes_plain(text: str, again: str, right: str) -> bool:
    """Return True if a text tells the program, the options, the folder and the variables of the right call that the other one lacks."""
    lacking = _telling(right) - _telling(again)
    worked = text.partition("failed")[2]
    return bool(text) and all(word in worked for word in lacking or _telling(right))


def _telling(line: str) -> set[str]:
    commands = commands_in(line)
    words = {word.partition("=")[0] for one in commands for word in one.words[1:] if word.startswith("-")}
    given = {word.partition("=")[0] for one in commands for told in one.given for word in told.split()}
    words |= {word for word in given if "<" not in word} | {one.folder for one in commands if one.folder}
    return words | {one.words[0] for one in commands} or set(line.split())


def play(home: Path, sessions: list[Mapping[str, Any]], waited: list[float], show: bool) -> Counter[str]:
    """Play all sessions and count what came of them."""
    counts: Counter[str] = Counter()
    for number, one in enumerate(sessions):
        repository = home.parent / one["repo"]
        first = Agent(home, repository, f"first-{number}", waited)
        later = Agent(home, repository, f"later-{number}", waited)
        calls = one["first"] if one["sort"] == "lesson" else one["calls"]
        for call in calls:
            said = first.play(call)
            counts["calls"] += 1
            counts["false"] += bool(said)
            if said and show:
                print(f"false: {one['repo']}: {call['line']}\n  {said.splitlines()[-2]}")
        if one["sort"] == "lesson":
            counts["lessons"] += 1
            said = later.before(one["again"])
            start = _lessons_of(home, repository)
            counts["plain at start"] += makes_plain(start, one["again"], one["right"])
            counts["said at action"] += bool(said)
            counts["plain at action"] += makes_plain(said, one["again"], one["right"])
            if show and not makes_plain(said, one["again"], one["right"]):
                print(
                    f"missed: {one['again']} -> {one['right']}\n  at start: {start or '-'}\n  at action: {said or '-'}"
                )
            counts["calls"] += 1
            counts["false"] += bool(Agent(home, repository, f"right-{number}", waited).before(one["right"]))
        for line in one.get("later", ()):
            said = later.before(line)
            counts["calls"] += 1
            counts["false"] += bool(said)
            if said and show:
                print(f"false: {one['repo']}: {line}\n  {said.splitlines()[-2]}")
    return counts


def _lessons_of(home: Path, repository: Path) -> str:
    """Return the lessons that are stored for a repository."""
    import subprocess

    command = [sys.executable, "-m", "hybrid_memory_mcp", "list", "--kind", "episode", "--json", "--home", str(home)]
    environment = {**os.environ, "HOME": str(home.parent)}  # noqa: TID251 - of the process that is asked
    done = subprocess.run(command, cwd=repository, capture_output=True, check=True, env=environment)
    return "\n".join(str(memory["content"]) for memory in json.loads(done.stdout)["memories"])


def read(files: list[Path]) -> Iterator[Mapping[str, Any]]:
    """Yield the sessions of some files."""
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


async def beside_a_hub(files: list[Path], show: bool) -> None:
    """Play while a client is connected, and print."""
    waited: list[float] = []
    with tempfile.TemporaryDirectory(prefix="hm-") as name:
        home = Path(name) / "home"
        arguments = ["-m", "hybrid_memory_mcp", "--home", str(home)]
        async with Client(StdioServerParameters(command=sys.executable, args=arguments)):
            counts = await anyio.to_thread.run_sync(play, home, list(read(files)), waited, show)
    lessons = max(counts["lessons"], 1)
    print("| arm | failures that are repeated |\n| --- | --- |")
    for arm, helped in (
        ("nothing", 0),
        ("at the start", counts["plain at start"]),
        ("at the action", counts["plain at action"]),
    ):
        print(f"| {arm} | {lessons - helped} of {lessons} |")
    print(f"something is said at the action: {counts['said at action']} of {lessons}")
    print(f"false warnings: {counts['false']} of {counts['calls']} calls")
    print(f"p50 of asking before a command, without the start of a process: {1000 * statistics.median(waited):.1f} ms")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print what was missed and what was said for nothing")
    given = parser.parse_args()
    anyio.run(beside_a_hub, given.files, given.show)


if __name__ == "__main__":
    main()
