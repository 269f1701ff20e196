"""Who gets through the page's door, and what every answer says to the browser."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from urllib.parse import quote

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.inspector.page.door import HOST, ORIGIN, PORT, House

from hybrid_memory_inspector.page.access import DoorLimits, own_path
from hybrid_memory_inspector.page.passes import MAX_TOKENS, TOKEN_SECONDS

pytestmark = pytest.mark.anyio

OWN = {"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors", "sec_fetch_dest": "empty"}
LINK = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def house():
    return House()


async def opened(house, target="", **headers):
    """Open the address that `inspect` would print."""
    _, token = house.door.address("mine")
    return await house.ask(f"/?token={token}{target}", **headers)


# the token


async def test_the_token_is_exchanged_for_a_cookie_and_gone_from_the_address(house):
    answer = await opened(house)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == house.passes.cookie_name
    assert rest.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Strict"]


async def test_with_the_cookie_the_page_is_shown(house):
    answer = await opened(house)
    shown = await house.ask("/timeline", cookie=answer.headers["set-cookie"].partition(";")[0])
    assert (shown.status, shown.text) == (200, "mine /timeline")


async def test_a_token_is_good_once(house):
    url, token = house.door.address("mine")
    assert url == f"{ORIGIN}/?token={token}"
    first, second = [await house.ask(f"/?token={token}") for _ in range(2)]
    assert (first.status, second.status) == (303, 403)
    assert "Run hybrid-memory-mcp inspect again" in second.text
    assert "set-cookie" not in second.headers


async def test_a_token_that_nobody_used_gets_too_old(house):
    _, token = house.door.address("mine")
    house.clock.now += TOKEN_SECONDS + 1
    assert (await house.ask(f"/?token={token}")).status == 403


@pytest.mark.parametrize("wrong", ["", "x", "é", "a" * 5000, "%00"])
async def test_a_wrong_token_opens_nothing(house, wrong):
    house.door.address("mine")
    assert (await house.ask(f"/?token={wrong}")).status == 403


async def test_a_token_of_a_command_that_left_opens_nothing(house):
    _, token = house.door.address("mine")
    house.passes.withdraw(token)
    assert (await house.ask(f"/?token={token}")).status == 403


async def test_of_too_many_tokens_the_oldest_go(house):
    _, first = house.door.address("mine")
    for _ in range(MAX_TOKENS):
        _, last = house.door.address("mine")
    assert (await house.ask(f"/?token={first}")).status == 403
    assert (await house.ask(f"/?token={last}")).status == 303


async def test_looking_at_a_link_ahead_does_not_use_it_up(house):
    _, token = house.door.address("mine")
    assert (await house.ask(f"/?token={token}", method="HEAD")).status == 403
    assert (await house.ask(f"/?token={token}", sec_purpose="prefetch;prerender")).status == 403
    assert (await house.ask(f"/?token={token}")).status == 303


async def test_a_used_address_offers_the_page_to_who_is_in_already(house):
    answer = await house.ask("/?token=used&next=/map", cookie=house.enter())
    assert answer.status == 403
    assert '<a href="/map"' in answer.text


async def test_a_second_command_shows_its_own_place_in_the_browser_that_is_in(house):
    cookie = house.enter("mine")
    _, token = house.door.address("the project's")
    answer = await house.ask(f"/?token={token}", cookie=cookie)
    assert (answer.status, "set-cookie" in answer.headers) == (303, False)
    assert (await house.ask("/", cookie=cookie)).text == "the project's /"


@pytest.mark.parametrize("asked", ["/map", "/search?q=porto", "/memories/06h0", "/names/%E9%9F%B3", "/names/音"])
async def test_the_browser_goes_on_to_the_page_that_was_asked_for(house, asked):
    answer = await opened(house, f"&next={quote(asked, safe='')}")
    assert answer.headers["location"] == asked.replace("音", "%E9%9F%B3")


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "evil",
        "/%0d%0aset-cookie:x",
        "",
        "/" * 3,
    ],
)
async def test_the_browser_is_sent_nowhere_else(house, elsewhere):
    assert (await opened(house, f"&next={elsewhere}")).headers["location"] == "/"


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_whatever_is_asked_for_an_own_path_leads_to_this_page(path):
    found = own_path(path)
    assert found.isascii()
    assert found.isprintable()
    assert " " not in found
    assert found.startswith("/")
    assert not found.startswith(("//", "/\\"))


async def test_other_parameters_of_the_address_stay(house):
    _, token = house.door.address("mine")
    assert (await house.ask(f"/search?q=a%20b&token={token}")).headers["location"] == "/search?q=a+b"


async def test_who_followed_a_link_on_another_page_goes_on_from_ours(house):
    # The cookie would not be sent after a redirect, which still belongs to the other page.
    answer = await opened(house, "&next=/map%22%3E", sec_fetch_site="cross-site", **LINK)
    assert answer.status == 200
    assert "set-cookie" in answer.headers
    assert '<meta http-equiv="refresh" content="0;url=/map%22%3E">' in answer.text


# the cookie


async def test_without_the_cookie_nothing_is_shown(house):
    for target in ("/", "/now.json", "/events", "/actions/forget", "/anything"):
        assert (await house.ask(target)).status == 403
    assert house.served == []


async def test_styles_are_shown_to_whom_the_page_is_not(house):
    assert (await house.ask("/static/base.css")).text == "public /static/base.css"
    assert (await house.ask("/favicon.svg")).status == 200


async def test_a_cookie_of_another_server_is_none(house):
    other = House()
    assert (await house.ask("/", cookie=other.enter())).status == 403
    assert house.passes.cookie_name != other.passes.cookie_name


@pytest.mark.parametrize("ours_first", [True, False])
async def test_cookies_that_somebody_else_put_there_neither_shut_out_nor_let_in(house, ours_first):
    name, ours = house.passes.cookie_name, house.enter()
    tossed = [f"{name}=tossed", f"a=b; {name}=; {name}"]
    cookies = [ours, *tossed] if ours_first else [*tossed, ours]
    assert (await house.ask("/", cookie="; ".join(cookies))).status == 200
    assert (await house.ask("/", cookie=cookies)).status == 200
    assert (await house.ask("/", cookie=tossed)).status == 403


# who asks


@pytest.mark.parametrize(
    "host",
    [
        "localhost:4321", "evil.example", "evil.example:4321", "127.0.0.1:4321", f"{HOST}:4322", HOST, f"{HOST}:04321",
        f"{HOST}:4321.", f"user@{HOST}:4321", None, [f"{HOST}:4321", "evil.example"], "",
    ],
)  # fmt: skip
async def test_a_name_that_was_made_to_lead_here_is_refused(house, host):
    answer = await house.ask("/", host=host, cookie=house.enter())
    assert answer.status == 421
    assert house.served == []


async def test_an_address_of_ipv6_stands_in_brackets():
    house = House(host="::1")
    assert house.door.address("mine")[0].startswith(f"http://[::1]:{PORT}/?token=")
    assert (await house.ask("/", host=f"[::1]:{PORT}", cookie=house.enter())).status == 200


@pytest.mark.parametrize("target", ["http://evil.example/", "*", "evil.example:443"])
async def test_what_is_asked_of_a_proxy_is_refused(house, target):
    assert (await house.ask(target, cookie=house.enter())).status == 400


@pytest.mark.parametrize("site", ["cross-site", "same-site", "strange"])
@pytest.mark.parametrize("target", ["/", "/now.json", "/events", "/static/base.css", "/favicon.svg", "/map/points.bin"])
async def test_another_page_reads_nothing_not_even_one_at_another_port(house, site, target):
    for mode, dest in (("cors", "empty"), ("no-cors", "script"), ("navigate", "iframe"), ("no-cors", "image")):
        answer = await house.ask(
            target, cookie=house.enter(), sec_fetch_site=site, sec_fetch_mode=mode, sec_fetch_dest=dest
        )
        assert answer.status == 403
    assert house.served == []


async def test_a_link_on_another_page_may_be_followed_to_a_page_but_not_to_data(house):
    cookie = house.enter()
    assert (await house.ask("/map", cookie=cookie, sec_fetch_site="cross-site", **LINK)).status == 200
    for target in ("/map.json", "/events", "/actions/forget", "/static/base.css"):
        assert (await house.ask(target, cookie=cookie, sec_fetch_site="cross-site", **LINK)).status == 403


async def test_a_browser_that_was_kept_from_sending_its_cookie_is_offered_the_way_on(house):
    answer = await house.ask("/search?q=<b>", sec_fetch_site="cross-site", **LINK)
    assert answer.status == 403
    assert '<a href="/search?q=%3Cb%3E"' in answer.text
    assert "<a" not in (await house.ask("/search?q=x", **OWN)).text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"http://{HOST}:4322", f"https://{HOST}:{PORT}", "", ORIGIN + "/"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_foreign_origin_is_refused_whatever_it_asks(house, origin, method):
    answer = await house.ask("/actions/pin", method=method, origin=origin, cookie=house.enter())
    assert answer.status == 403
    assert house.served == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": ORIGIN},
        {"origin": ORIGIN, **OWN},
        {"sec_fetch_site": "same-origin"},
        # as a form of a page without referrers sends it
        {"origin": "null", "sec_fetch_site": "same-origin", **LINK},
    ],
)
async def test_the_page_itself_may_act(house, headers):
    answer = await house.ask("/actions/pin", method="POST", body=[b"ids", b"=1"], cookie=house.enter(), **headers)
    assert answer.status == 200
    assert house.served == [("mine", "POST", "/actions/pin", b"ids=1")]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec_fetch_site": "none"},
        {"origin": ORIGIN, "sec_fetch_site": "same-site"},
        {"origin": ORIGIN, "sec_fetch_site": "cross-site", **LINK},
        {"origin": ORIGIN, "sec_fetch_site": ["same-origin", "cross-site"]},
        {"origin": [ORIGIN, "http://evil.example"]},
    ],
)
async def test_whoever_does_not_prove_to_be_the_page_may_not_act(house, headers):
    answer = await house.ask("/actions/forget", method="POST", cookie=house.enter(), **headers)
    assert answer.status == 403
    assert house.served == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
async def test_other_methods_are_refused(house, method):
    answer = await house.ask("/", method=method, origin=ORIGIN, cookie=house.enter())
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, POST")


# what an answer says


@pytest.mark.parametrize("target", ["/", "/x.json", "/?token=wrong", "/static/base.css", "/timeline"])
@pytest.mark.parametrize("cookie", [True, False])
async def test_every_answer_tells_the_browser_to_keep_others_out(house, target, cookie):
    answer = await house.ask(target, cookie=house.enter() if cookie else None)
    policy = dict(one.split(" ", 1) for one in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert {
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }.items() <= answer.headers.items()
    assert "permissions-policy" in answer.headers
    assert "access-control-allow-origin" not in answer.headers


async def test_no_cache_keeps_what_is_remembered(house):
    assert (await house.ask("/", cookie=house.enter())).headers["cache-control"] == "no-store"
    assert (await house.ask("/now.json")).headers["cache-control"] == "no-store"
    assert (await house.ask("/static/base.css")).headers["cache-control"] == "public, max-age=60"


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


async def test_a_refusal_is_a_page_without_anything_inline(house):
    page = _Tags()
    page.feed((await house.ask("/search?q=<script>alert(1)</script>", sec_fetch_site="cross-site", **LINK)).text)
    tags = {tag for tag, _ in page.found}
    assert {"html", "title", "main", "h1"} <= tags
    assert not tags & {"script", "style"}
    assert all("style" not in attributes for _, attributes in page.found)


async def test_a_program_is_refused_in_its_own_words(house):
    answer = await house.ask("/now.json")
    assert json.loads(answer.text)["error"]["code"] == "cookie"
    answer = await house.ask("/actions/pin", method="POST", accept="application/json", cookie=house.enter())
    assert json.loads(answer.text)["error"]["code"] == "origin"


async def test_a_head_request_gets_no_body(house):
    assert (await house.ask("/", method="HEAD")).body == b""


# limits


async def test_a_body_over_the_limit_is_not_read():
    house = House(limits=DoorLimits(max_body_bytes=10))
    asked = {"method": "POST", "origin": ORIGIN, "cookie": house.enter()}
    assert (await house.ask("/actions/edit", body=[b"x" * 11], content_length="11", **asked)).status == 413
    assert (await house.ask("/actions/edit", body=[b"x" * 6, b"x" * 6], **asked)).status == 413
    assert (await house.ask("/actions/edit", body=[b"x" * 10], content_length="10", **asked)).status == 200
    assert len(house.served) == 1


async def test_a_body_that_does_not_come_is_given_up():
    house = House(limits=DoorLimits(body_timeout_seconds=0))
    asked = {"method": "POST", "origin": ORIGIN, "cookie": house.enter()}
    assert (await house.ask("/actions/edit", body=[], **asked)).status == 408


async def test_too_many_requests_at_once_are_refused():
    held, house = anyio.Event(), None

    async def page(scope, receive, send):
        del scope, receive
        await held.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    house = House(limits=DoorLimits(requests=1), app=page)
    cookie = house.enter()
    async with anyio.create_task_group() as group:
        group.start_soon(house.ask, "/")
        group.start_soon(lambda: house.ask("/", cookie=cookie))
        await anyio.wait_all_tasks_blocked()
        assert (await house.ask("/", cookie=cookie)).status == 503
        held.set()
    assert (await house.ask("/", cookie=cookie)).status == 200


async def test_a_page_that_fails_says_so_without_saying_what_it_holds(house):
    async def page(scope, receive, send):
        raise ValueError("what Ada said")

    house.page = page
    answer = await house.ask("/", cookie=house.enter())
    assert answer.status == 500
    assert "Ada" not in answer.text


async def test_a_browser_that_does_not_read_its_answer_is_given_up():
    house = House(limits=DoorLimits(write_timeout_seconds=0))
    async with anyio.create_task_group() as group:

        async def send(_):
            await anyio.sleep_forever()

        headers = [(b"host", f"{HOST}:{PORT}".encode()), (b"cookie", house.enter().encode())]
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        with anyio.fail_after(60):
            await house.door(scope, receive, send)
        group.cancel_scope.cancel()
    assert house.door.unused_seconds >= 0


async def test_a_page_that_fails_while_it_waits_is_a_failure_like_any_other(house):
    async def page(scope, receive, send):
        raise TimeoutError

    house.page = page
    assert (await house.ask("/", cookie=house.enter())).status == 500


async def test_a_server_that_leaves_takes_nothing_new_and_ends(house):
    cookie = house.enter()
    async with house.door.running():
        await house.door.leave()
        assert (await house.ask("/", cookie=cookie)).status == 503
        assert (await opened(house)).status == 403
