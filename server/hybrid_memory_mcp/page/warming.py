"""What the first look at each view would else wait for, done while a person looks at the first page.

A template is compiled at its first use (20 to 100 ms each), and some views gather what the library then keeps: the order of sessions,
what looks like a secret. Nothing here is shown, counts as a use, or begins what takes seconds: the map and the names wait to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import Scope
from hybrid_memory_mcp.inspector.table import VIEWS
from hybrid_memory_mcp.inspector.view import View, ViewRequest
from hybrid_memory_mcp.page.rendering import environment

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

_GATHERED = ("search", "brief", "sessions", "review", "health")
_QUESTION = "Ada"  # whatever is asked, a search needs the same


def compile_first() -> None:
    """Compile the template of the page that a browser opens first."""
    environment().get_template(VIEWS[0].template)


def warm_up(run: Callable[[Callable[[MemoryService], Any]], Any], scope: Scope, home: Path) -> None:
    """Compile the other templates, and let the views of ``_GATHERED`` look once; ``run`` runs work with the open memory.

    Raises:
        HybridMemoryError: the memory is closed meanwhile.
    """
    for view in VIEWS:
        environment().get_template(view.template)
    request = ViewRequest(scope=scope, parameters={"q": _QUESTION}, home=home)
    for view in VIEWS:
        if view.name in _GATHERED:
            run(partial(_look, view, request))


def _look(view: View, request: ViewRequest, service: MemoryService) -> None:
    with suppress(InvalidInput, NotFound):  # who opens this view is told
        view.load(service, request)
