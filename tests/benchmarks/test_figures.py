"""The figures that the README shows: what counts as moved, what is recorded, and what is read of the benchmarks."""

from __future__ import annotations

import json

import pytest
from benchmarks import figures
from benchmarks.figures import MESSAGES, PARTS, Figure, conversations, main, moved, of_kills, of_service, read, written
from hypothesis import given
from hypothesis import strategies as st

WHERE = {"commit": "0123456789", "day": "2030-01-02", "machine": "2 cores", "load": 0.5}
TIMES = st.floats(0.1, 1e4)


def recorded(value, yardstick=None):
    return {"service": {"read": Figure(value, "ms", yardstick)}}


@pytest.mark.parametrize(
    ("former", "now", "has_moved"),
    [
        (Figure(10, "ms", 2), Figure(13, "ms", 2), False),
        (Figure(10, "ms", 2), Figure(14, "ms", 2), True),
        (Figure(10, "ms", 2), Figure(6, "ms", 2), True),
        (Figure(60, "%"), Figure(41, "%"), False),
        (Figure(60, "%"), Figure(39, "%"), True),
        (Figure(0, "writes"), Figure(0, "writes"), False),
        (Figure(0, "writes"), Figure(1, "writes"), True),
    ],
)
def test_more_than_a_third_either_way_is_moved_and_what_was_none_stays_none(former, now, has_moved):
    assert now.moved_from(former) is has_moved


@given(value=TIMES, yardstick=TIMES, slower=st.floats(0.1, 100))
def test_another_machine_moves_no_time(value, yardstick, slower):
    assert not Figure(value * slower, "ms", yardstick * slower).moved_from(Figure(value, "ms", yardstick))


@given(value=TIMES, share=st.floats(-0.99, 3))
def test_what_counts_is_the_share_of_what_was_recorded(value, share):
    near_the_edge = abs(abs(share) - 1 / 3) < 1e-6
    now = Figure(value * (1 + share), "tokens")
    assert near_the_edge or now.moved_from(Figure(value, "tokens")) is (abs(share) > 1 / 3)


def test_moved_figures_are_named_and_new_ones_are_none_of_them():
    now = {
        "service": {"read": Figure(20, "ms", 2), "write": Figure(9, "ms", 2)},
        "kills": {"lost": Figure(1, "writes")},
    }
    assert moved(now, recorded(10, 2)) == ["read"]


def test_what_is_written_is_read_again():
    now = recorded(10, 2)
    assert read(written('{"parts": {}}', now, WHERE)) == now


def test_parts_that_were_not_measured_keep_what_they_have_and_each_says_where_it_was_measured():
    first = written('{"parts": {}}', {"kills": {"lost": Figure(0, "writes")}}, WHERE)
    both = json.loads(written(first, recorded(10, 2), WHERE | {"commit": "later"}))["parts"]
    assert {part: held["commit"] for part, held in both.items()} == {"service": "later", "kills": "0123456789"}
    assert list(both) == ["service", "kills"]


def test_of_the_service_its_medians_are_taken_next_to_the_echo():
    taken = {
        "write": [1, 14, 90],
        "read": [10],
        "start": [570],
        "echo": [2, 2, 3],
        "start of echo": [500],
        "first read": [9],
    }
    assert of_service(taken, "static") == {
        "write, static, p50": Figure(14, "ms", 2),
        "read, static, p50": Figure(10, "ms", 2),
        "start, static, p50": Figure(570, "ms", 500),
    }


def test_of_the_kills_a_lost_write_counts_whatever_the_number_of_writes():
    found = {"kills": 100, "sent": 2037, "acknowledged": 2037, "lost": 0, "doubled": 0, "failed_reads": 0}
    fewer = found | {"sent": 900, "acknowledged": 900}
    assert moved({"kills": of_kills(fewer)}, {"kills": of_kills(found)}) == []
    assert moved({"kills": of_kills(found | {"lost": 1})}, {"kills": of_kills(found)}) == ["writes lost"]


def test_the_export_has_as_many_messages_as_is_said_in_conversations_that_can_be_read(monkeypatch):
    monkeypatch.setattr(figures, "MESSAGES", 60)
    monkeypatch.setattr(figures, "CONVERSATIONS", 3)
    made = list(conversations([{"role": "user", "text": "I like tea."}, {"role": "assistant", "text": "Noted."}]))
    nodes = [[one for one in each["mapping"].values() if one["message"]] for each in made]
    assert [len(each) for each in nodes] == [20, 20, 20]
    assert made[0]["mapping"][made[0]["current_node"]]["children"] == []
    assert nodes[0][0]["message"]["content"]["parts"] == ["I like tea, number 0."]
    assert nodes[1][0]["message"]["content"]["parts"] == ["I like tea."]
    assert MESSAGES == 50_000


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Lets a part measure what the test says, over a file that has the part's read at 10 ms."""
    file = tmp_path / "figures.json"
    file.write_text(written('{"parts": {}}', recorded(10, 2), WHERE), encoding="utf-8")
    monkeypatch.setattr(figures, "FILE", file)

    def measure(value, *arguments):
        monkeypatch.setattr(figures, "PARTS", {"service": lambda _: recorded(value, 2)["service"]})
        return main(list(arguments)), read(file.read_text(encoding="utf-8"))

    return measure


def test_what_has_not_moved_is_recorded(measured):
    assert measured(11) == (0, recorded(11, 2))


def test_what_has_moved_fails_and_is_recorded_only_where_that_is_accepted(measured, capsys):
    assert measured(20) == (1, recorded(10, 2))
    assert "read" in capsys.readouterr().out
    assert measured(20, "--accept") == (0, recorded(20, 2))


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["everything"])
    assert "no such part: everything" in capsys.readouterr().err


def test_what_is_recorded_can_be_measured_again():
    held = read(figures.FILE.read_text(encoding="utf-8"))
    assert {"context", "retrieval"} <= set(held) <= set(PARTS)
    assert all(held.values())
