"""Clients that note everything they do: used by all tests with concurrent calls."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.client import Client
from tests.history.calls import Act, Outcome, Recorder

OF_UNKNOWN_OUTCOME = "whether it was done is not known"
"""So say relay and hub when nobody can tell what became of a call."""


@dataclass(frozen=True)
class Places:
    """What the clients share: topics with statements, lists that grow, keys with one value each."""

    topics: tuple[str, ...]
    lists: tuple[str, ...]
    keys: tuple[str, ...]

    @classmethod
    def many(cls, topics: int, lists: int = 4, keys: int = 2) -> Places:
        """Return so many places of each sort."""
        return cls(
            tuple(f"topic{number}" for number in range(topics)),
            tuple(f"list{number}" for number in range(lists)),
            tuple(f"key{number}" for number in range(keys)),
        )


@dataclass
class RecordingClient:
    """One MCP client that records: every method is one call (an append two), noted in the recorder.

    ``common`` holds topic and id of the statements that all of them write, in one session and in the same words.
    A call that raises keeps its unknown outcome. ``refused`` holds what the server said where nothing should be refused.
    ``known`` is shared by all clients: topic and id of every statement that one of them has seen.
    """

    name: str
    client: Client
    recorder: Recorder
    known: dict[str, tuple[str, str]]
    refused: list[str] = field(default_factory=list)
    common: set[tuple[str, str]] = field(default_factory=set)
    made: int = 0

    def word(self) -> str:
        """Return a word that nobody has used."""
        self.made += 1
        return f"{self.name}w{self.made}"

    async def write(self, topic: str) -> None:
        """Write a new statement."""
        word = self.word()
        call = self.recorder.begin(self.name, Act.WRITE, topic, word)
        answer = await self._call("write_memory", content=f"{topic} remark {word}", tags=[topic])
        if self._ended(call, answer):
            self.known[word] = (topic, answer["id"])

    async def set(self, key: str) -> None:
        """Set a key of the working memory, which replaces its value."""
        word = self.word()
        call = self.recorder.begin(self.name, Act.SET_KEY, key, word)
        kept = {"memory_type": "working", "key": key, "session": "shared", "tags": [key]}
        self._ended(call, await self._call("write_memory", content=f"{key} is {word}", **kept))

    async def change(self, act: Act, word: str) -> None:
        """Forget or restore a statement."""
        topic, memory = self.known[word]
        call = self.recorder.begin(self.name, act, topic, word)
        self._ended(call, await self._call("forget_memories", ids=[memory], restore=act is Act.RESTORE))

    async def read(self, act: Act, place: str) -> Mapping[str, Any] | None:
        """Read all that a place holds; returns the last memory."""
        call = self.recorder.begin(self.name, act, place)
        answer = await self._call(
            "read_memories", query=place, limit=100, token_budget=200_000, where={"tags": [place]}
        )
        if answer is None or "refused" in answer:
            self._ended(call, answer)
            return None
        found = answer["memories"]
        assert answer["remaining"] == 0
        seen = _words(act, [one["text"].split() for one in found])
        self.recorder.end(call, Outcome.OK, seen)
        if act is Act.READ:
            self.known.update({word: (place, one["id"]) for word, one in zip(seen, found, strict=True)})
        return found[-1] if found else None

    async def start_list(self, name: str) -> None:
        """Write the empty list; not a call of the history."""
        assert await self._call("write_memory", content=f"{name} holds", tags=[name], memory_type="long_term")

    async def append(self, name: str) -> None:
        """Look at a list and replace the version seen by one that is longer; refused when another came first."""
        seen = await self.read(Act.READ_LIST, name)
        if seen is None:
            return
        word = self.word()
        call = self.recorder.begin(self.name, Act.APPEND, name, word)
        answer = await self._call("update_memory", id=seen["id"], content=f"{seen['text']} {word}")
        if answer is not None and "superseded" in answer.get("refused", ""):
            self.recorder.end(call, Outcome.FAIL)
        else:
            self._ended(call, answer)

    async def other(self, draw: random.Random, topic: str) -> None:
        """Make a call that changes nothing the history speaks of."""
        which = draw.randrange(5)
        if which == 0:
            answer = await self._call("read_memories", limit=5)
        elif which == 1:
            answer = await self._call("reflect", focus=topic)
        elif which == 2:
            answer = await self._call("write_memory", content=f"All say it of {topic}", session="shared")
            self.common.update([] if answer is None or "refused" in answer else [(topic, answer["id"])])
        elif which == 3 or not self.known:
            answer = await self._call("read_memories", query=f"what about {topic}?", explain=True)
        else:
            _, memory = draw.choice(list(self.known.values()))
            answer = await self._call("update_memory", id=memory, importance=draw.random())
            if answer is not None and "no such memory" in answer.get("refused", ""):
                return  # somebody forgot it
        if answer is not None and "refused" in answer:
            self.refused.append(answer["refused"])

    def _ended(self, call: Any, answer: Mapping[str, Any] | None) -> bool:
        if answer is None:
            return False
        if "refused" in answer:
            self.refused.append(answer["refused"])
            self.recorder.end(call, Outcome.FAIL)
            return False
        self.recorder.end(call)
        return True

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Return the answer; ``{"refused": ...}`` for an error, None for one that does not say whether the call was done."""
        result = await self.client.call_tool(tool, arguments)
        if not result.is_error:
            return result.structured_content or json.loads(result.content[0].text)
        told = result.content[0].text
        return None if OF_UNKNOWN_OUTCOME in told else {"refused": told}


def _words(act: Act, texts: list[list[str]]) -> list[str]:
    """Return what a reading showed: the last word of each statement, or the elements of the one list."""
    if act is not Act.READ_LIST:
        return [text[-1] for text in texts]
    return texts[0][2:] if texts else ["no list at all"]


async def work(client: RecordingClient, draw: random.Random, places: Places, calls: int) -> None:
    """Make ``calls`` calls of all sorts."""
    for _ in range(calls):
        await one_call(client, draw, places)


async def one_call(client: RecordingClient, draw: random.Random, places: Places) -> None:
    """Make one call of any sort (an append is two)."""
    topic = draw.choice(places.topics)
    kind = draw.random()
    if kind < 0.40 or not client.known:
        await client.write(topic)
    elif kind < 0.65:
        await client.read(Act.READ, topic)
    elif kind < 0.75:
        await client.append(draw.choice(places.lists))
    elif kind < 0.80:
        await client.set(draw.choice(places.keys))
    elif kind < 0.85:
        await client.read(Act.READ_KEY, draw.choice(places.keys))
    elif kind < 0.92:
        act = draw.choice([Act.FORGET, Act.FORGET, Act.RESTORE])
        await client.change(act, draw.choice(list(client.known)))
    else:
        await client.other(draw, topic)


def said_twice(clients: Sequence[RecordingClient]) -> list[str]:
    """Return the topics of which the same words in the same session were kept as several memories."""
    topics = [topic for topic, _ in set().union(*(client.common for client in clients))]
    return [topic for topic, times in Counter(topics).items() if times > 1]


async def audit(client: RecordingClient, places: Places) -> None:
    """Read every place, so that what was lost at the very end shows too."""
    for topic in places.topics:
        await client.read(Act.READ, topic)
    for name in places.lists:
        await client.read(Act.READ_LIST, name)
    for key in places.keys:
        await client.read(Act.READ_KEY, key)
