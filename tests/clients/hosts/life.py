"""One life of an assistant with us: put in, talked with, disturbed, taken out. The tests look at what came of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.clients.hosts.fake_model import Reply
from tests.clients.hosts.machine import Machine, Said

from hybrid_memory_mcp.admin.hub_client import stop_hub

PREFERENCE = "In Python I always want tabs instead of spaces."
SAID = (
    "We decided to use PostgreSQL for the billing service.",
    "No, the release goes out on Thursdays, not on Tuesdays.",
    "My sister Nora lives in Graz.",
)
SMALL_TALK = "Hey there, what gorgeous weather today, isn't it?"
GREETING = "Good morning."
QUESTION = "Shall I indent this Python file with tabs or with spaces?"
UNKNOWN = "How tall is the tower of Pisa?"
WRITTEN = "Ada's favourite tea is Darjeeling."


@dataclass(frozen=True)
class Life:
    """What was seen: each prompt of a life that is looked at, the home's files, and how long the beginning took."""

    seconds: float
    first_morning: Said
    morning: Said
    went_on: Said
    question: Said
    unknown: Said
    written: Said
    read: Said
    after_kill: Said
    with_broken_store: Said
    left: tuple[str, ...]
    files_before: Mapping[Path, str]
    files_after: Mapping[Path, str]


def live(machine: Machine) -> Life:
    """Live it."""
    begun = time.monotonic()
    machine.install()
    first_morning = _next_morning(machine)
    seconds = time.monotonic() - begun
    first, *others = (*SAID, SMALL_TALK)
    machine.say(first)
    for words in others:
        machine.say(words, goes_on=True)
    morning = machine.say(GREETING)
    went_on = machine.say("Let us go on.", goes_on=True)
    written = _call(machine, "write_memory", {"content": WRITTEN})
    read = _call(machine, "read_memories", {"query": "favourite tea"})
    kill_hub(machine.store)
    after_kill = machine.say(GREETING)
    question, unknown = without_brief(machine)
    break_store(machine.store)
    broken = machine.say(GREETING, Reply("Still here."))
    return Life(
        seconds=seconds,
        first_morning=first_morning,
        morning=morning,
        went_on=went_on,
        question=question,
        unknown=unknown,
        written=written,
        read=read,
        after_kill=after_kill,
        with_broken_store=broken,
        files_before=machine.before,
        left=tuple(machine.take_out()),
        files_after={name: machine.text_of(name) for name in machine.before},
    )


def _next_morning(machine: Machine) -> Said:
    """Have something remembered as soon as it can be; return the conversation that knows it."""
    if machine.host.runs_hooks:
        machine.say(PREFERENCE)
        return machine.say(GREETING)
    _call(machine, "write_memory", {"content": PREFERENCE})
    return _call(machine, "read_memories", {"query": "tabs or spaces"})


def _call(machine: Machine, tool: str, arguments: Mapping[str, str]) -> Said:
    """Have the model call a tool of ours in a new conversation."""
    found = machine.host.replies_that_find(tool)
    return machine.say("Please use your memory.", *found, Reply(tool=tool, arguments=dict(arguments)), Reply("Done."))


def without_brief(machine: Machine) -> tuple[Said, Said]:
    """Ask something known and something unknown while nothing is told at the beginning."""
    settings = machine.store / "config.toml"
    settings.write_text("[hooks]\nbrief = false\n", encoding="utf-8")
    stop_hub(machine.store)
    asked = machine.say(QUESTION), machine.say(UNKNOWN)
    settings.unlink()
    return asked


def kill_hub(store: Path) -> None:
    """End the hub as a machine that runs out of memory does."""
    pid = int((store / "hub.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)


def break_store(store: Path) -> None:
    """Put what is no store in its place."""
    stop_hub(store)
    for file in store.glob("memory.*"):
        if file.is_file():
            file.write_bytes(b"no store at all\n" * 512)
