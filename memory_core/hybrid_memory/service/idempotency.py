"""`idempotent`: a request that was done before is answered with the result that was stored then.

It decorates the writing methods of `MemoryService`. A request key is looked up twice:

1. here, before the method does anything. A repeat ends here, with the stored result: what the request needed may be gone by now,
   or what it did may be in its way (a memory that it superseded is superseded);
2. in the transaction (`Store.write`), under the write lock. Only this decides: of two equal requests at once one is new.

For a new request, which nearly all are, both ask a set of numbers in memory and not the database.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from hybrid_memory.decisions.result_codec import JsonCodec
    from hybrid_memory.model import Scope
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import RequestKey

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
