"""What hooks of one conversation know of each other, alongside other hooks and on any disk."""

import os

import pytest

from hybrid_memory_mcp.hooks import state
from hybrid_memory_mcp.hooks.state import Conversations


def turn(text):
    return {"text": text, "at": "2026-11-22T10:00:00Z"}


@pytest.fixture
def conversations(tmp_path):
    return Conversations(str(tmp_path))


def test_what_one_run_keeps_the_next_one_knows(conversations):
    first = conversations.load("codex", "s")
    first.transcript, first.mark, first.waiting = "/t", {"offset": 5, "anew": 0}, [turn("one")]
    conversations.save(first, shown=["a"])
    again = conversations.load("codex", "s")
    assert (again.transcript, again.mark, again.waiting, again.shown) == ("/t", first.mark, [turn("one")], ["a"])
    assert not again.is_new


def test_two_runs_at_once_lose_nothing_of_each_other(conversations):
    one, other = conversations.load("codex", "s"), conversations.load("codex", "s")
    one.waiting, other.waiting = [turn("one")], [turn("other")]
    one.mark = {"offset": 9, "anew": 0}
    conversations.save(one, shown=["a"])
    conversations.save(other, shown=["b"])
    found = conversations.load("codex", "s")
    assert found.waiting == [turn("one"), turn("other")]
    assert (found.shown, found.mark["offset"]) == (["a", "b"], 9)


def test_turns_that_were_told_wait_no_longer_and_those_that_came_meanwhile_do(conversations):
    first = conversations.load("codex", "s")
    first.waiting = [turn("one")]
    conversations.save(first)
    late = conversations.load("codex", "s")
    late.waiting.append(turn("two"))
    conversations.save(late)
    conversations.save(first, sent=1)
    assert conversations.load("codex", "s").waiting == [turn("two")]


def test_a_transcript_that_was_begun_anew_is_further_than_the_old_one(conversations):
    old = conversations.load("codex", "s")
    old.mark = {"offset": 900, "anew": 0}
    conversations.save(old)
    fresh = conversations.load("codex", "s")
    fresh.mark = {"offset": 10, "anew": 1}
    conversations.save(fresh)
    assert conversations.load("codex", "s").mark == {"offset": 10, "anew": 1}


@pytest.mark.parametrize("session", ["../../escape", "a/b", "", "x" * 500, "é\ud800", "con", ".."])
def test_any_name_of_a_conversation_has_a_file_in_the_folder(conversations, tmp_path, session):
    conversations.save(conversations.load("codex", session))
    assert len(list((tmp_path / "hooks").iterdir())) == 1
    assert not conversations.load("codex", session).is_new


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"mark": 3, "shown": [1], "waiting": "x"}', b"\xff"])
def test_a_damaged_file_counts_as_none(conversations, tmp_path, content):
    conversations.save(conversations.load("codex", "s"))
    (tmp_path / "hooks" / "codex.s.json").write_bytes(content)
    found = conversations.load("codex", "s")
    assert (found.mark, found.shown, found.waiting) == ({}, [], [])


def test_old_conversations_are_removed(conversations, tmp_path):
    for name in ("old", "new", "own"):
        conversations.save(conversations.load("codex", name))
    long_ago = (tmp_path / "hooks").stat().st_mtime - state.KEPT_SECONDS - 60
    os.utime(tmp_path / "hooks" / "codex.old.json", (long_ago, long_ago))
    others = list(conversations.others(conversations.load("codex", "own")))
    assert [one.session for one in others] == ["new"]
    assert not (tmp_path / "hooks" / "codex.old.json").exists()


def test_more_conversations_than_are_kept_push_out_the_oldest(conversations, tmp_path, monkeypatch):
    monkeypatch.setattr(state, "MOST_CONVERSATIONS", 2)
    for number in range(4):
        conversations.save(conversations.load("codex", str(number)))
        now = (tmp_path / "hooks").stat().st_mtime
        os.utime(tmp_path / "hooks" / f"codex.{number}.json", (now - 10 + number,) * 2)
    assert [one.session for one in conversations.others(conversations.load("codex", "x"))] == ["3", "2"]
    assert len(list((tmp_path / "hooks").iterdir())) == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="a folder that cannot be written")
def test_a_disk_that_cannot_be_written_is_no_error(tmp_path):
    tmp_path.chmod(0o500)
    found = Conversations(str(tmp_path))
    found.save(found.load("codex", "s"), shown=["a"])
    found.note_run("codex", "stop", kept=1, loaded=0)
    assert found.load("codex", "s").is_new


def test_a_folder_that_is_a_file_is_no_error(tmp_path):
    (tmp_path / "store").write_text("")
    found = Conversations(str(tmp_path / "store"))
    found.save(found.load("codex", "s"), shown=["a"])
    assert list(found.others(found.load("codex", "s"))) == []


def test_another_users_link_is_not_followed(conversations, tmp_path):
    conversations.save(conversations.load("codex", "s"))
    (tmp_path / "elsewhere").write_text('{"shown": ["x"]}')
    (tmp_path / "hooks" / "codex.s.json").unlink()
    (tmp_path / "hooks" / "codex.s.json").symlink_to(tmp_path / "elsewhere")
    assert conversations.load("codex", "s").shown == []


def test_runs_are_counted_for_status(conversations, tmp_path):
    conversations.note_run("codex", "stop", kept=2, loaded=0)
    conversations.note_run("codex", "session-start", kept=1, loaded=4)
    assert (tmp_path / "hooks" / state.RUNS).exists()
    run = conversations.runs()["codex"]
    assert (run["event"], run["kept"], run["loaded"]) == ("session-start", 3, 4)


def test_words_that_wait_can_be_forgotten_and_nothing_else_is(conversations, tmp_path):
    first = conversations.load("codex", "s")
    first.waiting, first.mark = [turn("My door code is 4711")], {"offset": 5, "anew": 0}
    conversations.save(first, shown=["a"])
    (tmp_path / "hooks" / "codex.s.json.77").write_text("half of My door code is 4711")
    conversations.forget_words()
    again = conversations.load("codex", "s")
    assert (again.waiting, again.mark, again.shown) == ([], {"offset": 5, "anew": 0}, ["a"])
    assert not any(b"4711" in file.read_bytes() for file in (tmp_path / "hooks").iterdir() if file.is_file())


def test_where_no_hook_ever_ran_there_is_nothing_to_forget(conversations, tmp_path):
    conversations.forget_words()
    assert not list(tmp_path.iterdir())
