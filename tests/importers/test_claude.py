"""Reading the data export of Claude."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.importers.chats import archive, folder, read, read_as, reasons, said

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.record import Author, Record, RecordKind

ROOT = "00000000-0000-4000-8000-000000000000"


def message(name: str, text: str, sender: str = "human", **more: Any) -> dict[str, Any]:
    """Return a message as the export writes it."""
    return {
        "uuid": name,
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": "2025-03-01T09:00:00.000000Z",
        "updated_at": "2025-03-01T09:00:00.000000Z",
        "attachments": [],
        "files": [],
    } | more


def conversation(*messages: Any, **more: Any) -> dict[str, Any]:
    """Return a conversation of messages."""
    return {
        "uuid": "c1",
        "name": "Moving",
        "created_at": "2025-03-01T08:59:00Z",
        "updated_at": "2025-03-02T08:59:00Z",
        "account": {"uuid": "acct"},
        "chat_messages": list(messages),
    } | more


def test_messages_come_with_words_time_conversation_and_title(tmp_path: Path) -> None:
    """The assistant's are marked as its."""
    told = conversation(message("a", "I moved to Graz."), message("b", "How nice!", "assistant"))
    found = read(
        archive(tmp_path / "e.zip", {"conversations.json": [told], "users.json": [{"uuid": "acct"}]}), "claude"
    )
    assert found[0] == Record(
        key="c1/a",
        text="I moved to Graz.",
        kind=RecordKind.MESSAGE,
        author=Author.PERSON,
        at=datetime(2025, 3, 1, 9, tzinfo=UTC),
        conversation="c1",
        title="Moving",
    )
    assert said(found, Author.ASSISTANT) == ["How nice!"]


def test_thoughts_tools_and_attachments_are_nobodys_words(tmp_path: Path) -> None:
    """Only blocks of text are read, and where there are none the plain text."""
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "name": "x"},
        {"type": "text", "text": "Done."},
    ]
    told = conversation(
        message("a", "", content=[], attachments=[{"file_name": "cv.txt", "extracted_content": "I am a pasted CV."}]),
        message("b", "", "assistant", content=blocks),
        message("c", "plain", content=[]),
    )
    found = read(folder(tmp_path, {"conversations.json": [told]}), "claude")
    assert said(found) == ["plain"]
    assert said(found, Author.ASSISTANT) == ["Done."]
    assert reasons(found) == ["no words (a picture, a file or nothing)"]


def test_a_message_that_was_edited_is_read_in_its_last_version_only(tmp_path: Path) -> None:
    """Both stand in the list with the same parent, and so do the answers to both."""
    told = conversation(
        message("a", "I live in Roma.", parent_message_uuid=ROOT),
        message("b", "Ah, Roma.", "assistant", parent_message_uuid="a"),
        message("c", "I live in Rome.", parent_message_uuid=ROOT),
        message("d", "Ah, Rome.", "assistant", parent_message_uuid="c"),
    )
    found = read(folder(tmp_path, {"conversations.json": [told]}), "claude")
    assert said(found) == ["I live in Rome."]
    assert len(reasons(found)) == 2


def test_the_leaf_that_is_named_decides_which_version_counts(tmp_path: Path) -> None:
    """A person may go back to the first one."""
    told = conversation(
        message("a", "first", parent_message_uuid=ROOT),
        message("b", "second", parent_message_uuid=ROOT),
        current_leaf_message_uuid="a",
    )
    assert said(read(folder(tmp_path, {"conversations.json": [told]}), "claude")) == ["first"]


def test_what_claude_remembers_comes_statement_by_statement(tmp_path: Path) -> None:
    """Markdown with headings; in one file, in a folder, or as files of memory in the file."""
    text = "**Work context**\n\nAda is a nurse in Graz.\n\n**Top of mind**\n\n- Ada is planning a wedding.\n- Ada learns Polish."
    for name, told in (
        ("memories.json", [{"conversations_memory": text, "project_memories": {}, "account_uuid": "acct"}]),
        ("memories/acct.json", {"account_uuid": "acct", "memory_files": [{"path": "/me.md", "content": text}]}),
    ):
        found = [
            one
            for one in read(folder(tmp_path / name.replace("/", "-"), {name: told}), "claude")
            if isinstance(one, Record)
        ]
        assert [one.text for one in found] == [
            "Ada is a nurse in Graz.",
            "Ada is planning a wedding.",
            "Ada learns Polish.",
        ]
        assert {one.kind for one in found} == {RecordKind.MEMORY}
        assert found[0].metadata["heading"] == "Work context"


def test_a_sentence_that_begins_with_a_pronoun_stays_with_the_one_before(tmp_path: Path) -> None:
    """Alone it would say nothing."""
    text = (
        "Ada is a senior nurse on the respiratory ward of the hospital in Graz and leads a team of seven people there. "
        "She works long shifts from Monday to Thursday. Ada also teaches first aid at the volunteer fire brigade in Leibnitz twice a year, "
        "mostly in the spring."
    )
    found = read(folder(tmp_path, {"memories.json": [{"conversations_memory": text}]}), "claude")
    assert [one.text[:30] for one in found if isinstance(one, Record)] == [text[:30], "Ada also teaches first aid at "]


def test_memories_of_projects_belong_to_their_project(tmp_path: Path) -> None:
    """Two projects are two groups."""
    told = [{"conversations_memory": "", "project_memories": {"p1": "Uses pnpm."}, "account_uuid": "acct"}]
    (found,) = read(folder(tmp_path, {"memories.json": told}), "claude")
    assert isinstance(found, Record)
    assert (found.text, found.conversation) == ("Uses pnpm.", "memory/p1")


def test_of_a_project_the_persons_own_words_are_read_and_its_documents_not(tmp_path: Path) -> None:
    """Its documents are somebody's texts."""
    project = {
        "uuid": "p1",
        "name": "Novel",
        "description": "My second novel",
        "prompt_template": "Always answer in German.",
        "docs": [{"uuid": "d", "filename": "a.md", "content": "I was born in 1900."}],
        "created_at": "2025-01-01T00:00:00Z",
    }
    found = read(folder(tmp_path, {"projects.json": [project]}), "claude")
    assert said(found) == ["Novel: My second novel", "Always answer in German."]
    assert reasons(found) == ["a document of a project"]
    assert {one.kind for one in found if isinstance(one, Record)} == {RecordKind.MEMORY, RecordKind.INSTRUCTIONS}


def test_chats_about_designs_are_read(tmp_path: Path) -> None:
    """Their parts have other names."""
    told = {
        "uuid": "d1",
        "title": "Poster",
        "created_at": "2026-05-01T00:00:00Z",
        "messages": [
            {"uuid": "m1", "role": "user", "content": {"content": "My band is called Kettle.", "contentBlocks": []}},
            {"uuid": "m2", "role": "assistant", "content": {"contentBlocks": [{"type": "text", "text": "Sure."}]}},
        ],
    }
    found = read(folder(tmp_path, {"design_chats/d1.json": told}), "claude")
    assert said(found) == ["My band is called Kettle."]
    assert said(found, Author.ASSISTANT) == ["Sure."]


@pytest.mark.parametrize("broken", [None, 7, "x", {"sender": 3}, {"sender": "human", "content": {"a": 1}}])
def test_a_bad_message_does_not_stop_the_others(tmp_path: Path, broken: Any) -> None:
    """Whatever is in its place."""
    found = read(folder(tmp_path, {"conversations.json": [conversation(broken, message("a", "still here"))]}), "claude")
    assert said(found) == ["still here"]


def test_a_file_that_is_torn_is_counted_among_whole_ones(tmp_path: Path) -> None:
    """Each conversation may be a file of its own."""
    source = folder(
        tmp_path,
        {"conversations/1.json": '{"chat_messages": [', "conversations/2.json": conversation(message("a", "whole"))},
    )
    found = read(source, "claude")
    assert said(found) == ["whole"]
    assert reasons(found)[0].startswith("a file that cannot be read")


def test_what_is_no_export_of_claude_is_refused_by_name(tmp_path: Path) -> None:
    """The person named the wrong file or format."""
    with pytest.raises(InvalidInput, match="no Claude export"):
        read_as(folder(tmp_path, {"notes.json": {"a": 1}}), "claude")
