"""Pictures of time in a terminal: each line is as wide as it may be, whatever lies on it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.tables import each

from hybrid_memory_mcp.cli import pictures
from hybrid_memory_mcp.cli.pictures import ASCII, UNICODE

SHARES = st.floats(0, 1)
WIDTHS = st.integers(1, 200)
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


def at(days):
    return (BEGIN + timedelta(days=days)).isoformat()


@given(SHARES, SHARES, WIDTHS)
def test_a_span_has_at_least_one_column_and_stays_inside(one, other, width):
    held = pictures.columns_of(min(one, other), max(one, other), width)
    assert 0 <= held.start < held.stop <= width


@given(SHARES, SHARES, st.none() | SHARES, WIDTHS)
def test_a_line_with_a_span_is_as_wide_as_asked(one, other, marker, width):
    line = pictures.span(min(one, other), max(one, other), width, UNICODE, marker=marker)
    assert line.cell_len == width


@given(st.lists(st.tuples(SHARES, SHARES, st.integers(0, 10**6)), max_size=20), WIDTHS)
def test_bars_fill_rows_of_one_width(values, width):
    rows = pictures.bars(values, width, UNICODE)
    assert [row.cell_len for row in rows] == [width] * pictures.BAR_ROWS


def test_the_highest_bar_fills_all_rows_and_the_lowest_is_seen():
    rows = pictures.bars([(0.0, 0.5, 1000), (0.5, 0.5, 1)], 2, UNICODE)
    assert [row.plain for row in rows] == ["█ ", "█ ", "█▁"]


def test_where_nothing_is_there_is_no_bar():
    assert {row.plain for row in pictures.bars([(0.0, 1.0, 0)], 3, UNICODE)} == {"   "}


@given(st.lists(st.tuples(SHARES, st.text("aש中é", max_size=12)), max_size=12), WIDTHS)
def test_a_scale_is_never_wider_than_its_picture_but_for_one_word(ticks, width):
    longest = max((cell_len(words) for _, words in ticks), default=0)
    assert cell_len(pictures.scale(ticks, width).plain) <= max(width, longest)


def test_words_of_a_scale_that_would_touch_are_left_out():
    assert (
        pictures.scale([(0.0, "January"), (0.1, "February"), (0.9, "May")], 30).plain
        == "January                    May"
    )


@given(SHARES, st.text("ab ", max_size=40), st.integers(45, 200))
def test_a_marked_place_is_pointed_at(place, words, width):
    line = pictures.marked(place, words, width, UNICODE).plain
    assert line.index(UNICODE.marker) in {min(int(place * width), width - 1), len(words) + 1}
    assert cell_len(line) <= width


@given(SHARES, WIDTHS)
def test_a_share_is_a_bar_of_one_width(share, width):
    assert pictures.share_bar(share, width, UNICODE).cell_len == width


def life(*stages, last=100):
    told = [
        {"tier": tier, "from": at(begin), "until": None if end is None else at(end), "why": "", "id": version}
        for tier, begin, end, version in stages
    ]
    levels = [
        one for one in ("long_term", "short_term", "sensory", "faded") if one in {stage["tier"] for stage in told}
    ]
    return {"from": told[0]["from"], "to": at(last), "levels": levels, "stages": told, "marks": []}


def test_a_life_has_a_row_for_each_part_of_memory_and_a_scale_below():
    told = life(("sensory", 0, 10, "a"), ("short_term", 10, 50, "a"), ("long_term", 50, None, "a"))
    rows = [row.plain for row in pictures.life(told, 32, UNICODE)]
    assert rows == [
        "kept        ··········━━━━━━━━━━",
        "in mind     ··━━━━━━━━··········",
        "just heard  ●━··················",
        "            1 Jan 2025       now",
    ]


def test_each_version_begins_with_a_dot():
    rows = pictures.life(life(("long_term", 0, 50, "a"), ("long_term", 50, None, "b")), 26, UNICODE)
    assert rows[0].plain == "kept  ●━━━━━━━━━●━━━━━━━━━"


@given(
    st.lists(
        st.tuples(st.sampled_from(["long_term", "short_term", "sensory", "faded"]), st.floats(0, 100)), min_size=1
    ),
    st.integers(30, 200),
)
def test_a_life_is_as_wide_as_its_terminal(stages, width):
    begins = sorted(at for _, at in stages)
    ends = [*begins[1:], None]
    told = life(*((tier, begin, end, "a") for (tier, _), begin, end in zip(stages, begins, ends, strict=True)))
    rows = pictures.life(told, width, UNICODE)
    assert {row.cell_len for row in rows[:-1]} == {width}
    assert rows[-1].cell_len <= width


@each(
    "encoding, dumb, glyphs",
    [
        ("utf-8", False, UNICODE),
        ("utf-8", True, ASCII),
        ("ascii", False, ASCII),
        ("latin-1", False, ASCII),
        (None, False, ASCII),
        ("no such", False, ASCII),
    ],
)
def test_a_terminal_gets_what_it_can_show(encoding, dumb, glyphs):
    assert pictures.glyphs_for(encoding, dumb=dumb) == glyphs


def test_what_an_old_terminal_gets_is_ascii():
    told = life(("sensory", 0, 10, "a"), ("long_term", 10, None, "a"))
    assert all(row.plain.isascii() for row in pictures.life(told, 40, ASCII))


def test_a_moment_at_an_end_of_the_calendar_has_a_day():
    assert pictures.day("0001-01-01T00:00:00+00:00").endswith(" 1")
    assert "9999" in pictures.day("9999-12-31T23:59:59+00:00") or "10000" not in pictures.day(
        "9999-12-31T23:59:59+00:00"
    )
