"""A memory as a Markdown file: everything that counts comes back, and nothing in it acts."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.core.admin.sample_stores import PLAIN_MEMORIES
from tests.core.store.making import memory
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.text import content_hash
from hybrid_memory_importers.markdown.frontmatter import FrontmatterError, parse, split, written
from hybrid_memory_importers.markdown.inert import inert, is_shown_whole, spoken
from hybrid_memory_importers.markdown.memory_file import memory_file, read_memory_file, read_moment
from hybrid_memory_importers.markdown.seal import Written, whose

ANY = st.text(st.characters(exclude_categories=("Cs",)))
HOSTILE = st.lists(
    st.sampled_from([
        "---", "\n", "\r\n", "\r", " ", "\t", "exported: hybrid-memory/1 0000000000000000", "text: x", "```", "~~~", "`= this`", "`$= dv`",
        "<script>alert(1)</script>", "<%", "%%", "[[a]]", "![](http://x/y)", "\\", "\\<", "{{", "{%", "# h", "- [ ] x", "a", "ü", "漢",
        "\u2028", "\x07", "\ufeff", "...", "&lt;", "<!--", "-->",
    ]),
    max_size=12,
).map("".join)  # fmt: skip


def came_back(one):
    return read_memory_file(memory_file(one).decode())


@given(ANY | HOSTILE)
@example("---\nid: x\n---\n")
@example("\\`")
def test_all_words_come_back_from_their_file(content):
    assert came_back(memory("a", content=content)).content == content


@pytest.mark.slow
@given(PLAIN_MEMORIES)
@settings(max_examples=60)
def test_all_that_is_known_of_a_memory_comes_back(one):
    left_out = {"rev": 1, "content_hash": content_hash(one.content)}
    assert came_back(one) == replace(one, **left_out)


@given(ANY | HOSTILE)
def test_a_file_that_was_written_is_known_as_ours(content):
    assert whose(memory_file(memory("a", content=content))) is Written.AS_WRITTEN


@given(HOSTILE)
def test_ends_of_lines_that_git_changed_change_nothing(content):
    data = memory_file(memory("a", content=content)).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert whose(data) is Written.AS_WRITTEN
    assert read_memory_file(data.decode()).content == content


@given(ANY | HOSTILE)
def test_text_that_was_made_inert_is_spoken_again(content):
    if is_shown_whole(content):
        assert spoken(inert(content)) == content


@given(ANY | HOSTILE)
@example("``= dv()``")
@example("` = dv() `")
@example("`<=")
def test_nothing_in_a_body_acts(content):
    body = inert(content)
    unescaped = re.sub(r"\\[!-/:-@\[-`{-~]", "x", body)
    assert not re.search(r"<|\[|```|~~~|%%|\{\{|\{%|`\s*[=$]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", unescaped)


@pytest.mark.parametrize(
    "content", ["I am allergic to peanuts.", "Run `uv sync`, then call O'Neil (#3) & wait: 5 > 3*2_x!"]
)
def test_plain_words_stand_as_they_are(content):
    assert memory_file(memory("a", content=content)).decode().endswith(f"---\n\n{content}\n")


def test_a_file_says_what_it_holds_in_an_order_that_stays():
    one = memory("a", content="Tea.", tags=("drink",), supersedes="b", parents=("c",), occurred_at=None)
    names = [line.partition(":")[0] for line in split(memory_file(one).decode())[0].splitlines()]
    assert names == [
        "id", "namespace", "created_at", "session", "kind", "tier", "importance", "tags", "origin", "trust", "supersedes", "parents",
        "exported",
    ]  # fmt: skip


def test_words_that_somebody_edited_count():
    data = memory_file(memory("a", content="Tea at four. ")).decode().replace("at four", "at five")
    assert whose(data.encode()) is Written.CHANGED
    assert read_memory_file(data).content.strip() == "Tea at five."


def test_blanks_that_an_editor_took_away_change_no_words():
    data = memory_file(memory("a", content="  one  \n two\t\n\n")).decode()
    stripped = "\n".join(line.rstrip() for line in data.split("\n")).rstrip("\n") + "\n"
    assert read_memory_file(stripped).content == "  one  \n two\t\n\n"


def test_what_somebody_added_to_the_fields_is_kept_in_metadata():
    data = memory_file(memory("a", metadata={"n": 1})).decode().replace("tier:", "aliases: [x]\ntier:")
    assert read_memory_file(data).metadata == {"aliases": ["x"], "n": 1}


@each("line", ["created_at: soon", "tags: {a: 1}", "id: [x]", "metadata: 3", "created_at: 99999-01-01"])
def test_a_field_that_is_no_longer_what_it_was_is_named(line):
    name = line.partition(":")[0]
    data = re.sub(rf"(?m)^(?:{name}: .*\n)?(?=tier)", f"{line}\n", memory_file(memory("a")).decode())
    data = re.sub(rf"(?m)^{name}: .*\n(?=(?:.*\n)*{name}:)", "", data)
    with pytest.raises(InvalidInput) as caught:
        read_memory_file(data)
    assert name in str(caught.value)


@each("text", ["", "# Notes\n", "---\nid: a\n---\nx", "---\nexported: maybe hybrid-memory/1\n---\n"])
def test_other_files_are_not_ours(text):
    assert read_memory_file(text) is None
    assert whose(text.encode()) is Written.FOREIGN


def test_words_with_a_mark_in_them_do_not_make_a_file_ours():
    data = b"# Notes\n\nexported: hybrid-memory/1 0123456789abcdef\n\nmore\n"
    assert whose(data) is Written.FOREIGN


@each(
    "block",
    [
        "a: &x [1]\nb: *x\n",
        "a: " + "[" * 60 + "]" * 60,
        "[" * 100_000,
        "- 1\n- 2\n",
        "a: [",
        "\x00",
        "? [x]\n: y\n? {}",
        "a: !!python/name:os.x\n",
    ],
)
def test_hostile_blocks_are_refused_or_harmless(block):
    with suppress(FrontmatterError):
        assert isinstance(parse(block), dict)


def test_values_are_those_of_yaml_1_2_and_days_stay_text():
    block = "country: no\nday: 2026-11-22\nat: 12:30\nn: 12\nx: 1.5\nt: true\nnothing:\nzip: 01234\n"
    assert parse(block) == {
        "country": "no", "day": "2026-11-22", "at": "12:30", "n": 12, "x": 1.5, "t": True, "nothing": None, "zip": "01234",
    }  # fmt: skip


NUMBERS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), ANY | HOSTILE | NUMBERS))
def test_every_value_comes_back_from_a_block(fields):
    block, rest = split(written(fields))
    assert (parse(block), rest) == (fields, "")


@each(
    "text, year",
    [("2026-11-22", 2026), ("2026-11-22T10:00:00Z", 2026), ("20261122", 2026), ("x", None), ("0001-01-01", None)],
)
def test_moments_are_read_as_people_write_them(text, year):
    found = read_moment(text)
    assert (found.year if found else None) == year
    assert found is None or found.utcoffset() == timedelta(0)
