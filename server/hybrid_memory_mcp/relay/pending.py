"""A client's line that waits for its answer (`PendingLine`), and the messages that a relay writes by itself when no hub can.

Used by ``relay.py``.
"""

from __future__ import annotations

from hybrid_memory_mcp.relay import protocol

# A request that kills whichever hub works on it must not do that forever: three attempts tell it from bad luck.
MAX_ATTEMPTS = 3
# Hubs may also die before they come to a request, as while they open the store; somewhere a client must hear of it.
MAX_SENDS = 20

_UNKNOWN_OUTCOME = (
    "the memory server stopped {times} times while it worked on this; whether it was done is not known. "
    "Look with read_memories before you repeat it"
)
_NO_HUB_ANSWERS = "{problem}. Whether this was done is not known. Look with read_memories before you repeat it"
_NOT_DONE = "{problem}. This was not done"
_CANCELLED = (
    b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
    b'"params":{"requestId":"TOKEN","reason":"the server that asked has ended"}}\n'
)


class PendingLine:
    """A line of the client that has no answer yet.

    ``sends`` counts the hubs that it was sent to, 0 while there was none, ``attempts`` those that may have worked on it: the
    first one, and each later one that said so. One that died of something else, as while it opened the store, does not count
    against a request.
    ``is_stream`` tells a request for a stream of news, which has no answer as long as its client listens.
    """

    __slots__ = ("attempts", "is_stream", "kind", "name", "payload", "sends")

    def __init__(self, kind: bytes, name: str, payload: bytes) -> None:
        self.kind = kind
        self.name = name
        self.payload = payload
        self.is_stream = False
        self.sends = 0
        self.attempts = 0

    @property
    def should_give_up(self) -> bool:
        """Whether too many hubs died of it, or before they came to it; a stream may be sent forever."""
        return not self.is_stream and (self.attempts >= MAX_ATTEMPTS or self.sends >= MAX_SENDS)

    def begin_sending(self) -> bytes:
        """Count one more hub, and return the kind of frame in which that gets it."""
        self.sends += 1
        if self.sends == 1:
            self.attempts = 1
            return self.kind
        return self._resend_kind

    def take_back(self) -> None:
        """Do not count the hub that got it last, which has done nothing."""
        if not self.is_stream and self.sends:
            self.sends -= 1

    @property
    def _resend_kind(self) -> bytes:
        if self.kind != protocol.LINE:
            return self.kind
        return protocol.RESUBSCRIBE if self.is_stream else protocol.RETRY

    def unknown_outcome_answer(self, problem: str | None = None) -> bytes | None:
        """Return the answer to a request that no hub survived, or will answer because of a problem; None for what needs none."""
        import json

        try:
            message = json.loads(self.payload)
            request, method = message["id"], message["method"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if problem is None:
            text = _UNKNOWN_OUTCOME.format(times=self.sends)
        elif method != "tools/call":
            text = problem
        else:
            text = (_NO_HUB_ANSWERS if self.sends else _NOT_DONE).format(problem=problem)
        answer = {"jsonrpc": "2.0", "id": request}
        if method == "tools/call":
            content = [{"type": "text", "text": text}]
            answer["result"] = {"content": content, "isError": True, "resultType": "complete"}
        else:
            answer["error"] = {"code": -32603, "message": text}
        return json.dumps(answer).encode() + b"\n"


def cancel_server_request(token: str) -> bytes:
    """Return the line that takes back a request to the client whose hub has died."""
    return _CANCELLED.replace(b"TOKEN", token.encode("ascii"))
