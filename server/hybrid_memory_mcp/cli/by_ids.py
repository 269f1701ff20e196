"""Operations on memories that a person names by their ids, which may lie in the project at hand instead of in the default namespace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import HybridMemoryError, error_code
from hybrid_memory_mcp.cli.operation_call import call_operation
from hybrid_memory_mcp.cli.output import one_line_errors, shown
from hybrid_memory_mcp.cli.project import other_namespace

if TYPE_CHECKING:
    from hybrid_memory_mcp.admin.operations import ProgressCallback

_NOT_THERE = ("no such memory", "not in this namespace")  # in what operations on ids say
_NEWEST = 100  # memories that a shell hears of
_WORDS = 60  # characters of each


@one_line_errors()
def call_by_ids(
    home: Path | None,
    operation: str,
    arguments: dict[str, Any],
    namespace: str | None,
    *,
    on_progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Have an operation done on memories that are named; say where else they may lie."""
    try:
        return call_operation(home, operation, arguments, namespace=namespace, on_progress=on_progress)
    except HybridMemoryError as error:
        other = other_namespace(home, namespace)
        if other is None or not any(words in str(error) for words in _NOT_THERE):
            raise
        from hybrid_memory_mcp.admin.hub_client import OperationFailed

        words = f"{error}; those of the project in this folder go by --namespace {json.dumps(other)}"
        raise OperationFailed(words, error_code(error)) from None


def completed_ids(incomplete: str) -> list[tuple[str, str]]:
    """Complete the id of a memory that was written lately, with its words alongside it; nothing where none can be asked for."""
    try:
        found = call_operation(None, "list", {"limit": _NEWEST})
    except HybridMemoryError:
        return []
    memories = [one for one in found["memories"] if one["id"].startswith(incomplete)]
    return [(one["id"], shown(one["content"])[:_WORDS]) for one in memories]
