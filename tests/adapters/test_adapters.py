"""What the adapters do without the packages that they are for."""

import sys
from importlib import import_module

import pytest
from tests.adapters.conftest import OwnStore
from tests.server.services import SCOPE, ObservedService
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest
from hybrid_memory.settings import StoreSettings
from hybrid_memory_adapters.agents_session import MemorySession, said_by_user
from hybrid_memory_mcp.runtime.provider import ServiceProvider


@pytest.mark.parametrize(("module", "package"), [("memory_tool", "anthropic"), ("langgraph_store", "langgraph")])
def test_without_its_package_an_adapter_says_what_to_install(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"hybrid_memory_adapters.{module}", raising=False)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        import_module(f"hybrid_memory_adapters.{module}")


@each(
    "item, text",
    [
        ({"role": "user", "content": "I like tea."}, "I like tea."),
        ({"role": "user", "content": [{"type": "input_image"}, {"type": "input_text", "text": "My cat."}]}, "My cat."),
        ({"role": "assistant", "content": "You like tea."}, ""),
        ({"role": "user", "content": None}, ""),
        ({"type": "function_call_output", "output": "I like tea."}, ""),
    ],
)
def test_what_the_user_says_is_told_apart(item, text):
    assert said_by_user(item) == text


@pytest.fixture
def session(store, tmp_path, monkeypatch):
    session = MemorySession("monday", tmp_path)
    monkeypatch.setattr(session, "_store", store)
    return session


@pytest.mark.anyio
async def test_a_session_remembers_the_words_of_the_user_alone(session, store, monkeypatch):
    told = []
    monkeypatch.setattr(store, "keep_said", lambda *given: told.append(given))
    await session.add_items([{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Good."}])
    await session.add_items([{"role": "assistant", "content": "Bye."}])
    assert told == [("openai-agents", "monday", ["I like tea."])]


@pytest.mark.anyio
async def test_the_items_of_a_session_are_no_memories(session, service):
    await session.add_items([{"role": "assistant", "content": "Maria is allergic to peanuts."}])
    assert service.read(SCOPE, ReadRequest(query="What must Maria not eat?")).hits == ()
    assert service.memories == {}


@pytest.mark.anyio
async def test_an_item_that_was_popped_is_gone_from_the_store(session, service):
    await session.add_items([{"n": 1}, {"n": 2}])
    assert await session.pop_item() == {"n": 2}
    await session.add_items([{"n": 3}])
    assert await session.get_items() == [{"n": 1}, {"n": 3}]
    assert "'n': 2" not in str(service.store.entries("default", "openai-agents:monday", "message"))


@pytest.mark.anyio
async def test_of_items_that_come_together_none_is_kept_if_one_cannot_be(tmp_path, monkeypatch):
    service = ObservedService(settings=StoreSettings(secrets="refuse"))
    session = MemorySession("monday", tmp_path, remembers=False)
    monkeypatch.setattr(session, "_store", OwnStore(ServiceProvider(lambda: service), tmp_path))
    with pytest.raises(InvalidInput, match="secret"):
        await session.add_items([{"role": "user", "content": "Hi."}, {"content": "sk-ant-api03-" + "a1B2" * 20}])
    assert await session.get_items() == []
    service.close()


@pytest.mark.anyio
async def test_a_store_that_masks_secrets_masks_those_of_a_conversation(tmp_path, monkeypatch):
    service = ObservedService(settings=StoreSettings(secrets="mask"))
    session = MemorySession("monday", tmp_path)
    monkeypatch.setattr(session, "_store", OwnStore(ServiceProvider(lambda: service), tmp_path))
    await session.add_items([{"role": "assistant", "content": "sk-ant-api03-" + "a1B2" * 20}])
    assert "a1B2a1B2" not in str(await session.get_items())
    service.close()


def test_items_of_another_namespace_are_not_found(store, provider, tmp_path):
    store.ask("put_item", session="s", key="k", content="one")
    other = OwnStore(provider, tmp_path, Scope(namespace="other", session="s-here"))
    assert other.ask("item", session="s", key="k") == {"item": None}
    assert list(other.items("s")) == []


def test_all_pages_of_items_are_read(store, monkeypatch):
    monkeypatch.setattr("hybrid_memory_adapters.hub_store._PAGE", 2)
    for name in "abcde":
        store.ask("put_item", session="s", key=name, content=f"item {name}")
    assert [one["key"] for one in store.items("s")] == list("edcba")


def test_what_is_stored_again_unchanged_is_no_new_version(store, service):
    first = store.ask("put_item", session="s", key="k", content="one", metadata={"a": 1})
    assert store.ask("put_item", session="s", key="k", content="one", metadata={"a": 1}) == first
    changed = store.ask("put_item", session="s", key="k", content="one", metadata={"b": 2})["item"]
    assert changed["metadata"] == {"b": 2}
    assert changed["created_at"] == first["item"]["created_at"]
    assert len(service.memories) == 2


def test_a_search_ranks_all_items_of_a_collection_and_no_others(store, service):
    service.keep("Maria is allergic to cashews.")
    for key, text in {"a": "The dentist is on Monday.", "b": "Maria is allergic to peanuts.", "c": "Same."}.items():
        store.ask("put_item", session="s", key=key, content=text, metadata={"in": key < "c"})
    asked = {"session": "s", "query": "Maria allergic peanuts"}
    assert next(one["key"] for one in store.ask("search_items", **asked, limit=10)["items"]) == "b"
    assert {one["key"] for one in store.ask("search_items", **asked, limit=10)["items"]} == {"a", "b", "c"}
    few = store.ask("search_items", **asked, limit=10, metadata={"in": True})["items"]
    assert [one["key"] for one in few] == ["b", "a"]
    assert [one["key"] for one in store.ask("search_items", **asked, limit=1)["items"]] == ["b"]


def test_an_item_without_a_name_is_refused(store):
    with pytest.raises(InvalidInput):
        store.ask("put_item", session="s", key="", content="one")
