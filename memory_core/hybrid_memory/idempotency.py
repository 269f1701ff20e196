"""Idempotent requests: a request that was done before is answered with the result that was stored then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

from hybrid_memory.errors import ConstraintViolation

if TYPE_CHECKING:
    from hybrid_memory.model import Json, Scope
    from hybrid_memory.store.base import RequestKey, Store

P = ParamSpec("P")
R = TypeVar("R")


class HasStore(Protocol):
    """An object with a store."""

    store: Store


S = TypeVar("S", bound=HasStore)


def idempotent(
    decode: Callable[[Mapping[str, Json]], R],
) -> Callable[[Callable[Concatenate[S, Scope, P], R]], Callable[Concatenate[S, Scope, P], R]]:
    """Let a verb whose ``key`` was seen before return its stored outcome, before it looks at anything else.

    What a request needed may be gone by then, or its own doing may be in its way.
    """

    def decorate(verb: Callable[Concatenate[S, Scope, P], R]) -> Callable[Concatenate[S, Scope, P], R]:
        @wraps(verb)
        def run_once(self: S, scope: Scope, /, *args: P.args, **kwargs: P.kwargs) -> R:
            key = cast("RequestKey | None", kwargs.get("key"))
            done = None if key is None else self.store.result(scope.namespace, key)
            if done is None:
                return verb(self, scope, *args, **kwargs)
            try:
                return decode(done)
            except (KeyError, TypeError, ValueError):
                raise ConstraintViolation("this request was made before for something else; make a new one") from None

        return run_once

    return decorate
