"""`project init`, `project show`, and what `status` and `recall` make of the folder they are typed in."""

import json

import pytest
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.hooks.state import Conversations
from hybrid_memory_mcp.projects import MARKER


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in a home folder, in which the commands are typed."""
    made = tmp_path.resolve() / "home" / "acme"
    made.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made.parent))
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def store(tmp_path):
    service = MemoryService.open(tmp_path / "store", clock=SystemClock(), random_source=SystemRandomSource())
    service.write(Scope(session="s"), WriteRequest(content="The violin is in the attic"))
    acme = Scope(session="s", namespace="project:acme", personal="default")
    service.write(acme, WriteRequest(content="The violin concert of Acme is in May"))
    service.close()
    return tmp_path / "store"


def test_init_makes_the_folder_a_project_under_its_name(folder):
    assert "project acme" in run("project", "init").output
    assert json.loads(run("project", "show", "--json").output)["project"] == "acme"


@pytest.mark.parametrize("name", ["web shop", "süß.1", "日本"])
def test_what_init_writes_is_read_as_it_was_named(folder, name):
    assert run("project", "init", name).exit_code == 0
    assert json.loads(run("project", "show", "--json").output)["project"] == name


def test_init_writes_the_switches(folder):
    assert run("project", "init", "--read-only").exit_code == 0
    shown = json.loads(run("project", "show", "--json").output)
    assert (shown["read_only"], shown["writes_to"]) == (True, None)
    (folder / MARKER).unlink()
    assert run("project", "init", "--off").exit_code == 0
    assert "switched off" in run("project", "show").output


def test_init_replaces_nothing(folder):
    (folder / MARKER).write_text('namespace = "mine"\n')
    assert run("project", "init", "other").exit_code == 1
    assert (folder / MARKER).read_text() == 'namespace = "mine"\n'


def test_init_makes_no_project_of_the_home_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert "home folder" in run("project", "init", "all").output
    assert not (folder.parent / MARKER).exists()


def test_init_refuses_what_is_no_name(folder):
    assert run("project", "init", "../x").exit_code == 1
    assert not (folder / MARKER).exists()


def test_show_says_what_is_wrong_with_a_marker(folder):
    (folder / MARKER).write_text("of = true\n")
    assert "not known, of" in run("project", "show").output


@pytest.mark.slow
def test_status_shows_the_person_the_project_and_why(folder, store):
    without = json.loads(run("status", "--home", store, "--json").output)
    assert (without["project"]["project"], without["project"]["person"]) == (None, "default")
    run("project", "init")
    status = json.loads(run("status", "--home", store, "--json").output)["project"]
    assert (status["project"], status["writes_to"], status["memories"]) == ("acme", "project:acme", 1)
    assert (status["marker"], status["why"]) == (str(folder), "the marker of the working folder")
    shown = run("status", "--home", store).output
    assert "project: acme (the marker of the working folder" in shown
    assert "memories: 2, 1 of them of this project" in shown


@pytest.mark.slow
def test_recall_reads_as_an_assistant_in_this_folder_does(folder, store):
    assert "concert" not in run("recall", "violin", "--home", store).output
    run("project", "init")
    assert {"concert", "attic"} <= set(run("recall", "violin", "--home", store).output.split())
    assert "concert" not in run("recall", "violin", "--home", store, "--namespace", "default").output


def test_an_export_of_a_project_holds_nothing_of_the_person(folder, store, tmp_path):
    file = tmp_path / "acme.jsonl"
    assert run("export", file, "--home", store, "--namespace", "project:acme").exit_code == 0
    assert "concert" in file.read_text()
    assert "attic" not in file.read_text()


@pytest.mark.parametrize("name", ["Mein Proj! 2", "app (copy)", "auto", "off"])
def test_init_in_a_folder_whose_name_is_no_projects_asks_for_one(folder, monkeypatch, name):
    (folder / name).mkdir()
    monkeypatch.chdir(folder / name)
    refused = run("project", "init")
    assert refused.exit_code == 1
    assert "say one, as in hybrid-memory-mcp project init acme" in refused.output
    assert run("project", "init", "acme").exit_code == 0


@pytest.mark.slow
def test_status_counts_what_the_project_has_beside_the_persons(folder, store):
    run("project", "init")
    assert json.loads(run("status", "--home", store, "--json").output)["project"]["insights"] == 0


@pytest.mark.slow
def test_commands_on_ids_find_the_projects_memory_or_say_where_it_may_be(folder, store):
    run("project", "init")
    service = MemoryService.open(store, clock=SystemClock(), random_source=SystemRandomSource())
    scope = Scope(session="s", namespace="project:acme")
    one = service.write(scope, WriteRequest(content="The password is in the drawer")).id
    service.close()
    assert "The password is in the drawer" in run("show", "--history", one, "--home", store).output
    for command in ("purge", "redact"):
        refused = run(command, one, "--home", store, "--yes")
        assert refused.exit_code == 1
        assert '--namespace "project:acme"' in refused.output
    assert run("purge", one, "--home", store, "--yes", "--namespace", "project:acme").exit_code == 0


def test_an_id_that_is_nowhere_is_told_as_ever(folder, store):
    assert "no such memory" in run("show", "--history", "06h07j46z6f6g21n6xj5", "--home", store).output


@pytest.mark.parametrize("namespace", ["project:../x", "project:", "project:acme@", "project:a/b@bo"])
def test_a_token_is_for_no_namespace_that_only_looks_like_a_projects(folder, tmp_path, namespace):
    refused = run("token", "create", "phone", "--home", tmp_path, "--namespace", namespace)
    assert refused.exit_code == 1
    assert "project:acme" in refused.output


# --- adopt --------------------------------------------------------------------------------------------------------------

OF_ACME = "We decided to use Kafka for the event bus"


@pytest.fixture
def told_here(folder, tmp_path):
    """A store of before the folder was a project: two statements were told in it, one elsewhere."""
    home = tmp_path / "store"
    (folder / ".git").mkdir()
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    for session, content in (
        ("codex:here", OF_ACME),
        ("codex:here", "My sister Maria is allergic to peanuts"),
        ("codex:elsewhere", "We decided to use Hugo"),
    ):
        service.write(Scope(session=session), WriteRequest(content=content, origin=Origin.USER))
    service.close()
    conversations = Conversations(str(home))
    for session, where in (("here", folder), ("elsewhere", folder.parent)):
        talk = conversations.load("codex", session)
        talk.folder = str(where)
        conversations.save(talk)
    return home


def contents(home, *options):
    found = json.loads(run("list", "--home", home, "--json", *options).output)["memories"]
    return sorted(one["content"] for one in found)


@pytest.mark.slow
def test_adopt_moves_what_was_told_here_and_is_not_about_the_person(told_here, folder):
    assert json.loads(run("project", "adopt", "--home", told_here, "--yes", "--json").output)["count"] == 1
    name = json.loads(run("project", "show", "--json").output)["project"]
    assert contents(told_here, "--namespace", f"project:{name}") == [OF_ACME]
    assert OF_ACME not in contents(told_here, "--namespace", "default")
    assert OF_ACME in contents(told_here)  # both together, as assistants see it here


def test_adopt_shows_what_would_move_and_changes_nothing_without_a_yes(told_here):
    shown = run("project", "adopt", "--home", told_here)
    assert shown.exit_code == 2  # nobody answers
    assert OF_ACME in shown.output
    assert "Hugo" not in shown.output
    assert OF_ACME in contents(told_here, "--namespace", "default")


@pytest.mark.slow
def test_undo_moves_adopted_memories_back(told_here):
    before = contents(told_here, "--namespace", "default")
    run("project", "adopt", "--home", told_here, "--yes")
    assert run("undo", "--home", told_here).exit_code == 0
    assert contents(told_here, "--namespace", "default") == before
    assert contents(told_here) == before


@pytest.mark.slow
def test_what_was_adopted_is_not_undone_in_another_project(told_here, folder, monkeypatch):
    run("project", "adopt", "--home", told_here, "--yes")
    other = folder.parent / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    assert run("undo", "--home", told_here).exit_code == 1
    assert OF_ACME not in contents(told_here, "--namespace", "default")


def test_adopt_takes_memories_that_are_named(told_here):
    hugo = next(
        one["id"]
        for one in json.loads(run("list", "--home", told_here, "--json").output)["memories"]
        if "Hugo" in one["content"]
    )
    done = json.loads(run("project", "adopt", hugo, "--home", told_here, "--yes", "--json").output)
    assert [one["content"] for one in done["memories"]] == ["We decided to use Hugo"]
    assert done["memories"][0]["origin"] == "user"


def test_adopt_outside_of_a_project_says_so(folder, store):
    done = run("project", "adopt", "--home", store, "--yes")
    assert (done.exit_code, "is in no project" in done.output) == (1, True)
