"""Real conversations through the real client: a small one of our own, and the file that LOCOMO_DATA names."""

import json
import os
from pathlib import Path

import anyio
import pytest
from benchmarks.conversations import run
from benchmarks.sets import text_of, time_of

AT = "1:56 pm on 8 May, 2023"
SMALL = {
    "conversations": [
        {
            "conversation": "garden",
            "turns": [
                {"id": "1", "session": "s1", "at": AT, "speaker": "Ida", "text": "I planted three pear trees."},
                {"id": "2", "session": "s1", "at": AT, "speaker": "Per", "text": "My sister sails to Norway."},
                {"id": "3", "session": "s2", "at": AT, "speaker": "Ida", "text": "Look", "photo": "a wooden boat"},
                {"id": "4", "session": "s2", "at": AT, "speaker": "Per", "text": "I repaired my violin."},
            ],
            "questions": [
                {"question": "What did Ida plant?", "evidence": ["1"], "category": 4},
                {"question": "Who sails to Norway?", "evidence": ["2"], "category": 4},
                {"question": "What photo of a boat was shared?", "evidence": ["3"], "category": 1},
                {"question": "What did Per never say?", "evidence": [], "category": 5},
            ],
        }
    ]
}


def replay(data, limit):
    return anyio.run(lambda: run(data, limit=limit)).summary(limit)


def test_every_turn_is_acknowledged_and_the_evidence_is_found():
    summary = replay(SMALL, 1)
    assert summary["acknowledged"] == summary["written"] == 4
    assert summary["recall@1"] == 1.0
    assert summary["by_category"] == {"1": {"n": 1, "recall@1": 1.0}, "4": {"n": 2, "recall@1": 1.0}}


def test_a_shared_photo_is_part_of_what_was_said():
    assert text_of({"text": "Look", "photo": "a boat"}) == "Look [shares photo: a boat]"


@pytest.mark.parametrize("at", [AT, "2023-05-08T13:56:00+00:00"])
def test_times_are_read_in_both_forms(at):
    assert time_of(at).isoformat() == "2023-05-08T13:56:00+00:00"


@pytest.mark.timeout(1200)
@pytest.mark.skipif("LOCOMO_DATA" not in os.environ, reason="LOCOMO_DATA names no file")  # noqa: TID251 - a test's switch
def test_real_conversations_are_remembered():
    data = json.loads(Path(os.environ["LOCOMO_DATA"]).read_text(encoding="utf-8"))  # noqa: TID251 - as above
    summary = replay(data, 10)
    turns = sum(len(conversation["turns"]) for conversation in data["conversations"])
    assert summary["acknowledged"] == summary["written"] == turns
    assert summary["recall@10"] > 0.5
    print(json.dumps(summary))  # noqa: T201 - the figures are why one runs this
