"""A page of another origin, open in the same browser, can neither read the memory nor act on it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.browser.conftest import WIDE

pytestmark = pytest.mark.browser

ATTACK = """async ([base, id]) => {
    const got = {};
    const attempt = async (name, work) => { try { got[name] = await work() } catch (error) { got[name] = null } };
    const text = answer => answer.type === 'opaque' ? null : answer.text();
    for (const path of ['/', '/search.json?q=Ada', `/memories/${id}.json`, '/events', '/static/base.css'])
        for (const mode of ['cors', 'no-cors'])
            await attempt(`${mode} ${path}`, async () => text(await fetch(base + path, {mode, credentials: 'include'})));
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json'])
        await attempt(`post ${type}`, async () => text(await fetch(base + '/actions/forget', {
            method: 'POST', mode: type === 'application/json' ? 'cors' : 'no-cors', credentials: 'include',
            headers: {'content-type': type}, body: type.endsWith('json') ? JSON.stringify({ids: [id]}) : `ids=${id}`})));
    await attempt('script', () => new Promise((done, failed) => {
        const one = document.createElement('script'); one.src = `${base}/memories/${id}.json`;
        one.onload = () => done('loaded'); one.onerror = failed; document.body.append(one) }));
    await attempt('picture', () => new Promise((done, failed) => {
        const one = new Image(); one.src = `${base}/static/icon.svg`; one.onload = () => done('loaded'); one.onerror = failed }));
    await attempt('frame', () => new Promise(done => {
        const one = document.createElement('iframe'); one.src = base + '/';
        one.onload = () => { try { done(one.contentDocument.body.innerText || null) } catch (error) { done(null) } };
        document.body.append(one) }));
    await attempt('window', async () => {
        const one = window.open(base + '/'); await new Promise(done => setTimeout(done, 800));
        return one && one.document && one.document.body.innerText || null });
    await attempt('events', () => new Promise((done, failed) => {
        const one = new EventSource(base + '/events', {withCredentials: true});
        one.onmessage = event => done(event.data); one.onerror = failed; setTimeout(failed, 800) }));
    await attempt('form', async () => {
        const frame = document.createElement('iframe'); frame.name = 'target'; document.body.append(frame);
        const form = document.createElement('form'); form.method = 'post'; form.action = base + '/actions/forget'; form.target = 'target';
        const field = document.createElement('input'); field.name = 'ids'; field.value = id; form.append(field);
        document.body.append(form); form.submit(); await new Promise(done => setTimeout(done, 500)); return null });
    return got;
}"""


@contextmanager
def foreign_server(host: str) -> Iterator[tuple[str, list[str]]]:
    """Serve an empty page at another port; gives its origin and the cookies that it was sent."""
    cookies: list[str] = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.extend(self.headers.get_all("cookie") or [])
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>foreign</title><body>foreign")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer((host, 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{host}:{server.server_address[1]}", cookies
    server.shutdown()
    server.server_close()


@pytest.fixture
def browser_that_is_let_in(chromium, own_life):
    context = chromium.new_context(viewport=WIDE)
    context.new_page().goto(own_life.address)
    yield context
    context.close()


def is_current(context, served, memory_id) -> bool:
    page = context.new_page()
    page.goto(served.base)
    return (
        page.evaluate("id => fetch(`/memories/${id}.json`).then(one => one.text())", memory_id).count('"forgotten"')
        == 0
    )


@pytest.mark.parametrize("same_host", [False, True], ids=["another host", "another port"])
def test_a_foreign_page_reads_nothing_and_changes_nothing(browser_that_is_let_in, own_life, same_host):
    context, memory_id = browser_that_is_let_in, own_life.ids["porto"]
    host = str(urlsplit(own_life.base).hostname) if same_host else "127.0.0.1"
    with foreign_server(host) as (origin, _):
        page = context.new_page()
        page.goto(origin)
        got = page.evaluate(ATTACK, [own_life.base, memory_id])
    assert {name: one for name, one in got.items() if one} == {}
    assert is_current(context, own_life, memory_id)


def test_servers_of_other_ports_are_not_sent_the_cookie(browser_that_is_let_in, own_life):
    if urlsplit(own_life.base).hostname == "127.0.0.1":
        pytest.skip("only where all of 127/8 is loopback has the page an address of its own")
    with foreign_server("127.0.0.1") as (origin, cookies):
        browser_that_is_let_in.new_page().goto(origin)
    assert cookies == []


def test_a_name_that_was_made_to_lead_here_is_refused(chromium, own_life):
    parts = urlsplit(own_life.base)
    browser = chromium.browser_type.launch(
        executable_path="/usr/bin/chromium",
        args=["--no-sandbox", f"--host-resolver-rules=MAP rebind.example {parts.hostname}"],
    )
    page = browser.new_page()
    answer = page.goto(f"http://rebind.example:{parts.port}/")
    browser.close()
    assert answer is not None
    assert answer.status in (403, 421)


def test_the_address_lets_one_browser_in(chromium, own_life):
    statuses = []
    for _ in range(2):
        context = chromium.new_context()
        statuses.append(context.new_page().goto(own_life.address).status)
        context.close()
    assert statuses == [200, 403]
