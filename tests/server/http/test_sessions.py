"""Sessions over HTTP: whose they are, and when they end."""

from __future__ import annotations

import json

import anyio
import anyio.lowlevel
import pytest
from tests.server.http.conftest import Raw
from tests.server.raw import MODERN

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


RECENT = "memory://most_recent_memories"


async def test_a_session_id_is_worth_nothing_with_another_token(app, token, other_token, foreign_token):
    session = await Raw(app, token).initialize()
    for thief in (Raw(app, other_token), Raw(app, foreign_token)):
        stolen = await thief.call(session, "read_memories")
        unknown = await thief.call("0" * 32, "read_memories")
        assert (stolen.status, stolen.body, stolen.headers) == (404, unknown.body, unknown.headers)
        assert (await thief.ask("DELETE", mcp_session_id=session)).status == 404
        assert (await thief.ask("GET", mcp_session_id=session)).status == 404
    assert (await Raw(app, token).call(session, "read_memories")).status == 200


async def test_sessions_have_ids_that_nobody_guesses_and_conversations_of_their_own(raw, service):
    first, second = await raw.initialize(), await raw.initialize()
    assert first != second
    assert len(first) == 32
    await raw.call(first, "write_memory", content="Ada")
    await raw.call(second, "write_memory", content="Grace")
    one, two = service.memories.values()
    assert one.session != two.session


async def test_requests_without_a_session_share_the_conversation_of_their_token(app, token, other_token, service):
    for owner in (token, token, other_token):
        answer = await Raw(app, owner).modern("tools/call", name="write_memory", arguments={"content": f"Ada {owner}"})
        assert answer.json["result"]["structuredContent"]["id"]
        await Raw(app, owner).modern(
            "tools/call", name="write_memory", arguments={"content": f"Grace {owner} {len(service.memories)}"}
        )
    sessions = [memory.session for memory in service.memories.values()]
    assert len(set(sessions)) == 2


async def test_nothing_in_a_request_chooses_the_namespace(app, foreign_token, service):
    raw = Raw(app, foreign_token)
    refused = await raw.modern("tools/call", name="write_memory", arguments={"content": "Ada", "namespace": "default"})
    assert refused.json["result"]["isError"]
    await raw.post(PING, hybrid_memory_namespace="default", query=b"namespace=default")
    await raw.modern("tools/call", name="write_memory", arguments={"content": "Ada"})
    assert {one.content: one.namespace for one in service.memories.values()} == {"Ada": "elsewhere"}


async def test_a_session_that_was_ended_is_gone(raw, service):
    session = await raw.initialize()
    await raw.call(session, "write_memory", content="Ada")
    assert (await raw.ask("DELETE", mcp_session_id=session)).status == 200
    assert (await raw.call(session, "read_memories")).status == 404
    with anyio.fail_after(60):
        while not service.ended:
            await anyio.lowlevel.checkpoint()
    assert [memory.session for memory in service.memories.values()] == service.ended


async def test_a_session_in_which_nothing_was_asked_opens_no_store_when_it_ends(raw, service):
    session = await raw.initialize()
    await raw.ask("DELETE", mcp_session_id=session)
    await raw.initialize()
    assert service.threads == set()


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_without_a_session_only_initialize_is_served(raw, method):
    assert (await raw.ask(method, body=b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')).status == 400


async def test_an_opening_that_is_refused_leaves_no_session(raw):
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    assert (await raw.post(message, accept="application/json")).status == 406
    assert raw.app.sessions.count == 0


async def test_an_idle_session_ends_and_a_busy_one_stays(serving, token):
    time = [0.0]
    async with serving(session_idle_seconds=60, now=lambda: time[0]) as app, anyio.create_task_group() as group:
        raw = Raw(app, token)
        idle, busy = await raw.initialize(), await raw.initialize()
        group.start_soon(lambda: raw.ask("GET", mcp_session_id=busy))
        await anyio.wait_all_tasks_blocked()
        time[0] = 59
        app.sessions.end_stale(lambda _: True)
        assert app.sessions.count == 2
        time[0] = 61
        app.sessions.end_stale(lambda _: True)
        assert [one.id for one in app.sessions] == [busy] != [idle]
        assert (await raw.post(PING, mcp_session_id=busy)).status == 200
        await app.leave()


async def test_an_idle_conversation_without_a_session_ends_too(serving, token, service):
    time = [0.0]
    async with serving(session_idle_seconds=60, now=lambda: time[0]) as app:
        raw = Raw(app, token)
        for content in ("Ada", "Grace"):
            await raw.modern("tools/call", name="write_memory", arguments={"content": content})
            time[0] += 61
            app.sessions.end_stale(lambda _: True)
    one, two = service.memories.values()
    assert set(service.ended) == {one.session, two.session}


async def test_a_revoked_token_ends_its_sessions_and_streams(app, tokens, token, other_token):
    revoked, other = Raw(app, token), Raw(app, other_token)
    session, kept = await revoked.initialize(), await other.initialize()
    streams = []

    async def listen(raw, session_id):
        streams.append(await raw.ask("GET", mcp_session_id=session_id))

    async with anyio.create_task_group() as group:
        group.start_soon(listen, revoked, session)
        await anyio.wait_all_tasks_blocked()
        tokens.revoke("laptop")
        app.sessions.end_stale(tokens.still_good)
    assert streams[0].status == 200
    assert app.sessions.count == 1
    assert (await revoked.call(session, "read_memories")).status == 401
    assert (await other.call(kept, "read_memories")).status == 200


async def test_a_client_that_never_ends_its_sessions_loses_the_longest_idle_one(serving, token, other_token):
    async with serving(sessions=3) as app:
        raw = Raw(app, token)
        first, *_, last = [await raw.initialize() for _ in range(4)]
        other = await Raw(app, other_token).initialize()
        assert first not in [one.id for one in app.sessions]
        assert (await raw.post(PING, mcp_session_id=last)).status == 200
        assert (await Raw(app, other_token).post(PING, mcp_session_id=other)).status == 200


async def test_after_a_restart_a_client_goes_on_in_a_new_conversation(serving, token, service):
    async with serving() as app:
        session = await Raw(app, token).initialize()
        await Raw(app, token).call(session, "write_memory", content="Ada plays the cello")
    async with serving(seed=6) as app:
        raw = Raw(app, token)
        found = await raw.call(session, "read_memories", query="cello")
        assert found.status == 200
        assert "Ada plays the cello" in found.json["result"]["content"][0]["text"]
        await raw.call(session, "write_memory", content="Grace plays the viola")
        assert app.sessions.count == 1
    one, two = service.memories.values()
    assert one.session != two.session


async def test_many_requests_at_once_after_a_restart_share_one_conversation(serving, token):
    async with serving() as app:
        session = await Raw(app, token).initialize()
    async with serving() as app:
        statuses = []

        async def ask(number):
            answer = await Raw(app, token).call(session, "read_memories", number)
            statuses.append(answer.status)

        async with anyio.create_task_group() as group:
            for number in range(2, 12):
                group.start_soon(ask, number)
        assert statuses == [200] * 10
        assert app.sessions.count == 1


async def test_a_stream_of_a_client_that_goes_on_is_opened(serving, token, monkeypatch):
    async with serving() as app:
        session = await Raw(app, token).initialize()
    async with serving() as app, anyio.create_task_group() as group:
        streams, opened = [], anyio.Event()
        monkeypatch.setattr(app.sessions, "tell_missed_news", lambda _: opened.set())

        async def listen():
            streams.append(await Raw(app, token).ask("GET", mcp_session_id=session))

        group.start_soon(listen)
        await opened.wait()
        assert app.sessions.count == 1
        await app.leave()
    assert [one.status for one in streams] == [200]


@pytest.mark.parametrize("number", [0, 1])
async def test_after_a_restart_an_id_is_worth_nothing_with_another_token(
    serving, token, other_token, foreign_token, number
):
    async with serving() as app:
        session = await Raw(app, token).initialize()
    async with serving() as app:
        thief = Raw(app, (other_token, foreign_token)[number])
        assert (await thief.call(session, "read_memories")).status == 404
        assert (await thief.ask("GET", mcp_session_id=session)).status == 404
        assert app.sessions.count == 0


@pytest.mark.parametrize("made_up", ["0" * 32, "", "x", "é", "0" * 16, "a" * 10_000, "deadbeef" * 4])
async def test_an_id_that_this_server_never_gave_begins_nothing(app, raw, made_up):
    assert (await raw.call(made_up, "read_memories")).status in (400, 404)
    assert app.sessions.count == 0


async def test_what_a_client_ended_or_begins_anew_is_not_gone_on_with(serving, token):
    async with serving() as app:
        raw = Raw(app, token)
        ended, left = await raw.initialize(), await raw.initialize()
        await raw.ask("DELETE", mcp_session_id=ended)
        for method in ("POST", "GET", "DELETE"):
            body = json.dumps(PING).encode() if method == "POST" else b""
            assert (await raw.ask(method, body, mcp_session_id=ended)).status == 404
    async with serving() as app:
        raw = Raw(app, token)
        assert (await raw.ask("DELETE", mcp_session_id=left)).status == 404
        assert (await raw.post({"jsonrpc": "2.0", "id": 1, "method": "initialize"}, mcp_session_id=left)).status == 404
        assert app.sessions.count == 0


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_a_client_ended_stays_ended_over_a_restart(serving, token, restarted):
    async with serving() as app:
        raw = Raw(app, token)
        ended = await raw.initialize()
        if not restarted:
            assert (await raw.ask("DELETE", mcp_session_id=ended)).status == 200
    if restarted:
        async with serving() as app:
            assert (await Raw(app, token).ask("DELETE", mcp_session_id=ended)).status == 404
    async with serving() as app:
        assert (await Raw(app, token).call(ended, "read_memories")).status == 404
        assert app.sessions.count == 0


async def test_after_a_restart_a_client_is_subscribed_to_what_it_was(serving, token, monkeypatch):
    async with serving() as app:
        raw = Raw(app, token)
        one, two, none = [await raw.initialize() for _ in range(3)]
        for session, method, uri in (
            (one, "subscribe", RECENT),
            (two, "subscribe", RECENT),
            (two, "subscribe", RECENT + "/plans"),
            (two, "unsubscribe", RECENT),
        ):
            asked = {"jsonrpc": "2.0", "id": 5, "method": f"resources/{method}", "params": {"uri": uri}}
            assert (await raw.post(asked, mcp_session_id=session)).status == 200
    for _ in range(2):
        async with serving() as app:
            raw, heard, opened = Raw(app, token), {}, []
            tell = app.sessions.tell_missed_news
            monkeypatch.setattr(app.sessions, "tell_missed_news", lambda one, o=opened, t=tell: (o.append(one), t(one)))

            async def listen(session, raw=raw, heard=heard):
                heard[session] = (await raw.ask("GET", mcp_session_id=session)).body.decode()

            async with anyio.create_task_group() as group:
                for session in (one, two, none):
                    group.start_soon(listen, session)
                while len(opened) < len((one, two, none)):  # threads make the sessions again
                    await anyio.lowlevel.checkpoint()
                await anyio.wait_all_tasks_blocked()
                await app.leave()
            uris = {
                session: [
                    json.loads(line[5:])["params"]["uri"]
                    for line in body.splitlines()
                    if line.startswith(("data:{", "data: {"))
                ]
                for session, body in heard.items()
            }
            assert uris == {one: [RECENT], two: [RECENT + "/plans"], none: []}


async def test_who_was_idle_for_long_goes_on_within_the_limits(serving, token):
    time = [0.0]
    async with serving(session_idle_seconds=60, sessions=1, now=lambda: time[0]) as app:
        raw = Raw(app, token)
        first = await raw.initialize()
        time[0] = 61
        app.sessions.end_stale(lambda _: True)
        second = await raw.initialize()
        for one in (first, second, first):
            assert (await raw.post(PING, mcp_session_id=one)).status == 200
            assert [session.id for session in app.sessions] == [one]


async def test_busy_sessions_are_not_ended_for_new_ones(serving, token):
    async with serving(sessions=1) as app, anyio.create_task_group() as group:
        raw = Raw(app, token)
        session = await raw.initialize()

        async def listen():
            await raw.ask("GET", mcp_session_id=session)

        group.start_soon(listen)
        await anyio.wait_all_tasks_blocked()
        refused = await raw.post({"jsonrpc": "2.0", "id": 1, "method": "initialize"})
        assert refused.status == 429
        assert (await raw.post(PING, mcp_session_id=session)).status == 200
        await raw.ask("DELETE", mcp_session_id=session)


async def test_all_sessions_together_have_a_limit(serving, token, other_token):
    async with serving(all_sessions=1) as app:
        await Raw(app, token).initialize()
        refused = await Raw(app, other_token).post({"jsonrpc": "2.0", "id": 1, "method": "initialize"})
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")


async def test_a_token_has_so_many_requests_at_once_and_others_do_not_notice(serving, token, other_token):
    async with serving(requests=3) as app, anyio.create_task_group() as group:
        raw = Raw(app, token)
        sessions = [await raw.initialize() for _ in range(3)]
        for session in sessions:
            group.start_soon(lambda session=session: raw.ask("GET", mcp_session_id=session))
        await anyio.wait_all_tasks_blocked()
        refused = await raw.post(PING)
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert await Raw(app, other_token).initialize()
        await app.leave()
    assert (await raw.post(PING)).status == 503


async def test_leaving_waits_for_what_is_being_answered(serving, token, service):
    service.held.clear()
    answers = []
    async with serving(shutdown_timeout_seconds=5) as app, anyio.create_task_group() as group:
        raw = Raw(app, token)
        session = await raw.initialize()

        async def write():
            answers.append(await raw.call(session, "write_memory", content="Ada"))

        group.start_soon(write)
        while not service.threads:
            await anyio.lowlevel.checkpoint()
        group.start_soon(app.leave)
        await anyio.wait_all_tasks_blocked()
        assert (await raw.post(PING, mcp_session_id=session)).status == 503
        service.held.set()
    assert answers[0].json["result"]["structuredContent"]["id"]


async def test_what_takes_too_long_is_cut_off_when_leaving(serving, token, service):
    service.held.clear()
    answers = []
    async with serving(shutdown_timeout_seconds=0) as app, anyio.create_task_group() as group:
        raw = Raw(app, token)

        async def write():
            answers.append(await raw.modern("tools/call", name="write_memory", arguments={"content": "Ada"}))

        group.start_soon(write)
        while not service.threads:
            await anyio.lowlevel.checkpoint()
        await app.leave()
    service.held.set()
    assert answers[0].status == 503


THINKING = MODERN | {"io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}


@pytest.fixture
def reflecting(service):
    """Ask for a reflection, as a client that can think; given what the server wants back, answer it."""
    ids = [service.keep(f"Ada was late on day {day}").id for day in range(3)]
    thought = json.dumps([{"text": "Ada is often late", "evidence": ids}])
    said = {"role": "assistant", "content": {"type": "text", "text": thought}, "model": "m"}

    async def ask(raw, state=None):
        more = {} if state is None else {"requestState": state, "inputResponses": {"insights": said}}
        return (await raw.modern("tools/call", meta=THINKING, name="reflect", arguments={}, **more)).json

    return ask


async def test_what_a_client_carries_for_the_server_is_good_after_a_restart(serving, token, reflecting):
    async with serving() as app:
        asked = await reflecting(Raw(app, token))
    async with serving() as app:
        done = await reflecting(Raw(app, token), asked["result"]["requestState"])
    assert done["result"]["structuredContent"]["stored"]


async def test_what_a_client_carries_is_worth_nothing_to_others_or_under_another_key(
    serving, token, other_token, foreign_token, reflecting
):
    async with serving() as app:
        state = (await reflecting(Raw(app, token)))["result"]["requestState"]
        for thief in (other_token, foreign_token):
            assert (await reflecting(Raw(app, thief), state))["error"]["code"] == -32602
        assert (await reflecting(Raw(app, token), state[:-2] + "xx"))["error"]["code"] == -32602
    async with serving(state_key=b"o" * 32) as app:
        assert (await reflecting(Raw(app, token), state))["error"]["code"] == -32602
