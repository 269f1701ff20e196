"""Playing the scenario with a client: its driver is a process that is told one step after the other."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.environments import ForeignClient
from tests.clients.scenario import RECENT, SCENARIO, Step
from tests.clients.server_of_clients import HttpServer, StdioServer, serving

from hybrid_memory_mcp.mcp_api.tools import TOOLS

ANSWER_SECONDS = 120
_ID = re.compile(r"\b[0-9a-z]{20}\b")


@dataclass(frozen=True)
class Outcome:
    """How a step ended: ``problem`` is empty where it was as the scenario says."""

    step: str
    problem: str


class Driver:
    """A driver's process: one line of JSON to it, one from it."""

    def __init__(self, command: Sequence[str], job: Mapping[str, Any], log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [*command, json.dumps(job)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=log.parent,
            )
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put(b"")

    def answer(self) -> dict[str, Any]:
        """Return its next answer."""
        line = self._answers.get(timeout=ANSWER_SECONDS)
        if not line:
            tail = self._log.read_text("utf-8", "replace")[-3000:]
            return {"raised": f"the driver has ended: {tail}", "ended": True}
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End the process, with its pipes."""
        self.process.kill()
        self._reader.join(30)
        with self.process:
            pass

    def ask(self, **order: Any) -> dict[str, Any]:
        """Return the answer to an order."""
        self.tell(**order)
        return self.answer()

    def tell(self, **order: Any) -> None:
        """Give an order without waiting."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def driver_of(
    client: ForeignClient, server: StdioServer | HttpServer, transport: str, era: str, folder: Path
) -> Iterator[Driver]:
    """Run a client's driver, connected."""
    told = server.late_job() if era == "late" and isinstance(server, StdioServer) else server.job()
    job = {"transport": transport, "era": era, **told}
    driver = Driver(client.driver(), job, folder / "driver.log")
    try:
        connected = driver.answer()
        assert "raised" not in connected, connected["raised"]
        yield driver
        if driver.process.poll() is None:
            driver.tell(does="end")
            driver.process.wait(30)
    finally:
        driver.close()


def play(client: ForeignClient, run: str, folder: Path) -> list[Outcome]:
    """Play the whole scenario; a step that fails does not end it unless the driver does."""
    transport, _, era = run.partition(" ")
    kept: dict[str, str] = {}
    outcomes = []
    home = folder / "home"
    with serving(transport, home) as server, driver_of(client, server, transport, era, folder) as driver:
        for step in SCENARIO:
            if step.only_subscribers and not client.subscribes:
                continue
            answer = _done(driver, server, transport, step, _filled(_arguments(client, step), kept))
            outcomes.append(Outcome(step.name, _problem(step, answer, kept)))
            if answer.get("ended"):
                break
    return outcomes


def _done(
    driver: Driver, server: StdioServer | HttpServer, transport: str, step: Step, arguments: Any
) -> dict[str, Any]:
    if step.does == "restart" and transport != "memory":
        server.restart()
        return {"text": ""}
    if step.does in ("reconnect", "restart"):
        return driver.ask(does="reconnect")
    return driver.ask(does=step.does, tool=step.tool, arguments=arguments, uri=RECENT)


def _arguments(client: ForeignClient, step: Step) -> dict[str, Any]:
    """Return a step's arguments as the listed schema wants them; a strict model says null for all that it would leave out."""
    if not step.tool:
        return {}
    (tool,) = [one for one in TOOLS if one.name == step.tool]
    return _as_listed(tool.listed.input_schema, step.arguments, strict=client.strict, whole=not step.refused)


def _as_listed(schema: Mapping[str, Any], given: Any, *, strict: bool, whole: bool = True) -> Any:
    if isinstance(given, list):
        return [_as_listed(schema.get("items", {}), one, strict=strict) for one in given]
    if not isinstance(given, Mapping):
        return given
    if schema.get("type") == "string":
        return json.dumps(given)
    names = schema.get("properties", {})
    required = () if whole else schema.get("required", ())
    nulls = {name: None for name in names if name not in required} if strict else {}
    return nulls | {name: _as_listed(names.get(name, {}), value, strict=strict) for name, value in given.items()}


def _filled(given: Any, kept: Mapping[str, str]) -> Any:
    """Return arguments with the ids that were kept."""
    if isinstance(given, str):
        return re.sub(r"\{(\w+)\}", lambda found: kept.get(found[1], found[0]), given)
    if isinstance(given, Mapping):
        return {name: _filled(value, kept) for name, value in given.items()}
    return [_filled(one, kept) for one in given] if isinstance(given, list) else given


def _problem(step: Step, answer: Mapping[str, Any], kept: dict[str, str]) -> str:
    """Return what is wrong with an answer, or nothing; keeps its first id."""
    text = answer.get("text") or ""
    if "raised" in answer and not step.refused:
        return str(answer["raised"])
    text += str(answer.get("raised", ""))
    # What a client raises is an error; one that shows its model only a text does not say whether it is one.
    failed = True if "raised" in answer else answer.get("failed")
    if failed is not None and bool(failed) != step.refused and step.does == "call":
        return f"{'refused' if failed else 'not refused'}: {text}"
    missing = [one for one in _filled(list(step.says), kept) if one not in text]
    if missing:
        return f"does not say {missing}: {text}"
    unwanted = [one for one in step.never_says if one in text]
    if unwanted:
        return f"says {unwanted}: {text}"
    if step.keeps:
        found = _ID.search(text)
        if found is None:
            return f"has no id: {text}"
        kept[step.keeps] = found[0]
    return ""
