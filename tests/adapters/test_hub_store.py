"""The adapters over a real hub, in a process of its own."""

import pytest
from tests.server.hubs import relay, short_folder

from hybrid_memory.errors import StoreError
from hybrid_memory_adapters import hub_store
from hybrid_memory_adapters.agents_session import MemorySession
from hybrid_memory_adapters.files import MemoryFiles
from hybrid_memory_adapters.hub_store import HubStore
from hybrid_memory_mcp.admin.hub_client import HubEnded

ITEM = {"role": "user", "content": "Remember that I am allergic to peanuts."}


@pytest.fixture
def home():
    with short_folder() as folder:
        yield folder


@pytest.mark.slow
def test_an_assistant_finds_a_file_that_a_program_writes_meanwhile(home):
    with relay(home) as client:
        client.initialize()
        client.call(1, "write_memory", content="The dentist is on Monday.")
        MemoryFiles(HubStore(home)).create("/memories/maria.md", "Maria is allergic to peanuts.")
        found = client.call(2, "read_memories", query="Who is allergic to peanuts?")
        assert "Maria is allergic to peanuts." in found["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("remembers", [True, False])
async def test_an_assistant_knows_what_a_user_says_in_a_session_that_remembers(home, remembers):
    with relay(home) as client:
        client.initialize()
        client.call(1, "write_memory", content="The dentist is on Monday.")
        await MemorySession("monday", home, remembers=remembers).add_items([ITEM])
        assert await MemorySession("monday", home).get_items() == [ITEM]
        found = client.call(2, "read_memories", query="What am I allergic to?")["structuredContent"]["memories"]
        of_user = [one["text"].rstrip(".") for one in found if one["origin"] == "user"]
        assert of_user == (["I am allergic to peanuts"] if remembers else [])


def test_where_no_store_can_be_an_adapter_says_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="no program can serve the store"):
        HubStore(tmp_path / "file").ask("items", session="s", limit=1, offset=0)


@pytest.mark.parametrize(("operation", "asked"), [("items", 2), ("put_item", 1), ("add_entries", 1), ("pop_entry", 1)])
def test_only_what_reads_is_asked_again_if_the_hub_ends(operation, asked, tmp_path, monkeypatch):
    calls = []

    def ended(*given, **_):
        calls.append(given[2])
        raise HubEnded

    monkeypatch.setattr(hub_store, "call_hub", ended)
    with pytest.raises(HubEnded):
        HubStore(tmp_path).ask(operation)
    assert calls == [operation] * asked
