"""The page's application in this process, over a store in memory: no server, no access checks, no browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.server.services import SCOPE, ObservedService

from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory_inspector.page.app import PageResources, build_page_app


class Direct:
    """Runs each call at once."""

    def __init__(self, service: ObservedService):
        self.service = service

    async def call(self, work):
        return work(self.service)

    def listen(self, *_):
        return lambda: None


@dataclass
class Page:
    """Asks the application; ``service`` is the memory that it shows."""

    service: ObservedService
    resources: PageResources

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.ask("GET", path, headers=headers)

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        async def asking() -> httpx2.Response:
            transport = httpx2.ASGITransport(app=build_page_app(self.resources), raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **more)

        return anyio.run(asking)

    def remember(self, text: str, *, scope: Scope = SCOPE, **fields: Any) -> str:
        return str(self.service.write(scope, WriteRequest(content=text, **fields)).id)


@pytest.fixture
def page_over(tmp_path: Path) -> Iterator[Callable[[ObservedService], Page]]:
    """Makes the page of a memory."""
    made: list[ObservedService] = []

    def make(service: ObservedService) -> Page:
        made.append(service)
        resources = PageResources(memory=Direct(service), scope=SCOPE, home=tmp_path, clock=service.clock)
        return Page(service, resources)

    yield make
    for one in made:
        one.close()


@pytest.fixture
def page(page_over) -> Page:
    """The page of an empty memory."""
    return page_over(ObservedService())
