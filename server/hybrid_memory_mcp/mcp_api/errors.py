"""What errors of the library become: for a model text that it can act on, for a client codes, for the log no stored text.

Tools run inside `as_tool_errors`, resources and prompts inside `as_protocol_errors`; nothing else of `mcp_api` catches every
exception.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from hybrid_memory.errors import (
    EngineUnavailable,
    HybridMemoryError,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
    StoreLocked,
)
from hybrid_memory_mcp.runtime.client_place import RefusedHere
from hybrid_memory_mcp.runtime.error_log import failure_text, log_failure

_SHOWN_PROBLEMS = 8  # wrong arguments that are named in one answer; a model mends those first
_SHOWN_NAME_LENGTH = 40  # characters of a made-up name, which could hold anything

_PROBLEMS = {
    "missing": "is required",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "fraction": "must be a number from 0 to 1, as 0.8",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "too_short": "must hold at least {min_length}",
    "too_long": "must hold at most {max_length}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
}


UNKNOWN_OUTCOME = (
    "the memory could not be reached while it stored this; whether it was done is not known. When it can be reached again, look with "
    "read_memories before you repeat it"
)
"""What a model hears of a write whose end nobody can tell; it has no request key to ask by, that is between relay and hub."""


@contextmanager
def as_tool_errors(what: str, *, may_be_done: bool = False) -> Iterator[None]:
    """Turn every failure of the body into a `ToolError` that the model can read; ``what`` names the work in the log.

    ``may_be_done`` says that a hub which died may have done it: a store that cannot be asked leaves that open, whatever its error says.
    """
    try:
        yield
    except (ToolError, MCPError):
        raise
    except OutcomeUnknown:
        raise ToolError(UNKNOWN_OUTCOME) from None
    except (EngineUnavailable, StoreLocked) as error:
        raise ToolError(UNKNOWN_OUTCOME if may_be_done else str(error)) from None
    except HybridMemoryError as error:
        raise ToolError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - the last line before the client
        raise ToolError(_unexpected(what, error)) from None


@contextmanager
def as_protocol_errors(what: str) -> Iterator[None]:
    """Turn every failure of the body into a JSON-RPC error: invalid parameters for the caller's mistakes, else internal."""
    try:
        yield
    except (ResourceError, MCPError):
        raise
    except NotFound as error:
        raise ResourceNotFoundError(str(error)) from None
    except (InvalidInput, RefusedHere) as error:
        raise MCPError(code=INVALID_PARAMS, message=str(error)) from None
    except HybridMemoryError as error:
        raise MCPError(code=INTERNAL_ERROR, message=str(error)) from None
    except Exception as error:  # noqa: BLE001 - the last line before the client
        raise MCPError(code=INTERNAL_ERROR, message=_unexpected(what, error)) from None


def _unexpected(what: str, error: Exception) -> str:
    log_failure(what, error)
    return failure_text(error)


def argument_problems(error: ValidationError, tool: str, takes: Mapping[str, Sequence[str]]) -> str:
    """Return one line for each wrong argument: its name and what it must be, never the value that was given.

    ``takes`` names the tool's arguments, and for each the names that an object in it takes.
    """
    found = error.errors(include_url=False, include_input=False, include_context=True)
    lines = [_problem(item, tool, takes) for item in found[:_SHOWN_PROBLEMS]]
    if len(found) > _SHOWN_PROBLEMS:
        lines.append(f"and {len(found) - _SHOWN_PROBLEMS} more")
    return "\n".join(lines)


def _problem(item: Any, tool: str, takes: Mapping[str, Sequence[str]]) -> str:
    kind, location = item["type"], item["loc"]
    name = _name(location)
    if kind == "extra_forbidden":
        if len(location) == 1 and location[0] in takes.get("where", ()):
            return f'{name}: belongs in where, as {{"where": {{"{name}": ...}}}}'
        taker, known = (tool, tuple(takes)) if len(location) == 1 else (location[0], takes.get(str(location[0]), ()))
        return f"{name}: unknown argument; {taker} takes {', '.join(known)}"
    template = _PROBLEMS.get(kind)
    return f"{name}: {template.format(**item.get('ctx', {}))}" if template else f"{name}: is not valid"


def _name(location: Sequence[int | str]) -> str:
    """Name an argument as ``where.tags.2``; a name that the caller made up is shortened to plain characters."""
    return ".".join(_plain(str(part)) for part in location) or "arguments"


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "?" for c in name[:_SHOWN_NAME_LENGTH])
