"""What is over leaves brief and prompts by itself, and is found when asked for."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.changing import changes_everything
from tools.fit_endings import dated, figures, rows_of

from hybrid_memory.changes.endings import CALIBRATION, VECTOR_WEIGHT, EndingModel, has_passed, load_endings
from hybrid_memory.embedding.universal import UniversalEmbedder
from hybrid_memory.model import Kind, Memory, MemoryId, MemoryType, Tier
from hybrid_memory.requests import ReadRequest, WriteRequest

CHECK = Path(__file__).parents[2] / "data" / "dated" / "check.jsonl"
TOLD = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = (TOLD - datetime(1970, 1, 1, tzinfo=UTC)).days
TALK = "The talk in Ghent is on 14 March."


def told(*, days=(), pinned=False, tier=Tier.LONG_TERM):
    return Memory(
        id=MemoryId("a"),
        namespace="n",
        session="s",
        agent="",
        content="x",
        kind=Kind.OBSERVATION,
        tier=tier,
        importance=0.5,
        created_at=TOLD,
        content_hash="h",
        days=days,
        pinned=pinned,
    )


def after(days):
    return TOLD + timedelta(days=days)


def passing(chance):
    """A model that gives every statement one chance."""
    odds = float(np.log(chance / (1 - chance)))
    return EndingModel(weights=np.array([0.0] * 64 + [odds], np.float32), threshold=0.5)


def test_a_day_to_come_has_not_passed():
    assert not has_passed(told(days=(DAY + 12,)), after(11))


def test_a_day_has_passed_when_it_is_a_day_back():
    memory = told(days=(DAY + 12,))
    assert (has_passed(memory, after(13)), has_passed(memory, after(14))) == (False, True)


def test_of_several_days_the_last_counts():
    assert not has_passed(told(days=(DAY + 1, DAY + 40)), after(30))


@pytest.mark.parametrize("days", [(), (DAY,), (DAY - 300,)])
def test_without_a_day_to_come_nothing_passes(days):
    assert not has_passed(told(days=days), after(900))


@pytest.mark.parametrize("kept", [{"pinned": True}, {"tier": Tier.WORKING}])
def test_what_is_pinned_or_in_working_memory_never_passes(kept):
    assert not has_passed(told(days=(DAY + 2,), **kept), after(300))


@given(st.lists(st.integers(DAY - 400, DAY + 400), max_size=8), st.integers(0, 900), st.integers(0, 900))
def test_what_has_passed_stays_so(days, earlier, later):
    memory = told(days=tuple(sorted(days)))
    if has_passed(memory, after(min(earlier, later))):
        assert has_passed(memory, after(max(earlier, later)))


@pytest.fixture
def briefed(service, scope, clock):
    """Return what a brief and a search show some weeks after a statement, judged by a model."""

    def show(model, *, text=TALK, **said):
        service.ending_model = lambda: model
        clock.set(TOLD)
        service.write(scope, WriteRequest(content=text, memory_type=MemoryType.LONG_TERM, importance=0.9, **said))
        clock.advance(days=40)
        asked = replace(scope, session="later")
        return [
            [hit.memory.content for hit in service.read(asked, request).hits]
            for request in (ReadRequest(), ReadRequest(query="When is the talk in Ghent?"))
        ]

    return show


def test_what_is_over_leaves_the_brief_and_is_found(briefed):
    assert briefed(passing(0.9)) == [[], [TALK]]


def test_what_lasts_stays_in_the_brief(briefed):
    assert briefed(passing(0.1)) == [[TALK], [TALK]]


def test_without_a_model_only_commitments_are_over(briefed):
    assert briefed(None, text="Ada plays the oboe.")[0] == ["Ada plays the oboe."]


def test_a_pinned_statement_stays_in_the_brief(briefed):
    assert briefed(passing(0.9), pinned=True)[0] == [TALK]


def test_what_is_over_does_not_come_at_a_prompt(service, scope, clock):
    came = {}
    for chance in (0.1, 0.9):
        service.ending_model = lambda chance=chance: passing(chance)
        clock.set(TOLD)
        service.write(scope, WriteRequest(content=TALK, memory_type=MemoryType.LONG_TERM))
        clock.advance(days=40)
        asked = ReadRequest(query="When is my talk in Ghent?", quiet=True)
        came[chance] = [hit.memory.content for hit in service.read(replace(scope, session=f"{chance}"), asked).hits]
    assert came == {0.1: [TALK], 0.9: []}


def test_what_is_over_comes_not_in_front_of_what_it_changed(service, scope, clock):
    service.change_model = changes_everything
    service.ending_model = lambda: passing(0.9)
    clock.set(TOLD)
    lasting, brief = "The standup is at nine in Ghent.", "The standup is at ten on 14 March in Ghent."
    for text in (lasting, brief):
        service.write(scope, WriteRequest(content=text, memory_type=MemoryType.LONG_TERM, importance=0.9))
    clock.advance(days=40)
    later = replace(scope, session="later")
    assert [hit.memory.content for hit in service.read(later, ReadRequest()).hits] == [lasting]


def test_a_chance_means_what_it_says():
    often = json.loads(CALIBRATION.read_text(encoding="utf-8"))["passing_of_chance"]
    assert all(abs(share - (float(low) + 0.05)) < 0.15 for low, (number, share) in often.items() if number >= 100)


@pytest.mark.daily
@pytest.mark.slow
def test_lines_that_nothing_was_fitted_on_are_judged_as_published(universal_cache):
    model, lines = load_endings(), [one for one in dated([CHECK]) if one.names_day]
    rows = rows_of(lines, UniversalEmbedder(universal_cache)) / VECTOR_WEIGHT
    chances = model.chances(rows.astype(np.float32)).astype(np.float64)
    found = figures(chances, np.array([float(one.ends) for one in lines]), model.threshold)
    assert found["precision"] >= 0.85
    assert found["recall"] >= 0.55
