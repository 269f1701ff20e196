"""What a relay keeps of a line until it is settled, and what it says itself when no hub can."""

from __future__ import annotations

from hybrid_memory_mcp.relay import protocol

MAX_STARTS = 3
MAX_SENDS = 20

_UNKNOWN = (
    "the memory server stopped {times} times while it worked on this; whether it was done is not known. "
    "Look with read_memories before you repeat it"
)
_WITHDRAWN = (
    b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
    b'"params":{"requestId":"TOKEN","reason":"the server that asked has ended"}}\n'
)


class PendingLine:
    """A line of the client that is not settled.

    ``sent`` counts the hubs that it was sent to, ``begun`` those that may have worked on it: the first one, and each later
    one that said so. One that died of something else, as while it opened the store, does not count against a request.
    """

    __slots__ = ("begun", "kind", "name", "patient", "payload", "sent")

    def __init__(self, kind: bytes, name: str, payload: bytes) -> None:
        self.kind = kind
        self.name = name
        self.payload = payload
        self.patient = False
        self.sent = 0
        self.begun = 0

    @property
    def should_give_up(self) -> bool:
        """Whether too many hubs died of it, or before they came to it; what waits for news may wait for ever."""
        return not self.patient and (self.begun >= MAX_STARTS or self.sent >= MAX_SENDS)

    @property
    def resend_kind(self) -> bytes:
        """The kind of frame in which the next hub gets it."""
        if self.kind != protocol.LINE:
            return self.kind
        return protocol.RESUBSCRIBE if self.patient else protocol.RETRY

    def unknown_outcome_answer(self) -> bytes | None:
        """Return the answer to a request that no hub survived, None for what needs none."""
        import json

        try:
            message = json.loads(self.payload)
            request, method = message["id"], message["method"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        text = _UNKNOWN.format(times=self.sent)
        answer = {"jsonrpc": "2.0", "id": request}
        if method == "tools/call":
            content = [{"type": "text", "text": text}]
            answer["result"] = {"content": content, "isError": True, "resultType": "complete"}
        else:
            answer["error"] = {"code": -32603, "message": text}
        return json.dumps(answer).encode() + b"\n"


def cancel_server_request(token: str) -> bytes:
    """Return the line that takes back a question of a hub that has died."""
    return _WITHDRAWN.replace(b"TOKEN", token.encode("ascii"))
