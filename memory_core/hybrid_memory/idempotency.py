"""Idempotent requests: a request that was done before is answered with the result that was stored then.

Whether a request is new is decided in the transaction of its write, under the write lock: `Store.write` returns the stored result of
one that is not. The look before the verb is there for repeats alone: what the request needed may be gone by then, or what it did may
be in its way. For a new request, which nearly all are, both looks ask a set of numbers in memory, and the database is not asked at all;
for a repeat the stored row is read once, here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from hybrid_memory.decisions.result_codec import JsonCodec
    from hybrid_memory.model import Scope
    from hybrid_memory.store.base import RequestKey, Store

P = ParamSpec("P")
R = TypeVar("R")


class HasStore(Protocol):
    """An object with a store."""

    store: Store


S = TypeVar("S", bound=HasStore)


def idempotent(
    codec: JsonCodec[R],
) -> Callable[[Callable[Concatenate[S, Scope, P], R]], Callable[Concatenate[S, Scope, P], R]]:
    """Let a verb whose ``key`` was seen before return its stored result, before it looks at anything else.

    Raises (the verb):
        ConstraintViolation: the key was used for another verb.
    """

    def decorate(verb: Callable[Concatenate[S, Scope, P], R]) -> Callable[Concatenate[S, Scope, P], R]:
        @wraps(verb)
        def run_once(self: S, scope: Scope, /, *args: P.args, **kwargs: P.kwargs) -> R:
            key = cast("RequestKey | None", kwargs.get("key"))
            done = None if key is None else self.store.result(scope.namespace, key)
            return verb(self, scope, *args, **kwargs) if done is None else codec.decode(done)

        return run_once

    return decorate
