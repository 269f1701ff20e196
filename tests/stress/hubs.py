"""Several hubs, each a process of its own with clients of its own, over one database: as on several machines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.history.calls import Outcome, to_json
from tests.history.several_hubs import TimedRecorder, faults_over_hubs
from tests.stress.cases import keep
from tests.stress.clients import RecordingClient
from tests.stress.processes import client_of

LATE_SECONDS = 3.0
"""So late, at most, another hub may show what a hub has acknowledged, on a machine that is overloaded by all these processes.

A hub believes what it heard of the others for a second and a half; on an idle machine it hears of a change within milliseconds.
"""


@dataclass
class Machines:
    """The folders of the hubs, one for each machine, and the clients, whose names begin with the hub's."""

    homes: Sequence[Path]
    clients: list[RecordingClient]
    recorder: TimedRecorder

    def of_hub(self, number: int) -> list[RecordingClient]:
        """Return the clients of one hub."""
        return [one for one in self.clients if hub_of_client(one.name) == f"h{number}"]

    def of_each(self) -> list[RecordingClient]:
        """Return one client of each hub."""
        return [self.of_hub(number)[0] for number in range(len(self.homes))]


def hub_of_client(name: str) -> str:
    """Return the hub of a client."""
    return name.partition("c")[0]


@asynccontextmanager
async def machines(folder: Path, address: str, hubs: int, clients: int, *options: str) -> AsyncIterator[Machines]:
    """Start so many hubs over the database of an address, with so many clients each."""
    recorder = TimedRecorder(monotonic)
    known: dict[str, tuple[str, str]] = {}
    homes = [folder / f"h{number}" for number in range(hubs)]
    async with AsyncExitStack() as stack:
        made = []
        for number, home in enumerate(homes):
            user = folder / f"user{number}"
            user.mkdir(parents=True, exist_ok=True)
            for of_hub in range(clients):
                client = await stack.enter_async_context(
                    client_of(home, *options, HYBRID_MEMORY_STORE=address, HOME=str(user))
                )
                made.append(RecordingClient(f"h{number}c{of_hub}", client, recorder, known))
        yield Machines(homes, made, recorder)


def check_hubs(running: Machines, name: str, seed: int) -> str:
    """Fail when the history has faults, and keep it; returns the figures of the run."""
    history = running.recorder.history()
    found = faults_over_hubs(history, running.recorder.times, hub_of_client, LATE_SECONDS)
    if found:
        raise AssertionError(
            "\n".join([f"seed {seed}, {keep(f'history-{name}-{seed}.json', to_json(history))}", *found[:10]])
        )
    unknown = sum(call.outcome is Outcome.UNKNOWN for call in history)
    return f"seed {seed}: {len(history)} calls of {len(running.clients)} clients, {unknown} of unknown outcome"
