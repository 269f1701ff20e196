"""Whatever a model answers, it is refused, or it decides about memories that it was shown and about nothing else."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory_llm.answer import AnswerError, decisions_of
from hybrid_memory_llm.question import Question

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def memory(name, *, passing):
    return Memory(
        id=MemoryId(f"id-{name}"),
        namespace="n",
        session="s",
        agent="",
        content="x",
        kind=Kind.EPISODE if passing else Kind.OBSERVATION,
        tier=Tier.SENSORY if passing else Tier.LONG_TERM,
        importance=0.2,
        created_at=NOW,
        content_hash="h",
    )


SAID = {name: memory(name, passing=name != "n3") for name in ("n1", "n2", "n3")}
EARLIER = {name: memory(name, passing=False) for name in ("e1", "e2")}
QUESTION = Question("", NOW, SAID, EARLIER, {"n1": ("e1",), "n2": (), "n3": ("e1", "n1")})

names = st.sampled_from([*SAID, *EARLIER, "n4", "id-n1", ""])
kinds = st.sampled_from(["fact", "plan", "correction", "system"])
answers = st.fixed_dictionaries(
    {},
    optional={
        "keep": st.lists(st.fixed_dictionaries({"id": names, "kind": kinds}), max_size=2),
        "changes": st.lists(
            st.fixed_dictionaries({"id": names, "earlier": names, "how": st.sampled_from(["replaces", "contradicts"])}),
            max_size=2,
        ),
        "insights": st.lists(
            st.fixed_dictionaries({"text": st.text(max_size=5), "sources": st.lists(names, max_size=3)}), max_size=2
        ),
    },
)


@given(answer=answers)
@example(answer={"changes": [{"id": "n1", "earlier": "e1", "how": "replaces"}], "keep": [{"id": "n2", "kind": "plan"}]})
def test_what_it_decides_is_about_what_it_was_shown(answer):
    try:
        decided = decisions_of(json.dumps(answer), QUESTION, "judged by model m")
    except AnswerError:
        return
    ids = {name: one.id for name, one in {**SAID, **EARLIER}.items()}
    shown = {(ids[later], ids[earlier]) for later, near in QUESTION.near.items() for earlier in near}
    passing = {one.id for one in SAID.values() if one.is_episode}
    assert {(one.later, one.earlier) for one in decided.settlement.changes} <= shown
    assert set(decided.settlement.kept) <= passing
    assert {one.later for one in decided.settlement.changes} & passing <= set(decided.settlement.kept)
    assert all({*one.evidence} <= {*ids.values()} and one.source for one in decided.insights)


@given(text=st.text(st.characters(exclude_characters="{}")))
def test_text_that_is_no_answer_is_refused(text):
    with pytest.raises(AnswerError):
        decisions_of(text, QUESTION, "m")


def test_an_empty_answer_decides_nothing():
    assert decisions_of("{}", QUESTION, "m").settlement.ids == ()
