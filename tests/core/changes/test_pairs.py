"""How likely a statement changes an earlier one."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.fit_changes import CHANGING, DIALOGUES, SHORT, STREAMS, figures, lives_of, played

from hybrid_memory.changes.pairs import (
    CALIBRATION,
    LEAST,
    ChangeModel,
    Statement,
    chosen,
    load_changes,
    pair_features,
    read_in_context,
)
from hybrid_memory.embedding.universal import UniversalEmbedder
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.retrieval.near_statements import _usual
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

CHECK = Path(__file__).parents[2] / "data" / "dialogues"
CHECK_STREAMS, CHECK_CHANGING, CHECK_SHORT = (CHECK.parent / one for one in ("streams", "changing", "short_lives"))
USUAL = (0.2, 0.1)
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(text, *, at=NOW, session="a", terms=(), seed=1):
    vector = np.random.default_rng(seed).normal(size=384).astype(np.float32)
    return Statement(text=text, vector=vector / np.linalg.norm(vector), terms=frozenset(terms), at=at, session=session)


statements = st.builds(
    said,
    st.text(max_size=80),
    at=st.timedeltas(timedelta(0), timedelta(days=3_000)).map(lambda one: NOW - one),
    session=st.sampled_from("ab"),
    terms=st.sets(st.integers(1, 9)),
    seed=st.integers(0, 5),
)


@given(statements, st.lists(statements, max_size=6))
def test_a_chance_is_between_0_and_1_whatever_was_said(new, earlier):
    chances = load_changes().judged(new, earlier, dict.fromkeys(range(10), 0.5), USUAL)
    assert len(chances) == len(earlier)
    assert all(0 <= one <= 1 for one in chances)


@given(statements, st.lists(statements, min_size=1, max_size=6))
def test_calling_it_again_gives_the_same(new, earlier):
    model, rarity = load_changes(), dict.fromkeys(range(10), 0.3)
    assert model.judged(new, earlier, rarity, USUAL) == model.judged(new, earlier, rarity, USUAL)


def test_nothing_was_said_before():
    assert load_changes().judged(said("We use pnpm now"), [], {}, USUAL) == []


def test_only_the_likeliest_of_the_earlier_statements_are_read():
    chances = np.array([0.3, 0.01, 0.2, 0.6, 0.1], np.float32)
    assert chosen(chances).tolist() == [3, 0, 2]
    assert chosen(chances * 0.1).tolist() == [3]


def test_at_most_three_are_read_and_nothing_comes_of_the_others():
    read = []

    def in_context(earlier, _new, _answers):
        read.extend(earlier)
        return read_in_context(earlier, "")

    alike = np.append(np.zeros(len(load_changes().pair) - 1), 2.0).astype(np.float32)  # odds that no pair changes
    model = replace(load_changes(), in_context=in_context, pair=alike)
    earlier = [said(f"The standup is at {hour}", terms=(1,)) for hour in range(6, 11)]
    chances = model.judged(said("The standup is at 12 now", terms=(1,)), earlier, {1: 0.9}, USUAL)
    assert len(read) == 3
    others = [chance for one, chance in zip(earlier, chances, strict=True) if one.text not in read]
    assert max(others) <= float(np.float32(LEAST)) < model.corrected


def test_nothing_is_read_where_nothing_is_likely():
    def in_context(_earlier, _new, _answers):
        raise AssertionError

    earlier = replace(said("The pool opens at nine", seed=3), at=NOW - timedelta(days=900))
    chances = replace(load_changes(), in_context=in_context).judged(said("I like tea"), [earlier], {}, (0.5, 0.1))
    assert 0 <= chances[0] <= float(np.float32(LEAST))


def test_the_same_words_are_read_otherwise_behind_another_statement():
    pnpm, pool = read_in_context(["We use npm", "The pool opens at nine"], "It's pnpm now")
    assert np.abs(pnpm - pool).max() > 0.1


class _Damaged(ChangeModel):
    def judged(self, _new, _earlier, _rarity, _usual):
        raise EmbedderUnavailable("a file of the installation cannot be read")


def test_a_damaged_installation_finds_no_change_and_keeps_what_is_written():
    fitted, clock = load_changes(), FakeClock(NOW)
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    service.change_model = lambda: _Damaged(**{one.name: getattr(fitted, one.name) for one in fields(fitted)})
    for text in ("The standup is on Mondays", "The standup is on Tuesdays"):
        service.write(
            Scope(session="a"), WriteRequest(content=text, memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
        )
    assert len(service.read(Scope(session="a"), ReadRequest(query="standup")).hits) == 2


def candidates_for(text, answers=""):
    """The earlier statements that a store asks its model about before a new one is written."""
    seen, fitted, clock = [], load_changes(), FakeClock(NOW)

    class Watching(ChangeModel):
        def judged(self, new, earlier, _rarity, _usual):
            seen.append((new, [one.text for one in earlier]))
            return [0.0] * len(earlier)

    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    service.change_model = lambda: Watching(**{one.name: getattr(fitted, one.name) for one in fields(fitted)})
    stated = ["Dana waters the ferns on Mondays", *(f"Route {one} is closed until {one + 1}" for one in range(60))]
    for one in (*stated, text):
        request = WriteRequest(
            content=one, memory_type=MemoryType.LONG_TERM, origin=Origin.USER, answers=answers if one == text else ""
        )
        service.write(Scope(session=one), request)
    return seen[-1]


def test_what_answers_the_assistant_is_looked_for_by_what_both_said():
    assert (
        "Dana waters the ferns on Mondays" in candidates_for("no, closed until May", "Dana waters the ferns, right?")[1]
    )
    assert "Dana waters the ferns on Mondays" not in candidates_for("no, closed until May")[1]


def test_of_a_long_answer_the_last_sentences_count():
    new, _ = candidates_for("no, closed until May", "Route 7 is closed. " * 40 + "\n\nDana waters the ferns, right?")
    assert new.answers.startswith("Route 7 is closed. ")
    assert new.answers.endswith("Dana waters the ferns, right?")
    assert len(new.answers) <= 300


@given(statements, st.lists(statements, min_size=1, max_size=6), statements)
def test_what_is_answered_changes_what_is_seen_of_a_pair(new, earlier, answered):
    answering = replace(new, answers=answered.text, behind=answered.vector)
    alone, behind = (pair_features(one, earlier, {}, USUAL, (0.0, 0.0)) for one in (new, answering))
    assert (alone != behind).any()


def answering(text, answers, terms):
    """A statement that answers the assistant, whose words are as far from all earlier ones as the next."""
    new = said(text)
    return replace(new, answers=answers, answered=frozenset(terms), behind=new.vector)


def test_what_the_assistant_said_again_is_likelier_changed():
    old, other = said("110 g of kibble for Biscuit", terms=(1, 2)), said("Swim days are Tuesdays", terms=(3, 4))
    new = answering("90, she was over", "Biscuit gets 110 g of kibble.", (1, 2))
    odds = load_changes().regressed(new, [old, other], dict.fromkeys((1, 2, 3, 4), 0.5), USUAL)[1]
    assert odds[0] > odds[1]


def test_a_figure_that_the_assistant_said_again_and_the_person_did_not_is_seen():
    old = said("110 g for Biscuit")
    right, wrong = (
        pair_features(answering(one, "Biscuit gets 110 g.", ()), [old], {}, USUAL, (0.0, 0.0))
        for one in ("yes, 110 g", "no, 90 g")
    )
    assert right[0, -1] < wrong[0, -1]


@given(statements, st.lists(statements, min_size=1, max_size=6), statements)
def test_all_that_is_seen_of_an_answer_is_a_share_or_a_cosine(new, earlier, answered):
    new = replace(new, answers=answered.text, answered=answered.terms, behind=answered.vector)
    seen = pair_features(new, earlier, dict.fromkeys(range(1, 10), 0.3), USUAL, (0.5, 0.5))[:, -8:]
    assert (np.abs(seen) <= 1.001).all()


def test_the_same_words_are_read_otherwise_behind_another_question():
    monday, pool = (
        read_in_context(["We use npm"], "no, pnpm", one) for one in ("npm install, then?", "The pool is open.")
    )
    assert np.abs(monday - pool).max() > 0.1


def test_words_that_few_memories_hold_bind_two_statements_more_than_common_ones():
    new, old = said("Clevedon on Fridays", terms=(1,)), said("Clevedon on Mondays", terms=(1,))
    rare, common = (pair_features(new, [old], {1: one}, USUAL, (0.0, 0.0))[0] for one in (0.9, 0.1))
    assert rare.sum() > common.sum()


def test_a_figure_that_changed_is_seen():
    new = said("the port is 8086")
    same, other = pair_features(new, [said("the port is 8086"), said("the port is 8085")], {}, USUAL, (0.0, 0.0))
    assert (same != other).any()


def test_a_statement_that_resembles_the_new_one_as_all_others_do_is_less_remarkable():
    new, old = said("He saw the pandas"), said("He saw the elephants")
    rows = [pair_features(new, [old], {}, usual, (0.0, 0.0))[0] for usual in ((0.0, 0.2), (0.9, 0.2))]
    assert (rows[0] != rows[1]).any()
    odds = [load_changes().regressed(new, [old], {}, usual)[1] for usual in ((0.0, 0.2), (0.9, 0.2))]
    assert odds[0] > odds[1]


def test_a_few_statements_tell_little_of_how_alike_statements_usually_are():
    few, many = (_usual(np.full(count, 0.9, np.float32)) for count in (1, 1_000))
    assert few[0] < 0.35
    assert many[0] > 0.85


def test_how_long_ago_it_was_said_is_seen():
    new = said("the port is 8086")
    lately, long_ago = pair_features(
        new, [said("x", at=NOW - timedelta(days=1)), said("x", at=NOW - timedelta(days=90))], {}, USUAL, (0.0, 0.0)
    )
    assert (lately != long_ago).any()


def test_an_assistant_is_told_only_of_what_is_surer_than_what_is_shown_first():
    model = load_changes()
    assert 0 < model.corrected < model.linked < model.hinted < 1


def test_a_chance_means_what_it_says():
    told = json.loads(CALIBRATION.read_text(encoding="utf-8"))["changed_of_chance"]
    often = {low: share for low, (number, share) in told.items() if number >= 100}
    assert all(abs(share - (float(low) + 0.05)) < 0.15 for low, share in often.items())


def test_the_model_is_fitted_on_no_life_that_it_is_checked_on():
    fitted = [one for folder in (DIALOGUES, STREAMS, CHANGING, SHORT) for one in folder.glob("*.jsonl")]
    checked = [one for folder in (CHECK, CHECK_STREAMS, CHECK_CHANGING, CHECK_SHORT) for one in folder.glob("*.jsonl")]
    seen = {one.text for life in lives_of(fitted).values() for one in life}
    assert seen.isdisjoint(one.text for life in lives_of(checked).values() for one in life)


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_lives_that_nothing_was_fitted_on_change_as_published(universal_cache):
    model = load_changes()
    examples = played(lives_of(sorted(CHECK.glob("check-*.jsonl"))), UniversalEmbedder(universal_cache))
    chances = [model.judged(one.new, one.earlier, one.rarity, one.usual) for one in examples]
    found = figures(examples, chances, model.corrected)
    assert found["precision"] >= 0.5
    assert found["recall"] >= 0.35


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_in_diaries_and_notes_full_of_look_alikes_few_statements_are_called_a_change(universal_cache):
    model = load_changes()
    examples = played(lives_of(sorted(CHECK_STREAMS.glob("*.jsonl"))), UniversalEmbedder(universal_cache))
    chances = [model.judged(one.new, one.earlier, one.rarity, one.usual) for one in examples]
    found = figures(examples, chances, model.linked)
    assert 0 < found["called"] <= 0.1 * len(examples)
    assert found["precision"] >= 0.3
