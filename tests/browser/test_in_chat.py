"""The memory inside a chat: our app in a real browser, in a host made of the official library, before our server.

The library (`@modelcontextprotocol/ext-apps`) and what bundles it come from npm, once, into the folder of the tier `clients`. Chat and
sandbox have origins of their own, as the specification wants it, and answers that playwright gives: nothing here listens.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.extension import advertise
from tests.browser.conftest import THEMES
from tests.browser.hostile import RAN, TEXTS
from tests.browser.life import make_life
from tests.clients.environments import node, node_packages
from tests.server.services import ObservedService, make_server

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Origin, Scope, Verdict
from hybrid_memory.requests import ForgetRequest, Insight, JudgeRequest, UpdateRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_inspector.chat_app.card import FOLDER
from hybrid_memory_mcp.mcp_api.apps import APP_MIME_TYPE, CARD, EXTENSION_ID
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = [pytest.mark.browser, pytest.mark.daily]

HERE = Path(__file__).parent / "chat_host"
PACKAGES = (
    "@modelcontextprotocol/ext-apps@2.0.4",
    "@modelcontextprotocol/client@2.0.0",
    "@modelcontextprotocol/core@2.0.0",
    "zod@4.2.0",
    "esbuild@0.25.12",
)
CHAT, SANDBOX = "http://chat.test", "http://sandbox.test"
# What a host must lay upon an app that declares nothing (specification 2026-01-26, "Host Behavior"). The sandbox's own script is inline.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'; frame-src 'self'; object-src 'none'; base-uri 'self'"
)
HERS = Scope(namespace="default", session="s-before")


@pytest.fixture(scope="session")
def host_script() -> str:
    """The chat's script with the official library in it."""
    folder = node_packages("ext-apps", PACKAGES)
    (folder / "host.js").write_text((HERE / "host.js").read_text(encoding="utf-8"), encoding="utf-8")
    made = folder / "made.js"
    program = folder / "node_modules" / "esbuild" / "bin" / "esbuild"
    command = [node(), program, "host.js", "--bundle", "--format=esm", f"--outfile={made}", "--log-level=error"]
    subprocess.run(command, cwd=folder, check=True)
    return made.read_text(encoding="utf-8")


class Chat:
    """A chat in a browser. ``app`` finds things in the app; ``calls`` are the tool calls that came by way of the host."""

    def __init__(self, page: Any, client: Client, portal: Any, service: ObservedService) -> None:
        self.page, self.service = page, service
        self.calls: list[dict[str, Any]] = []
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._client, self._portal = client, portal
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.expose_function("toServer", self._to_server)

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _to_server(self, method: str, params: dict[str, Any]) -> Any:
        if method == "resources/read":
            result = self._portal.call(self._client.read_resource, params["uri"])
        else:
            self.calls.append(params)
            meta = params.get("_meta")
            call = partial(self._client.call_tool, params["name"], params["arguments"], meta=meta)
            result = self._portal.call(call)
        return result.model_dump(by_alias=True, exclude_none=True, mode="json")

    def open(self, tool: str = "read_memories", *, theme: str = "light", context: Any = None, **given: Any) -> Any:
        """Have the assistant call a tool; returns what finds things in the app."""
        options = {name: given.pop(name) for name in ("capabilities", "withoutDetails") if name in given}
        listed = self._portal.call(self._client.list_tools).tools
        told = next(one for one in listed if one.name == tool).model_dump(by_alias=True, exclude_none=True, mode="json")
        self.page.goto(CHAT)
        self.page.wait_for_function("window.ready")
        asked = {"sandbox": SANDBOX, "tool": told, "given": given, "context": {"theme": theme, **(context or {})}}
        self.page.evaluate("asked => show(asked)", asked | options)
        return self.app

    @property
    def app(self) -> Any:
        return self.page.frame_locator("#app").frame_locator("iframe")

    @property
    def frame(self) -> Any:
        return self.page.frames[-1]

    @property
    def told_to_model(self) -> str:
        """What the host holds for the model's next turn."""
        contexts = self.page.evaluate("seen.contexts")
        return contexts[-1]["content"][0]["text"] if contexts else ""

    def violations(self) -> list[str]:
        """What axe finds against WCAG 2.2 AA in the app."""
        self.frame.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = self.frame.evaluate("tags => axe.run(document, {runOnly: tags})", tags)["violations"]
        return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]

    def check(self) -> None:
        """Fail if the browser complained, or asked anybody but chat and sandbox."""
        assert [url for url in self.requested if not url.startswith((CHAT, SANDBOX, "about:"))] == []
        assert self.complaints == []


@contextmanager
def chatting(browser: Any, script: str, service: ObservedService, size: dict[str, int]) -> Iterator[Chat]:
    """Open a chat before a server of its own."""
    context = browser.new_context(viewport=size, locale="en-GB", timezone_id="Europe/Lisbon")
    context.set_default_timeout(30_000)
    bodies = {
        "/": ("text/html", (HERE / "host.html").read_text(encoding="utf-8")),
        "/host.js": ("text/javascript", script),
    }
    sandbox = (HERE / "sandbox.html").read_text(encoding="utf-8")

    def of_chat(route: Any) -> None:
        path = route.request.url.removeprefix(CHAT)
        if path.startswith("/modules/"):
            module = (FOLDER / path.removeprefix("/modules/")).read_text(encoding="utf-8")
            bodies[path] = ("text/javascript", module)
        kind, body = bodies.get(path, ("text/plain", ""))
        route.fulfill(content_type=kind, body=body)

    context.route(f"{CHAT}/**", of_chat)
    policy = {"Content-Security-Policy": POLICY}
    context.route(f"{SANDBOX}/**", lambda route: route.fulfill(content_type="text/html", body=sandbox, headers=policy))
    server = make_server(ServiceProvider(lambda: service))
    shows_apps = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode="legacy", extensions=shows_apps)) as client,
    ):
        chat = Chat(context.new_page(), client, portal, service)
        yield chat
        chat.check()
    context.close()


@pytest.fixture
def memory() -> Iterator[ObservedService]:
    """A memory in which Ada moved: once known to live in Porto, now in Lisbon."""
    service = ObservedService()
    service.clock.set(SystemClock().now() - timedelta(days=500))
    porto = service.keep(
        "Ada lives in Porto, in a flat by the river.", session="s-before", origin=Origin.USER, tags=["home"]
    )
    service.keep("Ada is allergic to peanuts.", origin=Origin.USER, importance=0.9, session="s-before")
    service.clock.advance(days=400)
    service.update(
        HERS, UpdateRequest(id=porto.id, content="Ada lives in Lisbon, in a flat by the river.", origin=Origin.USER)
    )
    service.clock.advance(days=96)
    service.keep("Ada wants a flat with a balcony in Lisbon.", speaker="Ada", session="s-before")
    service.keep("The flat of Ada costs 900 euros, says the bill.", origin=Origin.TOOL, session="s-before")
    yield service
    service.close()


@pytest.fixture
def chat(chromium: Any, host_script: str, memory: ObservedService) -> Iterator[Chat]:
    with chatting(chromium, host_script, memory, {"width": 860, "height": 900}) as found:
        yield found


def shown(chat, **given):
    """Open the app; returns it when it shows an answer."""
    app = chat.open(**given)
    app.get_by_role("heading", level=1).filter(has_text="memor").wait_for()
    return app


def cards(app):
    return app.locator("article")


def of(app, text):
    return cards(app).filter(has_text=text).first


def living(service):
    """What the memory says of where Ada lives, now."""
    return [one.content for one in service.memories.values() if "Ada lives" in one.content and not one.superseded_by]


@pytest.mark.parametrize("theme", THEMES)
def test_the_hits_are_shown_so_that_everybody_can_use_them(chat, theme):
    app = shown(chat, theme=theme, query="Where does Ada live?")
    assert of(app, "Ada lives in Lisbon").is_visible()
    assert chat.violations() == []
    of(app, "Lisbon").get_by_role("button", name="Details").click()
    app.get_by_text("What is known about it").wait_for()
    assert chat.violations() == []
    of(app, "Lisbon").get_by_role("button", name="Correct").click()
    assert chat.violations() == []


def test_what_a_hit_said_before_stands_below_it(chat):
    app = shown(chat, query="Where does Ada live?")
    assert "Ada lives in Porto" in of(app, "Lisbon").locator(".before").inner_text()


def test_details_tell_what_was_true_when_and_why_it_was_found(chat):
    app = shown(chat, query="Where does Ada live?")
    of(app, "Lisbon").get_by_role("button", name="Details").click()
    versions = of(app, "Lisbon").locator(".chain li")
    versions.first.wait_for()
    assert versions.count() == 2
    assert (versions.first.locator("ins").inner_text(), versions.first.locator("del").inner_text()) == (
        "Lisbon",
        "Porto",
    )
    assert versions.nth(1).locator("time").count() == 2
    assert "It has the words of the question" in of(app, "Lisbon").inner_text()
    assert "your words" in of(app, "Lisbon").inner_text()


def test_details_tell_what_speaks_against_a_memory_and_what_it_rests_on(chat, memory):
    lisbon = next(one.id for one in memory.memories.values() if "Lisbon, in" in one.content)
    flat = next(one.id for one in memory.memories.values() if "balcony" in one.content)
    memory.update(HERS, UpdateRequest(id=lisbon, content="Ada lives in Madrid.", origin=Origin.TOOL))
    memory.store_insights(HERS, (Insight(text="Ada lives well in Lisbon", evidence=(lisbon, flat)),))
    memory.forget(HERS, ForgetRequest(ids=(flat,)))
    app = shown(chat, query="Where does Ada live?")
    of(app, "in a flat").get_by_role("button", name="Details").click()
    of(app, "in a flat").get_by_role("heading", name="What speaks against it").wait_for()
    assert "Ada lives in Madrid." in of(app, "in a flat").locator(".linked").inner_text()
    of(app, "lives well").get_by_role("button", name="Details").click()
    rests = of(app, "lives well").locator(".linked li")
    rests.nth(1).wait_for()
    assert rests.all_inner_texts() == ["Ada lives in Lisbon, in a flat by the river.", "Not there any more."]


def test_a_memory_is_corrected_in_place_and_put_back(chat, memory):
    app = shown(chat, query="Where does Ada live?")
    of(app, "Lisbon").get_by_role("button", name="Correct").click()
    app.get_by_label("What it should say").fill("Ada lives in Faro.")
    app.get_by_role("button", name="Save").click()
    app.get_by_text("Corrected.").first.wait_for()
    assert living(memory) == ["Ada lives in Faro."]
    assert "Ada lives in Faro." in chat.told_to_model
    of(app, "Faro").get_by_role("button", name="Undo").click()
    app.get_by_text("The old words hold again.").first.wait_for()
    assert living(memory) == ["Ada lives in Lisbon, in a flat by the river."]
    assert chat.violations() == []


def test_a_correction_that_says_the_same_changes_nothing(chat, memory):
    app = shown(chat, query="Where does Ada live?")
    of(app, "Lisbon").get_by_role("button", name="Correct").click()
    app.get_by_role("button", name="Save").click()
    app.get_by_label("What it should say").wait_for(state="detached")
    assert [one["name"] for one in chat.calls].count("update_memory") == 0


def test_a_memory_is_forgotten_and_brought_back(chat, memory):
    app = shown(chat, query="Where does Ada live?")
    of(app, "balcony").get_by_role("button", name="Forget").click()
    undo = of(app, "Forgotten").get_by_role("button", name="Undo")
    undo.wait_for()
    assert [one.content for one in memory.memories.values() if one.forgotten_at] == [
        "Ada wants a flat with a balcony in Lisbon."
    ]
    undo.click()
    app.get_by_text("It is back.").first.wait_for()
    assert not any(one.forgotten_at for one in memory.memories.values())
    assert "restored" in chat.told_to_model


def test_a_memory_is_pinned_and_unpinned(chat, memory):
    app = shown(chat, query="Where does Ada live?")
    of(app, "peanuts").get_by_role("button", name="Pin").click()
    of(app, "peanuts").get_by_role("button", name="Undo").wait_for()
    assert [one.content for one in memory.memories.values() if one.pinned] == ["Ada is allergic to peanuts."]
    of(app, "peanuts").get_by_role("button", name="Undo").click()
    app.get_by_text("Not pinned any more.").first.wait_for()
    assert not any(one.pinned for one in memory.memories.values())


def test_everything_is_done_by_keys_alone(chat, memory):
    app = shown(chat, query="Where does Ada live?")
    keys = chat.page.keyboard
    app.get_by_role("button", name="Keys").focus()
    keys.press("j")
    keys.press("Enter")
    app.get_by_text("What it said, and when").wait_for()
    keys.press("Enter")
    app.get_by_text("What it said, and when").wait_for(state="detached")
    keys.press("e")
    app.get_by_label("What it should say").wait_for()
    keys.press("Control+a")
    keys.type("Ada lives in Faro.")
    keys.press("Control+Enter")
    app.get_by_text("Corrected.").first.wait_for()
    keys.press("u")
    app.get_by_text("The old words hold again.").first.wait_for()
    keys.press("j")
    keys.press("f")
    app.get_by_text("Forgotten.").wait_for()
    keys.press("u")
    app.get_by_text("It is back.").first.wait_for()
    keys.press("/")
    keys.press("Control+a")
    keys.type("peanuts")
    keys.press("Enter")
    app.get_by_role("heading", level=1).filter(has_text="peanuts").wait_for()
    assert living(memory) == ["Ada lives in Lisbon, in a flat by the river."]


def test_the_memory_is_searched_from_the_card(chat):
    app = shown(chat, query="Where does Ada live?")
    app.get_by_label("Search the memory").fill("What is Ada allergic to?")
    app.get_by_role("button", name="Search").click()
    app.get_by_role("heading", level=1).filter(has_text="What is Ada allergic to?").wait_for()
    assert "peanuts" in cards(app).first.inner_text()


def test_what_was_known_on_a_day_is_asked_for_by_a_date(chat):
    app = shown(chat, query="Where does Ada live?")
    then = SystemClock().now() - timedelta(days=300)
    app.get_by_label("As known on").fill(then.date().isoformat())
    app.get_by_role("heading", level=1).filter(has_text="as it was known on").wait_for()
    assert "Ada lives in Porto" in cards(app).first.inner_text()
    app.get_by_role("button", name="Today").click()
    of(app, "Lisbon").wait_for()


def test_more_is_shown_where_there_is_more(chat, memory):
    for number in range(30):
        memory.keep(f"Ada saw the film number {number} in the Nimas cinema", session="s-before")
    app = shown(chat, query="film", limit=8)
    assert cards(app).locator("visible=true").count() <= 6
    app.get_by_role("button", name="more").click()
    cards(app).nth(7).wait_for()
    app.get_by_role("button", name="more").click()
    cards(app).nth(8).wait_for()
    assert len(set(cards(app).locator(".text").all_inner_texts())) == cards(app).count()


def test_a_long_brief_does_not_push_the_conversation_away(chat, memory):
    for number in range(15):
        memory.keep(f"Ada decided to read book number {number}", origin=Origin.USER, session="s-before")
    app = shown(chat)
    visible = app.locator("article:visible")
    assert visible.count() <= 6
    assert app.locator("h2:visible").count() <= visible.count()
    chat.page.keyboard.press("Tab")
    app.get_by_role("button", name="Keys").focus()
    for _ in range(8):
        chat.page.keyboard.press("j")
    assert visible.count() > 8


def test_in_full_size_all_of_them_are_shown(chat, memory):
    for number in range(15):
        memory.keep(f"Ada decided to read book number {number}", origin=Origin.USER, session="s-before")
    app = shown(chat)
    app.get_by_role("button", name="Larger").click()
    app.locator("article:visible").nth(10).wait_for()


def test_hostile_texts_are_shown_as_text_and_do_nothing(chat, memory):
    for text in TEXTS:
        memory.keep(text, origin=Origin.USER, session="s-before", speaker="\u202e<b>evil</b>", tags=["<i>x</i>"])
    kept = [one.id for one in memory.memories.values()]
    for begin in range(0, len(kept), 6):
        app = shown(chat, ids=kept[begin : begin + 6], token_budget=200_000)
        for at in range(cards(app).count()):
            cards(app).nth(at).get_by_role("button", name="Details").click()
            cards(app).nth(at).get_by_text("What is known about it").wait_for()
        assert (
            chat.frame.evaluate(
                "document.querySelectorAll('img, iframe, a, form, svg, base, meta[http-equiv], link').length"
            )
            == 0
        )
        assert chat.frame.evaluate(f"typeof window.{RAN}") == "undefined"
        assert chat.frame.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    text = "".join(memory.memories[one].content for one in kept)
    assert "<script>" in text


def test_marks_that_turn_words_round_can_be_seen(chat, memory):
    kept = memory.keep("admin\u202egpj.exe", session="s-before")
    app = shown(chat, ids=[kept.id])
    assert cards(app).first.locator(".text").inner_text() == "admin⟨U+202E⟩gpj.exe"


def test_a_very_long_text_is_cut_until_it_is_asked_for(chat, memory):
    kept = memory.keep("word " * 5000, session="s-before")
    app = shown(chat, ids=[kept.id], token_budget=200_000)
    assert len(cards(app).first.locator(".text").inner_text()) < 700
    app.get_by_role("button", name="Show all 25,000 characters").click()
    assert len(cards(app).first.locator(".text").inner_text()) >= 24_999


def test_a_narrow_chat_shows_it_without_scrolling_aside(chromium, host_script, memory):
    with chatting(chromium, host_script, memory, {"width": 320, "height": 700}) as narrow:
        app = shown(narrow, query="Where does Ada live?")
        of(app, "Lisbon").get_by_role("button", name="Details").click()
        app.get_by_text("What is known about it").wait_for()
        assert narrow.frame.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert narrow.violations() == []


def test_groups_that_are_worth_a_thought_are_shown_together(chat, memory):
    memory.clock.set(SystemClock().now())
    app = chat.open("reflect")
    app.get_by_role("heading", level=2).filter(has_text="Group 1").first.wait_for()
    assert cards(app).count() >= 2
    assert chat.violations() == []


def test_insights_that_were_stored_are_shown(chat, memory):
    evidence = [one.id for one in memory.memories.values() if not one.superseded_by][:2]
    app = chat.open("reflect", insights=[{"text": "Ada likes rivers", "evidence": evidence}])
    app.get_by_role("heading", level=1).filter(has_text="1 insight stored").wait_for()
    assert "Ada likes rivers" in cards(app).first.inner_text()
    assert "insight" in cards(app).first.inner_text()


def test_the_app_follows_the_chat_s_colours_language_and_theme(chat):
    variables = {"--color-background-primary": "rgb(1, 2, 3)", "--color-text-primary": "rgb(250, 251, 252)"}
    shown(
        chat,
        theme="dark",
        context={"styles": {"variables": variables}, "locale": "de-DE"},
        query="Where does Ada live?",
    )
    style = "getComputedStyle(document.body)"
    assert chat.frame.evaluate(f"[{style}.backgroundColor, {style}.color]") == ["rgb(1, 2, 3)", "rgb(250, 251, 252)"]
    assert "vor" in cards(chat.app).first.locator("time").first.inner_text()
    chat.page.evaluate("bridge.setHostContext({theme: 'light', displayMode: 'inline'})")
    chat.frame.wait_for_function("document.documentElement.dataset.theme === 'light'")


def test_a_language_that_is_none_does_not_stop_it(chat):
    shown(chat, context={"locale": "no language", "timeZone": "Mars/Olympus"}, query="Where does Ada live?")


def test_the_app_tells_its_height_and_can_be_made_larger(chat):
    app = shown(chat, query="Where does Ada live?")
    chat.page.wait_for_function("seen.sizes.length && seen.sizes.at(-1) > 300")
    app.get_by_role("button", name="Larger").click()
    app.get_by_role("button", name="Smaller").click()
    app.get_by_role("button", name="Larger").wait_for()
    assert chat.page.evaluate("seen.modes") == ["fullscreen", "inline"]


def test_where_the_chat_calls_no_tools_the_hits_can_be_looked_at(chat):
    app = shown(chat, capabilities={}, query="Where does Ada live?")
    assert of(app, "Lisbon").is_visible()
    assert app.get_by_role("button", name="Correct").count() == 0
    assert not app.get_by_label("Search the memory").is_visible()


def test_where_the_chat_passes_on_the_text_alone_the_app_asks_again(chat):
    app = shown(chat, withoutDetails=True, query="Where does Ada live?")
    assert of(app, "Lisbon").is_visible()
    assert len(chat.calls) == 2


def test_a_refusal_of_the_server_is_told(chat):
    app = chat.open(cursor="not a cursor")
    app.get_by_text("cursor").first.wait_for()
    assert "problem" in app.locator(".summary").get_attribute("class") or app.locator(".summary .problem").count()


def test_what_fails_in_a_card_is_told_there(chat, memory):
    app = shown(chat, query="Where does Ada live?")
    gone = next(one.id for one in memory.memories.values() if "balcony" in one.content)
    memory.forget(HERS, ForgetRequest(ids=(gone,)))
    of(app, "balcony").get_by_role("button", name="Pin").click()
    of(app, "balcony").get_by_role("alert").wait_for()
    assert "no such memory" in of(app, "balcony").inner_text()


def test_an_empty_memory_says_what_to_do(chromium, host_script):
    service = ObservedService()
    with chatting(chromium, host_script, service, {"width": 700, "height": 600}) as chat:
        app = chat.open()
        app.get_by_text("Nothing is remembered yet").wait_for()
        assert chat.violations() == []
    service.close()


def test_a_call_that_was_cancelled_is_told(chat):
    app = shown(chat, query="Where does Ada live?")
    chat.page.evaluate("bridge.sendToolCancelled({reason: 'stopped'})")
    app.get_by_text("did not look after all").wait_for()


def test_the_chat_may_take_the_app_away(chat):
    shown(chat, query="Where does Ada live?")
    assert chat.page.evaluate("bridge.teardownResource({})") == {}


def test_looking_and_opening_is_marked_as_the_person_s(chat):
    app = shown(chat, query="Where does Ada live?")
    of(app, "Lisbon").get_by_role("button", name="Details").click()
    app.get_by_text("What is known about it").wait_for()
    assert [one.get("_meta") for one in chat.calls] == [None, *[{CARD: True}] * (len(chat.calls) - 1)]


def test_what_was_confirmed_is_disputed_not_replaced(chat, memory):
    lisbon = next(one.id for one in memory.memories.values() if "Lisbon, in" in one.content)
    memory.acts.judge(HERS, JudgeRequest(ids=(lisbon,), verdict=Verdict.TRUE))
    app = shown(chat, query="Where does Ada live?")
    of(app, "Lisbon").get_by_text("confirmed").wait_for()
    of(app, "Lisbon").get_by_role("button", name="Correct").click()
    app.get_by_label("What it should say").fill("Ada lives in Faro.")
    app.get_by_role("button", name="Save").click()
    app.get_by_text("nothing said in a chat replaces that").first.wait_for()
    assert memory.memories[lisbon].superseded_by is None


def test_what_changed_between_two_texts_makes_up_both(chat):
    """The app's own modules, as they are, with a thousand pairs of texts."""
    chat.page.goto(CHAT)
    wrong = chat.page.evaluate("""async () => {
      const { wordChanges, sharesOf } = await import("/modules/versions.js");
      const words = ["Ada", "lives", "in", "Porto", ".", " ", "\\n", "東京", "é", "👩‍👩‍👧", "\u202e", "-", "4.2"];
      let seed = 1;
      const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
      const text = () => Array.from({ length: random(12) }, () => words[random(words.length)]).join(random(2) ? " " : "");
      const wrong = [];
      for (let at = 0; at < 1000; at++) {
        const [before, after] = [text(), text()];
        const parts = wordChanges(before, after);
        const of = (kind) => parts.filter((one) => one.kind === "same" || one.kind === kind).map((one) => one.text).join("");
        if (of("removed") !== before || of("added") !== after) wrong.push([before, after, parts]);
        const begins = Array.from({ length: 1 + random(20) }, () => new Date(random(1e9))).sort((a, b) => a - b);
        const shares = sharesOf(begins, new Date(2e9));
        if (Math.abs(shares.reduce((sum, one) => sum + one, 0) - 1) > 1e-9 || Math.min(...shares) <= 0) wrong.push(shares);
      }
      return wrong;
    }""")
    assert wrong == []


def test_a_picture_of_the_card_is_taken(chromium, host_script, tmp_path):
    """For the documentation, as those of the page: `test_pictures`."""
    make_life(tmp_path / "memory")
    service = MemoryService.open(tmp_path / "memory", clock=SystemClock(), random_source=SystemRandomSource())
    with chatting(chromium, host_script, service, {"width": 800, "height": 980}) as chat:
        app = shown(chat, query="Where does Ada live?", limit=3)
        of(app, "Porto").get_by_role("button", name="Details").click()
        app.get_by_text("What is known about it").wait_for()
        chat.page.mouse.move(0, 0)
        kept = Path(os.environ.get("PAGE_PICTURES") or tmp_path) / "in-chat.png"  # noqa: TID251 - no setting of the product
        chat.page.screenshot(path=str(kept))
        assert kept.stat().st_size > 10_000
    service.close()
