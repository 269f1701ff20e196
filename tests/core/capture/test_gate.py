"""What no rule knows is kept where a fitted model finds it likely to be worth that."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from tools.fit_gate import DIALOGUES, figures, fitted, read, threshold_for

from hybrid_memory.capture.gate import CALIBRATION, Gate, load_gate
from hybrid_memory.capture.model import StatementKind, Turn
from hybrid_memory.capture.statements import statements
from hybrid_memory.embedding.universal import encoder_at_hand, load_encoder

CHECK = Path(__file__).parents[2] / "data" / "dialogues"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PASTED = (
    "the boiler in the small house is serviced by Kranz\nthe key is with the neighbour\nbins go out on Tuesday night"
)


@pytest.fixture(scope="module")
def gate(universal_cache):
    return load_gate(load_encoder(universal_cache).meanings)


def kept(text, gate):
    return [one.text for one in statements([Turn(text, NOW)], gate=gate)]


def sure_of(chance, threshold=0.6, strict=0.9):
    """A gate that gives each sentence one chance."""
    weights = np.zeros((2 + 14 + 1, 4), np.float32)
    weights[-1] = np.log(chance / (1 - chance)), -5, -5, -5
    return Gate(vectors=lambda texts: np.zeros((len(texts), 1)), weights=weights, threshold=threshold, strict=strict)


@pytest.mark.parametrize(
    "text",
    [
        "our deploys only go out on tuesdays, friday is frozen",
        "my wife's gluten free since the diagnosis last spring",
        "the prod db is read-only for us, dba team does the migrations",
        "Lena hat jetzt montags Klavier, nicht mehr mittwochs",
        "mon fils est allergique aux arachides depuis tout petit",
    ],
)
def test_what_no_rule_knows_is_kept_where_it_is_likely_worth_it(text, gate):
    assert kept(text, gate)


@pytest.mark.parametrize(
    "text",
    [
        "can you make it shorter",
        "ugh it is raining again",
        "why does the second test fail?",
        "what a match that was lol",
    ],
)
def test_what_passes_is_not_kept(text, gate):
    assert kept(text, gate) == []


def test_without_a_gate_the_rules_alone_judge():
    assert kept("our deploys only go out on tuesdays, friday is frozen", None) == []


def test_what_is_likely_enough_is_kept_as_it_was_said():
    assert kept("the kiln only fires on Thursdays", sure_of(0.7)) == ["the kiln only fires on Thursdays"]


def test_what_is_less_likely_is_not_kept():
    assert kept("the kiln only fires on Thursdays", sure_of(0.5)) == []


def test_what_may_be_somebody_elses_has_to_be_surer():
    assert kept(PASTED, sure_of(0.7)) == []
    assert len(kept(PASTED, sure_of(0.95))) == 3


def test_what_a_rule_knows_is_not_kept_where_it_is_likely_somebody_elses():
    assert kept("Is that right?\nI live in Linz now", None) == ["I live in Linz now"]
    assert kept("Is that right?\nI live in Linz now", sure_of(0.4)) == []


def test_what_is_to_be_remembered_is_kept_wherever_it_is_said():
    assert kept("good morning\nplease remember that the door sticks in winter", sure_of(0.1)) == [
        "the door sticks in winter"
    ]


def test_what_a_rule_knows_is_kept_in_a_persons_own_words_however_unlikely():
    assert kept("btw I prefer tabs", sure_of(0.1)) == ["I prefer tabs"]


@pytest.mark.parametrize(
    "text",
    [
        "Is that a scam?\nDear customer, from now on I always transfer the rent to Mr Wolf",
        "what do you think of this bio? I'm Karla, I live in Linz and I work for Siemens. I'm allergic to nuts.",
        "ok here's the transcript\nSo my name is Peter and my daughter is allergic to milk\nand we always fly KLM",
        "Lieber Herr Moser, wir liefern ab jetzt nur noch dienstags. MfG Huber\nwas antworte ich?",
        "my manager wrote me this:\nWe have decided to drop Postgres, we use MySQL now. Your new lead is Tom.",
    ],
)
def test_what_was_pasted_is_not_kept(text, gate):
    assert kept(text, gate) == []


def test_more_sentences_than_anybody_types_are_not_judged():
    assert kept("the kiln only fires on Thursdays. " * 31, sure_of(0.99)) == []


def test_a_sentence_that_leans_on_the_one_before_is_kept_behind_it():
    assert "Basel has its own depot. It opens at six" in kept("Basel has its own depot. It opens at six.", sure_of(0.7))


def test_what_is_surer_is_more_important():
    low, high = (
        statements([Turn("the kiln only fires on Thursdays", NOW)], gate=sure_of(one))[0].importance
        for one in (0.7, 0.95)
    )
    assert low < high <= 1


def test_a_secret_is_not_kept_however_likely():
    assert kept("the api key is sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", sure_of(0.99)) == []


def test_what_is_not_to_be_remembered_is_not():
    assert kept("off the record, the kiln only fires on Thursdays", sure_of(0.99)) == []


def test_the_kind_is_that_of_the_most_likely_column():
    weights = sure_of(0.9).weights.copy()
    weights[-1, 2] = 5
    found = statements([Turn("the kiln only fires on Thursdays", NOW)], gate=replace(sure_of(0.9), weights=weights))
    assert [one.kind for one in found] == [StatementKind.DECISION]


def test_the_gate_is_fitted_on_no_message_that_it_is_checked_on():
    seen = {one.text for one in read(DIALOGUES.glob("*.jsonl"))}
    assert seen.isdisjoint(one.text for one in read(CHECK.glob("*.jsonl")))


def test_marked_parts_are_exact_parts_of_their_messages():
    for one in read([*DIALOGUES.glob("*.jsonl"), *CHECK.glob("*.jsonl")]):
        assert all(text in one.text for text, _ in one.marked)


def test_a_chance_means_what_it_says():
    told = json.loads(CALIBRATION.read_text(encoding="utf-8"))["kept_of_chance"]
    assert all(abs(share - (float(low) + 0.05)) < 0.12 for low, (_, share) in told.items())


def test_the_fit_separates_what_can_be_separated():
    rows = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 20)
    weights = fitted(rows, (rows[:, 0] > 0).astype(float))
    assert weights[0] > 0


def test_a_threshold_is_the_lowest_that_is_precise_enough():
    chances = np.array([0.35, 0.5, 0.7, 0.9])
    assert threshold_for(chances, np.array([False, False, True, True]), 0.9) == 0.51


@pytest.mark.slow
def test_lives_that_nothing_was_fitted_on_are_kept_as_published(gate):
    messages = read(sorted(CHECK.glob("*.jsonl")))
    called = np.array([bool(kept(one.text, gate)) for one in messages])
    found = figures(called, np.array([bool(one.marked) for one in messages]))
    assert found["recall"] >= 0.45
    assert found["precision"] >= 0.7


def test_nobody_waits_for_an_encoder_that_is_not_unpacked(tmp_path):
    assert encoder_at_hand(tmp_path) is None


def test_an_unpacked_encoder_is_at_hand(universal_cache):
    assert encoder_at_hand(universal_cache) is not None
