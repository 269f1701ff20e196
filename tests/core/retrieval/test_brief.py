from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.retrieval.memories import NOW, memory

from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.model import Origin, Trust
from hybrid_memory.retrieval.brief import (
    FEW_TRUSTED,
    SHARES,
    SHARES_AT_BEGINNING,
    BriefMemories,
    Queue,
    Section,
    fair_order,
    in_sections,
    line_cost,
    select_lines,
    with_few_untrusted,
)
from hybrid_memory.testing import HASHER

costs = st.lists(st.integers(40, 115), max_size=20)
queues = st.dictionaries(st.sampled_from(list(Queue)), costs, min_size=1)


def itself(cost):
    return cost


@given(queues)
def test_everything_that_waits_is_shown_once_and_each_queue_in_its_order(waiting):
    order = list(fair_order(waiting, SHARES, itself))
    for queue, items in waiting.items():
        assert [item for one, item in order if one is queue] == items


@given(queues)
def test_in_every_beginning_two_queues_that_wait_differ_by_a_line_at_most_for_their_shares(waiting):
    spent = dict.fromkeys(waiting, 0)
    left = {queue: list(items) for queue, items in waiting.items()}
    for queue, cost in fair_order(waiting, SHARES, itself):
        spent[queue] += cost
        left[queue].pop(0)
        busy = [one for one in left if left[one]]
        for one in busy:
            for other in busy:
                assert (
                    spent[one] / SHARES[one]
                    <= spent[other] / SHARES[other] + 2 * 115 / SHARES[other] + 115 / SHARES[one]
                )


@given(queues)
def test_within_twenty_lines_every_queue_has_its_first(waiting):
    order = [queue for queue, _ in fair_order({one: [60] * len(some) for one, some in waiting.items()}, SHARES, itself)]
    assert {queue for queue, items in waiting.items() if items} == set(order[:20])


def test_what_an_empty_queue_leaves_goes_to_the_others():
    waiting = {Queue.WHO: [60] * 30, Queue.DECISIONS: [60] * 30}
    shown = [queue for queue, _ in fair_order(waiting, SHARES, itself)][:32]
    assert shown.count(Queue.WHO) == pytest.approx(32 * 0.22 / 0.32, abs=1)


def test_a_long_text_counts_as_the_line_that_it_is_cut_to():
    assert line_cost("x" * 100_000) == line_cost("x" * 1_000)
    assert line_cost("short") < line_cost("x" * 1_000)


def test_items_are_grouped_in_the_order_of_the_sections():
    items = [("a", "recent"), ("b", "pinned"), ("c", None), ("d", "recent"), ("e", "open")]
    assert in_sections(items, lambda item: item[1]) == [items[2], items[1], items[4], items[0], items[3]]


SECTIONED = st.lists(st.sampled_from(Section), max_size=40)


@given(SECTIONED, SECTIONED)
def test_at_most_a_quarter_of_every_beginning_and_of_every_section_is_of_tools(trusted, untrusted):
    ours, theirs = (
        [(section, (kind, at)) for at, section in enumerate(some)] for kind, some in enumerate((trusted, untrusted))
    )
    found = with_few_untrusted(ours, theirs)
    assert [line for line in found if line in ours] == ours
    if len(trusted) < FEW_TRUSTED:
        guests = theirs[: len(ours)] if ours else theirs
        assert [item for _, item in found] == [item for _, item in [*ours, *guests]]
        return
    for end in range(1, len(found) + 1):
        assert 4 * sum(kind for _, (kind, _) in found[:end]) <= end
        for section in trusted:
            marks = [kind for of, (kind, _) in found[:end] if of is section]
            assert 4 * sum(marks) <= len(marks)


@given(SECTIONED, SECTIONED)
def test_beside_trusted_lines_no_tool_speaks_about_the_user_or_for_them(trusted, untrusted):
    ours, theirs = ([(section, kind) for section in some] for kind, some in enumerate((trusted, untrusted)))
    sections = {section for section, kind in with_few_untrusted(ours, theirs) if kind}
    if trusted:
        assert not sections & {Section.USER, Section.OPEN, Section.DECISIONS}
    else:
        assert sections == {*untrusted}


def lines(*weighty, pinned=(), working=(), last_session=(), recent=(), as_of=NOW, **links):
    newest_first = sorted(
        (with_encoded_words(one, HASHER) for one in weighty), key=lambda one: one.created_at, reverse=True
    )
    memories = BriefMemories(
        pinned=pinned,
        working=working,
        weighty=newest_first,
        last_session=last_session,
        recent=recent,
        as_of=as_of,
        **links,
    )
    return select_lines(memories)


def test_a_name_comes_before_all_else_about_the_user():
    found = lines(
        memory("place", "I live in Leeds", minutes=2, importance=0.9),
        memory("name", "My name is Mira", minutes=1, importance=0.3),
    )
    assert list(found) == ["name", "place"]
    assert set(found.values()) == {Section.USER}


def test_many_preferences_leave_room_for_an_allergy():
    tastes = [memory(f"t{n}", f"I like topic{n}", minutes=n + 1, importance=0.9) for n in range(30)]
    found = lines(memory("health", "I'm allergic to penicillin", importance=0.3), *tastes)
    assert "health" in list(found)[:2]


def test_what_the_user_prefers_comes_before_what_the_daughter_prefers():
    found = lines(
        memory("nora", "Nora prefers window seats", minutes=3, importance=0.9),
        memory("family", "The user's daughter Nora is 7 years old", minutes=2),
        memory("own", "Prefers aisle seats", minutes=1, importance=0.2),
    )
    assert list(found).index("own") < list(found).index("nora")


def test_what_is_said_by_the_users_name_is_about_the_user():
    found = lines(
        memory("tom", "Tom prefers tea", minutes=3, importance=0.9),
        memory("mira", "Mira prefers coffee", minutes=2, importance=0.2),
        memory("name", "The user's name is Mira", minutes=1),
    )
    assert list(found).index("mira") < list(found).index("tom")


def test_a_name_that_a_tool_claims_makes_nobody_the_user():
    found = lines(
        memory("tom", "Tom prefers tea", minutes=3, importance=0.5),
        memory("own", "Prefers coffee", minutes=2, importance=0.1),
        memory("claim", "The user's name is Tom", minutes=1, origin=Origin.TOOL, trust=Trust.UNTRUSTED),
    )
    assert list(found).index("own") < list(found).index("tom")


def test_a_commitment_is_shown_until_it_is_done():
    plumber = memory("plumber", "Remind me to call the plumber", minutes=1)
    done = memory("done", "Called the plumber, done", minutes=2)
    assert lines(plumber) == {"plumber": Section.OPEN}
    assert "plumber" not in lines(plumber, done)


def test_what_a_tool_says_neither_closes_nor_takes_back_what_the_user_said():
    found = lines(
        memory("plumber", "Remind me to call the plumber", minutes=1),
        memory("coffee", "The user drinks coffee every morning", minutes=2),
        memory("done", "Called the plumber, done", minutes=3, origin=Origin.TOOL, trust=Trust.UNTRUSTED),
        memory("no", "No longer drinks coffee", minutes=4, origin=Origin.TOOL, trust=Trust.UNTRUSTED),
    )
    assert {"plumber", "coffee"} <= set(found)


def test_what_was_done_before_closes_nothing():
    before = memory("before", "Called the plumber, done", minutes=1)
    assert "again" in lines(before, memory("again", "Remind me to call the plumber", minutes=2))


def test_a_commitment_of_a_day_long_gone_is_not_shown():
    task = memory("task", "Renew the certificate by 20 January 2026")
    assert "task" in lines(task, as_of=NOW - timedelta(days=25))
    assert "task" not in lines(task, as_of=NOW + timedelta(days=90))


def test_what_likely_changed_a_statement_has_its_line():
    found = lines(
        memory("then", "The user drinks coffee every morning", minutes=1),
        memory("now", "Green tea from today", minutes=2),
        changed={"then": "now"},
    )
    assert found == {"now": Section.USER}


def test_of_a_chain_of_changes_the_last_has_the_line():
    then = memory("then", "The user drinks coffee every morning", minutes=1)
    assert lines(then, changed={"then": "next", "next": "last"}) == {"last": Section.USER}


def test_an_allergy_keeps_its_line_behind_what_may_have_changed_it():
    found = lines(memory("then", "I'm allergic to penicillin", minutes=1), changed={"then": "now"})
    assert list(found) == ["now", "then"]


def test_an_allergy_of_anybody_comes_before_who_the_user_is():
    found = lines(
        memory("who", "I'm a nurse in Porto", minutes=2),
        memory("joon", "Joon is allergic to hazelnuts", minutes=1),
    )
    assert list(found) == ["joon", "who"]


def test_an_appointment_that_has_been_comes_behind():
    check = memory("check", "My asthma is checked at the clinic on 20 March 2026", minutes=2)
    nurse = memory("who", "I'm a nurse in Porto", minutes=1)
    assert list(lines(check, nurse)) == ["check", "who"]
    assert list(lines(check, nurse, as_of=NOW + timedelta(days=90))) == ["who", "check"]


def test_near_copies_are_shown_once():
    found = lines(
        memory("one", "I'm allergic to penicillin", minutes=1),
        memory("two", "The user is allergic to penicillin", minutes=2),
    )
    assert len(found) == 1


def test_figures_and_negations_tell_statements_apart():
    found = lines(
        memory("one", "The user takes medication 20 mg daily", minutes=1),
        memory("two", "The user takes medication 40 mg daily", minutes=2),
        memory("three", "The user does not like tea", minutes=3),
        memory("four", "The user likes tea", minutes=4),
    )
    assert len(found) == 4


def test_what_matters_and_says_nothing_known_is_about_the_user_too():
    assert lines(memory("code", "The cabin's gate code is 4417", importance=0.9)) == {"code": Section.USER}
    assert lines(memory("code", "The cabin's gate code is 4417", importance=0.5)) == {}


def test_noise_is_never_about_the_user():
    noise = [
        "All 214 tests passed in 12 s",
        "[2026-01-03 10:00] INFO server started",
        "The build failed with exit code 1",
    ]
    assert lines(*[memory(f"n{at}", text, minutes=at) for at, text in enumerate(noise)]) == {}


def test_a_memory_stands_in_one_section():
    one = memory("one", "I'm allergic to penicillin")
    assert lines(one, pinned=[one], recent=[one], last_session=[one]) == {"one": Section.PINNED}


def test_a_talkative_text_comes_behind_a_statement():
    talk = memory(
        "talk", "I love how this went. " + "We walked and talked for a long time. " * 12, minutes=2, importance=0.9
    )
    found = lines(talk, memory("own", "I love cycling", minutes=1, importance=0.3))
    assert list(found) == ["own", "talk"]


@given(st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(0, 9), max_size=20))
def test_what_waits_in_two_queues_comes_once(some, others):
    waiting = {Queue.PREFERENCES: some, Queue.LAST_SESSION: others}
    order = [item for _, item in fair_order(waiting, SHARES_AT_BEGINNING, lambda _: 1, lambda item: item)]
    assert sorted(order) == sorted({*some, *others})
