"""Reading Gemini's history out of Google Takeout."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.importers.chats import archive, folder, read, read_as, reasons, said
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.takeout_page import activities, moment_of_page, plain_text
from hybrid_memory_importers.record import Author, Record, RecordKind

JSON = "Takeout/My Activity/Gemini Apps/MyActivity.json"
PAGE = "Takeout/My Activity/Gemini Apps/MyActivity.html"


def activity(title: str, answer: str | None = "<p>All right.</p>", **more: Any) -> dict[str, Any]:
    """Return an activity as "My Activity" writes it."""
    answered = {} if answer is None else {"safeHtmlItem": [{"html": answer}]}
    return {
        "header": "Gemini Apps",
        "title": title,
        "time": "2026-03-01T09:00:00.123Z",
        "products": ["Gemini Apps"],
        "activityControls": ["Gemini Apps Activity"],
    } | answered | more  # fmt: skip


def cell(body: str, product: str = "Gemini Apps") -> str:
    """Return a cell of the page."""
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">{product}<br></p></div>'
        f'<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">{body}</div>'
        '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right"></div>'
        '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;Gemini Apps<br></div>'
        "</div></div>"
    )


def page(*cells: str) -> str:
    """Return a page of cells."""
    head = "<head><title>My Activity</title><style>.a {}</style></head>"
    return f'<html>{head}<body><div class="mdl-grid">{"".join(cells)}</div></body></html>'


def test_a_prompt_comes_without_the_verb_and_its_answer_as_plain_words(tmp_path: Path) -> None:
    found = read(
        archive(
            tmp_path / "t.zip",
            {JSON: [activity("Prompted My cat is called Miso.", "<p>A <b>fine</b> name.</p><ul><li>One</li></ul>")]},
        ),
        "gemini",
    )
    first, second = found
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.text, first.author, first.kind) == ("My cat is called Miso.", Author.PERSON, RecordKind.MESSAGE)
    assert first.at == datetime(2026, 3, 1, 9, 0, 0, 123000, tzinfo=UTC)
    assert (second.text, second.author) == ("A fine name.\nOne", Author.ASSISTANT)


@pytest.mark.parametrize(
    "title",
    [
        "Prompted\xa0hello there",
        "Asked hello there",
        "Eingegebener Prompt: hello there",
        "Prompted hello there\nAttached 2 files.",
    ],
)
def test_verbs_and_notes_of_files_are_cut_off(tmp_path: Path, title: str) -> None:
    assert said(read(folder(tmp_path, {JSON: [activity(title)]}), "gemini")) == ["hello there"]


def test_what_is_no_prompt_is_left_out(tmp_path: Path) -> None:
    rows = [activity("Created a Gemini Canvas"), activity("Gave feedback", None), activity("Something unknown", None)]
    found = read(folder(tmp_path, {JSON: rows}), "gemini")
    assert reasons(found) == ["an activity that is no prompt"] * 3


def test_activities_of_other_products_are_left_out(tmp_path: Path) -> None:
    other = activity("Searched for rain", None, header="Search", products=["Search"])
    found = read(folder(tmp_path, {JSON: [other, activity("Prompted hi there")]}), "gemini")
    assert said(found) == ["hi there"]
    assert reasons(found) == ["an activity of another Google product"]


def test_prompts_of_a_day_are_one_conversation_and_those_of_a_chat_that_is_linked_another(tmp_path: Path) -> None:
    linked = activity("Prompted b", titleUrl="https://gemini.google.com/app/abc123def")
    rows = [activity("Prompted a"), linked, activity("Prompted c", time="2026-03-01T23:00:00Z")]
    found = [
        one
        for one in read(folder(tmp_path, {JSON: rows}), "gemini")
        if isinstance(one, Record) and one.author is Author.PERSON
    ]
    assert [one.conversation for one in found] == ["gemini 2026-03-01", "abc123def", "gemini 2026-03-01"]


def test_the_same_prompt_twice_has_two_keys(tmp_path: Path) -> None:
    found = read(folder(tmp_path, {JSON: [activity("Prompted a b"), activity("Prompted a b")]}), "gemini")
    assert len({one.key for one in found if isinstance(one, Record)}) == 4


def test_the_page_says_the_same(tmp_path: Path) -> None:
    answer = "<p>A <strong>smooth</strong> wave.</p><ul><li>One</li></ul>"
    body = f"Prompted&nbsp;My name is Ada &amp; I knit<br>Jul 25, 2026, 11:07:57\u202fPM PDT<br>{answer}"
    found = read(
        folder(tmp_path, {PAGE: page(cell(body), cell("Created a canvas<br>Jul 25, 2026, 11:07:57 PM PDT<br>"))}),
        "gemini",
    )
    first, second = (one for one in found if isinstance(one, Record))
    assert (first.text, first.at) == ("My name is Ada & I knit", datetime(2026, 7, 26, 6, 7, 57, tzinfo=UTC))
    assert second.text == "A smooth wave.\nOne"
    assert reasons(found) == ["an activity that is no prompt"]


def test_a_page_that_is_torn_in_a_cell_gives_what_it_has(tmp_path: Path) -> None:
    whole = page(
        cell("Prompted first one<br>Jul 25, 2026, 1:07:57 PM UTC<br><p>ok</p>"),
        cell("Prompted second one<br>Jul 25, 2026, 1:08:57 PM UTC<br><p>ok</p>"),
    )
    torn = whole[: whole.index("second one") + len("second one<br>Jul 25, 2026, 1:08:57 PM UTC")]
    assert said(read(folder(tmp_path, {PAGE: torn}), "gemini")) == ["first one", "second one"]


def test_scripts_of_a_page_are_no_words(tmp_path: Path) -> None:
    body = "Prompted hi there<script>alert(1)</script><br>Jul 25, 2026, 1:07:57 PM UTC<br><p>ok<style>x</style></p>"
    found = read(folder(tmp_path, {PAGE: page(cell(body))}), "gemini")
    assert said(found) == ["hi there"]
    assert said(found, Author.ASSISTANT) == ["ok"]


@each(
    "line, expected",
    [
        ("Jul 25, 2026, 11:07:57\u202fPM PDT", "2026-07-26T06:07:57"),
        ("Jul 25, 2026, 12:07:57 AM UTC", "2026-07-25T00:07:57"),
        ("18 Sept 2025, 12:02:52 CET", "2025-09-18T11:02:52"),
        ("25.07.2026, 23:07:57 MESZ", "2026-07-25T21:07:57"),
        ("10 de mai. de 2026, 03:46:09 BRT", "2026-05-10T06:46:09"),
        ("25 juil. 2026, 23:07:57 GMT+02:00", "2026-07-25T21:07:57"),
        ("14 mars 2026, 08:00:00 CET", "2026-03-14T07:00:00"),
        ("2026年6月20日 00:28:51 CST", "2026-06-19T16:28:51"),
        ("2024. 10. 19. 오후 9:15:07 KST", "2024-10-19T12:15:07"),
        ("2026/03/01 9:00:00 JST", "2026-03-01T00:00:00"),
    ],
)
def test_days_are_read_as_the_language_of_the_account_writes_them(line: str, expected: str) -> None:
    assert moment_of_page(line) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@each("line", ["", "no day", "32.13.2026, 99:99:99", "2026", "12:00:00", "Jul 45, 2026, 1:00:00 PM"])
def test_what_is_no_day_is_none(line: str) -> None:
    assert moment_of_page(line) is None


def test_conversation_history_has_turns_of_both(tmp_path: Path) -> None:
    told = {
        "title": "Knitting",
        "creation_time": "2026-01-02T03:04:05Z",
        "conversation_turns": [
            {"user_turn": {"prompt": "I knit a lot.", "turn_index": 0, "turn_last_modified": "2026-01-02T03:04:06Z"}},
            {"system_turn": {"text": [{"data": "Nice."}], "turn_index": 1}},
            {"user_turn": {"prompt": "gone", "turn_index": 2, "turn_deleted_time": "2026-01-03T00:00:00Z"}},
            None,
        ],
    }
    found = read(folder(tmp_path, {"Conversation History/conversation_1.txt": json.dumps(told)}), "gemini")
    assert (said(found), said(found, Author.ASSISTANT)) == (["I knit a lot."], ["Nice."])
    assert reasons(found) == ["a message that was deleted"]


@pytest.mark.parametrize(
    "broken", [None, 7, "x", {"title": None}, {"title": "Prompted x", "time": 3, "safeHtmlItem": "no"}]
)
def test_a_bad_activity_does_not_stop_the_others(tmp_path: Path, broken: Any) -> None:
    found = read(
        folder(tmp_path, {JSON: [activity("Prompted first"), broken, activity("Prompted still here")]}), "gemini"
    )
    assert said(found)[-1] == "still here"


def test_an_empty_history_has_nothing(tmp_path: Path) -> None:
    assert read_as(folder(tmp_path / "a", {JSON: []}), "gemini") == []
    assert read_as(folder(tmp_path / "b", {PAGE: page()}), "gemini") == []


def test_what_is_no_history_of_gemini_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no Gemini history"):
        read_as(folder(tmp_path, {"notes.json": {"a": 1}}), "gemini")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<!--",
        "<a ",
        "<a='",
        "&",
        "&#",
        "<![CDATA[",
        "</",
        "<script>",
        "<!",
        "<div>",
        '<a href="',
        "\xa0",
        "12:00:00 ",
    ],
)
def test_a_million_characters_of_a_hostile_page_are_read_at_once(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    head = '<div class="outer-cell"><div class="content-cell mdl-typography--body-1">Prompted hi<br>'

    plain_text(text)  # the tests' own limit of time fails what is not linear
    list(activities(io.BytesIO((head + text).encode())))


def test_a_prompt_with_a_hundred_thousand_blanks_is_read_at_once(tmp_path: Path) -> None:
    prompt = f"Prompted hello{' ' * 100_000}there\nAttached 1 file."
    assert said(read(folder(tmp_path, {JSON: [activity(prompt)]}), "gemini")) == [f"hello{' ' * 100_000}there"]
