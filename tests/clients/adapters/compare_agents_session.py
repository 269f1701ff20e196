"""Has the session over a store and the SDK's own one over SQLite do the same, and compares what they return."""

import random
import sys

import anyio
from agents import SQLiteSession
from agents.memory import Session
from agents.memory.session_settings import SessionSettings

from hybrid_memory_adapters.agents_session import MemorySession

ITEMS = [
    {"role": "user", "content": "yes"},
    {"role": "user", "content": [{"type": "input_text", "text": "null \x00 bell \x07"}]},
    {"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"a": 1}'},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x" * 200_000},
    {"deep": [[[[[[[[[[{"a": None, "b": 1.5}]]]]]]]]]]},
]


async def main():
    chance = random.Random(sys.argv[1])
    settings = SessionSettings(limit=5)
    ours, theirs = (
        MemorySession("c", "store", session_settings=settings, remembers=False),
        SQLiteSession("c", session_settings=settings),
    )
    assert isinstance(ours, Session)
    for _ in range(300):
        name, *arguments = chance.choices(
            [
                ("add_items", chance.choices(ITEMS, k=chance.randrange(4))),
                ("get_items", chance.choice([None, 0, 1, 3, 100, -1])),
                ("pop_item",),
                ("clear_session",),
            ],
            [5, 5, 3, 0.3],
        )[0]
        found = [await getattr(session, name)(*arguments) for session in (ours, theirs)]
        assert found[0] == found[1], (name, arguments)
    await ours.add_items(ITEMS)
    assert await MemorySession("c", "store").get_items(len(ITEMS)) == ITEMS  # in another object, as after a restart
    assert await MemorySession("d", "store").get_items() == []


anyio.run(main)
