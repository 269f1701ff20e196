"""Which requests the HTTP server serves (address, token, method, size), and how it refuses the others."""

from __future__ import annotations

import json
from datetime import timedelta

import anyio
import pytest
from tests.server.http.conftest import Raw

from hybrid_memory.requests import Lag

pytestmark = pytest.mark.anyio

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


def forms_of_no_token(token):
    return [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Basic {token}",
        f"Bearer {token}x",
        f"Bearer {token[:-1]}",
        f"Bearer {token} {token}",
        token,
        [f"Bearer {token}", f"Bearer {token}"],
        "Bearer \xff",
    ]


async def test_without_a_valid_token_every_answer_is_the_same(raw):
    answers = [await raw.post(INITIALIZE, authorization=form) for form in forms_of_no_token(raw.token)]
    assert {(one.status, one.headers["www-authenticate"], one.body) for one in answers} == {
        (401, answers[0].headers["www-authenticate"], answers[0].body)
    }
    assert answers[0].headers["www-authenticate"].startswith("Bearer ")


async def test_revoked_expired_and_unknown_tokens_look_the_same(app, tokens, clock):
    revoked = tokens.create("revoked", namespace="default", agent="default")
    expired = tokens.create("expired", namespace="default", agent="default", lifetime=timedelta(hours=1))
    tokens.revoke("revoked")
    clock.advance(hours=2)
    answers = [await Raw(app, one).post(INITIALIZE) for one in (revoked, expired, "hmm_unknown")]
    assert len({(one.status, tuple(one.headers.items()), one.body) for one in answers}) == 1


async def test_a_token_in_the_address_is_not_read(raw):
    query = f"token={raw.token}&access_token={raw.token}".encode()
    assert (await raw.post(INITIALIZE, authorization=None, query=query)).status == 401


async def test_the_scheme_of_the_token_may_be_written_in_any_case(raw):
    assert (await raw.post(INITIALIZE, authorization=f"bearer {raw.token}")).status == 200


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "PUT", "OPTIONS"])
async def test_every_method_wants_a_token(raw, method):
    assert (await raw.ask(method, authorization=None)).status == 401


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765"])
async def test_the_names_of_this_machine_are_served(raw, host):
    assert (await raw.post(INITIALIZE, host=host)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "localhost",
        "localhost:1",
        "LOCALHOST:8765",
        "evil.example",
        "evil.example:8765",
        "localhost:8765.evil.example",
        "localhost.evil.example:8765",
        "127.0.0.1:8765@evil.example",
        "192.168.1.7:8765",
        ["localhost:8765", "evil.example:8765"],
    ],
)
async def test_a_name_that_was_bent_to_this_address_is_refused(raw, host):
    """DNS rebinding: the page's own name is in Host, with a valid token or without."""
    assert (await raw.post(INITIALIZE, host=host)).status == 421
    assert (await raw.post(INITIALIZE, host=host, authorization=None)).status == 421


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "http://localhost",
        "https://localhost:8765",
        "http://localhost:8765.evil.example",
        "http://localhost:9999",
        "",
        "HTTP://LOCALHOST:8765",
        ["http://localhost:8765", "http://evil.example"],
    ],
)
async def test_pages_of_other_origins_are_refused(raw, origin):
    assert (await raw.post(INITIALIZE, origin=origin)).status == 403


async def test_nothing_is_told_to_pages_about_what_they_may_do(raw):
    answer = await raw.ask("OPTIONS", origin="http://localhost:8765", access_control_request_method="POST")
    assert answer.status == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_allowed_hosts_and_origins_are_served_beside(serving, token):
    async with serving(
        host="192.168.1.7", allowed_hosts=("Memory.example",), allowed_origins=("https://memory.example/",)
    ) as app:
        raw = Raw(app, token)
        assert (await raw.post(INITIALIZE, host="memory.example", origin="https://memory.example")).status == 200
        assert (await raw.post(INITIALIZE, host="192.168.1.7:8765")).status == 200
        assert (await raw.post(INITIALIZE, host="memory.example", origin="http://memory.example")).status == 403
        assert (await raw.post(INITIALIZE, host="192.168.1.8:8765")).status == 421


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - nothing listens here
async def test_listening_everywhere_does_not_mean_every_name(serving, token, host):
    async with serving(host=host) as app:
        assert (await Raw(app, token).post(INITIALIZE, host="evil.example:8765")).status == 421
        assert (await Raw(app, token).post(INITIALIZE, host="0.0.0.0:8765")).status == 421


async def test_health_is_told_to_anybody_and_says_nothing(raw):
    answer = await raw.ask("GET", path="/healthz", authorization=None)
    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize(("behind", "status"), [(0.0, 204), (2.0, 204), (4.0, 503)])
async def test_the_health_check_tells_whether_the_database_answers(raw, provider, service, behind, status):
    provider.ensure_open()
    service.store.behind_seconds = lambda: behind
    answer = await raw.ask("GET", path="/healthz", authorization=None)
    assert answer.status == status


async def test_the_health_check_tells_how_far_behind_other_hubs_it_is(raw, provider, service):
    provider.ensure_open()
    service.lag = lambda: Lag(0.25, 3)
    answer = await raw.ask("GET", path="/healthz", authorization=None)
    assert (answer.status, answer.json) == (200, {"behind_seconds": 0.25, "behind_changes": 3})


@pytest.mark.parametrize(
    "path", ["/", "/mcp/", "/mcp/..", "//mcp", "/healthz/x", "/.well-known/oauth-protected-resource"]
)
async def test_there_is_nothing_at_other_paths(raw, path):
    assert (await raw.ask("GET", path=path)).status == 404


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "TRACE", "OPTIONS", "CONNECT", "BREW"])
async def test_other_methods_are_named_as_wrong(raw, method):
    answer = await raw.ask(method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST, GET, DELETE")


async def test_a_refusal_is_json_and_names_nothing_of_the_request(raw):
    answer = await raw.post(INITIALIZE, authorization="Bearer hmm_secret-guess")
    assert json.loads(answer.body)["error"]["message"].startswith("a valid token is required")
    assert b"guess" not in answer.body


async def test_a_failure_inside_is_told_without_what_failed(raw, monkeypatch, caplog):
    async def fail(*_arguments):
        raise RuntimeError("the violin is in the attic")

    monkeypatch.setattr(raw.app.sessions, "open_session", fail)
    answer = await raw.post(INITIALIZE)
    assert answer.status == 500
    assert b"violin" not in answer.body
    assert "violin" not in caplog.text
    assert "RuntimeError" in caplog.text


async def test_a_client_that_does_not_read_its_answer_is_given_up(serving):
    async def stuck(_):
        await anyio.sleep_forever()

    scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": [(b"host", b"localhost:8765")]}
    async with serving(write_timeout_seconds=0.01) as app:
        with anyio.fail_after(60):
            await app(scope, anyio.sleep_forever, stuck)
