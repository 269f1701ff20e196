"""The pages of what programs call: errors, the library, and what tests use."""

import dataclasses
import enum
import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NewType

from tools.reference.markdown import code, first_sentence, prose, table

import hybrid_memory
from hybrid_memory import errors
from hybrid_memory_mcp.mcp_api.errors import _PROBLEMS

TESTING = "hybrid_memory_testing"


def errors_page() -> str:
    """Return the page of the errors."""
    known = [one for _, one in inspect.getmembers(errors, inspect.isclass) if one.__module__ == errors.__name__]
    rows = [
        (code(one.__name__), code(one.__bases__[0].__name__), first_sentence(one.__doc__)) for one in _by_line(known)
    ]
    problems = [
        (code(one.replace("{", "").replace("}", "").replace(":g", "")),) for one in dict.fromkeys(_PROBLEMS.values())
    ]
    return f"""# Errors

{prose(errors.__doc__).split(chr(10) * 2)[-1]}

| where | what an error is |
| --- | --- |
| a tool | a result with `isError`, and the message as its text |
| a resource, a prompt | a JSON-RPC error: -32602 for what the caller can mend, -32603 for all else |
| a command | one line on standard error, and an exit code ([commands](commands.md)) |
| the library | an exception of `hybrid_memory.errors` |

## Of the library

{table(("error", "is a", "when"), rows)}
## Of a tool's arguments

One line for each wrong argument, as `importance: must be a number from 0 to 1, as 0.8`; never the value that was given.

{table(("what is said after the name",), problems)}"""


def _by_line(found: list[type]) -> list[type]:
    return sorted(found, key=lambda one: inspect.getsourcelines(one)[1])


def library_page() -> str:
    """Return the page of the library."""
    return _module_page("The library", hybrid_memory)


def testing_page() -> str | None:
    """Return the page of what tests of agents use; None where it is not there."""
    if importlib.util.find_spec(TESTING) is None:
        return None
    return _module_page("For tests of agents", importlib.import_module(TESTING))


def _module_page(title: str, module: ModuleType) -> str:
    parts = [f"# {title}\n", f"{prose(module.__doc__)}\n"]
    named = [(name, getattr(module, name)) for name in module.__all__]
    rows = [(f"[`{name}`](#{name.lower()})" if _has_section(one) else code(name), _short(one)) for name, one in named]
    parts.append(table(("name", "what it is"), rows))
    parts += [_described(name, one) for name, one in named if _has_section(one)]
    return "\n".join(part for part in parts if part)


def _has_section(thing: Any) -> bool:
    return inspect.isclass(thing) or inspect.isroutine(thing)


def _short(thing: Any) -> str:
    if isinstance(thing, NewType):
        return f"{code(thing.__supertype__.__name__)} by another name"
    return first_sentence(thing.__doc__) if _has_section(thing) else "a type"


def _described(name: str, thing: Any) -> str:
    if inspect.isclass(thing):
        return _class(name, thing)
    return f"## {name}\n\n```python\n{name}{_signature(thing)}\n```\n\n{prose(thing.__doc__)}\n"


def _class(name: str, thing: type) -> str:
    parts = [f"## {name}\n"]
    if issubclass(thing, enum.Enum):
        parts += [prose(thing.__doc__) + "\n", "Values: " + ", ".join(code(one.value) for one in thing) + ".\n"]
        return "\n".join(parts)
    if dataclasses.is_dataclass(thing):
        fields = [(code(one.name), code(one.type), _default(one)) for one in dataclasses.fields(thing)]
        parts += [prose(thing.__doc__) + "\n", table(("field", "type", "default"), fields)]
    else:
        parts.append(prose(thing.__doc__) + "\n")
    values = [(code(name), code(_returns(one.fget)), prose(one.__doc__)) for name, one in _properties(thing)]
    parts.append(table(("value", "type", "what it is"), values))
    rows = [(code(f"{method}{_signature(one)}"), prose(one.__doc__)) for method, one in _methods(thing)]
    parts.append(table(("method", "what it does"), rows))
    return "\n".join(part for part in parts if part)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        shown = field.default.value if isinstance(field.default, enum.Enum) else repr(field.default)
        return code(shown)
    return "" if field.default_factory is dataclasses.MISSING else "empty"


def _properties(thing: type) -> list[tuple[str, property]]:
    """Return the public properties that a class itself has, in their order."""
    return [(name, one) for name, one in vars(thing).items() if isinstance(one, property) and not name.startswith("_")]


def _methods(thing: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods that a class itself has, in their order."""
    for name, one in vars(thing).items():
        called = getattr(one, "__func__", one)
        if not name.startswith("_") and inspect.isfunction(called) and called.__doc__:
            yield name, called


def _returns(called: Any) -> str:
    return str(inspect.signature(called).return_annotation).strip("'")


def _signature(thing: Any) -> str:
    """Return the arguments as they are written, without the object itself."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    kept = [one for one in found.parameters.values() if one.name not in ("self", "cls")]
    return str(found.replace(parameters=kept)).replace("'", "")
