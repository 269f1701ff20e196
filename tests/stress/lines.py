"""Lines that a client could send, most of them wrong in some way."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

WORDS = (
    "tea",
    "dog",
    "rain",
    "\u0000",
    "\ud800",
    "猫",
    "🎉",
    "</memory>",
    "{{ 7*7 }}",
    "'; drop table memory; --",
    "x" * 3000,
)
METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "notifications/initialized",
    "notifications/cancelled",
    "no/such",
    "",
)
TOOLS = ("write_memory", "read_memories", "reflect", "update_memory", "forget_memories", "no_such_tool", "")
NAMES = (
    "content",
    "query",
    "ids",
    "id",
    "where",
    "limit",
    "tags",
    "metadata",
    "insights",
    "count",
    "cursor",
    "restore",
)


class Lines:
    """Draws lines, without their line feeds; the same seed draws the same."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._number = 0

    def line(self) -> bytes:
        """Return the next line."""
        makers: tuple[tuple[int, Callable[[], bytes]], ...] = (
            (30, self._call),
            (20, self._message),
            (15, self._mangled),
            (10, self._bytes),
            (8, self._not_an_object),
            (5, self._deep),
            (5, self._odd_id),
            (4, self._numbers),
            (3, self._blank),
        )
        (make,) = self._draw.choices([one for _, one in makers], [weight for weight, _ in makers])
        return make().replace(b"\n", b" ")

    def huge(self) -> bytes:
        """Return a call of five megabytes, which has an answer."""
        self._number += 1
        content = "x" * 5_000_000
        return _packed({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": _write(content)})

    def _value(self, depth: int = 0) -> Any:
        draw = self._draw
        kind = draw.randrange(9 if depth < 3 else 6)
        if kind < 3:
            return " ".join(draw.choices(WORDS, k=draw.randrange(4)))
        if kind < 6:
            return draw.choice([None, True, False, 0, -1, 1.5, 2**63, 10**400, 1e308, float("nan"), float("inf")])
        if kind == 6:
            return [self._value(depth + 1) for _ in range(draw.randrange(4))]
        return {draw.choice(NAMES): self._value(depth + 1) for _ in range(draw.randrange(4))}

    def _call(self) -> bytes:
        self._number += 1
        arguments = {self._draw.choice(NAMES): self._value() for _ in range(self._draw.randrange(4))}
        if self._draw.random() < 0.5:
            arguments |= {"content": self._draw.choice(WORDS), "id": "06gzh21e6ndjkvr6d7pw"}
        params = {"name": self._draw.choice(TOOLS), "arguments": arguments}
        return _packed({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params})

    def _message(self) -> bytes:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": self._draw.choice(METHODS), "params": self._value()}
        if self._draw.random() < 0.7:
            self._number += 1
            message["id"] = self._number
        for name in list(message):
            if self._draw.random() < 0.1:
                del message[name]
        return _packed(message)

    def _mangled(self) -> bytes:
        """Return a good line with some bytes changed, cut or doubled."""
        line = bytearray(self._draw.choice([self._call, self._message])())
        for _ in range(self._draw.randrange(1, 4)):
            at = self._draw.randrange(len(line) or 1)
            line[at : at + self._draw.randrange(3)] = self._draw.randbytes(self._draw.randrange(3))
        return bytes(line)

    def _bytes(self) -> bytes:
        return self._draw.randbytes(self._draw.randrange(200))

    def _not_an_object(self) -> bytes:
        return _packed(self._draw.choice([[], [{}], 7, "text", None, True, [1, [2]], [{"jsonrpc": "2.0", "id": 1}]]))

    def _deep(self) -> bytes:
        depth = self._draw.choice([50, 1_000, 10_000])
        opening, closing = self._draw.choice([(b"[", b"]"), (b'{"a":', b"}")])
        inner = opening * depth + b"1" + (closing * depth if self._draw.random() < 0.7 else b"")
        return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + inner + b"}}"

    def _odd_id(self) -> bytes:
        odd = self._draw.choice([None, True, 1.5, -1, 10**30, "", "x" * 500, [], {}, "\ud800"])
        return _packed({"jsonrpc": "2.0", "id": odd, "method": "ping"})

    def _numbers(self) -> bytes:
        return b'{"jsonrpc":"2.0","id":' + b"9" * self._draw.choice([30, 5_000]) + b',"method":"ping"}'

    def _blank(self) -> bytes:
        return self._draw.choice([b"", b" ", b"\t\r", b"\r", b"\xef\xbb\xbf", b"\x00"])


def _write(content: str) -> dict[str, Any]:
    return {"name": "write_memory", "arguments": {"content": content}}


def _packed(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")
