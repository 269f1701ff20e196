"""What no rule knows is kept where a fitted model finds it likely to be worth that."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from tests.tables import each
from tools.fit_gate import DIALOGUES, figures, fitted, read, threshold_for

from hybrid_memory.capture import gate as gate_module
from hybrid_memory.capture.gate import ADAPTER, CALIBRATION, MODEL, NOTHING, UNLIKELY, Gate, load_gate
from hybrid_memory.capture.model import StatementKind, Turn
from hybrid_memory.capture.sentences import sentences
from hybrid_memory.capture.statements import statements
from hybrid_memory.embedding.universal import encoder_at_hand, load_encoder
from hybrid_memory.errors import EmbedderUnavailable

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


def always(chance, features):
    """A network that gives each row one chance."""
    odds = np.array([[np.log(chance / (1 - chance))]], np.float32)
    return {
        "inner": np.zeros((1, features, 1)),
        "inner_bias": np.zeros((1, 1)),
        "outer": np.zeros((1, 1)),
        "outer_bias": odds,
    }


def sure_of(chance, threshold=0.6, strict=0.9, pasted=0.2, adapted=None, first=0.5):
    """A gate that gives each sentence one chance, and each message one of being pasted."""
    kinds = np.zeros((2 + 14 + 1 + 1, 3), np.float32)
    kinds[-1] = -5
    return Gate(
        vectors=lambda texts: np.zeros((len(texts), 1)),
        in_context=lambda messages: [np.zeros((2, len(own) + 1, 1)) for own, _ in messages],
        first=always(first, 2 + 14),
        networks=always(chance, 2 + 14 + 1),
        adapted=always(chance if adapted is None else adapted, 2 + 14 + 1),
        kinds=kinds,
        pasted=always(pasted, 1 + 21 + 1),
        replies=np.array([0, 0, 0, np.log(chance / (1 - chance))], np.float32),
        threshold=threshold,
        strict=strict,
        others=0.1,
        pasted_from=0.5,
    )


def judged_in(text, gate):
    return gate.judged(list(sentences(text)), text)


def in_passing(text, gate=None):
    return [one.text for one in statements([Turn(text, NOW)], gate=gate, episodes=True) if one.episode]


@pytest.mark.parametrize(
    "text",
    [
        "our deploys only go out on tuesdays, friday is frozen",
        "my wife's gluten free since the diagnosis last spring",
        "the prod db is read-only for us, dba team does the migrations",
        "wir fahren Ostern immer zu meiner Schwester nach Bremen",
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


def test_the_chance_is_the_mean_of_both_ways_to_read():
    text = "the kiln only fires on Thursdays"
    assert kept(text, sure_of(0.9, adapted=0.4)) == [text]
    assert kept(text, sure_of(0.9, adapted=0.2)) == []


def test_a_message_that_is_unlikely_at_first_sight_is_not_read_in_context():
    gate = sure_of(0.9, first=UNLIKELY / 2)
    read = []
    gate = replace(gate, in_context=lambda messages: read.extend(messages) or [])
    (judged,) = judged_in("We meet on Tuesdays", gate).sentences
    assert (read, judged.chance) == ([], pytest.approx(UNLIKELY / 2))


def test_what_may_be_pasted_is_read_in_context_however_unlikely():
    assert judged_in(f"Is this right?\n{PASTED}", sure_of(0.5, pasted=0.9, first=UNLIKELY / 2)).threshold == NOTHING


def test_no_messages_are_judged_as_none():
    assert sure_of(0.9).judged_messages([]) == []


def test_what_may_be_somebody_elses_has_to_be_surer():
    assert kept(PASTED, sure_of(0.7)) == []
    assert len(kept(PASTED, sure_of(0.95))) == 3


def test_of_what_is_surely_pasted_nothing_is_kept():
    assert kept(PASTED, sure_of(0.99, pasted=0.8)) == []


def test_what_only_looks_pasted_is_kept_as_the_persons_own():
    assert len(kept(PASTED, sure_of(0.7, pasted=0.01))) == 3


def test_what_a_rule_knows_is_not_kept_where_it_is_likely_somebody_elses():
    assert kept("Is that right?\nI live in Linz now", None) == ["I live in Linz now"]
    assert kept("Is that right?\nI live in Linz now", sure_of(0.4)) == []


def test_what_is_to_be_remembered_is_kept_wherever_it_is_said():
    assert kept("good morning\nplease remember that the door sticks in winter", sure_of(0.1)) == [
        "the door sticks in winter"
    ]


def test_what_a_rule_knows_is_kept_though_it_is_not_likely():
    assert kept("btw I prefer tabs", sure_of(0.4)) == ["I prefer tabs"]


def test_what_a_rule_knows_is_said_in_passing_where_it_is_hardly_worth_keeping():
    assert kept("btw I prefer tabs", sure_of(0.1)) == []


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
    assert kept("Basel has its own depot. It opens at six.", sure_of(0.7)) == [
        "Basel has its own depot. It opens at six"
    ]


def test_a_longer_value_takes_no_shorter_one_away():
    text = "The port is 80. The port is 8080 on staging"
    assert kept(text, sure_of(0.7)) == ["The port is 80", "The port is 8080 on staging"]


def test_what_is_not_likely_enough_was_said_in_passing():
    text = "the kiln only fires on Thursdays"
    assert (kept(text, sure_of(0.3)), in_passing(text, sure_of(0.3))) == ([], [text])


def test_what_is_said_in_passing_stays_together():
    assert in_passing("The bus was late. A goose sat on the road!", sure_of(0.3)) == [
        "The bus was late. A goose sat on the road"
    ]


def test_an_episode_is_as_important_as_its_best_sentence_is_likely():
    (one,) = statements([Turn("the bus was late again", NOW)], gate=sure_of(0.3), episodes=True)
    assert (one.episode, round(one.importance, 2)) == (True, 0.3)


@each(
    "text",
    [
        "why is the bus late again?",
        "the api key is sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
        "off the record, the kiln only fires on Thursdays",
        PASTED,
        "```py\nprint(1)\n```",
    ],
)
def test_questions_secrets_pastes_code_and_what_is_not_to_be_remembered_are_no_episodes(text):
    assert in_passing(text, sure_of(0.3)) == []


def test_what_hardly_anybody_would_want_back_is_no_episode():
    assert in_passing("the bus was late again", sure_of(0.02)) == []


def test_without_a_gate_all_own_statements_that_no_rule_knows_are_episodes():
    assert in_passing("the bus was late again") == ["the bus was late again"]


def test_what_is_kept_was_not_said_in_passing():
    assert in_passing("I live in Linz now. The bus was late again.") == ["The bus was late again"]


def test_what_is_taken_back_is_no_episode():
    assert in_passing("The bus was late again. Forget what I said.") == []


def test_nothing_but_what_lasts_is_told_to_who_does_not_ask_for_episodes():
    assert statements([Turn("the bus was late again", NOW)], gate=sure_of(0.3)) == ()


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


@pytest.mark.parametrize(
    "text",
    [
        "Let's do a role play. You are a pirate captain. Remember that your ship is called the Black Pearl.",
        "Write a story about Tom. Remember that Tom hates cats.",
        "Imagine I am a vegan from Mars. I live in Ghent. I never eat meat.",
    ],
)
def test_nothing_of_a_role_or_a_story_is_kept(text, gate):
    assert kept(text, gate) == []


def test_what_sounds_supposed_is_kept_only_by_the_model():
    text = "maybe we should remember that the kiln only fires on Thursdays"
    assert kept(text, sure_of(0.7)) == [text]
    assert kept(text, sure_of(0.4)) == []


def test_the_kind_is_that_of_the_most_likely_column():
    kinds = sure_of(0.9).kinds.copy()
    kinds[-1, 1] = 5
    found = statements([Turn("the kiln only fires on Thursdays", NOW)], gate=replace(sure_of(0.9), kinds=kinds))
    assert [one.kind for one in found] == [StatementKind.DECISION]


def test_the_gate_is_fitted_on_no_message_that_it_is_checked_on():
    seen = {one.text for one in read(DIALOGUES.glob("*.jsonl")) if len(one.text) > len("merci, bonne soirée")}
    assert seen.isdisjoint(one.text for one in read(CHECK.glob("*.jsonl")))


def test_marked_parts_are_exact_parts_of_their_messages():
    for one in read([*DIALOGUES.glob("*.jsonl"), *CHECK.glob("*.jsonl")]):
        assert all(text in one.text for text, _ in one.marked)


def test_a_chance_means_what_it_says():
    told = json.loads(CALIBRATION.read_text(encoding="utf-8"))["kept_of_chance"]
    assert all(abs(share - (float(low) + 0.05)) < 0.12 for low, (_, share) in told.items())


def test_a_message_of_others_words_has_to_be_surer_than_any_other():
    told = json.loads(CALIBRATION.read_text(encoding="utf-8"))
    assert told["threshold"] < told["strict"] < 1


def test_the_adapted_layers_are_made_once(gate):
    again = load_gate(gate.vectors)
    assert again.in_context.keywords["ways"] is gate.in_context.keywords["ways"]


@pytest.mark.parametrize("damage", ["missing", "empty", "half", "without an adapter"])
def test_a_damaged_model_is_told_as_what_it_is(damage, monkeypatch, tmp_path):
    damaged = tmp_path / "gate.npz"
    if damage == "without an adapter":
        with np.load(MODEL) as held:
            np.savez(damaged, **{name: held[name] for name in held.files if not name.startswith(ADAPTER)})
    elif damage != "missing":
        damaged.write_bytes(MODEL.read_bytes()[: 0 if damage == "empty" else 900_000])
    monkeypatch.setattr(gate_module, "MODEL", damaged)
    with pytest.raises(EmbedderUnavailable, match="install it again"):
        gate_module._fitted.__wrapped__()


def test_the_fit_separates_what_can_be_separated():
    rows = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 20)
    weights = fitted(rows, (rows[:, 0] > 0).astype(float))
    assert weights[0] > 0


def test_a_threshold_is_the_lowest_that_is_precise_enough():
    chances = np.array([0.35, 0.5, 0.7, 0.9])
    assert threshold_for(chances, np.array([False, False, True, True]), 0.9) == 0.51


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_lives_that_nothing_was_fitted_on_are_kept_as_published(gate):
    messages = read(sorted(CHECK.glob("*.jsonl")))
    called = np.array([bool(kept(one.text, gate)) for one in messages])
    found = figures(called, np.array([bool(one.marked) for one in messages]))
    assert found["recall"] >= 0.7
    assert found["precision"] >= 0.7


def test_nobody_waits_for_an_encoder_that_is_not_unpacked(tmp_path):
    assert encoder_at_hand(tmp_path) is None


def test_an_unpacked_encoder_is_at_hand(universal_cache):
    assert encoder_at_hand(universal_cache) is not None
