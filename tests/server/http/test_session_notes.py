"""What is known of sessions after a restart."""

import os
import sys

import pytest

from hybrid_memory_mcp.http import session_notes
from hybrid_memory_mcp.http.session_notes import NOTES, SessionNotes

URI = "memory://most_recent_memories"


@pytest.fixture
def file(tmp_path):
    return tmp_path / NOTES


def test_what_was_noted_is_known_after_a_restart_and_ids_are_not_in_the_file(file):
    notes = SessionNotes(file)
    notes.note_subscriptions("one", [URI, URI + "/ä b"])
    notes.note_subscriptions("two", [URI])
    notes.note_subscriptions("two", [])
    notes.note_subscriptions("three", [URI])
    notes.note_end("three")
    for again in (notes, SessionNotes(file), SessionNotes(file)):
        assert again.subscriptions("one") == (URI, URI + "/ä b")
        assert again.subscriptions("two") == again.subscriptions("three") == ()
        assert [again.is_ended(one) for one in ("one", "two", "three")] == [False, False, True]
    assert b"three" not in file.read_bytes()
    assert sys.platform == "win32" or file.stat().st_mode & 0o077 == 0


def test_the_file_does_not_grow_for_ever(file, monkeypatch):
    monkeypatch.setattr(session_notes, "MAX_ENDED", 5)
    monkeypatch.setattr(session_notes, "_MAX_LINES", 20)
    notes = SessionNotes(file)
    for number in range(100):
        notes.note_end(f"s{number}")
        assert len(file.read_bytes().splitlines()) <= 20
    known = SessionNotes(file)
    assert [number for number in range(100) if known.is_ended(f"s{number}")] == list(range(95, 100))


@pytest.mark.parametrize(
    "damage", [b'["0123', b"\xff\xfe\n", b"[]\n", b"[1]\n", b"{}\n", b"[" * 100_000 + b"\n", b"\n"]
)
def test_a_damaged_line_is_passed_over(file, damage):
    notes = SessionNotes(file)
    notes.note_end("one")
    with file.open("ab") as stream:
        stream.write(damage)
    notes = SessionNotes(file)
    notes.note_end("two")
    assert [SessionNotes(file).is_ended(one) for one in ("one", "two")] == [True, True]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("make", [lambda file: file.symlink_to(file.parent / "other"), os.mkfifo, os.mkdir])
def test_what_is_no_file_of_ours_is_neither_read_nor_followed(file, make):
    make(file)
    notes = SessionNotes(file)
    notes.note_end("one")
    assert notes.is_ended("one")
    assert not (file.parent / "other").exists()
