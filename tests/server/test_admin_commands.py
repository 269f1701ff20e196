"""Backup, restore, export, import and purge from the terminal."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.hooks.state import Conversations

SCOPE = Scope(session="s")
VIOLIN = "The violin is in the attic."


def run(*arguments, **options):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments], **options)


def asked(*arguments):
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def opened(home):
    return MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())


def write(home, *contents, namespace="default"):
    service = opened(home)
    ids = [service.write(Scope(namespace=namespace, session="s"), WriteRequest(content=one)).id for one in contents]
    service.close()
    return ids


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A store with one memory, which each test gets a copy of."""
    home = tmp_path_factory.mktemp("written") / "home"
    write(home, VIOLIN)
    return home


@pytest.fixture
def home(tmp_path, written):
    return shutil.copytree(written, tmp_path / "home")


def recalled(home, question="Where is the violin?"):
    service = opened(home)
    try:
        return [hit.memory for hit in service.read(SCOPE, ReadRequest(query=question)).hits]
    finally:
        service.close()


@pytest.mark.slow
def test_a_backup_is_made_and_the_store_goes_back_to_it(home):
    made = asked("backup", "--home", home)
    assert made["memories"] == 1
    write(home, "The cello was sold.")
    done = asked("restore", "--home", home, "--yes")
    assert (done["memories"], done["file"]) == (1, made["file"])
    assert [one.content for one in recalled(home, "What was sold?")] == [VIOLIN]


@pytest.mark.slow
def test_restoring_asks_first(home):
    asked("backup", "--home", home)
    write(home, "The cello was sold.")
    assert run("restore", "--home", home, input="n\n").exit_code == 1
    assert "cello" in recalled(home, "What was sold?")[0].content


def test_nobody_is_asked_whether_to_restore_what_is_no_backup(home, tmp_path):
    (tmp_path / "x").write_bytes(b"no database" * 999)
    done = run("restore", tmp_path / "x", "--home", home, input="y\n")
    assert (done.exit_code, "Go on?" in done.output) == (1, False)
    assert recalled(home)[0].content == VIOLIN


@pytest.mark.slow
def test_who_is_asked_whether_to_restore_hears_what_the_backup_holds(home):
    asked("backup", "--home", home)
    done = run("restore", "--home", home, input="y\n")
    assert (done.exit_code, "memories: 1" in done.stderr) == (0, True)


def test_nobody_types_a_secret_for_memories_that_are_not_there(home):
    done = run("redact", "absent", "--words", "--home", home, input="hunter2\n")
    assert (done.exit_code, "taken out" in done.output) == (1, False)


def test_an_export_goes_to_stdout(home, tmp_path):
    run("export", tmp_path / "x", "--home", home)
    done = run("export", "-", "--home", home)
    assert (done.exit_code, done.stdout_bytes) == (0, (tmp_path / "x").read_bytes())


def test_an_export_to_stdout_is_no_json_value(home):
    assert run("export", "-", "--json", "--home", home).exit_code == 2


def test_restoring_without_a_backup_says_so(home):
    done = run("restore", "--home", home, "--yes")
    assert (done.exit_code, "there is no backup" in done.output) == (1, True)


@pytest.mark.slow
def test_a_store_that_cannot_be_opened_is_restored(home, tmp_path):
    run("backup", tmp_path / "copy.duckdb", "--home", home)
    (home / "memory.duckdb").write_bytes(b"not a database" * 999)
    assert run("status", "--home", home).exit_code == 1
    assert run("restore", tmp_path / "copy.duckdb", "--home", home, "--yes").exit_code == 0
    assert recalled(home)[0].content == VIOLIN


@pytest.mark.slow
def test_what_is_exported_can_be_imported_and_found(home, tmp_path):
    assert asked("export", tmp_path / "x", "--home", home)["memories"] == 1
    assert asked("import", tmp_path / "x", "--home", tmp_path / "new", "--trusted", "--yes")["new"] == 2
    asked("export", tmp_path / "y", "--home", tmp_path / "new")
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()
    (found,) = recalled(tmp_path / "new")
    assert (found.content, found.trust) == (VIOLIN, "agent")


@pytest.mark.slow
def test_an_import_is_untrusted_unless_one_says_otherwise(home, tmp_path):
    run("export", tmp_path / "x", "--home", home)
    done = run("import", tmp_path / "x", "--home", tmp_path / "new", "--yes")
    assert "into the namespace default, untrusted" in done.output
    assert recalled(tmp_path / "new")[0].trust == "untrusted"


def test_imported_memories_have_vectors_at_once(tmp_path):
    (tmp_path / "x").write_text('{"content": "We adopted a puppy."}\n')
    asked("import", tmp_path / "x", "--home", tmp_path / "new", "--yes")
    service = opened(tmp_path / "new")
    assert service.status(SCOPE).pending_vectors == 0
    service.close()


def test_one_namespace_can_be_exported(home, tmp_path):
    write(home, "The cello was sold.", namespace="work")
    assert asked("export", tmp_path / "x", "--home", home)["namespaces"] == ["default", "work"]
    assert asked("export", tmp_path / "y", "--home", home, "--namespace", "work")["memories"] == 1


def test_a_wrong_line_is_told_in_one_line(tmp_path):
    (tmp_path / "x").write_text('{"content": "a"}\n{"text": "b"}\n')
    done = run("import", tmp_path / "x", "--home", tmp_path / "new", "--yes")
    assert (done.exit_code, done.output.strip()) == (1, "line 2: content: is missing")


def test_a_file_is_replaced_only_by_force(home, tmp_path):
    (tmp_path / "x").write_text("precious")
    assert run("export", tmp_path / "x", "--home", home).exit_code == 1
    assert (tmp_path / "x").read_text() == "precious"
    assert run("export", tmp_path / "x", "--home", home, "--force").exit_code == 0
    assert (tmp_path / "x").read_bytes() != b"precious"


@pytest.mark.parametrize("command", ["export", "backup"])
def test_no_command_writes_among_the_stores_own_files(home, command):
    before = (home / "memory.duckdb").read_bytes()
    assert run(command, home / "memory.duckdb", "--home", home, "--force").exit_code == 1
    assert (home / "memory.duckdb").read_bytes() == before


def test_what_is_no_plain_file_is_not_read(home):
    assert run("import", "/dev/zero", "--home", home).exit_code == 1
    assert run("restore", "--yes", "/dev/zero", "--home", home).exit_code == 1
    assert recalled(home)[0].content == VIOLIN


def holding(home, words):
    return [file.name for file in home.rglob("*") if file.is_file() and words.encode() in file.read_bytes()]


@pytest.mark.slow
def test_a_purged_memory_is_gone_from_store_and_backups(home):
    (secret,) = write(home, "The safe opens with 4711-canary.")
    asked("backup", "--home", home)
    assert len(holding(home, "4711-canary")) == 2
    done = asked("purge", secret, "--home", home, "--yes")
    assert (done["memories"], done["rewritten"], done["removed"]) == (1, 1, 0)
    assert holding(home, "4711-canary") == []
    assert [one.content for one in recalled(home, "What opens the safe?")] == [VIOLIN]


@pytest.mark.slow
def test_purging_says_what_goes_and_asks(home):
    (secret,) = write(home, "The safe opens with 4711-canary.")
    done = run("purge", secret, "--home", home, input="n\n")
    assert done.exit_code == 1
    assert "memories: 1 (1 named, 0 older versions, 0 made from them)" in done.output
    assert holding(home, "4711-canary") == ["memory.duckdb"]
    assert run("purge", secret, "--home", home, input="y\n").exit_code == 0
    assert holding(home, "4711-canary") == []


@pytest.mark.slow
def test_a_purge_takes_what_a_hook_could_not_tell_yet(home):
    conversations = Conversations(str(home))
    told = conversations.load("gemini", "s")
    told.waiting = [{"text": VIOLIN, "at": "2026-11-22T10:00:00Z"}]
    conversations.save(told)
    [known] = recalled(home)
    assert asked("purge", known.id, "--home", home, "--yes")["memories"] == 1
    assert conversations.load("gemini", "s").waiting == []


@pytest.mark.slow
def test_what_is_forgotten_a_session_or_a_namespace_can_be_purged(home):
    write(home, "The cello was sold.", namespace="work")
    assert run("purge", "--forgotten", "--home", home, "--yes").exit_code == 1
    assert asked("purge", "--session", "s", "--home", home, "--yes")["memories"] == 1
    assert asked("purge", "--all", "--namespace", "work", "--home", home, "--yes")["memories"] == 1
    assert holding(home, "cello") == holding(home, "violin") == holding(home, "work") == []


def test_a_purge_of_what_is_not_there_changes_nothing(home):
    done = run("purge", "absent", "--home", home, "--yes")
    assert (done.exit_code, "nothing was purged" in done.output) == (1, True)
    assert run("purge", "--home", home, "--yes").exit_code == 2
    assert recalled(home)[0].content == VIOLIN


WORD = "hunter2hunter2"
SECRET = f"The password of the attic is {WORD}."


def test_an_export_masks_secrets_unless_they_are_to_be_revealed(home, tmp_path):
    write(home, SECRET)
    asked("export", tmp_path / "masked.jsonl", "--home", home)
    asked("export", tmp_path / "whole.jsonl", "--home", home, "--reveal")
    masked, whole = ((tmp_path / name).read_text() for name in ("masked.jsonl", "whole.jsonl"))
    assert (WORD in masked, WORD in whole) == (False, True)
    assert "[secret: password]" in masked


@pytest.mark.slow
@pytest.mark.parametrize("trusted", [(), ("--trusted",)])
def test_a_masked_export_comes_back_into_its_store_without_harm(home, tmp_path, trusted):
    write(home, SECRET)
    asked("export", tmp_path / "masked.jsonl", "--home", home)
    done = asked("import", tmp_path / "masked.jsonl", "--home", home, *trusted, "--yes")
    assert done["new"] == 0
    assert WORD in run("recall", "attic password", "--home", home, "--reveal").output


@pytest.mark.slow
def test_a_masked_export_is_a_sound_store_elsewhere(home, tmp_path):
    write(home, SECRET)
    asked("export", tmp_path / "masked.jsonl", "--home", home)
    asked("import", tmp_path / "masked.jsonl", "--home", tmp_path / "new", "--trusted", "--yes")
    assert asked("doctor", "--home", tmp_path / "new")["sound"]


@pytest.mark.slow
def test_recall_masks_secrets_unless_they_are_to_be_revealed(home):
    write(home, SECRET)
    shown, whole = (run("recall", "attic password", "--home", home, *more).output for more in ((), ("--reveal",)))
    assert (WORD in shown, WORD in whole) == (False, True)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "told"), [("warn", 1), ("mask", 1), ("off", 0)])
def test_an_import_tells_how_many_lines_held_a_secret(home, tmp_path, mode, told):
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(json.dumps({"content": one}) + "\n" for one in (SECRET, "The harp is in the hall.")))
    (home / "config.toml").write_text(f'secrets = "{mode}"\n')
    assert asked("import", file, "--home", home, "--yes")["secrets"] == told
    whole = run("recall", "attic password", "--home", home, "--reveal").output
    assert (WORD in whole) == (mode != "mask")


def test_an_import_can_be_refused_for_a_secret(home, tmp_path):
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(json.dumps({"content": one}) + "\n" for one in ("The harp is in the hall.", SECRET)))
    (home / "config.toml").write_text('secrets = "refuse"\n')
    done = run("import", file, "--home", home, "--yes")
    assert (done.exit_code, "line 2" in done.output, WORD in done.output) == (1, True, False)


@pytest.mark.slow
def test_redact_takes_a_secret_out_after_asking(home):
    (written,) = write(home, SECRET)
    shown = run("redact", written, "--home", home, input="n\n")
    assert (shown.exit_code, "password" in shown.output, WORD in shown.output) == (1, True, False)
    done = asked("redact", written, "--home", home, "--yes")
    assert (done["memories"], done["kinds"]) == (1, ["password"])
    whole = run("recall", "attic password", "--home", home, "--reveal").output
    assert ("[secret: password]" in whole, WORD in whole) == (True, False)
    assert asked("doctor", "--home", home)["sound"]


@pytest.mark.slow
def test_redact_takes_out_what_a_person_says_without_showing_it(home):
    (written,) = write(home, "The alarm answers to Rumpelstiltskin")
    refused = run("redact", written, "--home", home, "--yes")
    assert (refused.exit_code, "--words" in refused.output) == (1, True)
    done = run("redact", written, "--home", home, "--yes", "--words", input="Rumpelstiltskin\n")
    assert (done.exit_code, "Rumpelstiltskin" in done.output) == (0, False)
    assert recalled(home, "What does the alarm answer to?")[0].content == "The alarm answers to [secret: redacted]"


@pytest.mark.slow
def test_history_shows_a_memorys_life(home):
    (written,) = write(home, SECRET)
    shown, whole = (run("show", "--history", written, "--home", home, *more) for more in ((), ("--reveal",)))
    assert (WORD in shown.output, WORD in whole.output) == (False, True)
    assert "remember" in shown.output
    told = asked("show", "--history", written, "--home", home)
    assert [event["action"] for event in told["events"]] == ["remember"]
    assert told["versions"][0]["content"] == "The password of the attic is [secret: password]."


@pytest.mark.slow
def test_what_was_purged_has_a_history(home):
    (written,) = write(home, SECRET)
    asked("purge", written, "--home", home, "--yes")
    told = asked("show", "--history", written, "--home", home)
    assert (told["versions"], told["events"][-1]["note"]) == ([], "erased for good")
    assert "purged" in run("show", "--history", written, "--home", home).output


def test_a_history_of_nothing_is_refused(home):
    done = run("show", "--history", "nobody", "--home", home)
    assert (done.exit_code, "no such memory" in done.output) == (1, True)


@pytest.mark.slow
def test_purging_and_redacting_go_by_the_beginnings_of_ids_too(home):
    key, gone = write(home, "The key is sk-ant-api03-" + "a1B2c3D4e5" * 9 + "a1B-AA", "The cello was sold.")
    assert run("purge", key[:6], "--home", home, "--yes").exit_code == 1  # it begins both
    assert asked("redact", key[:18], "--home", home, "--yes")["memories"] == 1
    assert asked("purge", gone[:18], "--home", home, "--yes")["memories"] == 1
