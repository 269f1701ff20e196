"""What templates say: inert text, addresses, and pages that a strict policy lets work."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_inspector.page.rendering import FOLDER, address, excerpt, inert
from hybrid_memory_mcp.words.times_and_numbers import count, exact, number, percent, relative, size

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
OWN = re.compile(r"</?(bdi|span|details|summary|a)( [^<>]*)?>")
TEMPLATES = sorted((FOLDER / "templates").glob("*.j2"))


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.sampled_from("<>&\"'a \u202e\x1b\n\u2067") | st.characters(), max_size=200), st.sampled_from([None, 5])
)
def test_no_stored_character_becomes_markup(text, cut):
    html = str(inert(text, cut, "/memories/x"))

    assert "<" not in OWN.sub("", html)
    assert not {"\u202e", "\u2067", "\x1b"} & set(html)


def test_what_turns_the_order_of_letters_round_is_shown_with_its_name():
    assert 'title="U+202E right-to-left override">RLO' in inert("abc\u202edef")


@each("text", ["👩 family", "میخواهم", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "e\u0301", "שלום"])
def test_text_of_people_stays_as_it_is(text):
    assert inert(text) == f'<bdi class="words" dir="auto">{text}</bdi>'


def test_an_invisible_mark_is_shown_with_its_name_also_behind_a_flag():
    assert 'title="U+200D zero width joiner">ZWJ' in inert("a\u200db")
    assert 'title="U+E0042 tag latin capital letter b">E0042' in inert("\U0001f3f4\U000e0041\U000e0042")


def test_of_a_long_text_the_rest_is_folded_away():
    html = inert("word " * 400, 100)

    assert "show all 2,000 characters" in html
    assert "<details" in html


def test_of_a_very_long_text_the_rest_is_another_page():
    html = inert("x" * 100_000, 100, "/memories/abc")

    assert len(html) < 400
    assert 'href="/memories/abc"' in html


def test_a_label_is_one_short_line():
    assert excerpt("one\ntwo\x1b " + "x" * 500, 20) == "one two⟦␛⟧ xxxxxxxx…"


@each(
    "ago, told",
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=89), "89 minutes ago"),
        (timedelta(hours=2), "2 hours ago"),
        (timedelta(hours=23), "1 day ago"),
        (timedelta(days=20), "3 weeks ago"),
        (timedelta(days=100), "3 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(days=-3), "in 3 days"),
    ],
)
def test_a_time_is_told_by_how_long_ago_it_was(ago, told):
    assert relative(NOW - ago, NOW) == told


def test_the_exact_time_has_its_zone():
    assert exact(NOW, UTC) == "Thu 5 Mar 2026, 12:00:00 UTC"


def test_a_time_at_the_end_of_the_calendar_is_told_all_the_same():
    assert exact(datetime.max.replace(tzinfo=UTC), UTC).endswith("9999, 23:59:59 UTC")


def test_numbers_have_their_thousands_apart():
    assert (number(1234567), number(0.5), count(1, "memory", "memories"), count(0, "name")) == (
        "1,234,567",
        "0.5",
        "1 memory",
        "0 names",
    )
    assert (percent(0.001), percent(0), percent(0.426), size(1_234_567)) == ("less than 1 %", "0 %", "43 %", "1.2 MB")


def test_a_name_that_looks_like_a_file_of_data_has_an_address_of_its_own():
    assert address("/names/package.json") == "/names/package.json%2F"


@each(
    "name, written",
    [("..", "..%2F"), ("../etc/passwd", "..%2Fetc%2Fpasswd"), ("a/", "a%2F%2F"), (".", ".%2F"), ("a/b", "a%2Fb")],
)
def test_a_name_is_one_part_of_an_address_whatever_is_in_it(name, written):
    assert address(f"/names/{name}") == f"/names/{written}"


def test_an_address_holds_any_name():
    assert address("/names/a b/ü?#%", {"q": "x&y", "page": None}) == "/names/a%20b%2F%C3%BC%3F%23%25?q=x%26y"


@each("template", TEMPLATES)
def test_no_template_needs_more_than_a_strict_policy_allows(template):
    text = template.read_text("utf-8")

    assert not re.search(r'\sstyle="|\son[a-z]+="|<style|hx-on|javascript:|https?://(?!www\.w3\.org)', text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)


@each("template", TEMPLATES)
def test_no_template_takes_stored_text_for_markup(template):
    unescaped = re.findall(r"\{\{[^}]*\|\s*safe[^}]*\}\}|autoescape", template.read_text("utf-8"))

    assert unescaped in ([], ['{{ DRAWN.get(name, DRAWN["dot"])|safe }}'])
