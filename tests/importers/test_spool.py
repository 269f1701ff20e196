"""What is chosen becomes lines: by time, each once, with links that lead somewhere."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.record import Author, Chosen, Record, RecordKind
from hybrid_memory_importers.spool import SpoolLine, SpoolWriter, line_of, session_name, write_spool

START = datetime(2024, 1, 1, tzinfo=UTC)


def record(key, text, day=0, **changes):
    values = {"kind": RecordKind.MESSAGE, "author": Author.PERSON, "at": START + timedelta(days=day)}
    return Record(key=key, text=text, **(values | changes))


def line(one, **options):
    return line_of(
        options.pop("chosen", None) or Chosen(record=one, text=one.text, **options), "chatgpt", "default", told=True
    )


def lines(*several):
    """The lines of records, or of pairs of a record and the key of what it supersedes."""
    writer = SpoolWriter(io.BytesIO())
    for one in several:
        rec, older = one if isinstance(one, tuple) else (one, None)
        chosen = Chosen(record=rec, text=rec.text, supersedes=None if older is None else (older, 0))
        writer.add(chosen, line_of(chosen, "chatgpt", "default", told=True))
    return list(writer.lines()), writer.repeated


def test_lines_come_in_the_order_of_time():
    found, _ = lines(record("b", "second", 2), record("a", "first", 1), record("c", "whenever", at=None))
    assert [one.content for one in found] == ["first", "second", "whenever"]


def test_the_same_words_come_in_once_and_the_first_time_wins():
    found, repeated = lines(record("b", "I like  rye", 2), record("a", "i like rye", 1), record("c", "else", 3))
    assert [(one.content, one.at) for one in found] == [
        ("i like rye", START + timedelta(days=1)),
        ("else", START + timedelta(days=3)),
    ]
    assert repeated == 1


def test_the_same_words_of_the_assistant_are_another_statement():
    found, repeated = lines(record("a", "I like rye"), record("b", "I like rye", author=Author.ASSISTANT))
    assert ([one.told for one in found], repeated) == ([True, False], 0)


def test_words_that_are_true_again_are_no_repetition():
    found, repeated = lines(
        record("a", "I live in Berlin", 1),
        (record("b", "I live in Porto", 2), "a"),
        (record("c", "I live in Berlin", 3), "b"),
    )
    assert [one.content for one in found if one.superseded_by is None] == ["I live in Berlin"]
    assert (len(found), repeated, found[2].supersedes) == (3, 0, found[1].id)


def test_a_link_has_both_ends():
    (old, new), _ = lines(record("a", "I live in Berlin", 1), (record("b", "I live in Porto", 2), "a"))
    assert (old.superseded_by, new.supersedes) == (new.id, old.id)


def test_either_end_may_tell_of_a_link():
    (old, new), _ = lines(record("a", "Berlin", 1, superseded_by="b"), record("b", "Porto", 2))
    assert (old.superseded_by, new.supersedes) == (new.id, old.id)


@pytest.mark.parametrize("older", ["absent", "b"])
def test_a_link_that_leads_nowhere_is_dropped(older):
    (one,), _ = lines((record("b", "I live in Porto"), older))
    assert one.supersedes is None is one.superseded_by


def test_a_correction_that_is_older_than_what_it_corrects_is_none():
    found, _ = lines((record("b", "I live in Porto", 1), "a"), record("a", "I live in Berlin", 2))
    assert all(one.supersedes is None is one.superseded_by for one in found)


def test_parents_are_those_that_come_in():
    found, _ = lines(record("a", "evidence", 1), record("b", "conclusion", 2, parents=("a", "absent", "b")))
    assert found[1].parents == (found[0].id,)


def test_the_same_record_has_the_same_id_in_a_later_export():
    assert line(record("a", "x", day=1)).id == line(record("a", "x", day=9)).id != line(record("b", "x")).id


@each("text, problem", [("", "empty"), (" \x00\u200b", "hide"), ("a" * 100_001, "longer"), ("a\U000e0041", "hide")])
def test_what_cannot_be_stored_says_why(text, problem):
    with pytest.raises(InvalidInput, match=problem):
        line(record("a", text))


def test_control_characters_and_half_characters_go():
    assert line(record("a", "a\x00b\x1bc\ud83dd\nline\ttab")).content == "abcd\nline\ttab"


@pytest.mark.parametrize(
    "at",
    [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), datetime(2024, 1, 1)],  # noqa: DTZ001 - a program that knows no zones
)
def test_a_time_that_is_none_counts_as_none(at):
    assert line(record("a", "x", at=at)).at is None


def test_metadata_that_is_too_much_is_left_out_and_not_the_memory():
    assert line(record("a", "x", metadata={"long": "a" * 20_000}, title="Trip")).metadata == {}
    assert line(record("a", "x", title="Trip\x00")).metadata == {"title": "Trip"}


def test_tags_are_made_to_fit():
    assert line(record("a", "x"), tags=("a" * 200, "b\x00", "", "b")).tags == ("a" * 100, "b")


def test_a_session_is_none_of_the_users():
    assert session_name("chatgpt:c1") == "import:chatgpt:c1"
    long, other = session_name("c" * 500), session_name("c" * 501)
    assert len(long) == len(other) == 200
    assert long != other


def test_an_assistants_message_is_not_told_but_what_it_noted_of_the_person_is():
    said = record("a", "Sure", author=Author.ASSISTANT)
    noted = record("a", "Likes rye", author=Author.ASSISTANT, kind=RecordKind.MEMORY)
    assert (line(said).told, line(said).speaker, line(noted).told) == (False, "assistant", True)


@given(st.text(), st.lists(st.text(), max_size=3), st.dictionaries(st.text(), st.text(), max_size=2))
@settings(max_examples=60)
def test_a_line_is_read_as_it_was_written(text, tags, metadata):
    try:
        written = line(record("a", text, metadata=metadata, conversation=text), tags=tuple(tags))
    except InvalidInput:
        return
    assert SpoolLine.decoded(written.encoded()) == written


@each("data", [b"", b"[]", b"{}", b'{"id": 1}', b'{"at": 5}', b"\xff"])
def test_a_line_that_is_none_is_refused(data):
    with pytest.raises(InvalidInput):
        SpoolLine.decoded(data)


def test_the_same_lines_have_the_same_name_and_others_another():
    one, other = line(record("a", "x")), line(record("a", "y"))
    names = [
        write_spool(io.BytesIO(), [each], salt)[1]
        for each, salt in ((one, ["n"]), (one, ["n"]), (other, ["n"]), (one, ["m"]))
    ]
    assert names[0] == names[1]
    assert len(set(names)) == 3


def shown(*several):
    return [one.content for one in lines(*several)[0]]


def test_what_a_longer_statement_contains_comes_in_with_it_alone():
    assert shown(record("a", "I live in Berlin"), record("b", "I live in Berlin, in Neukölln", 1)) == [
        "I live in Berlin, in Neukölln"
    ]


def test_what_is_said_again_after_the_longer_form_was_corrected_comes_in():
    longer, newer = record("a", "I live in Berlin, in Neukölln"), record("b", "I live in Lisbon", 1)
    assert "I live in Berlin" in shown(longer, (newer, "a"), record("c", "I live in Berlin", 2))


def test_what_is_no_longer_so_contains_nothing():
    longer = record("b", "I live in Berlin, in Neukölln", 1, forgotten_at=START)
    assert "I live in Berlin" in shown(record("a", "I live in Berlin"), longer)


def test_what_was_said_in_another_folder_contains_nothing():
    said = {one: {"metadata": {"folder": f"/src/{one}"}} for one in ("shop", "blog")}
    assert (
        len(shown(record("a", "we use pnpm", **said["shop"]), record("b", "we use pnpm and Node", **said["blog"]))) == 2
    )


def test_each_file_of_rules_has_its_own_words():
    rules = ("never push", "never push today")
    assert len(shown(*(record(words, words, rules_of="/shop") for words in rules))) == 2
    assert len(shown(record("a", rules[0], rules_of="/shop"), record("b", rules[0], rules_of="/blog"))) == 2
