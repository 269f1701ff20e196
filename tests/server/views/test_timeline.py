"""The view of time: what was learned when, what was true when, what was believed then."""

from __future__ import annotations

import itertools
import json
from datetime import timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Origin
from hybrid_memory.requests import ForgetRequest
from hybrid_memory.testing import START

KEY = "ghp_9fQ2mZ7Lr4Xc8Vb1Nw6Ty3Kd5Hs0JaP4xQ7z"


def contents(shown):
    return [one["content"] for one in shown["memories"]]


def counts(shown, order):
    return [sum(bar[order].values()) for bar in shown["picture"]["bars"]]


def test_the_first_day_has_a_picture_without_bars_that_are_high(look):
    shown = look("timeline")
    assert (shown["memories"], shown["total"], sum(counts(shown, "learned"))) == ([], 0, 0)
    assert shown["picture"]["unit"] == "hour"


@pytest.mark.usefixtures("moves")
def test_all_is_json_and_the_newest_comes_first(look):
    shown = look("timeline")
    assert json.dumps(shown)
    assert contents(shown) == ["Ada lives in Porto.", "Ada lives in Lisbon.", "Ada lives in Berlin."]


@pytest.mark.usefixtures("moves")
def test_a_row_says_what_it_took_the_place_of_word_by_word(look):
    porto = look("timeline")["memories"][0]
    assert porto["before"]["content"] == "Ada lives in Lisbon."
    assert [(part["op"], part["text"]) for part in porto["before"]["diff"]] == [
        ("same", "Ada lives in "),
        ("removed", "Lisbon"),
        ("added", "Porto"),
        ("same", "."),
    ]


@pytest.mark.usefixtures("moves")
def test_a_row_says_what_took_its_place(look):
    assert look("timeline")["memories"][1]["after"]["content"] == "Ada lives in Porto."


@pytest.mark.usefixtures("moves")
def test_a_row_has_both_spans_over_the_same_axis(look):
    shown = look("timeline")
    lisbon = shown["memories"][1]
    assert lisbon["times"]["true_from"] < lisbon["times"]["learned"]
    assert lisbon["spans"]["true"][0] < lisbon["spans"]["believed"][0] < lisbon["spans"]["true"][1]
    assert lisbon["spans"]["true"][1] == lisbon["spans"]["believed"][1]
    assert shown["memories"][0]["spans"]["believed"][1] == shown["picture"]["now"]


def test_what_is_true_of_the_future_is_drawn_there_and_believed_until_now(look, say):
    say("The train leaves.", occurred_at=START + timedelta(days=9))
    shown = look("timeline", order="true")
    (train,) = shown["memories"]
    assert train["spans"]["believed"][1] == shown["picture"]["now"] < train["spans"]["true"][0]


@pytest.mark.usefixtures("moves")
@pytest.mark.parametrize(
    ("as_of", "believed"),
    [
        ("2026-01-12", "Berlin"),
        ("2026-01-20", "Lisbon"),
        ("12 days ago", "Lisbon"),
        ("last Monday", "Porto"),
        ("now", "Porto"),
    ],
)
def test_a_moment_is_given_as_a_date_or_in_words(look, as_of, believed):
    assert contents(look("timeline", as_of=as_of)) == [f"Ada lives in {believed}."]


@pytest.mark.usefixtures("moves")
def test_a_day_means_what_was_believed_at_its_end(look):
    shown = look("timeline", as_of="2026-01-20")
    assert shown["as_of"].startswith("2026-01-20T23:59:59")


@pytest.mark.usefixtures("moves")
def test_what_was_true_at_a_moment_is_another_question(look):
    assert contents(look("timeline", as_of="2026-01-17")) == ["Ada lives in Berlin."]
    assert contents(look("timeline", true_at="2026-01-17")) == ["Ada lives in Lisbon."]


@pytest.mark.usefixtures("moves")
def test_both_orders_of_time_are_counted_over_the_days(look):
    shown = look("timeline")
    assert shown["picture"]["unit"] == "day"
    assert (sum(counts(shown, "learned")), sum(counts(shown, "true"))) == (3, 3)
    days = [bar["from"][:10] for bar in shown["picture"]["bars"]]
    assert days[0] == "2026-01-10"
    assert counts(shown, "true")[days.index("2026-01-15")] == 1
    assert counts(shown, "learned")[days.index("2026-01-15")] == 0


@pytest.mark.usefixtures("moves")
def test_the_bars_fill_the_picture_from_left_to_right(look):
    bars = look("timeline", zoom="week")["picture"]["bars"]
    assert bars[0]["x"] == 0
    for bar, following in itertools.pairwise(bars):
        assert bar["x"] + bar["width"] == pytest.approx(following["x"], abs=1e-4)
    assert bars[-1]["x"] + bars[-1]["width"] == pytest.approx(1, abs=1e-4)


@pytest.mark.usefixtures("moves")
def test_a_window_shows_what_was_learned_in_it(look):
    window = {"from": "2026-01-15", "to": "2026-01-20"}
    assert contents(look("timeline", **window)) == ["Ada lives in Lisbon."]
    shown = look("timeline", order="true", **window)
    assert contents(shown) == ["Ada lives in Lisbon."]
    assert shown["picture"]["before"] == {"learned": 1, "true": 1}
    assert shown["picture"]["after"] == {"learned": 1, "true": 1}


def test_a_window_of_hundreds_of_years_has_bars_that_can_be_seen(look, say):
    say("The bridge was finished.", occurred_at=START.replace(year=1250))
    shown = look("timeline", order="true", zoom="day", **{"from": "1200-01-01"})
    assert len(shown["picture"]["bars"]) <= 121
    assert sum(counts(shown, "true")) == 1


def test_the_ends_of_the_calendar_are_shown(look, say):
    say("In the beginning.", occurred_at=START.replace(year=2, month=1, day=1))
    say("In the end.", occurred_at=START.replace(year=9998, month=12, day=31))
    for zone in (timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))):
        shown = look("timeline", zone=zone, order="true")
        assert sum(counts(shown, "true")) == 2


@pytest.mark.usefixtures("moves")
def test_days_are_those_of_the_persons_zone(look):
    tokyo = look("timeline", zone=ZoneInfo("Asia/Tokyo"))
    assert tokyo["picture"]["bars"][0]["from"] == "2026-01-09T15:00:00+00:00"
    assert tokyo["picture"]["bars"][0]["label"] == "Sat 10 Jan 2026"


def test_a_day_with_a_changed_clock_is_one_day(look, say, clock):
    clock.set(START.replace(month=3, day=28))
    say("Before the clocks change.")
    clock.set(START.replace(month=3, day=30))
    bars = look("timeline", zone=ZoneInfo("Europe/Lisbon"), zoom="day", **{"from": "2026-03-28"})["picture"]["bars"]
    assert [bar["label"] for bar in bars] == ["Sat 28 Mar 2026", "Sun 29 Mar 2026", "Mon 30 Mar 2026"]
    assert bars[1]["width"] < bars[0]["width"]


@pytest.mark.usefixtures("moves")
def test_changes_alone_are_shown_to_who_asks(look):
    assert contents(look("timeline", changes="1")) == ["Ada lives in Porto.", "Ada lives in Lisbon."]


@pytest.mark.usefixtures("moves")
def test_facets_say_how_many_there_are_of_each(look, say):
    say("A tool said so.", origin=Origin.TOOL)
    facets = look("timeline", trust="untrusted")["facets"]
    assert facets["trust"] == [{"value": "untrusted", "count": 1}, {"value": "user", "count": 3}]
    assert facets["state"] == [{"value": "current", "count": 1}]


def test_pages_follow_each_other(look, say, clock):
    for number in range(7):
        clock.advance(seconds=1)
        say(f"Thing {number}.")
    pages = [contents(look("timeline", limit="3", page=str(page))) for page in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert [one for page in pages for one in page] == [f"Thing {number}." for number in range(6, -1, -1)]


def test_secrets_are_masked_in_texts_and_facets_unless_asked_for(look, say, clock):
    first = say(f"The key is {KEY}.", tags=(KEY,))
    clock.advance(seconds=1)
    say(f"The key is {KEY} indeed.", supersedes=first)
    assert KEY not in json.dumps(look("timeline"))
    shown = look("timeline", reveal="1")
    assert KEY in shown["memories"][0]["content"]
    assert {"value": KEY, "count": 1} in shown["facets"]["tag"]


def test_what_was_forgotten_is_shown_to_who_asks_for_it_alone(look, say, service, scope):
    service.forget(scope, ForgetRequest(ids=(say("The climbing gym."),)))
    assert contents(look("timeline")) == []
    assert contents(look("timeline", state="forgotten")) == ["The climbing gym."]
    assert look("timeline")["facets"]["state"] == [{"value": "forgotten", "count": 1}]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("order", "sideways"),
        ("zoom", "minute"),
        ("from", "the day of the bear"),
        ("as_of", "2026-13-01"),
        ("state", "lost"),
        ("tier", "deep"),
        ("page", "0"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(look, name, given):
    with pytest.raises(InvalidInput, match=name):
        look("timeline", **{name: given})


def test_a_window_that_ends_before_it_begins_is_refused(look):
    with pytest.raises(InvalidInput, match="to"):
        look("timeline", **{"from": "2026-03-01", "to": "2026-01-01"})
