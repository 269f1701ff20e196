"""The driver that looks at memory servers from outside: what it counts, and how it speaks."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.outside import machine
from benchmarks.outside.marks import marks_in, refuses, secret, sentence
from benchmarks.outside.stand_in import SIZE, vector
from benchmarks.outside.table import compared
from benchmarks.outside.targets import OURS, PEERS, Store, Target, acknowledged, installed
from benchmarks.outside.trials import Tally, crowd, inproc, kill, pause_of, see, spread, together
from benchmarks.outside.wire import Answer, Server, ServerGone

FORGETFUL = """
import json, sys
held = []
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "tools/call":
        arguments = asked["params"]["arguments"]
        if "text" in arguments and arguments["text"] not in held and len(held) < 20:
            held.append(arguments["text"])
        elif arguments.get("die"):
            sys.exit()
        result = {"content": [{"type": "text", "text": "kept" if "text" in arguments else " ".join(held)}]}
    else:
        result = {"tools": [{"name": "keep"}]}
    print("chatter", flush=True)
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}))
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def forgetful(tmp_path):
    """A server of the standard library that keeps twenty memories, in the process alone."""
    (tmp_path / "server.py").write_text(FORGETFUL)
    return Target(
        name="forgetful",
        program="server.py",
        start=lambda program, _home: [sys.executable, "-S", str(program)],
        write=lambda _mark, text: ("keep", {"text": text}),
        read=lambda query: ("ask", {"query": query}),
        listing=lambda page, _before: ("ask", {}) if page == 0 else None,
    ), tmp_path / "server.py"


@pytest.fixture
def server(forgetful):
    with Store(*forgetful) as store:
        running = store.spawn()
        running.initialize()
        yield running
        running.close()


def answer(text, **more):
    return Answer({"content": [{"type": "text", "text": text}], **more}, 0.1)


def test_every_sentence_carries_a_mark_of_its_own():
    rng = random.Random(1)
    made = dict(sentence(rng) for _ in range(500))
    assert len(made) == 500
    assert all(marks_in(text) == {mark} for mark, text in made.items())


@pytest.mark.parametrize("text", ['{"success": false}', "# Search Failed", "Error: locked"])
def test_a_failure_told_as_success_is_no_acknowledgement(text):
    assert not acknowledged(answer(text))


def test_what_the_server_calls_an_error_is_no_acknowledgement():
    assert not acknowledged(answer("kept", isError=True))
    assert not acknowledged(Answer({"protocolError": {"code": -32603}}, 0.1))


def test_no_sentence_reads_like_a_refusal():
    rng = random.Random(2)
    assert not any(refuses(sentence(rng)[1]) for _ in range(2_000))


def test_an_acknowledged_write_that_is_not_there_is_lost():
    one, other = Tally(sent={"a", "b"}, told={"a", "b"}), Tally(sent={"c"}, told=set(), said="full")
    figures = together([one, other], {"a"})
    assert (figures["sent"], figures["acknowledged"], figures["lost"], figures["said"]) == (3, 2, 1, "full")


def test_a_write_that_is_told_to_be_known_already_was_done_twice():
    tally = Tally()
    tally.note("a", answer("kept", structuredContent={"duplicate_of": "x"}))
    tally.note("b", answer("kept", structuredContent={"duplicate_of": None}))
    assert tally.doubled == 1


def test_a_pause_lasts_until_the_last_call_that_was_on_its_way_is_answered():
    one = Tally(seconds=[1.0, 2.0], ended=[10.0, 13.0])
    other = Tally(seconds=[3.5], ended=[14.0])
    assert pause_of(12.0, [one, other]) == 2.0
    assert pause_of(20.0, [one, other]) == 0.0


def test_times_are_told_in_milliseconds():
    assert spread([0.001] * 30) == {"p50": 1.0, "p95": 1.0}
    assert spread([0.5]) == {"p50": None, "p95": None}


def test_the_stand_in_gives_equal_texts_equal_directions_of_length_one():
    assert vector("Ada likes tea").tolist() == vector("ada LIKES tea").tolist()
    assert len(vector("tea")) == SIZE
    assert float((vector("Ada likes tea") ** 2).sum()) == pytest.approx(1)


def test_the_stand_in_changes_a_module_that_is_imported_late(tmp_path):
    (tmp_path / "fastembed.py").write_text("class TextEmbedding:\n    known = 'yes'\n")
    (tmp_path / "peer.py").write_text(
        "def main():\n    from fastembed import TextEmbedding as T\n"
        "    print(T.known, T('m').model_name, len(list(T('m').embed(['a', 'b']))))\n"
    )
    command = [sys.executable, "-P", "benchmarks/outside/stand_in.py", "peer:main"]
    root = Path(__file__).parents[2]
    said = subprocess.run(
        command, cwd=root, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["yes", "m", "2"]


def test_only_what_is_installed_is_measured(tmp_path):
    place = tmp_path / PEERS[0].program
    place.parent.mkdir(parents=True)
    place.touch()
    assert [one.name for one, _ in installed(tmp_path, [])] == [OURS.name, PEERS[0].name]
    assert [one.name for one, _ in installed(None, [])] == [OURS.name]


def test_our_listing_goes_on_at_the_cursor_and_ends_without_one():
    first = OURS.listing(0, None)
    again = OURS.listing(1, answer("", structuredContent={"cursor": "c"}))
    assert again == ("read_memories", first[1] | {"cursor": "c"})
    assert OURS.listing(2, answer("", structuredContent={"cursor": None})) is None


def test_chatter_and_notices_do_not_confuse_the_client(server):
    assert server.tools() == [{"name": "keep"}]
    assert server.call("keep", {"text": "tea"}).text == answer("kept").text
    assert server.noise == 3


def test_a_server_that_ends_in_a_call_is_gone(server):
    with pytest.raises(ServerGone):
        server.call("ask", {"die": True})
    with pytest.raises(ServerGone):
        server.call("ask", {})


def test_a_server_that_leaves_at_the_end_of_its_input_is_not_killed(tmp_path):
    server = Server([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], {}, tmp_path / "errors")
    assert server.close() is not None
    assert server.process.returncode == 0


def test_losses_of_a_forgetful_server_are_seen(forgetful):
    figures = inproc(*forgetful, seed=1)
    assert (figures["acknowledged"], figures["survive"], figures["lost"]) == (50, 0, 50)


def test_each_of_several_clients_is_counted(forgetful):
    assert crowd(*forgetful, seed=1, clients=2, writes=5)["each"] == [5, 5]


def test_two_clients_of_a_server_without_a_store_do_not_see_each_other(forgetful):
    figures = see(*forgetful, seed=1)
    assert (figures["sees_its_own"], figures["sees_the_other"]) == ([True, True], [False, False])


def test_the_question_for_a_secret_does_not_name_its_mark():
    mark, text, question = secret(random.Random(1))
    assert marks_in(text) == {mark}
    assert marks_in(question) == set()


def test_a_killed_server_without_a_store_has_lost_what_it_acknowledged(forgetful):
    figures = kill(*forgetful, seed=1, rounds=1)
    assert figures["lost"] == figures["acknowledged"] > 0


def test_processes_are_found_by_what_their_environment_says(forgetful):
    with Store(*forgetful) as store:
        running = store.spawn()
        running.initialize()
        assert store.processes() == {running.process.pid}
        assert machine.megabytes(store.processes()) > 1
        running.close()
        assert store.processes() == set()


def test_the_table_shows_losses_and_leaves_out_what_was_not_tried():
    kept = {"acknowledged": 400, "lost": 0}
    rows = {"two": {"a": kept | {"lost": 191}, "b": {"gone": "no answer"}}, "inproc": {"c": kept}}
    rows["see"] = {"a": {"clients": 2, "started": 2, "sees_its_own": [True, True], "sees_the_other": [True, False]}}
    assert compared(rows).splitlines()[2:] == [
        "| 50 writes at once, one process: acknowledged / there |  |  | 400 / 400 |",
        "| 2 processes × 200 writes: acknowledged / there | 400 / **209** | no answer |  |",
        "| ... each finds what the other has just written | **no** |  |  |",
    ]
