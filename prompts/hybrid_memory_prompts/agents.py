"""The smallest agents under an earlier import path. They live in `hybrid_memory_dbgpt.agents`.

Nothing of it is imported before a name is asked for: this package stands below that one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory_dbgpt.agents import *  # noqa: F403 - for type checkers; at run time `__getattr__` finds the names


def __getattr__(name: str) -> Any:
    target = importlib.import_module("hybrid_memory_dbgpt.agents")
    if name == "__all__" or name in target.__all__:
        return getattr(target, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(importlib.import_module("hybrid_memory_dbgpt.agents").__all__)
