"""What a person calls a conversation and the programs in it: words, never an id."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.admin.untrusted_lines import SESSION
from hybrid_memory.model import MemoryType
from hybrid_memory.requests import ForgetRequest, WriteRequest
from hybrid_memory_mcp.views.session_titles import session_titles
from hybrid_memory_mcp.views.view import ViewRequest
from hybrid_memory_mcp.words import session_names
from hybrid_memory_mcp.words.client_words import client_name, client_names
from hybrid_memory_mcp.words.session_names import first_words, given_name, session_line, source_of

UUID = "d108ae34-9a1c-4a7b-8f0e-2f4f1f9f1f10"
CODE = f"claude-code:{UUID}"
KEY = "ghp_9fQ2mZ7Lr4Xc8Vb1Nw6Ty3Kd5Hs0JaP4xQ7z"


@pytest.fixture
def titles(service, scope):
    """Returns what a person calls some sessions."""
    return lambda *names: session_titles(service, ViewRequest(scope=scope, zone=UTC), names)


@each(
    "session, name, source",
    [
        (CODE, None, "Claude Code"),
        ("s-4kq2m1zzw8ab", None, ""),
        ("terminal-2026-11-20", None, ""),
        (UUID, None, ""),
        ("01JDM3V7K2XQZ8T9N4R6", None, ""),
        (f"import:claude-code:{UUID}", None, "imported from Claude Code transcripts"),
        ("import:chatgpt:A trip to Rome", "A trip to Rome", "imported from ChatGPT export"),
        ("import:chatgpt", None, "imported from ChatGPT export"),
        ("import:Old notes", "Old notes", "imported"),
        ("atlas-ferries", "atlas-ferries", ""),
        ("release-2026-11", "release-2026-11", ""),
        ("thread:team-x", "thread:team-x", ""),
    ],
)
def test_a_name_that_is_an_id_is_told_from_one_that_somebody_chose(session, name, source):
    assert (given_name(session), source_of(session)) == (name, source)


def test_the_name_of_an_import_begins_as_imports_name_it():
    assert session_names._IMPORT == SESSION


def test_a_conversation_is_called_by_its_first_words(say_in, titles):
    say_in(CODE, "We deploy with Kamal, never by hand.\nThe rest is in the wiki.")
    say_in(CODE, "The staging server is Heron.")
    assert titles(CODE) == {CODE: "We deploy with Kamal, never by hand"}


def test_what_was_forgotten_gives_no_title(service, scope, say_in, titles):
    first = say_in(CODE, "The code of the door is 4711.")
    say_in(CODE, "The staging server is Heron.")
    service.forget(scope, ForgetRequest(ids=(first,)))
    assert titles(CODE) == {CODE: "The staging server is Heron"}


def test_where_nothing_is_left_the_day_is_the_title(service, scope, say_in, titles, clock):
    service.forget(scope, ForgetRequest(ids=(say_in(CODE, "The code of the door is 4711."),)))
    day = clock.now()
    assert titles(CODE) == {CODE: f"Conversation of {day.day} {day:%b %Y}"}


def test_in_a_project_its_name_stands_before_the_day(service, scope, titles, clock):
    there = replace(scope, namespace="project:acme-1b1cddb5548d88ba", session=CODE)
    written = service.write(there, WriteRequest(content="The build is green.", memory_type=MemoryType.LONG_TERM))
    service.forget(there, ForgetRequest(ids=(written.id,)))
    request = ViewRequest(scope=there, zone=UTC)
    assert session_titles(service, request, [CODE])[CODE].startswith("Project acme, ")


def test_a_title_shows_no_secret(say_in, titles):
    say_in(CODE, f"The key is {KEY}")
    assert KEY not in titles(CODE)[CODE]


def test_no_view_calls_a_conversation_by_its_id(say_in, look):
    only = say_in(CODE, "The staging server is Heron.")
    assert look("memory", id=only)["written"]["session_title"] == "The staging server is Heron"
    assert [one["title"] for one in look("timeline")["facets"]["session"]] == ["The staging server is Heron"]
    assert look("search", q="staging")["choices"]["session_titles"] == {CODE: "The staging server is Heron"}


def test_a_terminal_names_the_program_before_the_id():
    assert session_line(CODE) == f"Claude Code ({CODE})"
    assert session_line("atlas-ferries") == "atlas-ferries"


@given(st.text(max_size=400))
def test_a_title_is_one_line_of_a_text_and_never_long(text):
    title = first_words(text)
    assert len(title) <= 90
    assert not re.search(r"[\n\r\t]", title)
    assert title.removesuffix("…").strip() in " ".join(text.split())


@each(
    "actor, title",
    [
        ("hook of claude-code", "Claude Code"),
        ("claude-code", "Claude Code"),
        ("cursor-vscode", "Cursor"),
        ("codex-mcp-client", "Codex"),
        ("person (in claude-ai)", "Claude"),
        ("token laptop/claude-code", "Claude Code"),
        ("command line", "the command line"),
        ("person (page)", "you"),
        ("my-own-agent", "my-own-agent"),
    ],
)
def test_a_program_is_called_as_its_makers_call_it(actor, title):
    assert client_name(actor) == title


def test_a_hook_and_its_client_are_one_program():
    assert client_names(["hook of codex", "", "codex"]) == ["Codex"]
