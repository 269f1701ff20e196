"""Every link of every page leads to a page, whatever names the memories hold."""

from __future__ import annotations

import re
from html import unescape

import pytest
from tests.server.services import SCOPE

from hybrid_memory.model import MemoryType, Origin
from hybrid_memory.requests import UpdateRequest
from hybrid_memory_inspector.views.table import VIEWS

pytestmark = pytest.mark.slow

LINK = re.compile(r'\shref="(/[^"#]*)')
SESSIONS = (
    "a/b?c=d&e=f#g",
    "package.json",
    "../../etc/passwd",
    "%2e%2e%2f",
    "<b>",
    "\u202eevil",
    "東京 1",
    "..",
    "a//b",
    " ",
)
MOST = 400  # pages


@pytest.fixture
def full(page):
    """A memory with versions, insights, tools' words, and names that mean something in an address."""
    for number, session in enumerate(SESSIONS):
        page.remember(
            f"Ada met {session} in Lisbon, for the {number + 1}th time.",
            session=session.strip() or None,
            tags=(session,) if session.strip() else (),
            speaker=session if session.strip() else None,
            memory_type=MemoryType.LONG_TERM,
            origin=Origin.TOOL if number % 3 == 0 else Origin.USER,
        )
    first = page.remember("Ada lives in Berlin.", memory_type=MemoryType.LONG_TERM)
    page.service.update(SCOPE, UpdateRequest(id=first, content="Ada lives in Lisbon."))
    return page


def links_of(text):
    return {unescape(one) for one in LINK.findall(text)}


@pytest.mark.daily
def test_every_link_leads_to_a_page(full):
    waiting = {view.path for view in VIEWS if "{" not in view.path}
    seen: dict[str, int] = {}
    while waiting and len(seen) < MOST:
        path = min(waiting)
        waiting.remove(path)
        answer = full.get(path)
        seen[path] = answer.status_code
        if answer.headers["content-type"].startswith("text/html"):
            waiting |= links_of(answer.text) - seen.keys()

    assert {path: status for path, status in seen.items() if status != 200} == {}
    assert len(seen) > 60
