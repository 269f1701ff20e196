"""The card inside a chat: hits that the person looks at and corrects in place, as an MCP App.

The document is a frame, the styles and the modules of this folder in one text, because a host shows it in a frame that may load nothing.
The modules are ordinary ones that import each other, as an editor and the tests want them; here each loses its import lines and the word
`export`, and they follow one another in one script. So a name at a module's first level is used once in all of them, and an import is on
one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.language.text import excerpt
from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import Hit, ReadRequest
from hybrid_memory_mcp.mcp_api.apps import App

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

FOLDER = Path(__file__).parent
STYLES = ("../page/static/tokens.css", "app.css")
"""The colours are those of the page."""
MODULES = ("inert.js", "dates.js", "elements.js", "host.js", "state.js", "versions.js", "card.js", "page.js", "main.js")
"""In this order: each uses only what comes before it."""

BEFORE_LENGTH = 160  # characters of what a memory said before; its details have all of it

_SECURITY: dict[str, Any] = {
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "permissions": {}, "prefersBorder": True}
}
"""It loads nothing and asks for no permission."""

_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|let|function|async|class)", re.MULTILINE)


@cache
def inspector_html() -> str:
    """Return the document."""
    parts = {
        "{{styles}}": "".join(_read(name) for name in STYLES),
        "{{script}}": "".join(_plain(_read(name)) for name in MODULES),
    }
    document = _read("app.html")
    for mark, text in parts.items():
        document = document.replace(mark, text)
    return document


def _plain(module: str) -> str:
    return _EXPORT.sub("", _IMPORT.sub("", module))


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def details_of(service: MemoryService, scope: Scope, hits: Sequence[Hit], shown: Sequence[MemoryId]) -> dict[str, Any]:
    """Return what the card shows of hits beyond an answer, by id, above all what each said before."""
    memories = [hit.memory for hit in hits if hit.memory.id in set(shown)]
    wanted = tuple(one.supersedes for one in memories if one.supersedes is not None)
    found = service.read(scope, ReadRequest(ids=wanted, limit=len(wanted), recalls=False)).hits if wanted else ()
    before = {hit.memory.id: hit.memory for hit in found}
    return {one.id: _details(one, before.get(one.supersedes or MemoryId(""))) for one in memories}


def _details(memory: Memory, before: Memory | None) -> dict[str, Any]:
    told: dict[str, Any] = {"trust": memory.trust.value}
    if memory.pinned:
        told["pinned"] = True
    if before is not None:
        happened = before.occurred_at or before.created_at
        told["before"] = {
            "text": excerpt(before.content, BEFORE_LENGTH),
            "since": happened.isoformat(timespec="seconds"),
        }
    return told


APP = App(
    uri="ui://memory/inspector",
    name="inspector",
    title="Memories",
    description="What was recalled, since when it is known, what it replaced; corrected in place",
    meta=_SECURITY,
    shown_by=("read_memories", "reflect"),
    document=inspector_html,
    details=details_of,
)
