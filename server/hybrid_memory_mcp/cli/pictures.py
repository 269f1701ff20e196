"""Pictures of time for a terminal: bars, spans, a memory's life. Pure: they return lines of a given width, and read no clock.

A picture has a scale from the left to the right end; what lies on it is given by its share of that, from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from hybrid_memory_mcp.cli.output import shown
from hybrid_memory_mcp.memory_words import TIER_NAMES
from hybrid_memory_mcp.words.times_and_numbers import date_in_words

BAR_ROWS = 3
TIER_STYLES: Mapping[str, str] = {
    "long_term": "green",
    "episodic": "green",
    "working": "magenta",
    "short_term": "blue",
    "sensory": "yellow",
    "faded": "bright_black",
}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What a picture is drawn with: ``bars`` from the lowest, a span's ``line`` and ``begin``, the ``full`` and ``rest`` of a share."""

    bars: str
    line: str
    begin: str
    dot: str
    full: str
    rest: str
    marker: str
    arrow: str
    dash: str


UNICODE = Glyphs(bars="▁▂▃▄▅▆▇█", line="━", begin="●", dot="·", full="█", rest="░", marker="▲", arrow="→", dash="–")
ASCII = Glyphs(bars="_.:-=+*#", line="=", begin="o", dot=".", full="#", rest="-", marker="^", arrow="->", dash="-")


def glyphs_for(encoding: str | None, *, dumb: bool = False) -> Glyphs:
    """Return what a terminal of some encoding can show."""
    try:
        (UNICODE.bars + UNICODE.line + UNICODE.begin + UNICODE.full + UNICODE.rest + UNICODE.marker).encode(
            encoding or "ascii"
        )
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return ASCII if dumb else UNICODE


def day(moment: str | datetime) -> str:
    """Return the day of a moment in this machine's zone, as ``4 Nov 2026``."""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return date_in_words(_local(at))


def _local(at: datetime) -> datetime:
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError):
        return at  # at an end of the calendar


def share_of(moment: str, begin: str, end: str) -> float:
    """Return where a moment lies between two others, from 0 to 1."""
    at, first, last = map(datetime.fromisoformat, (moment, begin, end))
    length = (last - first).total_seconds()
    return 1.0 if length <= 0 else min(max((at - first).total_seconds() / length, 0.0), 1.0)


def columns_of(begin: float, end: float, width: int) -> range:
    """Return the columns of a span; what is short has one."""
    first = min(int(begin * width), width - 1)
    return range(first, max(min(round(end * width), width), first + 1))


def span(begin: float, end: float, width: int, glyphs: Glyphs, *, style: str = "", marker: float | None = None) -> Text:
    """Return a line on which something held from one share to another; ``marker`` is a moment on it."""
    held = columns_of(begin, end, width)
    line = Text()
    for at in range(width):
        if at == held.start:
            line.append(glyphs.begin, style)
        elif at in held:
            line.append(glyphs.line, style)
        else:
            line.append(glyphs.dot, "dim")
    if marker is not None:
        at = min(int(marker * width), width - 1)
        line.stylize("reverse", at, at + 1)
    return line


def bars(values: Sequence[tuple[float, float, int]], width: int, glyphs: Glyphs, *, style: str = "") -> list[Text]:
    """Return bars of some counts, each with where it begins and how wide it is, as shares; the highest fills `BAR_ROWS` rows."""
    columns = [0.0] * width
    for begin, length, count in values:
        held = columns_of(begin, begin + length, width)
        for at in held:
            columns[at] += count if len(held) == 1 else max(count - columns[at], 0)
    highest = max(columns, default=0.0)
    steps = len(glyphs.bars)
    heights = [0 if not one else max(round(one / highest * BAR_ROWS * steps), 1) for one in columns]
    rows = []
    for row in reversed(range(BAR_ROWS)):
        filled = [min(max(height - row * steps, 0), steps) for height in heights]
        rows.append(Text("".join(" " if not one else glyphs.bars[one - 1] for one in filled), style))
    return rows


def scale(ticks: Sequence[tuple[float, str]], width: int) -> Text:
    """Return the words below a picture, each at its place; those that would run into another are left out."""
    line, reached = "", 0
    for at, words in sorted(ticks):
        text = shown(words)
        column = min(int(at * width), max(width - cell_len(text), 0))
        if column < reached:
            continue
        line += " " * (column - cell_len(line)) + text
        reached = column + cell_len(text) + 2
    return Text(line[:width] if line.isascii() else line, "dim")


def marked(at: float, words: str, width: int, glyphs: Glyphs) -> Text:
    """Return a line that points at a place of the picture above, with words alongside it."""
    column = min(int(at * width), width - 1)
    text = shown(words)
    if column + 2 + cell_len(text) <= width:
        return Text(" " * column + glyphs.marker + " " + text, "bold")
    before = max(column - cell_len(text) - 1, 0)
    return Text(" " * before + text + " " + glyphs.marker, "bold")


def share_bar(share: float, width: int, glyphs: Glyphs, *, style: str = "") -> Text:
    """Return how large a share is, as a bar."""
    filled = round(min(max(abs(share), 0.0), 1.0) * width)
    return Text.assemble((glyphs.full * filled, style), (glyphs.rest * (width - filled), "dim"))


def life(told: Mapping[str, Any], width: int, glyphs: Glyphs) -> list[Text]:
    """Return the picture of a memory's life (`views.life.life_of`): a row for each part of memory it stood in, over its time.

    A version begins with a dot.
    """
    names = [TIER_NAMES.get(tier, tier) for tier in told["levels"]]
    margin = max(map(len, names), default=0) + 2
    room = max(width - margin, 1)
    begin, end = told["from"], told["to"]
    rows = []
    versions = set()
    for tier, name in zip(told["levels"], names, strict=True):
        cells = [(glyphs.dot, "dim")] * room
        for stage in told["stages"]:
            if stage["tier"] != tier:
                continue
            until = share_of(stage["until"] or end, begin, end)
            for at in columns_of(share_of(stage["from"], begin, end), until, room):
                cells[at] = (glyphs.line, TIER_STYLES.get(tier, ""))
        for stage in told["stages"]:
            first = next(one for one in told["stages"] if one["id"] == stage["id"])
            if stage["tier"] == tier and stage is first:
                versions.add(stage["id"])
                at = columns_of(share_of(stage["from"], begin, end), 0, room).start
                cells[at] = (glyphs.begin, f"bold {TIER_STYLES.get(tier, '')}".strip())
        rows.append(Text.assemble(name.ljust(margin), *cells))
    ends = [(0.0, day(begin)), (1.0, "now")]
    return [*rows, Text.assemble(" " * margin, scale(ends, room))]
