"""The page's addresses: views, their data, files, and errors that are pages."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from hybrid_memory.model import Origin, Scope
from hybrid_memory_inspector.page.rendering import STATIC, address

HTMX_4_0_1 = (
    "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"  # of dist/htmx.min.js in npm's htmx.org 4.0.1
)


def test_the_first_page_shows_what_is_remembered(page):
    page.remember("Ada lives in Lisbon.")

    answer = page.get("/")

    assert answer.status_code == 200
    assert "Ada lives in Lisbon." in answer.text


@pytest.mark.parametrize("path", ["/now.json", "/index.json"])
def test_the_data_of_the_first_page_stand_beside_it(page, path):
    page.remember("Ada lives in Lisbon.")

    assert page.get(path).json()["memories"] == 1


def test_looking_recalls_nothing(page):
    memory = page.remember("Ada lives in Lisbon.")

    page.get("/")
    page.service.flush_recalls()

    assert page.service.store.usage("default", [memory]) == {}


def test_another_namespace_is_shown_by_its_name(page):
    page.remember("The release is on Friday.", scope=Scope(namespace="project:acme", session="s"))

    assert page.get("/now.json").json()["memories"] == 0
    assert page.get("/now.json?namespace=project:acme").json()["memories"] == 1


def test_the_chooser_names_a_namespace_as_a_person_does(page):
    page.remember("Ada lives in Lisbon.")
    page.remember("The release is on Friday.", scope=Scope(namespace="project:acme", session="s"))

    assert "only project acme" in page.get("/").text


def test_markup_in_a_memory_is_text(page):
    page.remember("<img src=x onerror=alert(1)><script>alert(2)</script>")

    text = page.get("/").text

    assert "<img" not in text
    assert "<script>alert" not in text


def test_a_secret_is_masked_until_somebody_asks_to_see_it(page):
    page.remember("The key is AKIAIOSFODNN7EXAMPLE for the bucket.")

    assert "AKIAIOSFODNN7EXAMPLE" not in page.get("/").text + page.get("/now.json").text
    assert "AKIAIOSFODNN7EXAMPLE" in page.get("/?reveal=1").text


def test_a_part_of_a_page_comes_without_its_frame(page):
    text = page.get("/", **{"hx-request-type": "partial"}).text

    assert "<html" not in text
    assert "<h1>" in text


def test_what_is_nowhere_is_a_page_that_leads_back(page):
    answer = page.get("/nowhere")

    assert answer.status_code == 404
    assert 'href="/"' in answer.text


def test_data_that_are_nowhere_are_json(page):
    answer = page.get("/nowhere.json")

    assert answer.status_code == 404
    assert answer.json()["error"]["message"]


def test_an_address_that_is_too_long_is_refused(page):
    assert page.get("/?namespace=" + "x" * 5000).status_code == 414


@pytest.mark.parametrize("name", ["package.json", "a/", "..", "a/b"])
def test_a_page_of_a_name_leads_to_itself(page, name):
    page.remember("Ada met Bo.", session=name)
    path = address(f"/sessions/{name}")

    text = page.get(path).text

    assert "Ada met Bo." in text
    assert page.get(re.search(r'href="([^"]*)" type="application/json"', text)[1]).json()["name"] == name


def test_what_cannot_be_asked_is_a_page_that_says_what_to_change(page):
    answer = page.get("/timeline?limit=many")

    assert answer.status_code == 400
    assert "“limit” is a whole number" in answer.text
    assert "Change that part of the address" in answer.text


def test_data_that_cannot_be_asked_for_name_the_parameter(page):
    answer = page.get("/timeline.json?limit=many")

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_input"


def test_a_memory_that_is_not_there_is_not_found(page):
    assert page.get("/memories/0123456789abcdefghjk").status_code == 404


def test_a_page_that_fails_tells_nothing_of_what_is_stored(page, monkeypatch):
    def fail(*_):
        raise RuntimeError("Ada lives in Lisbon")

    monkeypatch.setattr("hybrid_memory_mcp.views.now.load", fail)

    answer = page.get("/")

    assert answer.status_code == 500
    assert "Lisbon" not in answer.text


def test_a_page_does_not_take_what_would_change_something(page):
    assert page.ask("POST", "/").status_code == 405


def test_htmx_is_the_file_of_its_release():
    assert hashlib.sha256((STATIC / "htmx.min.js").read_bytes()).hexdigest() == HTMX_4_0_1


def test_htmx_comes_with_its_licence():
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["base.css", "shell.js", "htmx.min.js", "mark.svg"])
def test_files_are_asked_for_anew(page, name):
    answer = page.get(f"/static/{name}")

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"


def test_no_file_beside_the_pages_own_can_be_read(page):
    assert page.get("/static/..%2frendering.py").status_code == 404


def test_data_can_be_read_by_any_program(page):
    page.remember("Straße 東京 \u202e")

    assert json.loads(page.get("/now.json").content)["learned"]["memories"][0]["content"] == "Straße 東京 \u202e"


def test_what_was_learned_since_the_last_look_comes_first(page):
    page.remember("Ada lives in Lisbon.")
    page.get("/")
    page.service.clock.advance(hours=2)
    page.remember("Ada has a dog.")

    assert "1 new memory since your last look" in page.get("/").text


def test_a_page_that_follows_what_happens_is_no_look(page):
    page.get("/")
    page.service.clock.advance(hours=2)
    page.remember("Ada has a dog.")
    page.get("/", **{"hx-request-type": "partial"})
    page.get("/now.json")
    page.service.clock.advance(hours=2)

    assert "1 new memory since your last look" in page.get("/").text


def test_nothing_new_is_said_as_such(page):
    page.remember("Ada has a dog.")
    page.get("/")
    page.service.clock.advance(hours=2)

    assert "Nothing new since your last look" in page.get("/").text


def test_a_hook_is_told_by_the_name_of_its_client(page):
    scope = Scope(session="s", actor="hook of claude-code")
    page.remember("Ada has a dog.", scope=scope)

    text = page.get("/").text

    assert "Claude Code" in text
    assert "hook of" not in text


@pytest.mark.parametrize("path", ["/", "/review", "/health"])
def test_nothing_is_called_well_while_something_waits(page, path):
    page.remember("The build passed.", origin=Origin.TOOL)

    text = page.get(path).text

    assert "All is well" not in text
    assert "Nothing waits" not in text
    assert "nothing for you" not in text
