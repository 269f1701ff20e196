"""Fixtures for tests in a real browser: Chromium of the system, driven by playwright, before pages that the real command serves.

``visit`` opens a page of a store with a whole life in it (`life.py`); what the browser reports as an error, and every request to another
address than the page's own, fails the test that caused it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.browser.hostile import make_hostile_store
from tests.browser.life import make_life

# Colours alone differ in the dark, so that CI looks at the light; `just browser` at both.
THEMES = ["light", pytest.param("dark", marks=pytest.mark.slow)]
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 360, "height": 740}
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_START_SECONDS = 20.0
# Where all tests are run as root, in a container, Chromium can have no sandbox.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
)


@pytest.fixture(autouse=True)
def no_network() -> None:
    """These tests speak to the page's server, over loopback; the browser's own requests are watched instead."""


@dataclass
class Served:
    """A page's server of a store: ``base`` is its origin, ``address`` the one that lets a browser in, once."""

    base: str
    address: str
    home: Path
    process: subprocess.Popen[str]
    ids: Any = None
    cookies: list[Any] = field(default_factory=list)
    contexts: list[Any] = field(default_factory=list)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium, headless."""
    playwright = pytest.importorskip("playwright.sync_api", reason="`uv sync --group browser` installs playwright")
    path = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    if path is None:
        pytest.skip("there is no Chromium; Debian's package is `chromium`")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[Served]:
    """Serve the page of a store by the command that people type."""
    home_of_user = home.parent / f"{home.name}-user"
    home_of_user.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HYBRID_MEMORY_")}  # noqa: TID251 - for the process
    environment = kept | {"HOME": str(home_of_user), "HYBRID_MEMORY_HOME": str(home)}
    command = [sys.executable, "-m", "hybrid_memory_mcp", "inspect", "--no-browser", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=home_of_user
    )
    said: list[str] = []
    listening = threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
    listening.start()
    watchdog = threading.Timer(_START_SECONDS, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        watchdog.cancel()
        assert address.startswith("http://"), f"no address, but {address!r} and {said}"
        parts = urlsplit(address)
        served = Served(f"{parts.scheme}://{parts.netloc}", address, home, process)
        yield served
        # A browser that still asks while the server ends would be told so, and complain.
        for context in served.contexts:
            context.close()
    finally:
        watchdog.cancel()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        finally:
            listening.join(5)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()


@pytest.fixture(scope="session")
def life_store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A store with a life in it, that nobody may change: tests that act take a copy (`own_life`)."""
    home = tmp_path_factory.mktemp("life") / "memory"
    return home, make_life(home)


@pytest.fixture(scope="session")
def life(life_store: tuple[Path, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a whole life, for tests that only look."""
    home, ids = tmp_path_factory.mktemp("looked-at") / "memory", life_store[1]
    shutil.copytree(life_store[0], home)
    with serving(home) as served:
        served.ids = ids
        yield served


@pytest.fixture
def own_life(life_store: tuple[Path, Any], tmp_path: Path) -> Iterator[Served]:
    """The page of a life that the test may change."""
    home = tmp_path / "memory"
    shutil.copytree(life_store[0], home)
    with serving(home) as served:
        served.ids = life_store[1]
        yield served


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a store in which everything wants to do harm."""
    home = tmp_path_factory.mktemp("hostile") / "memory"
    ids = make_hostile_store(home)
    with serving(home) as served:
        served.ids = ids
        yield served


@pytest.fixture
def first_day(tmp_path: Path) -> Iterator[Served]:
    """The page of a memory that holds nothing yet."""
    with serving(tmp_path / "memory") as served:
        yield served


@pytest.fixture(scope="session")
def nothing_yet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a memory that holds nothing, for tests that only look."""
    with serving(tmp_path_factory.mktemp("nothing") / "memory") as served:
        yield served


class Visit:
    """A page in a browser, with what it asked for and complained about; `check` says whether that was all right."""

    def __init__(self, page: Any, served: Served) -> None:
        self.page = page
        self.served = served
        self.requested: list[str] = []
        self.complaints: list[str] = []
        page.context.on("request", lambda request: self.requested.append(request.url))
        page.on("console", self._note_console)
        page.on("pageerror", self._note_error)

    def _note_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _note_error(self, error: Any) -> None:
        # Chromium reports each movement between two pages that it skips, as it may when a page appears late, and leaves a
        # page no way to hear of it (csswg-drafts issue 13726).
        if not str(error).startswith("Transition was "):
            self.complaints.append(f"error: {error}")

    def open(self, path: str = "/") -> Any:
        """Go to an address of the page; returns playwright's page."""
        self.page.goto(f"{self.served.base}{path}", wait_until="load")
        return self.page

    @property
    def outside(self) -> list[str]:
        """The requests that left the page's own address."""
        own = (self.served.base + "/", "data:", "blob:" + self.served.base)
        return [url for url in self.requested if not url.startswith(own)]

    def check(self) -> None:
        """Fail if the browser complained or asked somebody else."""
        assert self.outside == []
        assert self.complaints == []

    def violations(self) -> list[str]:
        """Return what axe finds against WCAG 2.2 AA in the page as it is now."""
        script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        # Evaluated by the debugger's connection, which the page's policy does not bind.
        self.page.evaluate(script)
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = self.page.evaluate("tags => axe.run(document, {runOnly: tags})", tags)["violations"]
        return [f"{one['id']}: {node['html'][:160]} {node['any'][:1]}" for one in found for node in one["nodes"]]


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """Returns a function that opens a browser of its own before a page's server: ``visit(life, theme="dark")``."""
    visits = []

    def begin(served: Served, *, theme: str = "light", size: dict[str, int] = WIDE, **options: Any) -> Visit:
        context = chromium.new_context(
            color_scheme=theme, viewport=size, locale="en-GB", timezone_id="Europe/Lisbon", **options
        )
        served.contexts.append(context)
        context.set_default_timeout(30_000)
        if served.cookies:
            context.add_cookies(served.cookies)
        found = Visit(context.new_page(), served)
        visits.append(found)
        if not served.cookies:
            found.page.goto(served.address)
            served.cookies = context.cookies()
        return found

    yield begin
    for one in visits:
        one.page.context.close()
        one.served.contexts.remove(one.page.context)
        one.check()
