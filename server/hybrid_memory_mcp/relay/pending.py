"""What a relay keeps of a line until it is settled, and what it says itself when no hub can."""

from __future__ import annotations

from hybrid_memory_mcp.relay import frames

BEGUN_AT_MOST = 3
SENT_AT_MOST = 20

_UNKNOWN = (
    "the memory server stopped {times} times while it worked on this; whether it was done is not known. "
    "Look with read_memories before you repeat it"
)
_WITHDRAWN = (
    b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
    b'"params":{"requestId":"TOKEN","reason":"the server that asked has ended"}}\n'
)


class Line:
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
    def is_hopeless(self) -> bool:
        """Whether too many hubs died of it, or before they came to it; what waits for news may wait for ever."""
        return not self.patient and (self.begun >= BEGUN_AT_MOST or self.sent >= SENT_AT_MOST)

    @property
    def kind_again(self) -> bytes:
        """The kind of frame in which the next hub gets it."""
        if self.kind != frames.LINE:
            return self.kind
        return frames.AGAIN if self.patient else frames.RETRY

    def outcome_unknown(self) -> bytes | None:
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


def withdrawn(token: str) -> bytes:
    """Return the line that takes back a question of a hub that has died."""
    return _WITHDRAWN.replace(b"TOKEN", token.encode("ascii"))
