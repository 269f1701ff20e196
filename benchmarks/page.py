"""The page of a large memory in a real Chromium: how soon each view is there, how long a search takes, how smoothly the map moves.

    uv run --group browser python -m benchmarks.page [--memories 100000] [--rounds 40] [--json] [--keep FOLDER]

The store is made by `scale_store`; the page is served by `hybrid-memory-mcp inspect`, and opened by the system's Chromium, headless,
which draws without a graphics card. A view's first paint is what the browser reports as first contentful paint after a navigation: "first
look" at the first visit of each view after the start, the others when map and names are made, which takes seconds in the background. A
search is timed in the browser, from the request for ``/search.json`` until its answer is read. The map is dragged and zoomed for five
seconds; frames are those that the browser shows (``requestAnimationFrame``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote, urlsplit

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_SEARCH = """async path => {
    const began = performance.now(); const answer = await fetch(path); await answer.json();
    if (!answer.ok) throw new Error(String(answer.status));
    return performance.now() - began }"""
_COUNT = """() => { window.frames_ = []; const next = at => { window.frames_.push(at); requestAnimationFrame(next) };
    requestAnimationFrame(next) }"""
_MAP_SECONDS = 5.0
_MAP_READY_MS = 120_000
_POLL_MS = 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder in which the store stays for the next run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hm-") as name:
        home = (given.keep or Path(name)) / f"memory-{given.memories}"
        _make(home, given.memories)
        with _serving(home, Path(name)) as address:
            found = _measure(address, given.rounds)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("what", "median", "worst", title=f"{given.memories:,} memories")
    for what, values in found.items():
        unit = "frames/s" if what.startswith("map:") else "ms"
        worst = min(values) if what.startswith("map:") else max(values)
        table.add_row(what, f"{median(values):.0f} {unit}", f"{worst:.0f} {unit}")
    Console().print(table)


def _make(home: Path, memories: int) -> None:
    from benchmarks.scale_store import make_store

    if (home / "memory.duckdb").exists():
        return
    home.mkdir(parents=True, exist_ok=True)
    with Progress(transient=True) as progress:
        task = progress.add_task("making the store", total=memories)
        make_store(home, memories, lambda done: progress.advance(task, done))


@contextmanager
def _serving(home: Path, user: Path) -> Iterator[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HYBRID_MEMORY_")}  # noqa: TID251 - for the process
    command = [sys.executable, "-m", "hybrid_memory_mcp", "inspect", "--no-browser"]
    environment = kept | {"HYBRID_MEMORY_HOME": str(home), "HOME": str(user)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=user) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)


def _measure(address: str, rounds: int) -> dict[str, list[float]]:
    from playwright.sync_api import sync_playwright

    from benchmarks.scale_store import Texts
    from hybrid_memory_inspector.views.table import VIEWS

    base = f"{urlsplit(address).scheme}://{urlsplit(address).netloc}"
    texts = Texts(7)
    texts.new_session()
    questions = [" ".join(texts.sentence().split()[:5]) for _ in range(rounds)]
    found: dict[str, list[float]] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(_MAP_READY_MS)
        page.goto(address)
        paths = [view.path for view in VIEWS if "{" not in view.path] + [f"/search?q={quote(questions[0])}"]
        found["first look at a view"] = [_first_paint(page, base + path) for path in paths]
        for path in ("/map.json?wait=1", "/names.json?wait=1"):  # made in the background, at the first look
            while not page.evaluate("path => fetch(path).then(answer => answer.json()).then(data => data.ready)", path):
                pass
        for path in paths:
            name = path.partition("q=")[0]
            found[f"first paint {name}"] = [_first_paint(page, base + path) for _ in range(max(rounds // 8, 3))]
        page.goto(base)
        found["search.json"] = [page.evaluate(_SEARCH, f"/search.json?q={quote(one)}") for one in questions]
        found["map: dragged"], found["map: zoomed"] = _map_frames(page, base)
        browser.close()
    return found


def _first_paint(page: Any, url: str) -> float:
    page.goto(url, wait_until="load")
    while (painted := page.evaluate(_PAINT)) is None:
        page.wait_for_timeout(_POLL_MS)
    return float(painted)


def _map_frames(page: Any, base: str) -> tuple[list[float], list[float]]:
    """Return the frames of each second while the map is dragged, and while it is zoomed."""
    page.goto(f"{base}/map")
    page.wait_for_selector("main canvas[data-points]")
    while not int(
        page.get_attribute("main canvas", "data-points") or 0
    ):  # the page's policy lets nothing be evaluated in a loop there
        page.wait_for_timeout(_POLL_MS)
    box = page.locator("main canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(_COUNT)

    def moving(step: Any) -> list[float]:
        page.evaluate("window.frames_ = []")
        began, number = time.monotonic(), 0
        while time.monotonic() - began < _MAP_SECONDS:
            step(number)
            number += 1
        return _each_second(page.evaluate("window.frames_"))

    page.mouse.move(x, y)
    page.mouse.down()
    dragged = moving(lambda number: page.mouse.move(x + 80 * ((number // 20) % 2) - number % 20, y + number % 40))
    page.mouse.up()
    zoomed = moving(lambda number: page.mouse.wheel(0, -60 if (number // 25) % 2 else 60))
    return dragged, zoomed


def _each_second(moments: list[float]) -> list[float]:
    """Return how many of some moments, in milliseconds, lie in each whole second."""
    if not moments:
        return [0.0]
    seconds = int((moments[-1] - moments[0]) // 1000)
    return [
        float(sum(1 for at in moments if 1000 * number <= at - moments[0] < 1000 * (number + 1)))
        for number in range(max(seconds, 1))
    ]


if __name__ == "__main__":
    main()
