"""Where a client is at work: its folder, its roots, and what a marker forbids."""

import json

import pytest
from tests.server.hubs import ThreadedHub
from tests.server.raw import MODERN

from hybrid_memory_mcp.projects import MARKER
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.runtime import client_place

INFO = {"name": "raw", "version": "0"}
INITIALIZE = {"jsonrpc": "2.0", "id": "i", "method": "initialize"} | {
    "params": {"protocolVersion": "2025-11-25", "capabilities": {"roots": {"listChanged": True}}, "clientInfo": INFO}
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Makes a folder, with a marker if there is something to say in it; a marker counts at once."""
    monkeypatch.setattr(client_place, "LOOK_AGAIN_SECONDS", 0.0)
    monkeypatch.setenv("HOME", str(tmp_path))

    def make(name, text=None):
        made = tmp_path / name
        made.mkdir(exist_ok=True)
        if text is not None:
            (made / MARKER).write_text(text)
        return made

    return make


def asked_for_roots(client):
    """Return the id of the question for the roots that came."""
    frame = client.receive_frame(protocol.SERVER_REQUEST)
    message = json.loads(frame.payload)
    assert message["method"] == "roots/list"
    return message["id"]


def tell_roots(client, request_id, *folders, kind=protocol.LINE, number=None):
    roots = [{"uri": one.as_uri()} for one in folders]
    client.send({"jsonrpc": "2.0", "id": request_id, "result": {"roots": roots}}, kind=kind, number=number)


def with_roots(client, *folders):
    client.send(INITIALIZE)
    client.send(INITIALIZED)
    tell_roots(client, asked_for_roots(client), *folders)
    return client


def called(client, name, **arguments):
    number = client.request(f"c{client.sent}", "tools/call", name=name, arguments=arguments)
    while True:
        answered, message = client.answer()
        if answered == number:
            return message["result"]


def kept_in(client, content="Ada likes tea"):
    result = called(client, "write_memory", content=content)
    return (
        result["content"][0]["text"] if result["isError"] else result["structuredContent"].get("namespace", "default")
    )


def status_of(client):
    number = client.request("status", "resources/read", uri="memory://status")
    while True:
        answered, message = client.answer()
        if answered == number:
            return json.loads(message["result"]["contents"][0]["text"])


# --- folders ----------------------------------------------------------------------------------------------------------


def test_a_client_is_at_work_where_its_relay_was_started(hub, folder):
    with hub.connected(folder=folder("acme", 'namespace = "acme"')) as client:
        answer = client.call("write_memory", content="Ada likes tea")
    assert answer["structuredContent"]["namespace"] == "project:acme"
    assert answer["content"][0]["text"].endswith('in project "acme"')


def test_a_relay_that_tells_no_folder_has_no_project(hub, folder):
    with hub.connected(folder=None) as client:
        assert "namespace" not in client.call("write_memory", content="Ada likes tea")["structuredContent"]


def test_what_claude_code_says_of_its_project_goes_before_the_working_folder(hub, folder):
    acme = folder("acme", 'namespace = "acme"')
    said = f"CLAUDE_PROJECT_DIR={acme}"
    with hub.connected(folder=folder("other", 'namespace = "other"'), variables=(said,)) as client:
        assert client.call("write_memory", content="x y")["structuredContent"]["namespace"] == "project:acme"


def test_a_personal_memory_that_is_corrected_is_said_to_be_the_users(hub, folder):
    with hub.connected(folder=folder("plain")) as client:
        old = client.call("write_memory", content="Ada lives in Bonn")["structuredContent"]["id"]
    with hub.connected(relay="1" * 32, folder=folder("acme", 'namespace = "acme"')) as client:
        answer = client.call("write_memory", content="Ada lives in Köln", supersedes=old)
    assert answer["structuredContent"]["namespace"] == "default"
    assert "user's own" in answer["content"][0]["text"]


def test_a_marker_that_is_written_later_counts(hub, folder):
    with hub.connected(folder=folder("acme")) as client:
        assert "namespace" not in client.call("write_memory", content="Ada likes tea")["structuredContent"]
        folder("acme", 'namespace = "acme"')
        assert client.call("write_memory", content="x y")["structuredContent"]["namespace"] == "project:acme"
        folder("acme", "off = true")
        assert client.call("write_memory", content="x y")["isError"]


# --- a marker that is gone ------------------------------------------------------------------------------------------------


def test_a_marker_that_is_gone_leaves_the_project_and_is_told_once(hub, folder):
    acme = folder("acme", 'namespace = "acme"')
    with hub.connected(folder=acme) as client:
        client.call("write_memory", content="Ada likes tea")
        (acme / MARKER).unlink()
        told = client.call("write_memory", content="We decided to use Kafka")
        again = client.call("write_memory", content="We decided to use Redis")
        project = client.ask("resources/read", uri="memory://status")["result"]["contents"][0]["text"]
    assert told["structuredContent"]["namespace"] == "project:acme"
    assert "stays in project acme" in told["content"][-1]["text"]
    assert len(again["content"]) == len(told["content"]) - 1
    assert json.loads(project)["project"]["why"] == "what named it before is gone"
    with hub.connected(relay="1" * 32, folder=acme) as client:
        assert "namespace" not in client.call("write_memory", content="Ada likes tea")["structuredContent"]


@pytest.mark.slow
def test_a_renamed_folder_is_the_same_project_without_a_word(hub, folder):
    acme = folder("acme", 'namespace = "acme"')
    with hub.connected(folder=acme) as client:
        client.call("write_memory", content="Ada likes tea")
        acme.rename(acme.parent / "renamed")
        answer = client.call("write_memory", content="We decided to use Kafka")
    assert answer["structuredContent"]["namespace"] == "project:acme"
    assert len(answer["content"]) == 1


def test_words_that_go_to_another_project_than_before_are_told(hub, folder):
    with hub.connected(folder=folder("acme", 'namespace = "acme"')) as client:
        client.call("write_memory", content="Ada likes tea")
        folder("acme", 'namespace = "beta"')
        answer = client.call("write_memory", content="We decided to use Kafka")
    assert answer["structuredContent"]["namespace"] == "project:beta"
    assert "before it went to project acme" in answer["content"][-1]["text"]


def test_a_later_hub_hears_of_the_project_from_the_relay(hub, folder):
    acme = folder("acme", 'namespace = "acme"')
    with hub.connected(folder=acme) as client:
        client.request(1, "tools/call", name="read_memories", arguments={}, _meta=MODERN)
        frame = client.receive_frame(protocol.REMEMBER_LINE)
        assert frame.name == "project"
    (acme / MARKER).unlink()
    with hub.connected(relay="1" * 32, folder=acme) as client:
        client.send(json.loads(frame.payload), kind=protocol.REPLAY, number=0)
        answer = client.call("write_memory", content="Ada likes tea")
    assert answer["structuredContent"]["namespace"] == "project:acme"


# --- switches ----------------------------------------------------------------------------------------------------------


READS = (("read_memories", {}), ("read_memories", {"query": "tea"}), ("reflect", {}))
WRITES = (
    ("write_memory", {"content": "x y"}),
    ("update_memory", {"id": "x", "pinned": True}),
    ("forget_memories", {"ids": ["x"]}),
    ("reflect", {"insights": [{"text": "x", "evidence": ["x"]}]}),
)


def test_where_nothing_is_written_reading_goes_on_and_writes_say_what_to_do(hub, folder):
    with hub.connected(folder=folder("acme", 'namespace = "acme"\nread_only = true')) as client:
        for name, arguments in READS:
            assert not client.call(name, **arguments)["isError"]
        for name, arguments in WRITES:
            answer = client.call(name, **arguments)
            assert answer["isError"]
            assert "read_only = true" in answer["content"][0]["text"]


@pytest.mark.parametrize(("text", "said"), [("off = true", "switched off"), ("of = true", "Mend it")])
def test_where_memory_is_off_every_tool_resource_and_prompt_says_so(hub, folder, text, said):
    with hub.connected(folder=folder("off", text)) as client:
        for name, arguments in (*READS, *WRITES):
            answer = client.call(name, **arguments)
            assert answer["isError"]
            assert said in answer["content"][0]["text"]
        for uri in ("memory://most_recent_memories", "memory://most_recent_memories/s", "memory://memories/x"):
            assert said in client.ask("resources/read", uri=uri)["error"]["message"]
        asked = client.ask("prompts/get", name="answer_with_memories", arguments={"question": "tea?"})
        assert said in asked["error"]["message"]
        reference = {"type": "ref/resource", "uri": "memory://memories/{id}"}
        found = client.ask("completion/complete", ref=reference, argument={"name": "id", "value": ""})
        assert found["result"]["completion"]["values"] == []


def test_a_quiet_read_of_a_hook_says_nothing_where_memory_is_off(hub, folder):
    with hub.connected(folder=folder("off", "of = true")) as client:
        answer = client.call("read_memories", query="tea?", quiet=True)
    assert (answer["isError"], answer["content"][0]["text"]) == (False, "")


def test_a_quiet_read_brings_no_news_of_the_place(hub, folder):
    with hub.connected(folder=folder("x", "of = true"), arguments=("--project", "acme")) as client:
        assert len(client.call("read_memories", query="tea?", quiet=True)["content"]) == 1
        assert "not known" in str(client.call("read_memories")["content"])


def test_status_answers_where_memory_is_off_and_says_why(hub, folder):
    with hub.connected(folder=folder("off", "of = true")) as client:
        (content,) = client.ask("resources/read", uri="memory://status")["result"]["contents"]
    status = json.loads(content["text"])
    assert status["project"]["off"] is True
    assert status["project"]["marker"] == str(folder("off").resolve())
    assert any("not known" in notice for notice in status["notices"])


def test_the_first_answer_tells_of_a_marker_that_was_not_followed(hub, folder):
    with hub.connected(folder=folder("x", "of = true"), arguments=("--project", "acme")) as client:
        answers = [client.call("read_memories")["content"] for _ in range(2)]
    assert ["not known" in str(one) for one in answers] == [True, False]


# --- roots -------------------------------------------------------------------------------------------------------------


def test_the_first_root_goes_before_the_working_folder(hub, folder):
    acme, other = folder("acme", 'namespace = "acme"'), folder("other", 'namespace = "other"')
    with hub.connected(folder=other) as client:
        with_roots(client, acme, other)
        assert kept_in(client) == "project:acme"
        assert status_of(client)["project"]["why"] == "the marker of the client's first root"


def test_roots_that_change_are_asked_for_again(hub, folder):
    acme, other = folder("acme", 'namespace = "acme"'), folder("other", 'namespace = "other"')
    with hub.connected(folder=folder("plain")) as client:
        with_roots(client, acme)
        assert kept_in(client) == "project:acme"
        client.send(CHANGED)
        tell_roots(client, asked_for_roots(client), other)
        assert kept_in(client) == "project:other"


def test_a_client_that_does_not_answer_is_waited_for_once_and_a_moment(hub, folder, monkeypatch):
    monkeypatch.setattr(client_place, "ROOTS_TIMEOUT_SECONDS", 0.01)
    with hub.connected(folder=folder("acme", 'namespace = "acme"')) as client:
        client.send(INITIALIZE)
        client.send(INITIALIZED)
        asked_for_roots(client)
        assert kept_in(client) == "project:acme"
        client.send(CHANGED)
        assert kept_in(client, "x y") == "project:acme"


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "no"}},
        {"result": {}},
        {"result": {"roots": "none"}},
        {"result": {"roots": [{"uri": 7}]}},
        {"result": {"roots": [{"uri": "https://example.org"}]}},
        {"result": {"roots": []}},
    ],
)
def test_an_answer_that_names_no_folder_leaves_it_to_the_working_folder(hub, folder, answer):
    with hub.connected(folder=folder("acme", 'namespace = "acme"')) as client:
        client.send(INITIALIZE)
        client.send(INITIALIZED)
        client.send({"jsonrpc": "2.0", "id": asked_for_roots(client)} | answer)
        assert kept_in(client) == "project:acme"


def test_a_client_without_roots_is_not_asked(hub, folder):
    without = INITIALIZE | {"params": INITIALIZE["params"] | {"capabilities": {}}}
    with hub.connected(folder=folder("plain")) as client:
        client.send(without)
        client.send(INITIALIZED)
        client.request("last", "tools/list")
        kinds = set()
        while (frame := client.receive_frame()).number != 3:
            kinds.add(frame.kind)
    assert protocol.SERVER_REQUEST not in kinds


def test_the_answer_is_kept_for_the_next_hub_which_writes_a_retried_request_where_it_went(home, service, folder):
    acme = folder("acme", 'namespace = "acme"')
    write = {"name": "write_memory", "content": "Ada likes tea"}
    again = {"name": "write_memory", "arguments": {"content": "Ada likes tea"}}
    with ThreadedHub(home, service) as first, first.connected(folder=folder("plain")) as client:
        client.send(INITIALIZE)
        client.send(INITIALIZED)
        question = asked_for_roots(client)
        tell_roots(client, question, acme)
        kept = client.receive_frame(protocol.REMEMBER_LINE)
        assert (kept.number, kept.name) == (3, "roots")
        before = called(client, **write)["structuredContent"]
    with ThreadedHub(home, service) as second, second.connected(folder=folder("plain"), times=1) as client:
        client.send(INITIALIZE, kind=protocol.REPLAY, number=0)
        client.send(INITIALIZED, kind=protocol.REPLAY, number=0)
        tell_roots(client, question, acme, kind=protocol.REPLAY, number=0)
        client.request("w", "tools/call", kind=protocol.RETRY, number=4, **again)
        assert client.answer()[1]["result"]["structuredContent"]["id"] == before["id"]


# --- news --------------------------------------------------------------------------------------------------------------


def test_news_come_of_what_the_person_and_the_project_are_told(hub, folder):
    acme = folder("acme", 'namespace = "acme"')
    with hub.connected(folder=acme) as client, hub.connected(relay="1" * 32, folder=folder("plain")) as person:
        with_roots(client, acme)
        client.request("s", "resources/subscribe", uri="memory://most_recent_memories")
        client.answer()
        person.call("write_memory", content="Ada likes tea")
        assert json.loads(client.receive_frame(protocol.NOTIFICATION).payload)["method"].endswith("updated")
        with hub.connected(relay="2" * 32, folder=folder("other", 'namespace = "other"')) as stranger:
            stranger.call("write_memory", content="Other ships on Friday")
        person.call("write_memory", content="Ada likes cake")
        assert client.receive_frame(protocol.NOTIFICATION)


LISTEN = {"notifications": {"resourceSubscriptions": ["memory://most_recent_memories"]}, "_meta": MODERN}


def listening(client, kind=protocol.LINE):
    """Let a client of the newer protocol listen: all that it ever asks."""
    client.request("l", "subscriptions/listen", kind=kind, number=1, **LISTEN)
    frame = client.receive_frame(protocol.NOTIFICATION)
    return json.loads(frame.payload)["method"]


def hears(client):
    return json.loads(client.receive_frame(protocol.NOTIFICATION).payload)["method"].endswith("resources/updated")


@pytest.mark.parametrize("kind", [protocol.LINE, protocol.RESUBSCRIBE])
def test_a_client_that_only_listens_hears_of_its_project_also_after_a_change_of_hubs(hub, folder, kind):
    acme = folder("acme", 'namespace = "acme"')
    with hub.connected(folder=acme) as client, hub.connected(relay="1" * 32, folder=acme) as writer:
        listening(client, kind)
        writer.call("write_memory", content="Acme ships on Friday")
        assert hears(client)


def test_a_client_that_only_listens_hears_that_it_is_in_another_project_now(hub, folder):
    """Nobody writes, and it calls nothing."""
    with hub.connected(folder=folder("mine", 'namespace = "acme"')) as client:
        listening(client)
        client.call("read_memories")
        folder("mine", 'namespace = "beta"')
        assert hears(client)


def test_an_older_client_that_subscribed_hears_that_it_is_in_another_project_now(hub, folder):
    with hub.connected(folder=folder("mine", 'namespace = "acme"')) as client:
        client.send(INITIALIZE | {"params": INITIALIZE["params"] | {"capabilities": {}}})
        client.send(INITIALIZED)
        called(client, "read_memories")
        for uri in ("memory://status", "memory://most_recent_memories"):
            client.request(uri, "resources/subscribe", uri=uri)
            client.receive_frame(protocol.ANSWER)
        folder("mine", 'namespace = "beta"')
        assert hears(client)
        assert hears(client)


@pytest.mark.slow
def test_a_client_that_only_listens_follows_its_marker(hub, folder):
    mine = folder("mine", 'namespace = "acme"')
    beta = folder("beta", 'namespace = "beta"')
    with hub.connected(folder=mine) as client, hub.connected(relay="1" * 32, folder=beta) as writer:
        listening(client)
        writer.call("write_memory", content="Beta ships on Friday")
        folder("mine", 'namespace = "beta"')
        writer.call("write_memory", content="Beta ships on Monday")
        assert hears(client)


def test_a_subscriber_is_told_when_it_reads_other_memories_than_before(hub, folder):
    mine = folder("mine", 'namespace = "acme"')
    with hub.connected(folder=mine) as client:
        client.call("read_memories", query="anything")
        listening(client)
        folder("mine", 'namespace = "beta"')
        client.request("c", "tools/call", name="read_memories", arguments={"query": "anything"}, _meta=MODERN)
        assert hears(client)
