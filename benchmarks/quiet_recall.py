"""How often a quiet read shows what bears on a prompt, and how often it shows anything else.

    python -m benchmarks.quiet_recall                 # the prompts to develop on
    python -m benchmarks.quiet_recall --set check     # those on which no rule and no number may be made
    python -m benchmarks.quiet_recall --among 1000    # with so many memories of others in the same store
    python -m benchmarks.quiet_recall --set plain --among 180  # plain questions to short statements, and orders
    python -m benchmarks.quiet_recall --wrong         # and what was wrong

Prompts and memories stand in ``benchmarks/quiet/``. Each prompt is asked in a session of its own.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import alike, waiting
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory_mcp.mcp_api.schemas import QUIET_TOKEN_BUDGET
from hybrid_memory_mcp.mcp_api.tool_results import quiet_text

PROMPTS = Path(__file__).with_name("quiet")
_SCOPE = Scope(session="told")
_ALIKE_SIZE = 20  # subjects of each kind in the store that the memories of others are from


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What somebody types: ``about`` names the memories that bear on it, ``may`` those that may come as well."""

    text: str
    about: frozenset[str]
    may: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A made-up person: memories by their names, and prompts."""

    name: str
    memories: dict[str, str]
    prompts: tuple[Prompt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prompt, the names of the memories that came (`?` for one of another's), the tokens of their text, and the seconds it took."""

    prompt: Prompt
    came: tuple[str, ...]
    tokens: int
    seconds: float

    @property
    def wrong(self) -> tuple[str, ...]:
        """What came without bearing on the prompt."""
        return tuple(one for one in self.came if one not in self.prompt.about | self.prompt.may)

    @property
    def missed(self) -> frozenset[str]:
        """What did not come and bears on it."""
        return self.prompt.about - set(self.came)


def people_in(text: str) -> tuple[Person, ...]:
    """Read a file of `PROMPTS`; its first lines say how it is written."""
    body, *pasted = re.split(r"(?m)^(\{\w+\})\n", text)
    pieces = dict(zip(pasted[::2], pasted[1::2], strict=True))
    people = []
    for part in re.split(r"(?m)^= ", body)[1:]:
        name, *lines = part.splitlines()
        told = [line for line in lines if line and not line.startswith(("> ", "#"))]
        prompts = [_prompt(line[2:], pieces) for line in lines if line.startswith("> ")]
        memories = dict(line.split(": ", 1) for line in told)
        people.append(Person(name=name, memories=memories, prompts=tuple(prompts)))
    return tuple(people)


def _prompt(line: str, pieces: dict[str, str]) -> Prompt:
    names, text = line.split(" | ", 1)
    may = re.search(r"\((.*)\)", names)
    about = re.sub(r"\(.*\)", "", names).strip("-")
    return Prompt(
        text=re.sub(r"\{\w+\}", lambda found: "\n" + pieces[found[0]] if found[0] in pieces else found[0], text),
        about=frozenset(filter(None, about.split(","))),
        may=frozenset(may[1].split(",")) if may else frozenset(),
    )


def asked(person: Person, *, embedder: str = "static", among: int = 0) -> Iterator[Asked]:
    """Ask all prompts of a person, with ``among`` memories of others in the store."""
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        service = MemoryService.open(Path(folder), settings=StoreSettings(embedder=embedder))
        for text in _of_others(among):
            service.write(_SCOPE, WriteRequest(content=text))
        names = {service.write(_SCOPE, WriteRequest(content=text)).id: name for name, text in person.memories.items()}
        waiting.complete(service, _SCOPE)
        for number, prompt in enumerate(person.prompts):
            scope = Scope(session=f"asks {number}")
            begun = time.perf_counter()
            found = service.read(scope, ReadRequest(query=prompt.text, quiet=True))
            seconds = time.perf_counter() - begun
            text, ids = quiet_text(found, QUIET_TOKEN_BUDGET, scope)
            came = tuple(names.get(one, "?") for one in ids)
            yield Asked(prompt=prompt, came=came, tokens=estimate_tokens(text), seconds=seconds)
        service.close()


def _of_others(count: int) -> list[str]:
    texts = [item.text for made in alike.stores() for item in made.collection.items]
    return list(dict.fromkeys(texts))[:count]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=("dev", "check", "plain"), default="dev", dest="name")
    parser.add_argument("--embedder", default="universal")
    parser.add_argument("--among", type=int, default=0)
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    table = Table(
        "", "prompts", "precision, %", "recall, %", "silent of those about nothing known, %", "tokens then", "ms, mean"
    )
    everything: list[Asked] = []
    for person in people_in((PROMPTS / f"{arguments.name}.txt").read_text(encoding="utf-8")):
        some = list(asked(person, embedder=arguments.embedder, among=arguments.among))
        table.add_row(person.name, *_row(some))
        everything += some
    table.add_row("all", *_row(everything))
    Console().print(table)
    for one in everything if arguments.wrong else ():
        if one.wrong or one.missed:
            print(
                f"wrong {' '.join(one.wrong) or '-':8} missed {' '.join(sorted(one.missed)) or '-':8} {one.prompt.text[:90]!r}"
            )


def _row(some: Sequence[Asked]) -> tuple[str, ...]:
    shown = sum(len(one.came) for one in some)
    right = sum(len(one.prompt.about.intersection(one.came)) for one in some)
    known = sum(len(one.prompt.about) for one in some)
    nothing = [one for one in some if not one.prompt.about and not one.prompt.may]
    silent = sum(not one.came for one in nothing)
    return (
        str(len(some)),
        f"{100 * (1 - sum(len(one.wrong) for one in some) / max(shown, 1)):.1f}",
        f"{100 * right / max(known, 1):.1f}",
        f"{100 * silent / max(len(nothing), 1):.1f} of {len(nothing)}",
        f"{sum(one.tokens for one in nothing) / max(len(nothing), 1):.1f}",
        f"{1000 * sum(one.seconds for one in some) / len(some):.1f}",
    )


if __name__ == "__main__":
    main()
