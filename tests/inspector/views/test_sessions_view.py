"""What the views of the sessions call them: words, never an id."""

from dataclasses import replace

from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.readings import Way

CODE = "claude-code:d108ae34-9a1c-4a7b-8f0e-2f4f1f9f1f10"


def test_a_conversation_in_which_somebody_only_asked_is_called_by_the_question(service, scope, look):
    there = replace(scope, session=CODE)
    request = ReadRequest(query="Where is the staging server?")
    service.journal.note(there, Way.TOOL, request, service.read(there, request), Shown(ids=(), tokens=9), service.now())
    assert look("session", name=CODE)["title"] == "Where is the staging server?"


def test_sessions_are_found_by_their_title_and_their_program(say_in, look):
    say_in(CODE, "The staging server is Heron.")
    say_in("books", "The library opens at nine.")
    found = {
        words: [one["name"] for one in look("sessions", q=words)["sessions"]]
        for words in ("HERON", "claude code", "book")
    }
    assert found == {"HERON": [CODE], "claude code": [CODE], "book": ["books"]}


def test_no_list_calls_a_conversation_by_its_id(say_in, look):
    say_in(CODE, "The staging server is Heron.")
    assert look("sessions")["sessions"][0]["title"] == "The staging server is Heron"
    assert look("session", name=CODE)["title"] == "The staging server is Heron"
