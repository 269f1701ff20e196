"""Draws the figures of `benchmarks.scale` and `benchmarks.months` as small SVG files, with the standard library alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_WIDTH, _HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 36, 44
_MOST_STEPS = 8
_COLOURS = ("#1f5fa8", "#c2410c", "#15803d", "#7e22ce", "#6b7280")

Points = Sequence[tuple[float, float]]


def draw(found: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write one picture each for times and for bytes a memory into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [float(figures["memories"]) for figures in found]
    times = {
        "read p50": [figures["read"]["p50"] for figures in found],
        "read of one session": [figures["read_session"]["p50"] for figures in found],
        "write p50": [figures["write"]["p50"] for figures in found],
        "open, first answer": [figures["open_to_first_answer"] for figures in found],
        "matrix product": [figures["matrix_product"]["p50"] for figures in found],
    }
    room = {
        "RAM": [figures["ram_bytes_a_memory"] for figures in found],
        "disk": [figures["disk_bytes_a_memory"] for figures in found],
        "of it vectors": [1_024.0] * len(found),
    }
    (folder / "scale-times.svg").write_text(picture("Milliseconds by number of memories", sizes, times), "utf-8")
    (folder / "scale-bytes.svg").write_text(picture("Bytes a memory by number of memories", sizes, room), "utf-8")


def picture(
    title: str, sizes: Sequence[float], series: Mapping[str, Sequence[float]], *, logarithmic: bool = True
) -> str:
    """Return a picture of some series over sizes, both axes ``logarithmic``, or both from 0 on."""
    values = [value for figures in series.values() for value in figures if value > 0 or not logarithmic]
    axis = _Logarithmic if logarithmic else _Linear
    across, up = axis(sizes, _LEFT, _WIDTH - _RIGHT), axis(values, _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{title}</text>',
    ]
    for tick in up.ticks:
        height = up.at(tick)
        parts.append(
            f'<path d="M{_LEFT} {height:.1f}H{_WIDTH - _RIGHT}" stroke="#e5e7eb"/>'
            f'<text x="{_LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{tick:,.10g}</text>'
        )
    parts += [
        f'<text x="{across.at(tick):.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle">{tick:,.0f}</text>'
        for tick in across.ticks
    ]
    ends: list[float] = []
    for colour, (name, figures) in zip(_COLOURS, series.items(), strict=False):
        points = [
            (across.at(size), up.at(value))
            for size, value in zip(sizes, figures, strict=True)
            if value > 0 or not logarithmic
        ]
        parts.append(_line(points, colour, name, ends))
    return "\n".join([*parts, "</svg>", ""])


class _Logarithmic:
    """A logarithmic axis in whole powers of ten."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self._low = math.floor(math.log10(min(values)))
        self._high = max(math.ceil(math.log10(max(values))), self._low + 1)
        self._first, self._last = first, last
        self.ticks = [10.0**power for power in range(self._low, self._high + 1)]

    def at(self, value: float) -> float:
        """Return the place of a value."""
        return self._first + (math.log10(value) - self._low) / (self._high - self._low) * (self._last - self._first)


class _Linear:
    """An axis from 0 in four to eight round steps."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        most = max(*values, 1)
        step = 10 ** math.floor(math.log10(most))
        step = next(one for one in (step / 5, step / 2, step) if most / one <= _MOST_STEPS)
        self._top = math.ceil(most / step) * step
        self._first, self._last = first, last
        self.ticks = [step * at for at in range(round(self._top / step) + 1)]

    def at(self, value: float) -> float:
        """Return the place of a value."""
        return self._first + value / self._top * (self._last - self._first)


def _line(points: Points, colour: str, name: str, ends: list[float]) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points)
    height = points[-1][1] + 4
    while any(abs(height - other) < 13 for other in ends):
        height += 1
    ends.append(height)
    label = f'<text x="{points[-1][0] + 10:.1f}" y="{height:.1f}" fill="{colour}">{name}</text>'
    return f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>{dots}{label}'
