"""Models behind the real server over real stdio, one of them the real one."""

import json

import pytest
from tests.core.embedding.tiny_model import write_tiny_model
from tests.server.raw import started

# The server looks once a second for memories without vectors; here that often in a hundredth of it.
IMPATIENT = """
from hybrid_memory_mcp.runtime import provider
from hybrid_memory_mcp.__main__ import main
provider.STEP_INTERVAL_SECONDS = 0.01
main()
"""
PUPPY = "We adopted a red puppy from the shelter."


def status(client, number):
    answer = client.ask(number, "resources/read", uri="memory://status")
    return json.loads(answer["result"]["contents"][0]["text"])


def wait_until(client, fulfilled):
    """Ask for the status until it is as wanted; the test's time limit ends it otherwise."""
    number = 1000
    while not fulfilled(status(client, number)):
        number += 1


@pytest.mark.slow
def test_a_question_in_other_words_finds_its_answer(tmp_path, minilm, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", minilm)
    with started(tmp_path, program=("-c", IMPATIENT)) as client:
        client.initialize()
        for number, words in enumerate(
            (PUPPY, "The train to the airport takes forty minutes.", "Rent is due on Monday.")
        ):
            assert client.call(number + 1, "write_memory", content=words)["structuredContent"]["id"]
        wait_until(client, lambda now: now["pending_vectors"] == 0 and now["embedder"].startswith("minilm:"))
        found = client.call(10, "read_memories", query="Which pet lives with us?")["structuredContent"]
        assert found["memories"][0]["text"] == PUPPY
        assert "note" not in found


@pytest.mark.daily
@pytest.mark.slow
def test_a_server_that_is_told_another_embedder_changes_to_it_while_it_serves(tmp_path, monkeypatch):
    tiny = write_tiny_model(tmp_path)
    with started(tmp_path, program=("-c", IMPATIENT)) as client:
        client.initialize()
        client.call(1, "write_memory", content=PUPPY)
        assert status(client, 2)["embedder"].startswith("static")
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER")
    (tmp_path / "config.toml").write_text(f'embedder = "fastembed:{tiny.as_posix()}"\n', encoding="utf-8")
    with started(tmp_path, program=("-c", IMPATIENT)) as client:
        client.initialize()
        assert "embedding" not in client.call(1, "write_memory", content="The red rent is due.")["structuredContent"]
        wait_until(client, lambda now: now["embedder"].startswith("fastembed:") and not now["reembedding"])
        found = client.call(10, "read_memories", query="Who is red and adopted?")["structuredContent"]
        assert found["memories"][0]["text"] == PUPPY


@pytest.mark.daily
@pytest.mark.slow
def test_a_server_moves_a_store_of_an_earlier_version_to_the_default(tmp_path, monkeypatch):
    with started(tmp_path, program=("-c", IMPATIENT)) as client:
        client.initialize()
        client.call(1, "write_memory", content="Wir haben eine Katze, die Minka heißt.")
        assert status(client, 2)["embedder"].startswith("static")
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with started(tmp_path, program=("-c", IMPATIENT)) as client:
        client.initialize()
        assert "embedding" not in client.call(1, "write_memory", content="The rent is due.")["structuredContent"]
        wait_until(client, lambda now: now["embedder"].startswith("universal:") and not now["reembedding"])
        assert status(client, 3)["embedder_reason"] == "the default"
        found = client.call(50, "read_memories", query="Which pet lives with us?")["structuredContent"]
        assert "Minka" in found["memories"][0]["text"]


@pytest.mark.daily
@pytest.mark.slow
def test_a_missing_model_is_said_in_the_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", f"fastembed:{tmp_path / 'absent'}")
    with started(tmp_path / "home") as client:
        client.initialize()
        written = client.call(1, "write_memory", content=PUPPY)
        assert written["structuredContent"]["embedding"] == "pending"
        assert "embedding pending" in written["content"][0]["text"]
        found = client.call(2, "read_memories", query="puppy")
        assert found["structuredContent"]["memories"][0]["text"] == PUPPY
        assert "words alone" in found["structuredContent"]["note"]
        now = status(client, 3)
        assert now["pending_vectors"] == 1
        assert "does not exist" in now["notices"][0]
        assert str(tmp_path) not in json.dumps(now["notices"])
