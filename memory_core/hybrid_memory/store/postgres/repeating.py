"""Calls that are made again while nothing came of them for a reason that passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from time import monotonic, sleep
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

from hybrid_memory.errors import ConcurrentModification
from hybrid_memory.store.postgres.pg_errors import ConnectionLost

if TYPE_CHECKING:
    from hybrid_memory.store.postgres.connections import Connections

_Value = TypeVar("_Value")
_Arguments = ParamSpec("_Arguments")

_TRIES = 20  # of a change that other hubs are in the way of
_PAUSE_SECONDS = 0.01


class _Part(Protocol):
    """A part of the store."""

    @property
    def connections(self) -> Connections:
        """What it reads and writes with."""
        ...


_AnyPart = TypeVar("_AnyPart", bound=_Part)


def again(call: Callable[[], _Value], wait_seconds: float) -> _Value:
    """Return what a call returns, repeated while the connection was lost before anything was changed, or other hubs were in the way."""
    deadline = monotonic() + wait_seconds
    tries = 0
    while True:
        tries += 1
        try:
            return call()
        except ConnectionLost:
            if monotonic() >= deadline:
                raise
        except ConcurrentModification:
            if tries == _TRIES:
                raise
        sleep(_PAUSE_SECONDS)


def repeated(
    method: Callable[Concatenate[_AnyPart, _Arguments], _Value],
) -> Callable[Concatenate[_AnyPart, _Arguments], _Value]:
    """Have a method of a part of the store called `again`; it must change nothing but in its one transaction."""

    @wraps(method)
    def call(self: _AnyPart, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Value:
        return again(lambda: method(self, *args, **kwargs), self.connections.wait_seconds)

    return cast("Callable[Concatenate[_AnyPart, _Arguments], _Value]", call)
