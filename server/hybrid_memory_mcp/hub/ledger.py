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


@dataclass(slots=True)
class Asked:
    """A request at work: the relay's number of it, 0 for one that a former hub answered; ``uri`` of a subscription."""

    number: int
    method: str
    uri: str = ""
    again: bool = False

    @property
    def counts(self) -> bool:
        """Whether it takes a place among the requests at work; one that waits for news does not."""
        return self.method != LISTEN


@dataclass(slots=True)
class Ledger:
    """The requests of one connection: those at work, by their ids, and those that wait for a place."""

    at_once: int
    most_waiting: int
    _asked: dict[RequestId, deque[Asked]] = field(default_factory=dict)
    _waiting: deque[JSONRPCRequest] = field(default_factory=deque)
    _working: int = 0

    def number_of(self, request_id: RequestId) -> int | None:
        """Return the relay's number of a request at work."""
        found = self._asked.get(request_id)
        return found[0].number if found else None

    def listens_again(self, request_id: RequestId | None) -> bool:
        """Say whether a request at work is a stream of news that began at a former hub."""
        found = None if request_id is None else self._asked.get(request_id)
        return found is not None and found[0].again and found[0].method == LISTEN

    def enter(self, message: JSONRPCRequest, asked: Asked) -> bool | None:
        """Note a request; says whether it may begin: True at once, False when its turn comes, None not at all."""
        if not asked.counts or self._working < self.at_once:
            self._working += asked.counts
            self._asked.setdefault(message.id, deque()).append(asked)
            return True
        if len(self._waiting) >= self.most_waiting:
            return None
        self._asked.setdefault(message.id, deque()).append(asked)
        self._waiting.append(message)
        return False

    def leave(self, request_id: RequestId) -> tuple[Asked | None, JSONRPCRequest | None]:
        """Note that a request is over; returns it, and one whose turn has come."""
        found = self._asked.get(request_id)
        if not found:
            return None, None
        asked = found.popleft()
        if not found:
            del self._asked[request_id]
        for waiting in self._waiting:
            if waiting.id == request_id:
                self._waiting.remove(waiting)
                return asked, None
        self._working -= asked.counts
        if self._waiting and self._working < self.at_once:
            self._working += 1
            return asked, self._waiting.popleft()
        return asked, None

    @property
    def busy(self) -> bool:
        """Whether a request is at work, those aside that wait for news."""
        return self._working > 0
