"""``import`` as a person meets it: what is shown, what is asked, what is stored, and how it is taken back."""

import json
import shutil
import signal
import subprocess
import sys
import zipfile
from itertools import count
from pathlib import Path

import pytest
from tests.server.hubs import relay, short_folder
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_importers import command
from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.cli import importing
from hybrid_memory_mcp.cli.commands import app

SCOPE = Scope(session="s")
SAID = ("My dentist is Dr. Bauer.", "How do I sort a list?", "I don't like peanuts.", "thanks!")


def run(*arguments, **options):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments], **options)


def asked(*arguments):
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def conversation(name="c1", said=SAID, at=1_700_000_000.0, title="Teeth"):
    """A conversation as ChatGPT exports it."""
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0"]}}
    for number, text in enumerate(said):
        message = {
            "id": f"m{number}",
            "author": {"role": "user", "name": None, "metadata": {}},
            "create_time": at + number,
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {},
            "recipient": "all",
        }
        parent = f"m{number - 1}" if number else "root"
        children = [f"m{number + 1}"] if number + 1 < len(said) else []
        mapping[f"m{number}"] = {"id": f"m{number}", "message": message, "parent": parent, "children": children}
    last = f"m{len(said) - 1}"
    return {
        "title": title,
        "create_time": at,
        "update_time": at,
        "mapping": mapping,
        "current_node": last,
        "conversation_id": name,
        "id": name,
    }


def export_of(path, *conversations):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(conversations or [conversation()]))
    return path


@pytest.fixture(scope="module")
def store_with_one(tmp_path_factory):
    home = tmp_path_factory.mktemp("import") / "home"
    (home.parent / "own.jsonl").write_text('{"content": "The violin is in the attic."}\n')
    run("import", home.parent / "own.jsonl", "--home", home, "--yes")
    return home


@pytest.fixture
def home(tmp_path, store_with_one):
    return shutil.copytree(store_with_one, tmp_path / "home")


@pytest.fixture
def source(tmp_path):
    return export_of(tmp_path / "chatgpt.zip")


def as_exported(home, place):
    assert run("export", place, "--home", home, "--force").exit_code == 0
    return place.read_bytes()


def remembered(home):
    lines = as_exported(home, home.parent / "x").splitlines()[1:]
    return {json.loads(line)["content"] for line in lines}


def test_what_would_come_in_is_shown_and_nothing_is_stored(home, source):
    before = remembered(home)
    done = run("import", source, "--home", home, "--dry-run")
    assert done.exit_code == 0
    for shown in (
        "ChatGPT",
        "1 conversation with 4 messages",
        "2023-11-14",
        "2 new memories, as yours",
        "Dr. Bauer",
        "only asks",
    ):
        assert shown in done.output
    assert "thanks" not in done.output
    assert remembered(home) == before


def test_looking_makes_no_store(tmp_path, source):
    assert run("import", source, "--home", tmp_path / "none", "--dry-run").exit_code == 0
    assert not (tmp_path / "none").exists()


def test_where_nobody_can_be_asked_it_is_said_before_the_work(home, source, monkeypatch):
    monkeypatch.setattr(command, "_import", None)
    done = run("import", source, "--home", home)
    assert (done.exit_code, "--yes" in done.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "exit_code", "stored"), [("y\n", 0, True), ("\n", 0, True), ("n\n", 1, False)])
def test_it_asks_before_it_stores(home, source, monkeypatch, answer, exit_code, stored):
    monkeypatch.setattr(importing, "can_ask", lambda: True)
    done = run("import", source, "--home", home, input=answer)
    assert (done.exit_code, "Remember these 2?" in done.output) == (exit_code, True)
    assert any("Bauer" in one for one in remembered(home)) is stored


@pytest.mark.slow
def test_the_line_that_it_prints_takes_it_back(home, source, tmp_path):
    before = as_exported(home, tmp_path / "before")
    done = run("import", source, "--home", home, "--yes")
    assert "remembered: 2" in done.output
    (line,) = (line for line in done.output.splitlines() if "--undo" in line)
    words = line.split("hybrid-memory-mcp ")[1].split()
    undone = run(*words)
    assert (undone.exit_code, "2 memories are no longer here" in undone.output) == (0, True)
    assert as_exported(home, tmp_path / "after") == before
    again = run(*words)
    assert (again.exit_code, "undone before" in again.stderr) == (1, True)


@pytest.mark.slow
def test_again_there_is_nothing_new(home, source):
    run("import", source, "--home", home, "--yes")
    done = run("import", source, "--home", home, "--yes")
    assert "nothing new" in done.output
    assert "import --undo" in done.output
    assert asked("import", source, "--home", home, "--yes")["here_already"] == 2


@pytest.mark.slow
def test_a_later_export_brings_only_what_is_new(home, source, tmp_path):
    run("import", source, "--home", home, "--yes")
    later = export_of(
        tmp_path / "later.zip", conversation(), conversation("c2", ["I work as a baker."], at=1_710_000_000.0)
    )
    done = asked("import", later, "--home", home, "--yes")
    assert (done["stored"], done["here_already"]) == (1, 2)


def test_the_imports_are_listed_and_json_has_them(home, source):
    done = asked("import", source, "--home", home, "--yes")
    listed = {one["id"]: one for one in asked("import", "--list", "--home", home)}
    assert (listed[done["id"]]["format"], listed[done["id"]]["memories"]) == ("chatgpt", 2)
    assert done["id"] in run("import", "--list", "--home", home).output


def test_what_is_told_in_json_is_what_happened(home, source):
    done = asked("import", source, "--home", home, "--yes", "--all-messages")
    told = {
        name: done[name] for name in ("title", "namespace", "trust", "conversations", "messages", "stored", "repeated")
    }
    assert told == {
        "title": "ChatGPT export",
        "namespace": "default",
        "trust": "agent",
        "conversations": 1,
        "messages": 4,
        "stored": 4,
        "repeated": 0,
    }
    assert done["undo"] == f"hybrid-memory-mcp import --undo {done['id']} --home {home}"


def test_what_the_person_told_elsewhere_is_about_them_and_found(home, source):
    run("import", source, "--home", home, "--yes")
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    try:
        hits = service.read(SCOPE, ReadRequest(query="Who is my dentist?")).hits
        brief = service.read(SCOPE, ReadRequest(query="")).hits
    finally:
        service.close()
    assert "Bauer" in hits[0].memory.content
    assert any("peanuts" in hit.memory.content and hit.section == "about the user" for hit in brief)


@pytest.mark.daily
@pytest.mark.slow
def test_after_a_thousand_dull_sentences_a_brief_still_begins_with_what_the_person_likes_and_has(home, tmp_path):
    dull = [f"The number {at} tram to {chr(65 + at % 26)}ville had {at % 7} coaches." for at in range(1_000)]
    said = ["I don't like peanuts.", *dull[:500], "My wife is called Ngozi.", *dull[500:]]
    folder = tmp_path / "chats"
    folder.mkdir()
    (folder / "conversations.json").write_text(json.dumps([conversation(said=said)]))
    assert asked("import", folder, "--home", home, "--yes")["stored"] > 900
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    try:
        brief = service.read(SCOPE, ReadRequest(query="")).hits
    finally:
        service.close()
    assert {hit.memory.content for hit in brief[:2]} == {"I don't like peanuts", "My wife is called Ngozi"}


def test_what_somebody_else_wrote_is_untrusted(home, source):
    assert asked("import", source, "--home", home, "--yes", "--untrusted")["trust"] == "untrusted"


@pytest.mark.parametrize(
    "options", [[], ["--list", "--undo", "abcdef"], ["x", "--list"], ["x", "--mine", "--untrusted"]], ids=" ".join
)
def test_a_command_line_that_means_two_things_or_none_is_wrong(home, options):
    assert run("import", *options, "--home", home).exit_code == 2


@pytest.mark.parametrize("content", ["hello there", "\x00\xff" * 9, "[[1, 2]]", '{"a": {}}'])
def test_what_is_in_no_known_format_says_what_can_be_read(home, tmp_path, content):
    (tmp_path / "x.bin").write_text(content)
    done = run("import", tmp_path / "x.bin", "--home", home, "--yes")
    assert (done.exit_code, "chatgpt, claude, gemini" in done.stderr) == (1, True)


@pytest.mark.parametrize("name", ["conversations.json", "folder"])
def test_an_empty_export_is_called_empty(home, tmp_path, name):
    place = tmp_path / name
    _ = place.mkdir() if name == "folder" else place.write_text("[]\n")
    done = run("import", place, "--home", home, "--yes")
    assert (done.exit_code, "is empty" in done.stderr) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("trusted", ["--trusted", "--mine"])
def test_what_this_program_wrote_as_markdown_comes_back_as_it_was_and_goes_again(home, tmp_path, trusted):
    run("remember", "The violin is in the attic.", "--home", home)
    run("export", "--markdown", tmp_path / "notes", "--home", home)
    done = asked("import", tmp_path / "notes", "--home", tmp_path / "new", "--yes", trusted)
    assert (done["trust"], done["stored"]) == ("as exported", 2)  # the same words twice stay two memories
    here, there = (json.loads(as_exported(one, tmp_path / "x").splitlines()[2]) for one in (home, tmp_path / "new"))
    assert [here[name] for name in ("id", "origin", "trust")] == [there[name] for name in ("id", "origin", "trust")]
    assert asked("import", "--undo", done["id"], "--home", tmp_path / "new")["memories"] == 2


@pytest.mark.slow
def test_what_is_shown_is_what_is_new(home, tmp_path):
    run("export", "--markdown", tmp_path / "notes", "--home", home)
    (tmp_path / "notes" / "new.md").write_text("The piano is in the hall.\n")
    old = conversation(said=["My dentist is Dr. Bauer."])
    run("import", export_of(tmp_path / "a.zip", old), "--home", home, "--yes")
    new = export_of(tmp_path / "b.zip", old, conversation("c2", ["My sister lives in Kiel."]))
    for place, words in ((tmp_path / "notes", "The piano is in the hall."), (new, "My sister lives in Kiel")):
        done = asked("import", place, "--home", home, "--dry-run")
        assert [one["text"] for one in done["samples"]] == [words]


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.parametrize("there", [True, False])
def test_memories_of_other_namespaces_of_an_own_folder_are_counted(home, tmp_path, there):
    run("remember", "The cello is at work.", "--home", home, "--namespace", "work")
    run("export", "--markdown", tmp_path / "notes", "--home", home)
    if there:
        run("remember", "Something else.", "--home", tmp_path / "new")
    seen = asked("import", tmp_path / "notes", "--home", tmp_path / "new", "--dry-run")
    done = asked("import", tmp_path / "notes", "--home", tmp_path / "new", "--yes")
    assert (seen["new"], done["stored"], sum(seen["left_out"].values())) == (1, 1, 1)


@pytest.mark.daily
@pytest.mark.slow
def test_the_undo_of_an_older_export_names_the_newer_one(home, tmp_path):
    older = asked("import", export_of(tmp_path / "a.zip", conversation()), "--home", home, "--yes")
    both = export_of(tmp_path / "b.zip", conversation(), conversation("c2", ["My sister lives in Kiel."]))
    newer = asked("import", both, "--home", home, "--yes")
    assert asked("import", "--undo", older["id"], "--home", home)["later"] == [newer["id"]]
    assert asked("import", both, "--home", home, "--yes")["stored"] == 2


@pytest.mark.slow
def test_the_newest_import_is_taken_back_without_its_id_until_there_is_none(home, tmp_path):
    asked("import", export_of(tmp_path / "a.zip", conversation()), "--home", home, "--yes")
    new = export_of(tmp_path / "b.zip", conversation("c2", ["My sister lives in Kiel."]))
    newer = asked("import", new, "--home", home, "--yes")
    assert asked("import", "--undo", "last", "--home", home)["id"] == newer["id"]
    exits = [run("import", "--undo", "last", "--home", home).exit_code for _ in range(3)]
    assert exits == [0, 0, 1]  # the other of these, what the store held before, nothing


def test_a_secret_in_a_sample_is_masked(home, tmp_path):
    source = export_of(tmp_path / "x.zip", conversation(said=["The password of my router is: hunter2-Xyz-4711"]))
    done = run("import", source, "--home", home, "--dry-run", "--all-messages")
    assert ("[secret: password]" in done.output, "hunter2" in done.output) == (True, False)


def test_ctrl_c_in_the_middle_says_how_to_take_it_back(home, source, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_store", interrupted)
    assert "import --undo" in run("import", source, "--home", home, "--yes").stderr


def test_another_format_than_was_said_is_an_error(home, source):
    done = run("import", source, "--home", home, "--yes", "--format", "claude")
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)


def test_a_format_that_nobody_knows_is_an_error(home, source):
    done = run("import", source, "--home", home, "--yes", "--format", "diary")
    assert (done.exit_code, "name one of" in done.stderr) == (1, True)


def test_words_of_an_export_do_nothing_to_the_terminal(home, tmp_path):
    source = export_of(tmp_path / "x.zip", conversation(said=["My dentist is \x1b[31mDr.\u202e Bauer.\x07"]))
    done = run("import", source, "--home", home, "--dry-run")
    assert not {"\x1b", "\u202e", "\x07"} & set(done.output)


@pytest.mark.slow
def test_the_transcripts_of_this_machine_are_found_by_the_clients_name(home, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    assert "name the folder" in run("import", "claude-code", "--home", home, "--yes").stderr
    folder = tmp_path / "claude" / "projects" / "-home-me-x"
    folder.mkdir(parents=True)
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "userType": "external",
        "isSidechain": False,
        "cwd": "/home/me/x",
        "message": {"role": "user", "content": "My sister Jana lives in Graz."},
    }
    (folder / "s1.jsonl").write_text(json.dumps(line) + "\n")
    assert asked("import", "claude-code", "--home", home, "--yes")["stored"] == 1


def test_what_a_killed_import_left_is_removed_by_the_next(home, source):
    left = home / "imports" / "tmpleft"
    left.mkdir(parents=True)
    (left / "1.jsonl").write_text("secret words")
    run("import", source, "--home", home, "--yes")
    assert [one.name for one in (home / "imports").iterdir()] == [".lock"]


@pytest.mark.slow
def test_a_purge_takes_what_a_killed_import_left(home):
    left = home / "imports" / "tmpleft"
    left.mkdir(parents=True)
    (left / "1.jsonl").write_text("secret words")
    (listed,) = asked("import", "--list", "--home", home)
    assert listed["memories"] == 1
    assert run("purge", "--all", "--home", home, "--yes").exit_code == 0
    assert not (left / "1.jsonl").exists()


def test_the_first_look_at_lines_of_our_own_stores_nothing(home, tmp_path):
    (tmp_path / "own.jsonl").write_text('{"content": "The cello was sold."}\n')
    done = run("import", tmp_path / "own.jsonl", "--home", home, "--dry-run")
    assert "new: 1" in done.output
    assert remembered(home) == {"The violin is in the attic."}


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in a folder")
def test_beside_a_client_it_is_done_by_the_hub_and_the_client_sees_it_at_once(source):
    with short_folder() as home:
        with relay(home) as client:
            client.initialize()
            numbers = count(1)

            def found():
                return json.dumps(client.call(next(numbers), "read_memories", query="Who is my dentist?"))

            assert "Bauer" not in found()
            done = asked("import", source, "--home", home, "--yes")
            assert "Bauer" in found()
            asked("import", "--undo", done["id"], "--home", home)
            assert "Bauer" not in found()
        stop_hub(home)


@pytest.mark.daily
@pytest.mark.slow
def test_an_own_export_with_all_that_is_in_attention_is_taken_back_too(home, tmp_path):
    service = MemoryService.open(tmp_path / "other", clock=SystemClock(), random_source=SystemRandomSource())
    for number in range(12):
        service.write(Scope(session="work"), WriteRequest(content=f"The cello number {number} was sold to a museum."))
    service.close()
    before = as_exported(home, tmp_path / "before")
    as_exported(tmp_path / "other", tmp_path / "other.jsonl")
    done = asked("import", tmp_path / "other.jsonl", "--home", home, "--trusted", "--yes")
    assert b'"buffer"' in as_exported(home, tmp_path / "x")
    asked("import", "--undo", done["id"], "--home", home)
    assert as_exported(home, tmp_path / "after") == before


KILLED = """
import os, signal, sys
from hybrid_memory_importers import record_import
from hybrid_memory.store.duck.duck_transfer import DuckTransfer
from hybrid_memory_mcp.cli.commands import app

record_import._BATCH = 1
store, calls = DuckTransfer.import_items, []

def killed(*arguments, **options):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return store(*arguments, **options)

DuckTransfer.import_items = killed
app(["import", *sys.argv[1:], "--yes"])
"""


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_in_the_middle_and_done_again_nothing_is_double_and_one_undo_takes_it_all(home, source, tmp_path):
    before = as_exported(home, tmp_path / "before")
    child = subprocess.run([sys.executable, "-c", KILLED, source, "--home", home], check=False, capture_output=True)
    assert child.returncode == -signal.SIGKILL
    (half,) = (one for one in asked("import", "--list", "--home", home) if one["format"] == "chatgpt")
    done = asked("import", source, "--home", home, "--yes")
    assert (half["memories"], done["stored"], done["here_already"], done["id"]) == (1, 1, 1, half["id"])
    asked("import", "--undo", done["id"], "--home", home)
    assert as_exported(home, tmp_path / "after") == before
    assert [one.name for one in (home / "imports").iterdir()] == [".lock"]


def spoken(session, folder, *texts):
    """Lines of a transcript of Claude Code."""
    return "".join(
        json.dumps(
            {
                "type": "user",
                "sessionId": session,
                "parentUuid": None,
                "uuid": f"{session}-{number}",
                "timestamp": f"2026-03-0{number + 1}T09:00:00Z",
                "cwd": str(folder if number == 0 else "/"),  # the client went elsewhere later
                "message": {"role": "user", "content": text},
            }
        )
        + "\n"
        for number, text in enumerate(texts)
    )


@pytest.mark.slow
def test_what_was_said_in_a_repository_comes_into_its_project_and_what_is_about_the_person_to_them(tmp_path, home):
    shop, notes, transcripts = (tmp_path / name for name in ("shop", "notes", "transcripts"))
    for folder in (shop / ".git", notes, transcripts):
        folder.mkdir(parents=True)
    (transcripts / "a.jsonl").write_text(
        spoken("a", shop, "We decided to use Kafka for the shop.", "My sister Maria is allergic to peanuts.")
    )
    (transcripts / "b.jsonl").write_text(spoken("b", notes, "We decided to meet on Mondays."))
    (transcripts / "c.jsonl").write_text(spoken("c", tmp_path / "deleted", "We decided to use Oracle for the ledger."))
    done = asked("import", transcripts, "--home", home, "--yes")
    assert (done["stored"], done["in_projects"]) == (4, 2)
    own = {one["content"] for one in asked("list", "--home", home, "--namespace", "default")["memories"]}
    assert [any(word in one for one in own) for word in ("Maria", "Mondays", "Kafka", "Oracle")] == [
        True,
        True,
        False,
        False,
    ]
    assert asked("import", transcripts, "--home", home, "--yes")["stored"] == 0
    assert asked("import", "--undo", done["id"], "--home", home)["memories"] == 4


def test_an_import_into_a_namespace_that_is_named_goes_there_alone(tmp_path, home):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    transcript = tmp_path / "a.jsonl"
    transcript.write_text(spoken("a", tmp_path / "shop", "We decided to use Kafka for the shop."))
    assert asked("import", transcript, "--home", home, "--namespace", "default", "--yes")["in_projects"] == 0


@pytest.mark.daily
@pytest.mark.slow
def test_rules_of_a_repository_come_into_its_project_and_those_of_the_person_to_them(tmp_path, home, monkeypatch):
    person = tmp_path / "person"
    monkeypatch.setattr(Path, "home", lambda: person)
    for place in ("person/.claude", "shop/.git", "blog/.git", "notes"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("person/.claude", "shop", "blog", "notes"):
        (tmp_path / place / "CLAUDE.md").write_text("# Git\n- Never push to main\n")
    seen = asked("import", tmp_path / "shop" / "CLAUDE.md", "--home", home, "--dry-run")
    shop, blog, own, notes = (
        asked("import", tmp_path / place / "CLAUDE.md", "--home", home, "--mine", "--yes")
        for place in ("shop", "blog", "person/.claude", "notes")
    )
    assert list(seen["projects"]) == list(shop["projects"]) != list(blog["projects"])
    assert [one["stored"] for one in (shop, blog, own, notes)] == [1, 1, 1, 0]  # the last says the same to everybody
    assert (own["projects"], own["in_projects"], blog["in_projects"]) == ({}, 0, 1)
    assert len({one["id"] for one in (shop, blog, own)}) == 3
    asked("import", "--undo", blog["id"], "--home", home)
    left = [asked("list", "--home", home, "--namespace", name)["memories"] for name in (*shop["projects"], "default")]
    assert ["Git: Never push to main" in [one["content"] for one in some] for some in left] == [True, True]


def test_where_rules_go_can_be_chosen_and_is_said_before(tmp_path, home):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "AGENTS.md").write_text("- Use pnpm\n")
    shown = run("import", tmp_path / "shop" / "AGENTS.md", "--home", home, "--dry-run").output
    assert "into the project shop-" in shown
    assert "(--namespace default: everywhere)" in shown
    assert asked("import", tmp_path / "shop", "--home", home, "--namespace", "default", "--yes")["in_projects"] == 0


@pytest.mark.daily
@pytest.mark.slow
def test_what_is_here_in_a_longer_form_is_said_so(tmp_path, home):
    (tmp_path / "a.md").write_text("- My bike is red and has no lights.\n")
    (tmp_path / "b.md").write_text("- My cat is called Miso, after the soup.\n- My cat is called Miso.\n")
    (tmp_path / "c.md").write_text("- My cat is called Miso.\n")
    asked("import", tmp_path / "a.md", "--home", home, "--mine", "--yes")
    first = asked("import", tmp_path / "b.md", "--home", home, "--mine", "--yes")
    assert (first["stored"], first["left_out"]) == (1, {"said in a longer statement that comes in": 1})
    assert asked("import", tmp_path / "b.md", "--home", home, "--mine", "--yes")["stored"] == 0
    shown = run("import", tmp_path / "c.md", "--home", home, "--mine", "--yes").output
    assert shown.index("What stays out: 1") < shown.index("1  here already in a longer form")
