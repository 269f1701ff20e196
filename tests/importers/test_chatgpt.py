"""Reading the data export of ChatGPT."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.importers.chats import archive, folder, read, read_as, reasons, said

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.record import Author, Record, RecordKind

BEGAN = 1_700_000_000.5
PICTURE = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}
BROKEN = [
    None,
    3,
    {},
    {"author": None},
    {"author": {"role": []}},
    {"content": 5},
    {"author": {"role": "user"}, "content": {"parts": 1}},
]


def node(name: str, parent: str | None, text: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    """Return a node with a message; ``more`` are fields of the message."""
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    message = {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": BEGAN + len(name),
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    } | more
    return {"id": name, "message": message, "parent": parent, "children": []}


def conversation(*nodes: dict[str, Any], current: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a conversation of nodes, of which the last one is the current one unless another is named."""
    root = {"id": "root", "message": None, "parent": None, "children": []}
    mapping = {one["id"]: one for one in (root, *nodes)}
    for one in nodes:
        if one["parent"] in mapping:
            mapping[one["parent"]]["children"].append(one["id"])
    return {
        "title": "About dentists",
        "create_time": BEGAN,
        "update_time": BEGAN + 9,
        "mapping": mapping,
        "current_node": current or nodes[-1]["id"],
        "conversation_id": "c1",
        "id": "c1",
    } | more


def test_a_message_comes_with_its_words_its_time_its_conversation_and_its_title(tmp_path: Path) -> None:
    """Of the person there is no speaker, so that "I" is the person."""
    found = read(
        archive(tmp_path / "e.zip", {"conversations.json": [conversation(node("a", "root", "Hi, I am Ada."))]}),
        "chatgpt",
    )
    assert found == [
        Record(
            key="c1/a",
            text="Hi, I am Ada.",
            kind=RecordKind.MESSAGE,
            author=Author.PERSON,
            at=datetime.fromtimestamp(BEGAN + 1, tz=UTC),
            conversation="c1",
            title="About dentists",
        )
    ]


def test_only_the_branch_that_ends_at_the_current_node_is_read(tmp_path: Path) -> None:
    """A message that was edited stays in the file alongside its new version."""
    told = conversation(
        node("a", "root", "I live in Rome."),
        node("b", "a", "Nice.", role="assistant"),
        node("x", "root", "I live in Roma."),
        current="b",
    )
    found = read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")
    assert said(found) == ["I live in Rome."]
    assert reasons(found) == ["an earlier version of a message that was edited or answered again"]


def test_without_a_current_node_the_last_branch_is_read(tmp_path: Path) -> None:
    """Some exports lack it."""
    told = conversation(node("a", "root", "one"), node("b", "root", "two"), current="gone")
    assert said(read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")) == ["two"]


def test_a_tree_that_bites_its_tail_is_read_once(tmp_path: Path) -> None:
    """Nothing promises that parents lead to a root."""
    told = conversation(node("a", "b", "one"), node("b", "a", "two"))
    assert said(read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")) == ["one", "two"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (node("a", "root", "You are ChatGPT.", role="system"), "said by a tool or by the program itself"),
        (node("a", "root", "{}", role="tool"), "said by a tool or by the program itself"),
        (node("a", "root", "search('x')", role="assistant", recipient="browser"), "said by a tool or by the program itself"),
        (node("a", "root", {"content_type": "thoughts", "thoughts": []}, role="assistant"), "said by a tool or by the program itself"),
        (node("a", "root", "x", metadata={"is_visually_hidden_from_conversation": True}), "hidden by the program"),
        (node("a", "root", "x", weight=0), "hidden by the program"),
        (node("a", "root", ""), "no words (a picture, a file or nothing)"),
        (node("a", "root", PICTURE), "no words (a picture, a file or nothing)"),
    ],
)  # fmt: skip
def test_what_nobody_said_is_left_out_with_its_reason(tmp_path: Path, message: dict[str, Any], reason: str) -> None:
    """Most messages of an export are none of these two."""
    found = read(folder(tmp_path, {"conversations.json": [conversation(message)]}), "chatgpt")
    assert reasons(found) == [reason]
    assert not [one for one in found if isinstance(one, Record)]


def test_words_beside_a_picture_and_words_that_were_spoken_are_read(tmp_path: Path) -> None:
    """Parts are text, or objects of which a few have text."""
    parts = [
        {"content_type": "image_asset_pointer"},
        {"content_type": "audio_transcription", "text": "my cat is Miso"},
        "look",
    ]
    told = conversation(node("a", "root", {"content_type": "multimodal_text", "parts": parts}))
    assert said(read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")) == ["my cat is Miso\nlook"]


def instructions(profile: str, used: float, name: str = "c1") -> dict[str, Any]:
    """Return a conversation that holds a version of the custom instructions."""
    content = {"content_type": "user_editable_context", "user_profile": profile, "user_instructions": ""}
    told = conversation(node("a", "root", content), node("b", "a", "hello"))
    return told | {"conversation_id": name, "create_time": used, "update_time": used}


def test_custom_instructions_come_once_as_memories_and_without_the_words_around_them(tmp_path: Path) -> None:
    """They stand in each conversation, in a fence behind a sentence of ChatGPT's own."""
    text = "The user provided the following information about themselves.\nUser profile:\n```Preferred name: Ada\nRole: Nurse\n```"
    source = folder(
        tmp_path, {"conversations.json": [instructions(text, BEGAN, "c1"), instructions(text, BEGAN + 50, "c2")]}
    )
    found = [one for one in read(source, "chatgpt") if isinstance(one, Record) and one.kind is RecordKind.MEMORY]
    assert [one.text for one in found] == ["Preferred name: Ada", "Role: Nurse"]
    assert {one.author for one in found} == {Author.PERSON}


def test_of_custom_instructions_that_were_changed_the_last_version_counts(tmp_path: Path) -> None:
    """What a person took out of them is not brought back; the order in the file does not matter."""
    source = folder(
        tmp_path,
        {
            "conversations.json": [
                instructions("I live in Bonn.", BEGAN + 50, "c2"),
                instructions("I live in Kiel.", BEGAN, "c1"),
            ]
        },
    )
    found = read(source, "chatgpt")
    assert [one.text for one in found if isinstance(one, Record) and one.kind is RecordKind.MEMORY] == [
        "I live in Bonn."
    ]
    assert "custom instructions that were changed later" in reasons(found)


def test_a_conversation_that_was_not_to_be_remembered_stays_out(tmp_path: Path) -> None:
    """ChatGPT marks it in the export."""
    told = conversation(node("a", "root", "My secret is out."), is_do_not_remember=True)
    assert reasons(read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")) == [
        "a conversation that ChatGPT was told not to remember"
    ]


def test_an_export_in_several_files_is_read_whole(tmp_path: Path) -> None:
    """Since 2026 conversations-000.json and on."""
    files = {
        f"conversations-00{at}.json": [conversation(node("a", "root", f"number {at}"), conversation_id=f"c{at}")]
        for at in range(2)
    }
    assert said(read(folder(tmp_path, {**files, "user.json": {"id": "u"}}), "chatgpt")) == ["number 0", "number 1"]


def test_a_single_conversation_of_another_name_is_recognised(tmp_path: Path) -> None:
    """Browser extensions save one conversation as an object."""
    assert said(read(folder(tmp_path, {"saved.json": conversation(node("a", "root", "hello"))}), "chatgpt")) == [
        "hello"
    ]


def test_keys_are_unique_and_the_same_at_each_reading(tmp_path: Path) -> None:
    """A conversation that was branched off into another one keeps the names of its messages."""
    source = folder(
        tmp_path,
        {"conversations.json": [conversation(node("a", "root", "one")), conversation(node("a", "root", "two"))]},
    )
    first, second = read(source, "chatgpt"), read(source, "chatgpt")
    assert first == second
    assert len({one.key for one in first if isinstance(one, Record)}) == 2


@pytest.mark.parametrize("broken", [None, 7, "x", [], {"mapping": []}, {"mapping": None}])
def test_a_bad_conversation_does_not_stop_the_others(tmp_path: Path, broken: Any) -> None:
    """It is counted with its place."""
    found = read_as(
        folder(tmp_path, {"conversations.json": [broken, conversation(node("a", "root", "still here"))]}), "chatgpt"
    )
    assert said(found) == ["still here"]
    assert reasons(found) == ["not a conversation"]


@pytest.mark.parametrize("message", BROKEN)
def test_a_bad_message_does_not_stop_the_others(tmp_path: Path, message: Any) -> None:
    """Whatever is in its place."""
    told = conversation({"id": "x", "message": message, "parent": "root", "children": []}, node("a", "x", "still here"))
    assert said(read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")) == ["still here"]


@pytest.mark.parametrize("when", [None, "soon", -5, 1e30, True])
def test_a_time_that_is_none_is_that_of_the_conversation(tmp_path: Path, when: Any) -> None:
    """Old exports have no time in many messages."""
    (found,) = read(
        folder(tmp_path, {"conversations.json": [conversation(node("a", "root", "hi", create_time=when))]}), "chatgpt"
    )
    assert isinstance(found, Record)
    assert found.at == datetime.fromtimestamp(BEGAN, tz=UTC)


def test_an_empty_export_has_nothing(tmp_path: Path) -> None:
    """It is no error."""
    assert read_as(folder(tmp_path, {"conversations.json": []}), "chatgpt") == []


def test_what_is_no_export_of_chatgpt_is_refused_by_name(tmp_path: Path) -> None:
    """The person named the wrong file or format."""
    with pytest.raises(InvalidInput, match="no ChatGPT export"):
        read_as(folder(tmp_path, {"notes.json": {"a": 1}}), "chatgpt")


def test_old_exports_hide_the_custom_instructions_in_a_system_message(tmp_path: Path) -> None:
    """Until 2024 they had no type of their own."""
    hidden = {
        "is_visually_hidden_from_conversation": True,
        "is_user_system_message": True,
        "user_context_message_data": {
            "about_user_message": "I have two kids.",
            "about_model_message": "Answer briefly.",
        },
    }
    told = conversation(node("a", "root", "", role="system", metadata=hidden), node("b", "a", "hello"))
    found = read(folder(tmp_path, {"conversations.json": [told]}), "chatgpt")
    assert said(found) == ["hello", "I have two kids.", "Answer briefly."]
