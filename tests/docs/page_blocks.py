"""The blocks of code in a page of Markdown, and what the page says of running them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SHELLS = frozenset(("sh", "bash", "shell", "console"))
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(\S*).*$")
_NOT_RUN = re.compile(r"^ {0,3}<!-- not run: (.+?) -->\s*$")


@dataclass(frozen=True)
class Block:
    """One fenced block. ``not_run`` is the reason why no test runs it, from a comment right above it."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(PROJECT).as_posix()}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    found: list[Block] = []
    fence, language, begun, lines = "", "", 0, []
    reason: str | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if fence:
            if line.strip() == fence:
                found.append(Block(page, begun, language, "\n".join(lines) + "\n", reason))
                fence, reason = "", None
            else:
                lines.append(line)
        elif opened := _FENCE.match(line):
            fence, language, begun, lines = opened[1], opened[2], number, []
        elif line.strip():
            said = _NOT_RUN.match(line)
            reason = said[1] if said else None
    return found


def command_lines(block: Block) -> list[str]:
    """Return what is typed in a shell block: lines that go on are one, those of `console` are those behind the `$`."""
    text = re.sub(r" *\\\n\s*", " ", block.text)
    if block.language == "console":
        return [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
