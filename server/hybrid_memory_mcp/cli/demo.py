"""The command ``demo``: a real MCP client plays a few scenes on a new store, and each step is compared with what is promised.

`_play` has the order of the scenes: observations, a repeated statement, a correction, a reflection; a restart of all processes; two
clients at once, whose hub is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextResourceContents
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hybrid_memory.private_files import FOLDER_MODE
from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.cli.output import fail, print_json
from hybrid_memory_mcp.clients.command import start_of_this_installation
from hybrid_memory_mcp.clients.places import this_machine
from hybrid_memory_mcp.clients.table import SERVER
from hybrid_memory_mcp.mcp_api.tool_results import WORDS_ALONE
from hybrid_memory_mcp.memory_words import TIER_NAMES
from hybrid_memory_mcp.relay.paths import PID

OBSERVATIONS: Sequence[tuple[str, float]] = (
    ("Ada moved to Lisbon in March and works from home.", 0.6),
    ("The office coffee machine is out of order again.", 0.05),
    ("Ada is allergic to peanuts; always check recipes for them.", 0.9),
    ("The stand-up was moved to half past nine.", 0.4),
    ("Ada's sister Maria visits on the last weekend of November.", 0.6),
    ("It rained all morning.", 0.08),
    ("The dentist appointment is on Tuesday at ten.", 0.55),
    ("Ada asked for short answers without bullet points.", 0.8),
    ("The parcel with the new keyboard arrived.", 0.3),
    ("The quarterly report is due on the fifth of December.", 0.7),
    ("Lunch was leftover soup.", 0.1),
    ("Ada is learning Portuguese with a teacher called Rui.", 0.6),
    ("The build failed because a certificate had expired.", 0.5),
    ("Rui wants the Portuguese homework by Thursday evening.", 0.5),
    ("The neighbour's cat slept on the balcony.", 0.15),
)
REPEATED = "Ada goes running along the river before breakfast."
REPETITIONS = 6
WRONG = "The dentist appointment is on Tuesday at ten."
RIGHT = "The dentist appointment is on Thursday at four."
INSIGHT = "Ada is settling in Lisbon: she learns the language and has a teacher she does homework for."
QUESTION = "Which ingredient must I avoid when cooking?"
ANSWER = "peanuts"
ROOM_COLOURS = ("white", "green", "yellow", "blue", "grey", "red")
ROOMS = len(ROOM_COLOURS)
_TRIES, _PAUSE_SECONDS = 60, 0.5


@dataclass
class DemoReport:
    """Prints what happens and remembers what was not as promised."""

    console: Console
    kept: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def begin_part(self, title: str) -> None:
        """Begin a part."""
        self.console.print()
        self.console.rule(Text(title, style="bold"), align="left")

    def check(self, what: str, *, kept: bool) -> None:
        """Print whether a promise was kept."""
        self.console.print(Text("  kept    " if kept else "  BROKEN  ", style="green" if kept else "bold red") + what)
        (self.kept if kept else self.broken).append(what)

    def tell(self, text: str) -> None:
        """Say something."""
        self.console.print(Text("  " + text))


class DemoClient:
    """The client's side: calls the tools of one server process and keeps nothing itself."""

    def __init__(self, client: Client, report: DemoReport) -> None:
        self._client = client
        self._report = report

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result; a failure ends the demo's part with an empty one."""
        result: CallToolResult = await self._client.call_tool(tool, arguments)
        if result.is_error or result.structured_content is None:
            self._report.check(f"{tool}: {result.content}", kept=False)
            return {}
        return dict(result.structured_content)

    async def status(self) -> Mapping[str, Any]:
        """Return what memory://status says."""
        answer = await self._client.read_resource("memory://status")
        content = answer.contents[0]
        status: Mapping[str, Any] = json.loads(content.text) if isinstance(content, TextResourceContents) else {}
        return status


def run(keep: Path | None, *, as_json: bool = False) -> int:
    """Play the demo; returns 0 when everything was as promised, else 1. As JSON are told which promises were kept and which broken."""
    report = DemoReport(Console(quiet=as_json))
    with ExitStack() as stack:
        if keep is not None:
            home = _folder_to_keep(keep)
        else:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hybrid-memory-demo-")))
        stack.callback(stop_hub, home)
        anyio.run(_play, home, report)
    report.console.print()
    if as_json:
        print_json({"kept": report.kept, "broken": report.broken, "entry": client_entry()})
    if report.broken:
        report.console.print(f"[bold red]{len(report.broken)} promises were broken.[/bold red]")
        return 1
    report.console.print("[bold green]Everything was as promised.[/bold green]")
    report.console.print(
        "\n[bold]hybrid-memory-mcp install[/bold] adds it to your assistants (README: how to install it first)."
    )
    return 0


def _folder_to_keep(folder: Path) -> Path:
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except OSError:
        fail(f"keep: {folder} is no folder, and none can be made there", code="invalid_input")
    return folder.absolute()


def client_entry() -> dict[str, Any]:
    """Return the entry that starts this installation from any folder, by its full path."""
    command, *arguments = start_of_this_installation(this_machine().environment).command
    return {"mcpServers": {SERVER: {"command": command} | ({"args": arguments} if arguments else {})}}


@asynccontextmanager
async def _server(home: Path, report: DemoReport) -> AsyncIterator[DemoClient]:
    command = [sys.executable, "-m", "hybrid_memory_mcp", "--home", str(home)]
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        yield DemoClient(client, report)


async def _play(home: Path, report: DemoReport) -> None:
    """Play the scenes in their order."""
    async with _server(home, report) as client:
        await _write_observations(client, report)
        habit = await _repeat_statement(client, report)
        newer = await _correct_statement(client, report)
        insight = await _reflect(client, report)
    report.begin_part("A restart: all processes end, others start")
    stop_hub(home)
    async with _server(home, report) as client:
        await _recall_after_restart(client, report, habit, newer, insight)
        async with _server(home, report) as other:
            await _share_between_clients(client, other, report, home)


async def _write_observations(client: DemoClient, report: DemoReport) -> None:
    report.begin_part(f"A day of {len(OBSERVATIONS)} observations: what is just heard has little room")
    moved: list[Mapping[str, Any]] = []
    written = 0
    for content, importance in OBSERVATIONS:
        result = await client.call("write_memory", content=content, importance=importance, speaker="Ada")
        written += bool(result.get("id"))
        moved += result.get("moved", [])
    report.check(f"{written} of {len(OBSERVATIONS)} writes acknowledged", kept=written == len(OBSERVATIONS))
    status = await client.status()
    _show_tiers(report, status)
    report.check(f"full buffers passed memories on: {_count(moved)}", kept=bool(moved))
    report.check(
        "what a buffer drops fades, it is not destroyed",
        kept=sum(status.get("tiers", {}).values()) == len(OBSERVATIONS),
    )


def _count(moved: Sequence[Mapping[str, Any]]) -> str:
    ways: dict[str, int] = {}
    for move in moved:
        way = f"{TIER_NAMES[move['from']]} to {TIER_NAMES[move['to']]}"
        ways[way] = ways.get(way, 0) + 1
    return ", ".join(f"{count} {way}" for way, count in ways.items())


def _show_tiers(report: DemoReport, status: Mapping[str, Any]) -> None:
    table = Table("where", "memories", "", box=None, padding=(0, 2))
    for tier, count in status.get("tiers", {}).items():
        if count:
            table.add_row(TIER_NAMES.get(tier, tier), str(count), Text("■" * count, style="cyan"))
    report.console.print(table)


async def _repeat_statement(client: DemoClient, report: DemoReport) -> str:
    report.begin_part("The same thing said again and again: a habit")
    report.tell(REPEATED)
    first = ""
    for time in range(1, REPETITIONS + 1):
        result = await client.call("write_memory", content=REPEATED, importance=0.5, speaker="Ada")
        first = first or str(result.get("id", ""))
        for move in result.get("moved", []):
            if move["id"] == first:
                report.tell(
                    f"said {time} times: {TIER_NAMES[move['from']]} to {TIER_NAMES[move['to']]} ({move['reason']})"
                )
    found = await client.call("read_memories", ids=[first])
    tier = found["memories"][0]["tier"] if found.get("memories") else "nowhere"
    report.check(
        f"after {REPETITIONS} times it is one memory, and it is {TIER_NAMES.get(tier, tier)}", kept=tier == "long_term"
    )
    return first


async def _correct_statement(client: DemoClient, report: DemoReport) -> str:
    report.begin_part("A correction: the newer statement supersedes the older one")
    found = await client.call("read_memories", query="When is the dentist appointment?", limit=3)
    old = next((one for one in found.get("memories", []) if one["text"] == WRONG), None)
    report.check("the old date is found", kept=old is not None)
    if old is None:
        return ""
    result = await client.call("update_memory", id=old["id"], content=RIGHT)
    report.tell(f"{old['id']} is superseded by {result.get('id')}")
    found = await client.call("read_memories", query="When is the dentist appointment?", limit=5)
    texts = [one["text"] for one in found.get("memories", [])]
    report.check("the new date is the first answer", kept=RIGHT in texts[:1])
    report.check("the old date is not offered any more", kept=WRONG not in texts)
    kept = await client.call("read_memories", ids=[old["id"]])
    report.check("the old version is kept and can be read by its id", kept=bool(kept.get("memories")))
    return str(result.get("id", ""))


async def _reflect(client: DemoClient, report: DemoReport) -> str:
    report.begin_part("A reflection: the memory offers what belongs together, the assistant thinks")
    await _asked_with_the_model(client)  # what belongs together is found by vectors
    offered = await client.call("reflect", focus="learning Portuguese in Lisbon")
    groups = offered.get("groups", [])
    report.check(f"{len(groups)} group{'s' if len(groups) != 1 else ''} offered", kept=bool(groups))
    if not groups:
        return ""
    for one in groups[0]["memories"]:
        report.tell("· " + one["text"])
    stored = await client.call("reflect", insights=[{"text": INSIGHT, "evidence": groups[0]["ids"], "importance": 0.8}])
    ids = stored.get("stored", [])
    report.check("the assistant's insight is kept with its evidence", kept=len(ids) == 1)
    return str(ids[0]) if ids else ""


async def _share_between_clients(first: DemoClient, second: DemoClient, report: DemoReport, home: Path) -> None:
    report.begin_part("Two assistants, one memory; then the process behind both is killed")
    for number in range(ROOMS):
        await (first, second)[number % 2].call(
            "write_memory", content=f"Room {number} is painted {ROOM_COLOURS[number]}."
        )
    seen = await _count_rooms(first), await _count_rooms(second)
    report.check("each sees at once what the other wrote", kept=seen == (ROOMS, ROOMS))
    pid = int((home / PID).read_text("ascii"))
    relays = {one["pid"] for one in (await first.status()).get("clients", [])}
    if sys.platform == "win32" or pid in relays:
        report.tell("here the process behind both cannot be killed: one of the clients' own does its work")
        return
    os.kill(pid, signal.SIGKILL)
    result = await second.call("write_memory", content="The kitchen is painted violet.")
    report.check("a write right after the kill is answered as if nothing had happened", kept=bool(result.get("id")))
    successor = int((home / PID).read_text("ascii"))
    report.tell(f"process {pid} is gone, process {successor} has taken over")
    report.check("nothing that was acknowledged is lost", kept=await _count_rooms(first) == ROOMS)


async def _count_rooms(client: DemoClient) -> int:
    found = await client.call("read_memories", query="which room is painted in which colour", limit=20)
    return sum(one["text"].startswith("Room ") for one in found.get("memories", []))


async def _asked_with_the_model(client: DemoClient) -> dict[str, Any]:
    """Ask when the embedding model is at hand, which a busy machine may still be loading; without one for so long, ask all the same."""
    found = await client.call("read_memories", query=QUESTION, limit=3)
    for _ in range(_TRIES):
        status = await client.status()
        is_loading = WORDS_ALONE in str(found.get("note", "")) or status.get("pending_vectors")
        if not is_loading and not status.get("reembedding"):
            break
        await anyio.sleep(_PAUSE_SECONDS)
        found = await client.call("read_memories", query=QUESTION, limit=3)
    return found


async def _recall_after_restart(client: DemoClient, report: DemoReport, habit: str, newer: str, insight: str) -> None:
    _show_tiers(report, await client.status())
    found = await _asked_with_the_model(client)
    texts = [one["text"] for one in found.get("memories", [])]
    report.tell(f"{QUESTION}")
    for text in texts:
        report.tell("· " + text)
    report.check("a question in other words finds the allergy", kept=any(ANSWER in text for text in texts))
    known = await client.call("read_memories", ids=[habit, newer, insight])
    tiers = {one["id"]: one["tier"] for one in known.get("memories", [])}
    report.check("habit, correction and insight survived the restart", kept=set(tiers) == {habit, newer, insight})
    report.check("the insight is kept", kept=tiers.get(insight) == "long_term")
