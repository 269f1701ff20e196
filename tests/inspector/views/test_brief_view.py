"""The brief: the real text that a client gets, and why each line is in it."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, WriteRequest
from hybrid_memory_inspector.views.brief import load
from hybrid_memory_mcp.hooks.typed import FENCE
from hybrid_memory_mcp.mcp_api.opening_brief import opening_request, opening_text
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext
from hybrid_memory_mcp.views.view import ViewRequest

KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def brief(service, scope, tmp_path):
    def one(client="", **parameters):
        asked = {"client": client} | parameters
        return load(service, ViewRequest(scope=scope, parameters=asked, zone=UTC, home=tmp_path))

    return one


@pytest.fixture
def known(say, clock):
    say("My name is Ada Nowak.")
    say("I am allergic to peanuts.")
    say("I prefer short answers.")
    say("My passport must be renewed.", pinned=True)
    say("We decided to use Postgres.")
    clock.advance(days=2)
    say("Remind me to call the plumber.", session="evening")
    say("It rained all day.", session="evening")
    clock.advance(days=1)


def why(found):
    return {line["memory"]["content"]: line["why"] for line in found["lines"]}


def test_the_text_is_the_one_that_a_model_reads(brief, known, service, scope):
    (tool,) = (one for one in TOOLS if one.name == "read_memories")
    answer = tool.run(service, CallContext(scope, UTC), tool.takes())
    assert brief("any")["text"] == answer.content[0].text


def test_the_text_of_a_client_with_a_hook_is_the_one_that_the_hook_gives(brief, known, service, scope):
    found = service.read(scope, opening_request(UTC))
    text = brief("claude-code")["text"]
    assert text == opening_text(found, found.hits, scope, UTC)[0]
    assert text.startswith(f"<{FENCE}>")


@pytest.mark.parametrize("client", ["any", "claude-code"])
def test_each_line_of_the_text_has_its_memory_its_tokens_and_its_reason(brief, known, client):
    found = brief(client)
    assert len(found["lines"]) == 7
    for line in found["lines"]:
        assert line["line"] in found["text"].split("\n")
        assert line["memory"]["content"] in line["line"]
        assert line["why"]
        assert line["tokens"] > 0


def test_reasons_are_told_in_words(brief, known):
    told = why(brief("any"))
    assert told["My name is Ada Nowak."] == "It says what you are called."
    assert "health" in told["I am allergic to peanuts."]
    assert "prefer" in told["I prefer short answers."]
    assert "pinned" in told["My passport must be renewed."]
    assert told["We decided to use Postgres."] == "It is a decision."
    assert told["Remind me to call the plumber."] == "It is still to be done."


def test_what_comes_next_is_told(brief, say):
    for number in range(40):
        say(f"The tram was {number} minutes late on the way to {'abcdefghij'[number % 10]}town{number}.")
    found = brief("any")
    shown = {line["memory"]["id"] for line in found["lines"]}
    assert found["next"]
    assert not shown & {one["memory"]["id"] for one in found["next"]}


def test_what_was_done_is_no_longer_open_and_the_reason_is_told(brief, known, say, clock):
    clock.advance(days=1)
    say("I have called the plumber, done.")
    (line,) = (one for one in brief("any")["lines"] if one["memory"]["content"] == "Remind me to call the plumber.")
    assert line["section_title"] != "Still open"
    assert line["why"].startswith("A later memory says that it is done.")


def test_what_is_said_again_in_the_same_words_is_left_out_and_why(brief, known, say):
    say("i prefer short answers")
    left_out = {one["memory"]["content"]: one["why"] for one in brief("any")["left_out"]}
    assert left_out == {"I prefer short answers.": "Another line says nearly the same."}


def test_nothing_is_at_the_same_time_in_it_next_and_left_out(brief, known, say):
    for number in range(12):
        say(f"Page {number} says that the museum is closed.", origin=Origin.TOOL)
    found = brief("claude-code")
    ids = [one["memory"]["id"] for part in ("lines", "next", "left_out") for one in found[part]]
    assert len(ids) == len(set(ids))


def test_the_shares_are_told_with_what_each_kind_takes(brief, known):
    shares = {one["kind"]: one for one in brief("any")["shares"]}
    assert sum(one["share"] for one in shares.values()) == pytest.approx(1)
    assert sum(one["tokens"] for one in shares.values()) == sum(line["tokens"] for line in brief("any")["lines"])
    assert shares["Pinned"]["tokens"] > 0


def test_an_empty_memory_gives_nothing_and_says_so(brief):
    for client in ("any", "codex"):
        found = brief(client)
        assert (found["text"], found["lines"]) == ("", [])
        assert found["notes"]


def test_a_switch_that_is_off_is_told(brief, known, tmp_path):
    (tmp_path / "config.toml").write_text("[hooks]\nbrief = false\n")
    assert any("brief = false" in note for note in brief("claude-code")["notes"])
    assert brief("any")["notes"] == []


def test_a_client_that_is_connected_and_has_a_hook_is_shown_first(service, scope, known):
    here = ViewRequest(scope=scope, home=Path("nowhere"), clients=lambda: [{"client": "codex-mcp-client"}])
    assert load(service, here)["client"] == "codex"


def test_an_unknown_client_is_refused_with_the_names_that_there_are(brief):
    with pytest.raises(InvalidInput, match="claude-code"):
        brief("nobody")


def test_secrets_are_masked_unless_they_are_asked_for(brief, say):
    say(f"The token of the tile server is {KEY}", pinned=True)
    assert KEY not in str(brief("any"))
    shown = brief("any", reveal="1")
    assert KEY in shown["lines"][0]["memory"]["content"]
    assert KEY not in shown["text"]


def test_a_forgotten_memory_is_nowhere_in_it(brief, service, scope, say):
    service.forget(scope, ForgetRequest(ids=(say("I am allergic to nuts."),)))
    assert "nuts" not in str(brief("any"))


def test_a_project_has_a_brief_of_its_own_with_that_of_the_person(service, tmp_path):
    person, both = Scope(namespace="me", session="s"), Scope(namespace="project:x", personal="me", session="s")
    for scope, text in ((person, "My name is Ada."), (both, "We decided to use Postgres.")):
        service.write(scope, WriteRequest(content=text, memory_type=MemoryType.LONG_TERM, origin=Origin.USER))
    found = load(service, ViewRequest(scope=both, parameters={"client": "any"}, home=tmp_path))
    assert set(why(found)) == {"My name is Ada.", "We decided to use Postgres."}
    assert [one["project"] for one in found["reads"]] == ["x", None]
