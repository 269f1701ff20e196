"""The command `eval`: one's own questions, asked of the store as it is, through its hub, and of copies with another embedder or scorer."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.hubs import ThreadedHub, short_folder
from tests.server.services import ObservedService
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import EmbedderUnavailable, InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import DATABASE
from hybrid_memory_mcp.admin.eval_operation import summary_of
from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.cli.evaluating import read_questions
from hybrid_memory_mcp.projects import MARKER

PORTO = {"question": "Where does Ada live?", "answer": "porto"}
NOBODY = {"question": "Which submarine did Grace Hopper command in 1931?", "answer": []}


@pytest.fixture
def home():
    with short_folder() as folder:
        folder.mkdir(0o700)
        (folder / DATABASE).touch()
        yield folder


@pytest.fixture
def memory(home):
    """The memory of a hub that serves; `keep` stores in it."""
    service = ObservedService()
    with ThreadedHub(home, service):
        yield service


@pytest.fixture
def ask(home, tmp_path, monkeypatch):
    """Asks questions in a folder of its own; returns what the command did."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    file = tmp_path / "questions.jsonl"

    def command(questions, *options):
        file.write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
        return CliRunner().invoke(app, ["eval", str(file), "--home", str(home), *options])

    return command


@pytest.fixture
def runs(ask):
    """Asks questions; returns what each run of them gave."""

    def command(questions, *options):
        done = ask(questions, "--json", *options)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)["runs"]

    return command


def test_a_hit_is_right_that_holds_all_words_of_the_answer_in_any_order_case_and_accents(memory, runs):
    memory.keep("Zoë lives in São Paulo")
    answers = (["Paulo sao", "ZOE"], ["Zoe Lima"], "São Paulo")
    (run,) = runs([{"question": "Where does Zoë live?", "answer": words} for words in answers])
    assert [one["rank"] for one in run["asked"]] == [1, None, 1]
    assert (run["answerable"], run["right_first"], run["right_in_five"]) == (3, 2, 2)


def test_a_right_hit_counts_at_its_place_in_the_answer(memory, runs):
    for colour in ("red", "blue"):
        memory.keep(f"The {colour} boat of Ada lies in the harbour")
    question = "Which boat of Ada lies in the harbour?"
    (run,) = runs([{"question": question, "answer": colour} for colour in ("red", "blue")])
    assert sorted(one["rank"] for one in run["asked"]) == [1, 2]
    assert (run["right_first"], run["right_in_five"]) == (1, 2)


def test_a_hit_is_right_that_is_one_of_the_evidence_whatever_it_says(memory, runs):
    porto, rome = memory.keep("Ada lives in Porto"), memory.keep("The piano of Grace is in Rome")
    question = "Where does Ada live?"
    (run,) = runs([{"question": question, "evidence": ids} for ids in ([rome.id, porto.id], porto.id, ["another"])])
    assert [one["rank"] for one in run["asked"]] == [1, 1, None]
    assert run["asked"][0]["ids"][0] == porto.id
    assert (run["answerable"], run["right_first"]) == (3, 2)


def test_a_hit_is_right_that_stands_for_the_evidence_which_says_the_same(memory, runs):
    ids = [memory.keep("Ada lives in Porto", session=session).id for session in ("one", "two")]
    (run,) = runs([{"question": "Where does Ada live?", "evidence": [one]} for one in ids])
    assert [one["rank"] for one in run["asked"]] == [1, 1]
    assert [one["hits"] for one in run["asked"]] == [1, 1]


@pytest.mark.parametrize("none", [{"answer": []}, {"answer": None}, {"evidence": []}])
def test_where_nothing_is_known_an_answer_without_a_memory_is_right(memory, runs, none):
    del memory
    (run,) = runs([{"question": NOBODY["question"], **none}])
    assert (run["answerable"], run["unanswerable"], run["said_unknown"]) == (0, 1, 1)


def test_where_something_is_known_an_answer_without_a_memory_found_nothing(memory, runs):
    del memory
    (run,) = runs([PORTO])
    assert (run["answerable"], run["right_in_five"], run["nothing_found"]) == (1, 0, 1)


def test_an_answer_is_that_which_an_assistant_reads(memory, runs, home):
    for city in ("Porto", "Rome"):
        memory.keep(f"Ada lives in {city}")
    (run,) = runs([PORTO])
    given = ["inspect", "search", PORTO["question"], "--home", str(home), "--json"]
    found = json.loads(CliRunner().invoke(app, given).stdout)["answer"]
    asked = run["asked"][0]
    assert (asked["characters"], asked["tokens"]) == (len(found["text"]), found["tokens"]["text"])
    assert (asked["hits"], asked["first"]) == (found["shown"], found["structured"]["memories"][0]["text"])


def test_asking_counts_as_no_use_and_is_not_noted_as_a_reading(memory, runs):
    kept = memory.keep("Ada lives in Porto")
    assert runs([PORTO])[0]["right_first"] == 1
    memory.flush_recalls()
    memory.journal.flush(memory.now())
    assert memory.store.usage("default", [kept.id]).get(kept.id) is None
    assert memory.journal.latest(["default"], memory.now()) == []


def test_the_project_of_the_folder_is_asked_together_with_ones_own_memories(memory, runs, tmp_path):
    memory.keep("Ada lives in Porto")
    memory.keep("The office of Acme is in Oslo", namespace="project:acme")
    (tmp_path / "work" / MARKER).write_text('namespace = "acme"\n', encoding="utf-8")
    oslo = {"question": "Where is the office of Acme?", "answer": "Oslo"}
    assert runs([PORTO, oslo])[0]["right_first"] == 2
    assert runs([PORTO, oslo], "--namespace", "default")[0]["right_first"] == 1


def test_in_a_pipe_each_measure_is_a_line(memory, ask):
    memory.keep("Ada lives in Porto")
    lines = ask([PORTO]).stdout.splitlines()
    assert lines[:5] == [
        "questions: 1",
        "right first: 1 of 1 (100 %)",
        "right in five: 1 of 1 (100 %)",
        "nothing found: 0 of 1 (0 %)",
        "said unknown: -",
    ]
    assert [line.partition(":")[0] for line in lines[5:]] == ["characters", "tokens"]


def test_each_question_is_shown_with_the_place_and_the_first_words_of_what_it_finds(memory, ask):
    memory.keep("Ada lives in Porto, " + "and has a house with a garden " * 4)
    shown = ask([PORTO, PORTO | {"answer": "Rome"}], "--verbose").stdout.splitlines()[:2]
    assert [line.split("\t")[:2] for line in shown] == [["1", PORTO["question"]], ["wrong", PORTO["question"]]]
    assert all("\tAda lives in Porto, and has" in line and line.endswith("…") for line in shown)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{"question": "a b", "answer": "c"}\n\n{"question": "d"}\n', 3, "is not an object with a question and an answer or evidence"),
        ('{"question": "a b", "answer": "c"}\nd\n', 2, "is not JSON"),
        ('[{"question": "a b", "answer": "c"},\n "d"]', 2, "is not an object with a question and an answer"),
        ('[\n{"question": "a b", "answer": "c"}\n{}]', 3, "is not JSON"),
        ('{"question": 3, "answer": "c"}', 1, "has a question that is not a string"),
        ('{"question": " ", "answer": "c"}', 1, "has a question that is empty"),
        ('{"question": "a b", "answer": 3}', 1, "has an answer that is neither a string nor a list of strings"),
        ('{"question": "a b", "evidence": [3]}', 1, "has evidence that is neither a string nor a list of strings"),
        ('{"question": "a b", "evidence": ["c", ""]}', 1, "has evidence that is empty"),
        ('{"question": "a b", "answer": ["c", ""]}', 1, "has an answer that is empty"),
        ('{"question": "a b", "answer": "c \\u200b"}', 1, "has an answer that is empty"),
        ('{"question": "a b", "answer": ' + "1" * 5000 + "}", 1, "is not JSON"),
        ("[" * 100_000, 1, "is "),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named_with_what_is_expected(tmp_path, text, line, problem):
    file = tmp_path / "questions.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as error:
        read_questions(file)
    assert f"line {line} {problem}" in str(error.value)
    assert 'expected is {"question": ' in str(error.value)


@pytest.mark.parametrize(
    ("data", "problem"), [(b"", "holds no question"), (b"[]", "holds no question"), (b"\xff", "is not text in UTF-8")]
)
def test_a_file_without_questions_is_refused_by_its_name(tmp_path, data, problem):
    file = tmp_path / "questions.jsonl"
    file.write_bytes(data)
    done = CliRunner().invoke(app, ["eval", str(file), "--home", str(tmp_path / "home")])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{file}: {problem}")


WORDS = st.lists(st.text(st.characters(codec="utf-8", categories=["L"]), min_size=1))
QUESTION = {
    "question": st.text(st.characters(codec="utf-8", categories=["L", "P", "Zs"]), min_size=1).map("a{}".format)
}
QUESTIONS = st.one_of(st.fixed_dictionaries(QUESTION | {told: WORDS}) for told in ("answer", "evidence"))


@given(st.lists(QUESTIONS, min_size=1, max_size=5), st.sampled_from(["lines", "list", "indented", "marked"]))
def test_questions_are_the_same_as_lines_and_as_a_list(tmp_path_factory, questions, form):
    file = tmp_path_factory.getbasetemp() / "questions.json"
    one_a_line = "\n".join(json.dumps(one, ensure_ascii=False) for one in questions)
    text = {
        "lines": one_a_line,
        "list": json.dumps(questions),
        "indented": json.dumps(questions, indent=2, ensure_ascii=False),
        "marked": f"\ufeff{one_a_line}\r\n",
    }[form]
    file.write_bytes(text.encode())
    assert read_questions(file) == questions


ASKED = st.fixed_dictionaries(
    {
        "answer": st.sampled_from([[], ["word"]]),
        "rank": st.none() | st.integers(1, 8),
        "hits": st.integers(0, 8),
        "unknown": st.booleans(),
        "characters": st.integers(0, 9000),
        "tokens": st.integers(0, 9000),
    }
)


@given(st.lists(ASKED, min_size=1))
def test_no_measure_is_above_what_it_counts_among(asked):
    found = summary_of(asked)
    assert found["answerable"] + found["unanswerable"] == len(asked)
    assert found["right_first"] <= found["right_in_five"] <= found["answerable"]
    assert found["nothing_found"] <= found["answerable"]
    assert found["said_unknown"] <= found["unanswerable"]
    assert min(one["characters"] for one in asked) <= found["characters"] <= max(one["characters"] for one in asked)


# --- copies


@pytest.fixture
def real(home, monkeypatch, tmp_path):
    """A real store with vectors of `multilingual`, which a variable names; ``copies`` is where temporary folders are made."""
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    monkeypatch.setenv("HYBRID_MEMORY_EMBEDDER", "multilingual")
    (home / DATABASE).unlink()
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    for text in ("Ada lives in Porto", "The piano is in the hall"):
        service.write(Scope(session="s"), WriteRequest(content=text))
    service.close()
    return SimpleNamespace(home=home, copies=copies)


def folders(place):
    return [path for path in place.iterdir() if path.is_dir()]


def contents(home):
    """All files of a store but its locks and logs, by their digests."""
    found = [path for path in home.rglob("*") if path.is_file() and path.suffix not in (".lock", ".log")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


@pytest.mark.slow
def test_another_embedder_is_asked_of_a_copy_and_shown_in_the_same_table(real, ask):
    before = contents(real.home)
    done = ask([PORTO, NOBODY], "--embedder", "static", "--embedder", "multilingual")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[:4] for row in rows] == [
        ["as it is", "1", "1", "0"],
        ["static", "1", "1", "0"],
        ["multilingual", "1", "1", "0"],
    ]
    assert contents(real.home) == before
    assert folders(real.copies) == []


@pytest.mark.slow
def test_a_copy_has_the_vectors_and_the_scorer_that_were_asked_for(real, runs):
    of_store, of_copy = runs([PORTO], "--embedder", "static", "--scorer", "lexical")
    assert (of_store["embedder"].partition(":")[0], of_store["scorer"]) == ("multilingual-v1", "fused")
    assert (of_copy["name"], of_copy["scorer"]) == ("static, lexical", "lexical")
    assert of_copy["embedder"].startswith("static")
    assert folders(real.copies) == []


@pytest.mark.slow
def test_a_scorer_alone_leaves_the_vectors_as_they_are(real, runs):
    of_store, of_copy = runs([PORTO], "--scorer", "dense")
    assert (of_copy["name"], of_copy["scorer"]) == ("dense", "dense")
    assert of_copy["embedder"] == of_store["embedder"]
    assert folders(real.copies) == []


@pytest.mark.slow
def test_a_copy_goes_when_its_embedder_fails(real, ask, monkeypatch):
    def fails(*_, **__):
        assert folders(real.copies) != []
        raise EmbedderUnavailable("the model is broken")

    monkeypatch.setattr(MemoryService, "reembed", fails)
    done = ask([PORTO], "--embedder", "static")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "the model is broken\n")
    assert folders(real.copies) == []


@pytest.mark.parametrize(
    ("options", "said"), [(["--embedder", "no-such"], "no-such is unknown"), (["--scorer", "best"], "'lexical'")]
)
@pytest.mark.slow  # it asks fastembed for the names that it knows
def test_a_name_that_is_not_known_is_refused_before_anything_is_asked(memory, ask, options, said):
    done = ask([PORTO], *options)
    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert [call for call in memory.calls if call.verb == "read"] == []


WAITS = """
import signal, sys
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.__main__ import main

def waits(*_, **__):
    print("embedding", flush=True)
    while True:
        signal.pause()

MemoryService.reembed = waits
sys.argv[0] = "hybrid-memory-mcp"
main()
"""


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="another way of interrupting")
def test_ctrl_c_leaves_no_copy(real, tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(PORTO), encoding="utf-8")
    command = [sys.executable, "-c", WAITS, "eval", str(file), "--home", str(real.home), "--embedder", "static"]
    environment = os.environ | {"TMPDIR": str(real.copies)}  # noqa: TID251 - handed on
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as process:
        try:
            assert process.stdout.readline() == "embedding\n"
            assert [path.name for path in real.copies.glob("*/*.duckdb")] == [DATABASE]
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
        finally:
            process.kill()
            stop_hub(real.home)
    assert folders(real.copies) == []
