"""Calls that are made again while nothing came of them for a reason that passes, or nobody knows what came of them.

They are such that to do them twice is to do them once; `writers` has those that are not. So no caller hears of a lost COMMIT unless the
server stays away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from time import monotonic, sleep
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

from hybrid_memory.errors import ConcurrentModification, EngineUnavailable, OutcomeUnknown
from hybrid_memory_postgres.pg_errors import ConnectionLost

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections

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
    """Return what a call returns, repeated while the connection was lost or other hubs were in the way.

    A call whose COMMIT was not answered may have waited long already: from then on the server has ``wait_seconds`` more to come back.

    Raises:
        OutcomeUnknown: the server has not come back, and the call may have been done.
    """
    deadline = monotonic() + wait_seconds
    tries = 0
    doubt: OutcomeUnknown | None = None
    while True:
        tries += 1
        try:
            return call()
        except (EngineUnavailable, OutcomeUnknown, ConcurrentModification) as error:
            if isinstance(error, OutcomeUnknown) and doubt is None:
                doubt, deadline = error, monotonic() + wait_seconds
            in_the_way = isinstance(error, ConcurrentModification) and tries < _TRIES
            lost = isinstance(error, ConnectionLost | OutcomeUnknown) and monotonic() < deadline
            if not (in_the_way or lost):
                raise doubt or error from None  # that a later try changed nothing says nothing of an earlier one
        sleep(_PAUSE_SECONDS)


def repeated(
    method: Callable[Concatenate[_AnyPart, _Arguments], _Value],
) -> Callable[Concatenate[_AnyPart, _Arguments], _Value]:
    """Have a method of a part of the store called `again`; it must change nothing but in its one transaction, and may do that twice."""

    @wraps(method)
    def call(self: _AnyPart, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Value:
        return again(lambda: method(self, *args, **kwargs), self.connections.wait_seconds)

    return cast("Callable[Concatenate[_AnyPart, _Arguments], _Value]", call)
