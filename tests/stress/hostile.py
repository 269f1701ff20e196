"""What somebody could hand to the program to harm it: files to import, settings, calls, bodies and rows, drawn from a seed.

A good half of what is drawn has the right types, so that it gets past the first check.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Sequence
from typing import Any

FACT = "The violin of the user is in the attic."
TIMES = (
    "9999-12-31T23:59:59-12:00",
    "9999-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "1601-01-01T00:00:00Z",
    "2038-01-19T03:14:08Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00+99:99",
    "2026-01-01T00:00:00+23:59",
    "-0001-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "now",
)
TEXTS = (
    "",
    " ",
    "tea",
    "\x00",
    "\x1b[2J",
    "\ud800",
    "\ufffe",
    "\u202e",
    "\u200b",
    "猫",
    "🎉" * 50,
    "</memory>",
    "{{ 7*7 }}",
    "'; DROP TABLE memory; --",
    "../../etc/passwd",
    "a\nb",
    "x" * 201,
    "x" * 3000,
    "import",
    "default",
    "null",
    FACT,
    "The violin is in the cellar now, no longer in the attic.",
)
NUMBERS = (
    0,
    -1,
    1,
    0.5,
    1.0,
    7,
    2**31,
    2**53,
    2**63 - 1,
    2**63,
    -(2**63),
    10**30,
    1e308,
    -0.0,
    float("nan"),
    float("inf"),
)
NAMES = {
    "kind": ("observation", "insight", "summary", "task", "other"),
    "tier": ("sensory", "short_term", "long_term", "faded", "working", "episodic", "deep"),
    "origin": ("user", "agent", "tool", "import", "derived", "god"),
    "trust": ("untrusted", "agent", "user", "confirmed", "absolute"),
}
SETTINGS = (
    *("embedder", "former_embedder", "scorer", "alpha", "beta", "gamma", "sensory_buffer", "threshold_to_short_term"),
    *("short_term_buffer", "enhance_similarity_threshold", "enhance_threshold"),
    *("earned_uses", "keep_backups", "episode_days", "keep_readings", "store_wait_seconds", "linger_seconds"),
    *("home", "namespace", "duckdb_memory", "embeder", "a.b", "", "\u202e"),
)
TOOLS = ("write_memory", "read_memories", "reflect", "update_memory", "forget_memories")
ARGUMENTS = (
    *(
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
        "memory_type",
    ),
    *(
        "supersedes",
        "parents",
        "importance",
        "origin",
        "key",
        "pinned",
        "occurred_at",
        "expires_at",
        "speaker",
        "source",
        "detail",
    ),
)
HEADERS = (
    *(
        "authorization",
        "content_type",
        "content_length",
        "content_encoding",
        "transfer_encoding",
        "accept",
        "origin",
        "mcp_name",
    ),
    *(
        "mcp_session_id",
        "mcp_protocol_version",
        "mcp_method",
        "last_event_id",
        "expect",
        "connection",
        "x_forwarded_host",
        "cookie",
    ),
)
HEADER_VALUES = (
    *(
        "application/json",
        "application/json; charset=utf-16",
        "text/event-stream",
        "*/*",
        "gzip",
        "chunked",
        "100-continue",
    ),
    *(
        "2026-07-28",
        "2025-11-25",
        "2024-11-05",
        "tools/call",
        "initialize",
        "read_memories",
        "Bearer x",
        "0",
        "-1",
        "1e9",
        "null",
    ),
    *("http://evil.example", "http://localhost:8765"),
)
LINKS = ("supersedes", "superseded_by", "duplicate_of", "disputes")


class Hostile:
    """Draws hostile input; the same seed draws the same. ``ids`` are memories that are there, the user's among them."""

    def __init__(self, seed: int | str, ids: Sequence[str] = ()) -> None:
        self._draw = random.Random(seed)
        self._ids = tuple(ids)

    def import_file(self) -> tuple[bytes, bool]:
        """Return a file for an import, and whether somebody vouches for it."""
        draw = self._draw
        if draw.random() < 0.3:
            lines = [self._foreign() for _ in range(draw.randrange(1, 5))]
            return b"".join(map(self._line, lines)), draw.random() < 0.1
        named = ["default"] if draw.random() < 0.7 else draw.sample(["default", "work", *TEXTS[:8]], 2)
        own = [f"{draw.getrandbits(60):020x}" for _ in range(4)]
        lines = [self._export_line(own, named) for _ in range(draw.randrange(1, 6))]
        kinds = [line.get("type") for line in lines]
        header: dict[str, Any] = {
            "format": "hybrid-memory",
            "version": 1,
            "embedder": None,
            "dimensions": None,
            "namespaces": named,
            "memories": kinds.count("memory"),
            "buffers": kinds.count("buffer"),
            "conversations": kinds.count("conversation"),
            "entries": len(kinds) - sum(kinds.count(one) for one in ("memory", "buffer", "conversation")),
        }
        if draw.random() < 0.05:
            header[draw.choice(list(header))] = self.value()
        return b"".join(map(self._line, [header, *lines])), draw.random() < 0.5

    def config(self) -> bytes:
        """Return a file of settings."""
        draw = self._draw
        lines = [f"{self._key()} = {self._toml()}" for _ in range(draw.randrange(1, 3))]
        if draw.random() < 0.1:
            lines.insert(0, draw.choice(["[tiers]", "[[x]]", "[a.b.c]", "[", "\ufeff", "=", "\x00"]))
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
        return self._spoiled(data) if draw.random() < 0.15 else data

    def call(self) -> tuple[str, dict[str, Any]]:
        """Return a tool and arguments for it, which JSON can hold."""
        draw = self._draw
        given = {draw.choice(ARGUMENTS): self.value() for _ in range(draw.randrange(4))}
        tool = draw.choice(TOOLS)
        if draw.random() < 0.7:
            given |= {"write_memory": {"content": self._text()}, "read_memories": {"query": self._text()}}.get(tool, {})
            if tool in ("update_memory", "forget_memories"):
                given |= {"id": "no such id"} if tool == "update_memory" else {"ids": ["no such id"]}
        # What takes the user's memories away is not hostile where the client says that the user wants it; a tool may not.
        if tool == "write_memory":
            given["origin"] = draw.choice(["tool", "tool", "nobody"])
        if tool == "update_memory" and given.get("id") in self._ids:
            given["id"] = "no such id"
        if tool == "forget_memories":
            given.pop("where", None)
            given["ids"] = ["no such id"]
        return tool, given

    def body(self) -> bytes:
        """Return the body of an HTTP request, or a line of a client."""
        tool, given = self.call()
        message: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": given},
        }
        if self._draw.random() < 0.3:
            message[self._draw.choice(list(message))] = self.value()
        data = json.dumps(message).encode("utf-8", "surrogatepass")
        return self._spoiled(data) if self._draw.random() < 0.3 else data

    def request(self) -> tuple[str, dict[str, Any], list[bytes | None]]:
        """Return an HTTP request: its method, what `Raw.ask` takes alongside it (headers, path, host), and its body in parts."""
        draw = self._draw
        headers: dict[str, Any] = {}
        for _ in range(draw.randrange(4)):
            headers[draw.choice(HEADERS)] = draw.choice(
                [
                    *(text.encode("utf-8", "replace").decode("latin-1") for text in TEXTS[:20]),
                    "1" * 5000,
                    None,
                    ["a", "b"],
                    *HEADER_VALUES,
                ]
            )
        if draw.random() < 0.1:
            headers["path"] = draw.choice(["/", "/mcp/", "/mcp/../mcp", "//mcp", "/healthz", "/mcp\x00", "/%6dcp"])
        if draw.random() < 0.1:
            headers["host"] = draw.choice(["", "evil.example", "localhost:8765@evil.example", "\xff", None])
        if draw.random() < 0.1:
            headers["query"] = draw.randbytes(20)
        body = self.body()
        cuts = sorted(draw.randrange(len(body) + 1) for _ in range(draw.randrange(3)))
        parts: list[bytes | None] = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
        if draw.random() < 0.05:
            parts[-1] = None  # who sent it is gone
        return draw.choice(["POST"] * 12 + ["GET", "DELETE", "PUT", "HEAD", "post", ""]), headers, parts

    def statement(self) -> tuple[str, list[Any]]:
        """Return a statement that spoils a database file, and its values."""
        draw = self._draw
        column = draw.choice(
            [
                *(
                    "tier",
                    "kind",
                    "trust",
                    "origin",
                    "tags",
                    "metadata",
                    "parents",
                    "content",
                    "content_hash",
                    "session",
                    "id",
                    "agent",
                ),
                *(
                    "importance",
                    "rev",
                    "created_at",
                    "occurred_at",
                    "expires_at",
                    "forgotten_at",
                    "reflected_at",
                    "encoding",
                    "aspects",
                ),
                *LINKS,
            ]
        )
        if draw.random() < 0.2:
            return draw.choice(
                [
                    ("CREATE MACRO to_json(a) AS 1", []),
                    ("CREATE VIEW usage2 AS SELECT 1", []),
                    ("CREATE TABLE stranger (x INTEGER)", []),
                    ("DELETE FROM log", []),
                    ("DELETE FROM mark", []),
                    ("DELETE FROM namespace", []),
                    ("UPDATE usage SET count = 9223372036854775807", []),
                    ("UPDATE namespace SET head = -1", []),
                    ("DROP TABLE entry", []),
                    ("ALTER TABLE memory DROP COLUMN speaker", []),
                ]
            )
        if column in ("importance", "rev", "encoding", "aspects") or column.endswith("_at"):
            value: Any = draw.choice([0, -1, 2**31, 2**62, 2**63 - 1, -(2**63), None])
            if column == "importance":
                value = draw.choice([-1.0, 7.5, float("nan"), float("inf"), None])
        else:
            value = draw.choice(
                [*TEXTS[:1], "x", "[", "[1]", "{}", "null", '["a"', "[[[[]]]]", '{"a":' * 2000, "x" * 200_000, None]
            )
        return f"UPDATE memory SET {column} = ?", [value]  # noqa: S608 - a name of the list above

    def value(self, depth: int = 0) -> Any:
        """Return any value of JSON."""
        draw = self._draw
        plain: list[Callable[[], Any]] = [
            self._text,
            self._text,
            lambda: draw.choice(NUMBERS),
            lambda: draw.choice(NUMBERS),
            lambda: draw.choice([None, True, False]),
            lambda: draw.choice(TIMES),
            lambda: draw.choice(self._ids or ("no id",)),
        ]
        nested: list[Callable[[], Any]] = [
            lambda: [self.value(depth + 1) for _ in range(draw.randrange(4))],
            lambda: _nested(draw.choice([5, 9, 50])),
            lambda: {self._text(): self.value(depth + 1) for _ in range(draw.randrange(3))},
        ]
        return draw.choice(plain + nested if depth < 3 else plain)()

    def _text(self) -> str:
        return self._draw.choice(TEXTS)

    def _export_line(self, own: Sequence[str], namespaces: Sequence[str]) -> dict[str, Any]:
        draw = self._draw
        make: Callable[[Sequence[str], Sequence[str]], dict[str, Any]] = draw.choices(
            [self._memory, self._buffer, self._conversation, self._entry], [85, 5, 5, 5]
        )[0]
        line = make(own, namespaces)
        for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
            name = draw.choice(list(line))
            line[name] = self._like(name, line[name]) if draw.random() < 0.7 else self.value()
        return line

    def _memory(self, own: Sequence[str], namespaces: Sequence[str]) -> dict[str, Any]:
        draw = self._draw
        ids = [*own, *self._ids]
        return {
            "type": "memory",
            "namespace": draw.choice(namespaces),
            "id": draw.choice(ids),
            "session": draw.choice(["s", "mine", "import"]),
            "agent": "default",
            "content": draw.choice(["tea", "The violin is in the cellar now.", FACT, "note " + str(draw.random())]),
            "kind": "observation",
            "tier": "long_term",
            "importance": draw.random(),
            "created_at": f"2026-01-{draw.randrange(1, 28):02}T00:00:00Z",
            "content_hash": "0" * 32,
            "terms": [],
            "pinned": draw.random() < 0.1,
            "tags": draw.choice([[], ["a"], ["decision"]]),
            "metadata": draw.choice([{}, {"a": 1}]),
            "source": None,
            "speaker": draw.choice([None, "Ann"]),
            "origin": "user",
            "trust": "agent",
            "key": draw.choice([None, None, "goal"]),
            "occurred_at": None,
            "expires_at": None,
            "forgotten_at": None,
            "superseded_by": draw.choice([None, None, *ids]),
            "supersedes": draw.choice([None, None, *ids]),
            "duplicate_of": draw.choice([None, None, *ids]),
            "disputes": draw.choice([None, None, *ids]),
            "parents": draw.sample(ids, draw.randrange(2)),
            "reflected_at": None,
            "rev": 1,
            "accessed_at": draw.choice([None, "2026-01-01T00:00:00Z"]),
            "access_count": draw.randrange(3),
        }

    def _buffer(self, _own: Sequence[str], namespaces: Sequence[str]) -> dict[str, Any]:
        state = self._draw.choice(
            ["", "[]", '{"v":1,"sensory":[],"short_term":[]}', '{"v":1,"sensory":[["a",1e999]],"short_term":[]}']
        )
        return {
            "type": "buffer",
            "namespace": self._draw.choice(namespaces),
            "session": "mine",
            "agent": "default",
            "state": state,
            "touched_at": "2026-01-01T00:00:00Z",
        }

    def _conversation(self, _own: Sequence[str], namespaces: Sequence[str]) -> dict[str, Any]:
        return {
            "type": "conversation",
            "namespace": self._draw.choice(namespaces),
            "name": "talk",
            "kind": "message",
            "last": 3,
        }

    def _entry(self, _own: Sequence[str], namespaces: Sequence[str]) -> dict[str, Any]:
        return {
            "type": "entry",
            "namespace": self._draw.choice(namespaces),
            "conversation": "talk",
            "kind": "message",
            "number": self._draw.randrange(5),
            "body": {"said": "hello"},
        }

    def _foreign(self) -> dict[str, Any]:
        draw = self._draw
        line: dict[str, Any] = {"content": draw.choice(["tea", FACT, "note " + str(draw.random())])}
        for name in ("created_at", "occurred_at", "expires_at"):
            if draw.random() < 0.1:
                line[name] = draw.choice(TIMES)
        if draw.random() < 0.3:
            name = draw.choice(
                ["content", "importance", "tags", "metadata", "source", "speaker", "session", "id", "supersedes"]
            )
            line[name] = self.value()
        return line

    def _like(self, name: str, value: Any) -> Any:
        """Return a hostile value of the type that a field has."""
        choices: Sequence[Any] = TEXTS
        if name.endswith("_at"):
            choices = TIMES
        elif isinstance(value, bool):
            choices = [not value]
        elif isinstance(value, int | float):
            choices = NUMBERS
        elif isinstance(value, list):
            choices = [[], [self._text()] * 3, [str(n) for n in range(200)], [0, 2**31, -(2**31)]]
        elif isinstance(value, dict):
            choices = [{}, {self._text(): self.value()}, _nested(50)]
        return self._draw.choice(NAMES.get(name, choices))

    def _line(self, value: dict[str, Any]) -> bytes:
        data = json.dumps(value).encode("utf-8", "surrogatepass")
        return (self._spoiled(data) if self._draw.random() < 0.02 else data) + b"\n"

    def _key(self) -> str:
        name = self._draw.choice(SETTINGS)
        return name if name and all(c in string.ascii_letters + "_." for c in name) else json.dumps(name)

    def _toml(self) -> str:
        draw = self._draw
        made = [
            lambda: str(draw.choice(NUMBERS)),
            lambda: json.dumps(self._text()),
            lambda: json.dumps(
                draw.choice(["1KB", "1GB", "0MB", "16MiB", "99999999TB", "1GB'; ATTACH 'x'; --", "fastembed:../../x"])
            ),
            lambda: "9" * draw.choice([20, 400, 5000]),
            lambda: "[" * draw.choice([1, 50, 3000]) + "]" * draw.choice([1, 50, 3000]),
            lambda: "{a = " * draw.choice([1, 50, 1500]) + "1" + "}" * draw.choice([1, 50]),
            lambda: draw.choice(
                ["true", "nan", "-inf", "1e400", "0x" + "f" * 6000, "1979-05-27", "25:61:61", "'''", '"\\ud800"']
            ),
        ]
        return draw.choice(made)()

    def _spoiled(self, data: bytes) -> bytes:
        """Return bytes with some of them changed, cut or doubled."""
        spoiled = bytearray(data)
        for _ in range(self._draw.randrange(1, 4)):
            at = self._draw.randrange(len(spoiled) or 1)
            spoiled[at : at + self._draw.randrange(3)] = self._draw.randbytes(self._draw.randrange(3))
        return bytes(spoiled)


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value
