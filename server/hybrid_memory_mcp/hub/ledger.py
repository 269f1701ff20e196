"""Which request of the client is which line of the relay, and what is special about it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from mcp.types import JSONRPCRequest, RequestId

LISTEN = "subscriptions/listen"
SUBSCRIBE = "resources/subscribe"
UNSUBSCRIBE = "resources/unsubscribe"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
CANCELLED = "notifications/cancelled"


@dataclass(slots=True, eq=False)
class Asked:
    """A request: the relay's number of it, 0 for one that a former hub answered; ``uri`` of a subscription.

    ``waiting`` is its message until it begins.
    """

    number: int
    method: str
    uri: str = ""
    again: bool = False
    retried: bool = False
    waiting: JSONRPCRequest | None = None

    @property
    def counts(self) -> bool:
        """Whether it takes a place among the requests at work; one that waits for news or is replayed does not."""
        return self.method != LISTEN and self.number > 0


@dataclass(slots=True)
class Ledger:
    """The requests of one connection: those at work, by their ids, and those that wait for a place."""

    at_once: int
    most_waiting: int
    _asked: dict[RequestId, deque[Asked]] = field(default_factory=dict)
    _waiting: deque[Asked] = field(default_factory=deque)
    _working: int = 0

    def asked(self, request_id: RequestId | None) -> Asked | None:
        """Return the request under an id that came first and is not over."""
        found = None if request_id is None else self._asked.get(request_id)
        return found[0] if found else None

    def enter(self, message: JSONRPCRequest, asked: Asked) -> bool | None:
        """Note a request; says whether it may begin: True at once, False when its turn comes, None not at all."""
        if not asked.counts or self._working < self.at_once:
            self._working += asked.counts
            self._asked.setdefault(message.id, deque()).append(asked)
            return True
        if len(self._waiting) >= self.most_waiting:
            return None
        asked.waiting = message
        self._asked.setdefault(message.id, deque()).append(asked)
        self._waiting.append(asked)
        return False

    def leave(self, request_id: RequestId) -> tuple[Asked | None, JSONRPCRequest | None]:
        """Note that a request is over; returns it, and one whose turn has come."""
        found = self._asked.get(request_id)
        if not found:
            return None, None
        asked = found.popleft()
        if not found:
            del self._asked[request_id]
        if asked.waiting is not None:
            self._waiting.remove(asked)
            return asked, None
        self._working -= asked.counts
        if not self._waiting or self._working >= self.at_once:
            return asked, None
        self._working += 1
        following = self._waiting.popleft()
        turn, following.waiting = following.waiting, None
        return asked, turn

    @property
    def busy(self) -> bool:
        """Whether a request is at work, those aside that wait for news."""
        return self._working > 0
