"""Files below /memories; `tests/clients/test_adapters.py` compares them with the SDK's own tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.services import SCOPE
from tests.tables import each

from hybrid_memory.model import MemoryId, MemoryType, Trust, Verdict
from hybrid_memory.requests import ForgetRequest, JudgeRequest, ReadRequest, UpdateRequest
from hybrid_memory_adapters.files import FileError, MemoryFiles, checked, folder_text, inserted, replaced, size_text

PARTS = st.sampled_from(["a", "b.md", "..", ".", "", "memories", "%2e%2e", "..."])


@pytest.fixture
def files(store):
    return MemoryFiles(store)


@given(st.lists(PARTS).map("/".join), st.sampled_from(["/memories/", "/memories", "/", ""]))
def test_no_path_leads_out_of_memories(rest, beginning):
    try:
        place = checked(beginning + rest)
    except FileError:
        return
    assert place == "/memories" or place.startswith("/memories/")
    assert not {"..", ".", ""} & set(place.split("/")[1:])
    assert checked(place) == place


@each("path", ["/etc/passwd", "memories/a", "/memoriesa", "/memories/../a", "/memories/a/../../b", ""])
def test_a_path_outside_is_refused(path):
    with pytest.raises(FileError):
        checked(path)


@given(st.text("ab\n"), st.text("ab\n", min_size=1), st.text("xy\n"))
def test_a_text_is_replaced_where_it_is_once(text, old, new):
    if text.count(old) != 1:
        with pytest.raises(FileError):
            replaced("/memories/a", text, old, new)
        return
    changed, line = replaced("/memories/a", text, old, new)
    before, behind = text.split(old)
    assert changed == before + new + behind
    assert line == before.count("\n")


def test_a_text_that_is_there_twice_is_told_with_its_lines():
    with pytest.raises(FileError, match=r"in lines: 1, 3\. Please ensure it is unique"):
        replaced("/memories/a", "one\ntwo\none", "one", "x")


@given(st.lists(st.text("ab", min_size=1), max_size=5), st.integers(-1, 6), st.text("c", min_size=1))
def test_lines_are_inserted_behind_a_line(lines, at, more):
    text = "".join(f"{line}\n" for line in lines)
    if not 0 <= at <= len(lines):
        with pytest.raises(FileError, match="Invalid `insert_line` parameter"):
            inserted(text, at, more)
        return
    assert inserted(text, at, more).split("\n") == [*lines[:at], more, *lines[at:], ""]


def test_a_folder_shows_two_levels_and_nothing_hidden():
    shown = folder_text("/memories", {"b.md": 3, "a/x": 1024, "a/c/y": 512, "a/c/d/z": 1024, ".git/w": 7, "a/.h": 1})
    assert shown.split("\n")[1:] == [
        "2.5K\t/memories",
        "2.5K\t/memories/a/",
        "1.5K\t/memories/a/c/",
        "1K\t/memories/a/x",
        "3B\t/memories/b.md",
    ]


def test_sizes_are_written_as_by_the_sdk():
    assert [size_text(one) for one in (0, 1023, 1024, 1536, 5 << 20, 3 << 30)] == [
        "0B",
        "1023B",
        "1K",
        "1.5K",
        "5M",
        "3G",
    ]


def test_a_file_is_a_memory_that_a_question_finds(files, service):
    files.create("/memories/maria.md", "Maria is allergic to peanuts.\n")
    (hit,) = service.read(SCOPE, ReadRequest(query="allergic peanuts")).hits
    assert (hit.memory.content, hit.memory.key) == ("Maria is allergic to peanuts.\n", "/memories/maria.md")


def test_a_file_with_a_secret_comes_back_whole_and_is_shown_masked_to_readers(files, service):
    text = "The key is sk-ant-api03-" + "a1B2" * 20
    files.create("/memories/a", text)
    assert files.view("/memories/a").endswith(text)
    (hit,) = service.read(SCOPE, ReadRequest(query="What is the key?")).hits
    assert "a1B2a1B2" not in hit.memory.content


def test_an_edit_is_a_new_version_of_the_memory(files, service):
    files.create("/memories/a", "Maria lives in Porto.")
    files.str_replace("/memories/a", "Porto", "Lisbon")
    old, new = service.memories.values()
    assert (old.superseded_by, new.content) == (new.id, "Maria lives in Lisbon.")


def test_two_files_with_the_same_text_are_two_memories(files):
    files.create("/memories/a", "same")
    files.create("/memories/b", "same")
    files.delete("/memories/a")
    assert files.view("/memories/b").endswith("\tsame")


def test_a_file_that_was_deleted_can_be_created_again_and_brought_back_otherwise(files, service):
    files.create("/memories/a", "one")
    files.delete("/memories/a")
    with pytest.raises(FileError, match="does not exist"):
        files.view("/memories/a")
    service.forget(SCOPE, ForgetRequest(ids=tuple(service.memories), restore=True))
    assert files.view("/memories/a").endswith("\tone")
    files.delete("/memories/a")
    files.create("/memories/a", "two")
    assert files.view("/memories/a").endswith("\ttwo")


def test_deleting_a_file_brings_no_earlier_version_back(files):
    files.create("/memories/a", "one")
    files.str_replace("/memories/a", "one", "two")
    files.delete("/memories/a")
    assert files.view("/memories").count("\n") == 1


def test_a_folder_is_renamed_with_all_that_is_in_it(files):
    files.create("/memories/d/a", "one")
    files.create("/memories/d/e/b", "")
    files.rename("/memories/d", "/memories/f")
    assert [line.split("\t")[1] for line in files.view("/memories").split("\n")[1:]] == [
        "/memories",
        "/memories/f/",
        "/memories/f/a",
        "/memories/f/e/",
    ]
    with pytest.raises(FileError, match="into itself"):
        files.rename("/memories/f", "/memories/f/g")


def test_nothing_can_be_in_a_file(files):
    files.create("/memories/a", "one")
    with pytest.raises(FileError, match="/memories/a is a file"):
        files.create("/memories/a/b", "two")


def test_a_blank_file_keeps_its_text(files):
    files.create("/memories/a", " \n\t")
    assert files.view("/memories/a").split("\n")[1:] == ["     1\t ", "     2\t\t"]
    files.insert("/memories/a", 0, "one")
    assert files.view("/memories/a").split("\n")[1] == "     1\tone"


def test_what_a_person_corrects_is_in_the_file(files, service):
    files.create("/memories/a", "Maria lives in Porto.")
    service.acts.edit(SCOPE, UpdateRequest(id=MemoryId(next(iter(service.memories))), content="Maria lives in Rome."))
    assert files.view("/memories/a").endswith("Maria lives in Rome.")
    files.str_replace("/memories/a", "Rome", "Berlin")
    assert files.view("/memories/a").endswith("Maria lives in Berlin.")


def test_what_a_person_confirmed_is_not_edited(files, service):
    files.create("/memories/a", "Maria lives in Porto.")
    (one,) = service.memories
    service.acts.judge(SCOPE, JudgeRequest(ids=(one,), verdict=Verdict.TRUE))
    assert service.memories[one].trust is Trust.CONFIRMED
    with pytest.raises(FileError, match="confirmed by a person"):
        files.str_replace("/memories/a", "Porto", "Lisbon")


def test_a_file_that_somebody_else_changed_meanwhile_is_not_overwritten(files, store, monkeypatch):
    files.create("/memories/a", "one")
    real = store.ask

    def changed_before(operation, **arguments):
        if operation == "put_item":
            real("put_item", **arguments | {"content": "other", "seen": None})
        return real(operation, **arguments)

    monkeypatch.setattr(store, "ask", changed_before)
    with pytest.raises(FileError, match="changed meanwhile"):
        files.str_replace("/memories/a", "one", "two")
    assert files.view("/memories/a").endswith("\tother")


def test_the_end_of_a_conversation_leaves_the_files(files, service):
    files.create("/memories/a", "one")
    service.end_session(SCOPE)
    assert files.view("/memories/a").endswith("\tone")


def test_a_file_is_in_no_brief_until_a_person_pins_it(files, service):
    files.create("/memories/a", "Maria is allergic to peanuts.")
    (one,) = service.memories
    service.keep("Ada lives in Porto.")
    assert [hit.memory.content for hit in service.read(SCOPE, ReadRequest()).hits] == ["Ada lives in Porto."]
    assert one not in [memory.id for memory in service.recent(SCOPE)]
    service.acts.pin(SCOPE, [one], pinned=True)
    assert one in [hit.memory.id for hit in service.read(SCOPE, ReadRequest()).hits]
    files.str_replace("/memories/a", "peanuts", "nuts")
    assert "Maria is allergic to nuts." in [hit.memory.content for hit in service.read(SCOPE, ReadRequest()).hits]


def test_a_task_of_an_assistant_is_in_the_brief_all_the_same(files, service):
    files.create("/memories/a", "Maria is allergic to peanuts.")
    service.keep("Book the venue.", memory_type=MemoryType.WORKING, key="task")
    assert [hit.memory.content for hit in service.read(SCOPE, ReadRequest()).hits] == ["Book the venue."]
