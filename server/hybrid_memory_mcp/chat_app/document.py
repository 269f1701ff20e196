"""The MCP App as one document: a frame, the styles and the modules of this folder laid into it. Pure but for reading the parts.

A host shows the document in a frame that may load nothing, so all of it stands in one text. The modules are ordinary ones that import
each other, as an editor and the tests want them; here each loses its import lines and the word `export`, and they follow one another in
one script. So a name at a module's first level is used once in all of them, and an import stands on one line.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
STYLES = ("../page/static/tokens.css", "app.css")
"""The colours are those of the page."""
MODULES = ("inert.js", "dates.js", "elements.js", "host.js", "state.js", "versions.js", "card.js", "page.js", "main.js")
"""In this order: each uses only what stands before it."""

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
