"""The commands on memories: what they do, alongside a hub that serves clients; `test_every_command.py` has each without one too."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.changing import changes_everything
from tests.server.hubs import ThreadedHub, short_folder
from tests.server.services import ObservedService
from typer.testing import CliRunner

from hybrid_memory.model import Kind, MemoryType, Origin, Tier, Trust
from hybrid_memory.settings import DATABASE
from hybrid_memory_mcp.admin import memory_operations
from hybrid_memory_mcp.cli import memories
from hybrid_memory_mcp.cli.command_group import unwrapped
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.projects import MARKER

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "a1B-AA"


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
def run(home, memory):
    del memory

    def command(*arguments, **options):
        return CliRunner().invoke(app, [*map(str, arguments), "--home", str(home)], **options)

    return command


@pytest.fixture
def done(run):
    """Runs a command that succeeds; returns what it prints as JSON."""

    def command(*arguments, **options):
        result = run(*arguments, "--json", **options)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return command


def test_merged_memories_are_one_until_it_is_undone(memory, done):
    ids = [memory.keep(text).id for text in ("Ada has a dog", "Ada has a cat")]
    merged = done("merge", *ids, "--text", "Ada has a dog and a cat")
    assert listed(done) == ["Ada has a dog and a cat"]
    done("undo", merged["undo"][:12])
    assert set(listed(done)) == {"Ada has a dog", "Ada has a cat"}


def test_a_memory_is_split_by_the_lines_of_stdin(memory, done):
    one = memory.keep("Ada has a dog and a cat").id
    parts = done("split", one, "-", input="Ada has a dog\n\nAda has a cat\n")["memories"]
    assert set(listed(done)) == {each["content"] for each in parts} == {"Ada has a dog", "Ada has a cat"}


def test_what_ended_is_over_since_that_day(memory, done):
    one = memory.keep("Ada lives in Rome").id
    (told,) = done("correct", "--ended", one, "--until", "2020-01-01")["memories"]
    assert (told["state"], told["verdict"]) == ("expired", "ended")


@pytest.mark.parametrize(
    "wrong",
    [
        ["correct", "06h082aa7p"],
        ["correct", "--true", "--untrue", "06h082aa7p"],
        ["correct", "--untrue", "--until", "2020-01-01", "06h082aa7p"],
        ["show", "--history", "06h082aa7p", "06h0877v2h"],
    ],
)
def test_options_that_do_not_go_together_are_refused(run, wrong):
    assert run(*wrong).exit_code == 2


@pytest.mark.parametrize("command", [["forget"], ["pin"], ["correct", "--true"], ["correct", "--untrue"]])
def test_an_undo_without_more_takes_back_what_was_done_last(memory, done, command):
    one = memory.keep("Ada lives in Rome", memory_type=MemoryType.LONG_TERM).id
    before = done("show", one)["memories"]
    done(*command, one)
    done("undo")
    assert done("show", one)["memories"] == before


def test_undo_twice_undoes_the_act_before_and_the_undo_of_an_undo_does_it_again(memory, done):
    one = memory.keep("Ada lives in Rome").id
    done("correct", one, "Ada lives in Oslo")
    done("correct", done("list")["memories"][0]["id"], "Ada lives in Bergen")
    last = done("undo")
    done("undo")
    assert listed(done) == ["Ada lives in Rome"]
    first = done("undo", "--list")["acts"][0]["undo"]
    assert [done("undo", act)["done"] for act in (first, last["undo"])] == ["Done again"] * 2
    assert listed(done) == ["Ada lives in Bergen"]
    done("undo")
    assert listed(done) == ["Ada lives in Oslo"]


def test_a_correction_is_undone(memory, done):
    one = memory.keep("Ada lives in Rome").id
    done("correct", one, "Ada lives in Oslo")
    done("undo")
    assert listed(done) == ["Ada lives in Rome"]


def test_what_can_be_undone_is_listed_with_who_did_it(memory, done):
    done("pin", memory.keep("Ada lives in Rome").id)
    (act,) = done("undo", "--list")["acts"]
    assert (act["action"], act["actor"]) == ("pin", "command line")


def test_an_undo_after_remember_takes_back_what_was_remembered_and_nothing_older(memory, done):
    one = memory.keep("Ada lives in Rome").id
    done("correct", one, "Ada lives in Oslo")
    memory.clock.advance(seconds=1)
    done("remember", "Grace plays the cello")
    undone = done("undo")
    assert [(each["content"], each["state"]) for each in undone["memories"]] == [("Grace plays the cello", "forgotten")]
    assert listed(done) == ["Ada lives in Oslo"]
    done("undo", undone["undo"])
    assert sorted(listed(done)) == ["Ada lives in Oslo", "Grace plays the cello"]


def test_an_undo_after_remember_leaves_everything_as_it_was(memory, done):
    memory.keep("The violin hangs in the hall")
    memory.keep("Grace plays the cello")
    before = done("list")["memories"]
    memory.clock.advance(seconds=1)
    done("remember", "The violin hangs in the attic")
    done("undo")
    assert done("list")["memories"] == before


def test_what_can_be_undone_is_listed_with_its_words(done, run):
    done("remember", "Grace plays the cello")
    (line,) = run("undo", "--list").stdout.splitlines()
    assert line.split("\t")[2:] == ["remember", "1", "Grace plays the cello", "command line"]


def test_where_nothing_was_done_nothing_is_undone(done):
    assert done("undo")["done"] is None


def listed(done, *options):
    return [one["content"] for one in done("list", *options)["memories"]]


def test_what_is_remembered_from_the_terminal_is_the_persons_and_stays(done, memory):
    made = done("remember", "The violin is in the attic", "--tag", "music", "--importance", "0.7", "--pin")["memory"]
    kept = memory.memories[made["id"]]
    assert (kept.origin, kept.trust, kept.tier) == (Origin.USER, Trust.USER, Tier.LONG_TERM)
    assert (kept.tags, kept.importance, kept.pinned) == (("music",), 0.7, True)


def test_to_remember_one_statement_not_all_memories_are_read(done, memory, monkeypatch):
    read = []
    monkeypatch.setattr(memory, "warm_up", read.append)
    done("remember", "Ada likes tea")
    assert not read


def test_a_statement_needs_no_quotes(done):
    assert done("remember", "Ada", "likes", "tea")["memory"]["content"] == "Ada likes tea"


@pytest.mark.parametrize("text", ["- buy milk", "-5 degrees", "-- is a dash"])
def test_a_statement_may_begin_with_a_dash(done, text):
    assert done("remember", text)["memory"]["content"] == text


def test_an_option_that_is_none_is_no_part_of_the_statement(run, memory):
    assert run("remember", "Ada likes tea", "--tga", "drink").exit_code == 2
    assert not memory.memories


def test_a_statement_comes_from_stdin_with_its_lines(done):
    assert done("remember", "-", input="﻿first line\nsecond line\n")["memory"]["content"] == "first line\nsecond line"


def test_stdin_that_is_no_text_is_wrong_use(run):
    assert run("remember", "-", input=b"\xff\xfe\x00").exit_code == 2


def test_the_same_words_again_are_known(done, memory):
    first, again = (done("remember", "Ada likes tea") for _ in range(2))
    assert (first["known"], again["known"]) == (False, True)
    assert first["memory"]["id"] == again["memory"]["id"]
    assert len(memory.memories) == 1


def test_what_is_likely_changed_is_told_with_its_id(run, memory):
    memory.change_model = changes_everything
    old = memory.keep("The violin hangs in the hall")
    told = run("remember", "The violin hangs in the attic").stderr
    assert f"{old.id}  The violin hangs in the hall" in told


def test_times_may_be_words(done):
    made = done("remember", "We met Bo", "--when", "2021-06-01", "--expires", "30 days")["memory"]
    assert datetime.fromisoformat(made["occurred_at"]).astimezone().date().isoformat() == "2021-06-01"
    assert "expires_at" in made


@pytest.mark.parametrize("option", ["--when", "--expires"])
def test_what_is_no_time_is_wrong_use(run, memory, option):
    assert run("remember", "We met Bo", option, "whenever").exit_code == 2
    assert not memory.memories


def test_a_secret_is_told_and_shown_masked_unless_revealed(run, done):
    told = run("remember", f"The key is {KEY}")
    assert "looks like a secret" in told.stderr
    assert KEY not in told.output
    assert KEY not in str(done("list"))
    assert done("list", "--reveal")["memories"][0]["content"] == f"The key is {KEY}"


def test_a_list_has_the_newest_first_and_pages(done, run, memory):
    for number in range(5):
        memory.keep(f"note {number}")
    assert listed(done, "--limit", "2") == ["note 4", "note 3"]
    assert listed(done, "--limit", "2", "--page", "3") == ["note 0"]
    assert "1 to 2 of 5; --page 2" in run("list", "--limit", "2").stderr
    assert "5 only" in run("list", "--limit", "2", "--page", "9").stderr


def test_a_page_with_more_text_than_an_answer_holds_is_refused(run, memory, monkeypatch):
    monkeypatch.setattr(memory_operations, "_MOST_CHARACTERS", 20)
    for number in range(2):
        memory.keep(f"{number} is a short note")
    told = run("list")
    assert (told.exit_code, "ask for fewer at once" in told.stderr) == (1, True)
    assert run("list", "--limit", "1").exit_code == 0


def test_a_list_is_narrowed_by_what_is_asked(done, memory):
    long_ago = datetime(2020, 1, 5, 12, tzinfo=UTC)
    memory.keep("a wedding", occurred_at=long_ago, tags=("family",), session="s-1")
    memory.keep("a task", memory_type=MemoryType.WORKING, session="s-2")
    memory.keep("brought in", origin=Origin.IMPORT)
    pinned = memory.keep("pinned one", pinned=True)
    assert listed(done, "--since", "2020-01-01", "--until", "2020-01-05") == ["a wedding"]
    assert listed(done, "--tag", "family") == ["a wedding"]
    assert listed(done, "--session", "s-2") == ["a task"]
    assert listed(done, "--kind", "task", "--tier", "working") == ["a task"]
    assert listed(done, "--imported") == listed(done, "--trust", "untrusted") == ["brought in"]
    assert done("list", "--pinned")["memories"][0]["id"] == pinned.id


def test_what_is_over_replaced_or_forgotten_has_lists_of_its_own(done, memory):
    old = memory.keep("It is at noon")
    memory.keep("over", expires_at=memory.clock.now() + timedelta(minutes=1))
    memory.clock.advance(seconds=61)
    gone = memory.keep("gone")
    done("correct", old.id, "It is at one")
    done("forget", gone.id)
    assert listed(done) == ["It is at one"]
    assert (listed(done, "--superseded"), listed(done, "--expired"), listed(done, "--forgotten")) == (
        ["It is at noon"],
        ["over"],
        ["gone"],
    )
    assert len(listed(done, "--all")) == 4


@pytest.mark.parametrize(
    "options",
    [
        ("--forgotten", "--all"),
        ("--imported", "--origin", "user"),
        ("--kind", "idea"),
        ("--since", "whenever"),
        ("--page", "0"),
    ],
)
def test_filters_that_cannot_be_meant_are_wrong_use(run, options):
    assert run("list", *options).exit_code == 2


def test_show_tells_all_that_is_known_also_of_what_is_forgotten(run, done, memory):
    one = memory.keep("first line\nid: not a field", tags=("a",), source="a letter", speaker="Bo")
    done("forget", one.id)
    told = done("show", one.id)["memories"][0]
    assert (told["state"], told["tags"], told["source"], told["speaker"]) == ("forgotten", ["a"], "a letter", "Bo")
    lines = run("show", one.id).stdout.splitlines()
    assert lines[:3] == [one.id, "  first line", "  id: not a field"]
    assert "said by: Bo" in lines


def test_show_and_history_name_the_program_of_a_conversation(run, memory):
    one = memory.keep("first", session="claude-code:d108ae34")
    told = "Claude Code (claude-code:d108ae34)"
    assert f"session: {told}" in run("show", one.id).stdout.splitlines()
    assert f"session {told}" in run("show", "--history", one.id).stdout


def test_show_takes_several_ids_and_beginnings_of_ids(done, memory):
    first = memory.keep("first")
    memory.clock.advance(hours=9)
    second = memory.keep("second")
    told = done("show", first.id[:12], second.id)["memories"]
    assert [one["id"] for one in told] == [first.id, second.id]


def test_an_id_that_is_not_there_is_told_and_nothing_is_done(run, memory):
    one = memory.keep("kept")
    told = run("forget", one.id, "nobodyatall")
    assert told.exit_code == 1
    assert "no such memory here: nobodyatall" in told.stderr
    assert memory.memories[one.id].forgotten_at is None


def test_a_correction_is_a_new_version_in_the_persons_words(done, run, memory):
    old = memory.keep("The rehearsal is on Tuesdays", origin=Origin.TOOL)
    new = done("correct", old.id, "The", "rehearsal", "is on Thursdays")["memory"]
    assert (new["supersedes"], new["trust"], new["origin"]) == (old.id, "user", "user")
    again = run("correct", new["id"], "The rehearsal is on Thursdays")
    assert "says that already" in again.stderr


def test_a_version_that_was_replaced_or_is_forgotten_is_not_corrected(run, done, memory):
    old = memory.keep("It is at noon")
    new = done("correct", old.id, "It is at one")["memory"]["id"]
    assert f"was replaced by {new}" in run("correct", old.id, "x").stderr
    done("forget", new)
    assert "`forget --restore` brings it back" in run("correct", new, "x").stderr


def test_what_is_forgotten_comes_back_by_the_command_that_is_told(run, done, memory):
    first, second = memory.keep("first"), memory.keep("second")
    told = run("forget", first.id, second.id)
    assert [line.split("\t")[0] for line in told.stdout.splitlines()] == [first.id, second.id]
    assert f"forget --restore {first.id} {second.id} --home" in told.stderr
    assert listed(done) == []
    assert [one["id"] for one in done("forget", "--restore", first.id, second.id)["memories"]] == [first.id, second.id]
    assert len(listed(done)) == 2


def test_what_list_prints_is_taken_from_stdin(run, done, memory):
    memory.keep("first")
    memory.keep("second")
    assert len(done("forget", "-", input=run("list").stdout)["memories"]) == 2
    assert run("pin", "-", input="\n").exit_code == 2


def test_more_memories_than_a_call_takes_are_forgotten_at_once(done, memory):
    ids = [memory.keep(f"note {number}").id for number in range(101)]
    assert [one["id"] for one in done("forget", *ids)["memories"]] == ids


def test_pinning_and_unpinning(done, run, memory):
    one = memory.keep("Ada is allergic to peanuts")
    assert done("pin", one.id)["memories"][0]["pinned"]
    again = run("pin", one.id)
    assert ("pinned already" in again.stderr, again.stdout.split("\t")[0]) == (True, one.id)
    done("pin", one.id, "--off")
    assert not memory.memories[one.id].pinned


def test_pinning_several_does_all_or_nothing(run, memory):
    one, gone = memory.keep("one"), memory.keep("gone")
    run("forget", gone.id)
    assert run("pin", one.id, gone.id).exit_code == 1
    assert not memory.memories[one.id].pinned


def test_reflection_shows_groups_and_stores_what_follows(done, run, memory):
    ids = [memory.keep(f"Ada plays the violin on {day}").id for day in ("Monday", "Tuesday", "Friday")]
    (group,) = done("reflect")["groups"]
    assert {one["id"] for one in group["memories"]} == set(ids)
    insight = [{"text": "Ada plays the violin on most days", "evidence": [ids[0][:16], ids[1]]}]
    (stored,) = done("reflect", "--insights", "-", input=json.dumps(insight))["memories"]
    assert (stored["kind"], stored["parents"]) == (Kind.INSIGHT.value, ids[:2])
    assert "Ada plays the violin on most days" in run("list", "--kind", "insight").stdout


def test_insights_come_from_a_file_or_the_option_itself(done, memory, tmp_path):
    one = memory.keep("Ada plays the violin")
    text = json.dumps({"text": "Ada is a musician", "evidence": [one.id], "importance": 0.5})
    (tmp_path / "insights.json").write_text(text)
    for given in (text.replace("musician", "violinist"), tmp_path / "insights.json"):
        assert done("reflect", "--insights", given)["memories"][0]["parents"] == [one.id]


@pytest.mark.parametrize(
    "given",
    [
        "nofile.json",
        "[",
        "[]",
        '[{"text": "no evidence"}]',
        '[{"text": 1, "evidence": ["a"]}]',
        '{"text": "a", "evidence": []}',
    ],
)
def test_insights_of_another_form_are_wrong_use(run, given):
    assert run("reflect", "--insights", given).exit_code == 2


def test_recall_takes_a_question_without_quotes_and_gives_ids(run, done, memory):
    one = memory.keep("The violin is in the attic")
    assert run("recall", "where", "is", "the", "violin").stdout.startswith(f"{one.id}\t")
    assert done("recall", "where is the violin")["hits"][0]["id"] == one.id


def test_recall_shows_a_memory_as_list_does(run, memory):
    said_at = memory.clock.now()
    memory.clock.advance(seconds=61)
    memory.keep("The violin is in the attic", occurred_at=said_at, namespace="project:acme")
    memory.keep("The piano was sold", occurred_at=datetime(2020, 1, 5, 12, tzinfo=UTC), namespace="project:acme")
    memory.keep("The cello is out of tune again", episode=True, namespace="project:acme")
    listed = run("list", "--all", "--namespace", "project:acme").stdout.splitlines()
    found = [
        run("recall", word, "--limit", "1", "--namespace", "project:acme").stdout
        for word in ("cello", "piano", "violin")
    ]
    assert found == [f"{line}\n" for line in listed]
    assert ["said in passing" in line for line in listed] == [True, False, False]


def test_recall_is_narrowed_by_what_is_asked(done, memory):
    memory.keep("The violin was in the hall", occurred_at=datetime(2020, 1, 5, 12, tzinfo=UTC))
    tagged = memory.keep("The violin is in the attic", tags=("music",))
    narrowed = (("--tag", "music"), ("--since", "2021-01-01"))
    for options in narrowed:
        assert [one["id"] for one in done("recall", "violin", *options)["hits"]] == [tagged.id]
    assert done("recall", "--session", "another")["hits"] == []


def test_history_goes_by_the_beginning_of_an_id_too(done, memory):
    one = memory.keep("The violin is in the attic")
    assert done("show", "--history", one.id[:16])["id"] == one.id


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder of the project acme, in which commands are given."""
    (tmp_path / MARKER).write_text('namespace = "acme"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_in_a_project_what_is_remembered_is_the_projects_and_ones_own_is_there_too(done, run, memory, project):
    memory.keep("Ada likes tea")
    made = done("remember", "The deploy key is rotated on Mondays")["memory"]
    assert made["namespace"] != "default"
    assert len(listed(done)) == 2
    assert "project acme\tThe deploy key" in run("list").stdout
    assert listed(done, "--namespace", "default") == ["Ada likes tea"]


def test_a_memory_is_changed_where_it_lies(done, memory, project):
    mine = memory.keep("Ada likes tea")
    assert done("correct", mine.id, "Ada likes coffee")["memory"]["namespace"] == "default"
    assert done("show", mine.id)["memories"][0]["superseded_by"]


def test_where_a_project_is_read_only_nothing_new_is_written_unless_a_namespace_is_named(run, memory, project):
    (project / MARKER).write_text('namespace = "acme"\nread_only = true\n')
    refused = run("remember", "Ada likes tea")
    assert (refused.exit_code, "read_only" in refused.stderr) == (1, True)
    assert not memory.memories
    assert run("remember", "Ada likes tea", "--namespace", "default").exit_code == 0


def test_a_marker_that_cannot_be_read_is_told_and_nothing_new_is_written(run, memory, project):
    (project / MARKER).write_text("namespace = [")
    memory.keep("Ada likes tea")
    assert run("remember", "x").exit_code == 1
    assert len(memory.memories) == 1


@pytest.mark.slow
def test_the_first_statement_makes_the_store(tmp_path):
    home = tmp_path / "new"
    made = CliRunner().invoke(app, ["remember", "Ada likes tea", "--home", str(home), "--json"])
    assert made.exit_code == 0, made.output
    found = CliRunner().invoke(app, ["recall", "what does Ada like", "--home", str(home), "--json"])
    assert json.loads(found.stdout)["hits"][0]["content"] == "Ada likes tea"


def weak_hits(count, *, weak=True):
    """What `recall` says of some hits that are all alike."""
    one = {"id": "06h08bhntdye", "content": "Tea", "created_at": "2026-01-01T00:00:00Z", "tier": "long_term"}
    hits = [{**one, "score": 0.02, "weak": weak, "newer": None, "section": None} for _ in range(count)]
    return {"hits": hits, "words_alone": False, "total": count}


def test_where_all_hits_are_weak_three_are_shown_and_the_terminal_says_so(run, monkeypatch):
    monkeypatch.setattr(memories, "call_here", lambda *_, **__: weak_hits(8))
    shown = run("recall", "zzz qqq")
    assert (len(shown.stdout.splitlines()), shown.stderr.count("Probably nothing is known")) == (3, 1)


def test_hits_that_are_not_weak_are_all_shown_without_their_scores(run, monkeypatch):
    monkeypatch.setattr(memories, "call_here", lambda *_, **__: weak_hits(8, weak=False))
    shown = run("recall", "tea")
    assert (len(shown.stdout.splitlines()), "0.02" in shown.stdout, shown.stderr) == (8, False, "")


def test_to_forget_nothing_from_a_pipe_is_done_at_once(run):
    nothing = run("forget", "-", input="\n")
    assert (nothing.exit_code, "nothing to forget" in nothing.stderr) == (0, True)


def test_the_hint_of_forgetting_is_a_sentence(run, memory):
    assert "brings it back" in run("forget", memory.keep("Ada likes rum").id).stderr


def test_a_missing_sync_folder_and_a_wrong_id_of_an_import_are_named(run, tmp_path):
    assert f"{tmp_path / 'gone'} does not exist" in run("sync", tmp_path / "gone").stderr.replace("\n", " ")
    assert "no-id!" in run("import", "--undo", "no-id!").stderr


def test_each_paragraph_of_a_help_text_is_one_line():
    assert unwrapped("First\n    line.\n\n    Second,\n    third.\n    ") == "First line.\n\nSecond, third."


def test_a_list_says_what_other_projects_have_unless_one_namespace_is_asked_for(run, memory):
    memory.keep("acme uses Rust.", namespace="project:acme")
    assert "1 more in project acme (`list --namespace project:acme`)" in run("list").stderr
    assert "more in" not in run("list", "--namespace", "project:acme").stderr
