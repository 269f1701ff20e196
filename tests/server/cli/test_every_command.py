"""Every command, alongside a live client and without one, used rightly and wrongly, for a person and with ``--json``.

The commands are those of the program itself: one without a row in `ROWS` fails.
"""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
import typer
from tests.server.hubs import short_folder
from tests.server.raw import started
from tests.tables import each
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.__main__ import role_of
from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.cli.commands import app

VIOLIN = "The violin is in the attic"
PIANO = "The piano is in the hall"  # which no row takes away
PASSWORD = "The password of the router is: hunter2-Xyz-4711"  # noqa: S105 - made up, to be redacted


@dataclass(frozen=True)
class Row:
    """A command's uses. ``right`` and ``wrong`` follow its name; ``{id}`` and such are of `Place`.

    ``shows`` is in what a person sees of the right use. The wrong one ends with ``exit_code``, and JSON names ``error``.
    """

    right: str
    shows: str
    wrong: str
    exit_code: int = 2
    error: str = "usage"


@dataclass(frozen=True)
class Apart:
    """A command that is a program of its own, or prints what is no JSON: where it is tested, and a use of it that is wrong."""

    tested_in: str
    wrong: str


ROWS: dict[str, Row | Apart] = {
    "install": Row("cursor --dry-run", "cursor", "no-such-client"),
    "recall": Row("'Where is the piano?'", PIANO, "violin --limit 0"),
    "inspect search": Row(
        "'Where is the piano?'", PIANO, "'Where is the piano?' --since 'no such day'", 1, "invalid_input"
    ),
    "inspect timeline": Row("--limit 200", PIANO, "--by nothing"),
    "inspect tiers": Row("", PIANO, "--namespace ''", 1, "invalid_input"),
    "remember": Row("Ada likes tea", "Ada likes tea", "''", 1, "invalid_input"),
    "list": Row("--limit 1000", PIANO, "--forgotten --all"),
    "show": Row("{id}", VIOLIN, "absent", 1, "not_found"),
    "correct": Row("{id} 'The violin was sold'", "The violin was sold", "absent 'It was sold'", 1, "not_found"),
    "forget": Row("{id}", VIOLIN, "absent", 1, "not_found"),
    "pin": Row("{id}", VIOLIN, "absent", 1, "not_found"),
    "merge": Row("{id} {other} --text 'All instruments'", "All instruments", "{id} --text alone", 1, "invalid_input"),
    "split": Row("{id} 'It is old' 'It is brown'", "It is brown", "{id} 'It is old'", 1, "invalid_input"),
    "undo": Row("{act}", "", "no-such-act", 1, "not_found"),
    "reflect": Row("--insights {insight}", "It is a quiet house", "--insights nothing-here.json"),
    "import": Row("{lines} --yes", "new: 1", "{new}", 1, "invalid_input"),
    "export": Row("{new}", "memories: ", "{folder}", 1, "invalid_input"),
    "sync": Row("{shared}", "sent: ", "{new}", 1, "invalid_input"),
    "status": Row("", "memories", "--namespace ''", 1, "invalid_input"),
    "doctor": Row("", "", "--no-such"),
    "eval": Row("{questions} --embedder static", "static\t1\t1\t0\t1\t", "{lines}", 1, "invalid_input"),
    "backup": Row("{new}", "checked: ", "{lines}", 1, "invalid_input"),
    "restore": Row("{backup} --yes", "memories: ", "{lines} --yes", 1, "store_damaged"),
    "postgres migrate": Apart("tests/postgres/test_migrate_folders.py", "nothing-here {folder}"),
    "purge": Row("{id} --yes", "gone for good: ", "absent --yes", 1, "not_found"),
    "redact": Row("{secret} --yes", "taken out of memories: ", "absent --yes", 1, "not_found"),
    "config": Row("", "keep_backups", "--no-such"),
    "config get": Row("keep_backups", "10", "no-such", 1, "invalid_input"),
    "config set": Row("episode_days 30", "episode_days = 30", "keep_backups 0"),
    "config unset": Row("episode_days", "episode_days = 90", "no-such"),
    "embedder list": Row("--here", "static", "--no-such"),
    "embedder status": Row("", "vectors of", "--no-such"),
    "embedder use": Row("static", "works on this machine", "no-such-model", 1, "invalid_input"),
    "project init": Row("acme", "This folder is project acme", "'a/b'", 1, "invalid_input"),
    "project adopt": Apart("tests/server/test_project_commands.py", "--no-such"),
    "project show": Row("", "no project", "--no-such"),
    "token create": Row("{unused} --expires 90d", "hmm_", "laptop --expires soon", 1, "invalid_input"),
    "token list": Row("", "", "--no-such"),
    "token revoke": Row("{token}", "is revoked", "nobody", 1, "invalid_input"),
    "postgres prepare": Apart("tests/postgres/test_prepare_command.py", "postgresql://localhost/memory"),
    "demo": Apart(
        "the command is a test itself: it checks each step and ends with 1 when one is not as promised", "--no-such"
    ),
    "inspect": Apart("tests/inspector/test_command.py", "--port nine"),
    "serve": Apart("tests/server/test_process.py", ""),
    "hook": Apart("tests/server/hooks/test_program.py", ""),
}


def commands(group=None, name=""):
    """All commands that the program knows, by the words that one types."""
    group = group or typer.main.get_command(app)
    for word, command in group.commands.items():
        inner = hasattr(command, "commands")
        if inner:
            yield from commands(command, f"{name}{word} ")
        if not inner or command.invoke_without_command:
            yield f"{name}{word}", command


GROUP = typer.main.get_command(app)
COMMANDS = dict(commands())
TRIED = [name for name, row in ROWS.items() if isinstance(row, Row)]


class Place:
    """A store with a few memories, and a folder with files for commands; ``write`` makes one more memory."""

    def __init__(self, home, folder, write):
        self.home, self.folder, self.write = home, folder, write
        self._numbers = count()

    def __getitem__(self, name):
        """What stands for a name in braces."""
        return str(getattr(self, f"make_{name}")())

    def make_folder(self):
        return self.folder

    def make_new(self):
        return self.folder / f"new-{next(self._numbers)}"

    def make_shared(self):
        path = self.make_new()
        path.mkdir()
        return path

    def make_id(self):
        return self.write(VIOLIN)

    def make_other(self):
        return self.write(f"The cello number {next(self._numbers)} was sold")

    def make_act(self):
        """The last act here, on a memory of its own: what another test did may be changed since."""
        self.run("pin", [self.make_other()])
        acts = json.loads(self.run("undo", ["--list", "--json"]).stdout).get("acts")
        return acts[0]["undo"] if acts else "no-act-without-a-store"

    def make_secret(self):
        return self.write(PASSWORD)

    def make_forgotten(self):
        made = self.make_id()
        self.run("forget", [made])
        return made

    def make_insight(self):
        path = self.make_new()
        path.write_text(json.dumps([{"text": "It is a quiet house", "evidence": [self.make_id()]}]))
        return path

    def make_lines(self):
        path = self.make_new()
        path.write_text(json.dumps({"content": f"The cello number {path} was sold"}) + "\n")
        return path

    def make_questions(self):
        return Path(__file__).parents[2] / "data" / "questions.jsonl"

    def make_backup(self):
        path = self.make_new()
        self.run("backup", [str(path)])
        return path

    def make_unused(self):
        return f"token-{next(self._numbers)}-{self.folder.parent.name}"

    def make_token(self):
        name = self.make_unused()
        self.run("token create", [name])
        return name

    def run(self, name, arguments):
        home = ["--home", str(self.home)] if any(one.name == "home" for one in COMMANDS[name].params) else []
        return CliRunner().invoke(app, [*name.split(), *arguments, *home])

    def use(self, name, words, *more):
        return self.run(name, [*(one.format_map(self) for one in shlex.split(words)), *more])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    home = tmp_path_factory.mktemp("prepared") / "home"
    _write(home, PIANO)
    return home


def _write(home, content):
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    try:
        return service.write(Scope(session="s"), WriteRequest(content=content)).id
    finally:
        service.close()


@pytest.fixture(scope="module")
def client(prepared):
    """A client that is connected all the time, with the hub that its relay has started."""
    with short_folder() as home:
        shutil.copytree(prepared, home)
        with started(home, alone=False, folder=home.parent) as client:  # away from folders that tests make projects of
            client.initialize()
            client.home = home
            client.numbers = count(1)
            yield client
        stop_hub(home)


@pytest.fixture(scope="module")
def lonely(prepared, tmp_path_factory):
    return shutil.copytree(prepared, tmp_path_factory.mktemp("lonely") / "home")


# These ask no hub, so that a client alongside them tells nothing more.
ASK_NO_HUB = {name for name in TRIED if name.split()[0] in {"install", "config", "project", "token"}} | {
    "embedder list"
}
PLACES = [(where, name) for name in TRIED for where in ("live", "alone") if where == "alone" or name not in ASK_NO_HUB]


@pytest.fixture(params=["live", "alone"])
def place(request, tmp_path, prepared, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "FASTEMBED_CACHE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    (tmp_path / "person").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    if request.param == "alone":
        home = request.getfixturevalue("lonely")
        return Place(home, tmp_path / "work", lambda content: _write(home, content))
    client = request.getfixturevalue("client")

    def write(content):
        done = client.call(next(client.numbers), "write_memory", content=content)
        return done["structuredContent"]["id"]

    return Place(client.home, tmp_path / "work", write)


def test_every_command_has_a_row_and_every_row_a_command():
    assert sorted(ROWS) == sorted(COMMANDS)


@each("name", sorted(COMMANDS.keys() - {"serve", "hook"}))  # clients write those
def test_options_may_stand_before_a_command(name):
    assert role_of(["--home", "folder", *name.split()]) == "commands"
    assert GROUP._command_first(["--json", *name.split(), "--yes"]) == [*name.split(), "--json", "--yes"]


def test_a_value_that_is_called_like_a_command_is_none():
    assert role_of(["--home", "status", "--namespace", "list"]) == "relay"


@each("name", COMMANDS)
def test_every_command_has_an_example_of_its_use_and_a_place_in_the_help(name):
    command = COMMANDS[name]
    assert f"hybrid-memory-mcp {name}" in command.epilog
    assert command.rich_help_panel or " " in name


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name"), PLACES, indirect=["place"])
def test_a_command_does_what_it_is_for_and_answers_with_one_json_value(place, name, monkeypatch):
    done = place.use(name, ROWS[name].right)
    assert done.exit_code == 0, done.output
    assert ROWS[name].shows in done.stdout
    assert not any(mark in done.stdout for mark in "│┃━")  # what is no terminal gets tabs
    monkeypatch.chdir(place["shared"])  # a folder is made a project once
    done = place.use(name, ROWS[name].right, "--json")
    assert done.exit_code == 0, done.output
    assert isinstance(json.loads(done.stdout), dict | list)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name"), PLACES, indirect=["place"])
def test_a_command_that_cannot_be_done_says_so_in_a_line_and_as_json(place, name):
    row = ROWS[name]
    done = place.use(name, row.wrong)
    assert (done.exit_code, done.stdout) == (row.exit_code, "")
    assert "Traceback" not in done.stderr
    said = place.use(name, row.wrong, "--json")
    error = json.loads(said.stdout)["error"]
    assert (said.exit_code, error["code"], error["exit_code"]) == (row.exit_code, row.error, row.exit_code)
    assert error["message"] in said.stderr.splitlines()
    assert len(done.stderr.splitlines()) == len(said.stderr.splitlines())


NEED_NO_STORE = {"remember", "sync", "import", "restore", "embedder list", "embedder use"}
ANSWER_WITHOUT_STORE = {  # and what they say then
    "status": "none yet",
    "list": "`remember` tells something",
    "recall": "nothing is remembered about this",
    "inspect search": "nothing is remembered about this",
    "inspect timeline": "nothing is remembered here yet",
    "inspect tiers": "there is no memory in",
    "reflect": "nothing is worth a thought yet",
    "doctor": "nothing is wrong",
}
WITH_STORE = [
    name
    for name in TRIED
    if any(one.name == "home" for one in COMMANDS[name].params)
    and name not in NEED_NO_STORE | ANSWER_WITHOUT_STORE.keys() | {"undo"}
    and not name.startswith(("config", "token"))
]


@pytest.mark.parametrize("name", WITH_STORE)
def test_a_command_that_finds_no_store_names_the_folder_and_makes_nothing(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Place(tmp_path / "nowhere", tmp_path, {VIOLIN: "06h082aa7p6hm85pxyqj"}.get)
    done = place.use(name, ROWS[name].right.replace("forgotten", "id"), "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["code"]) == (1, "store_missing")
    assert str(tmp_path / "nowhere") in error["message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ANSWER_WITHOUT_STORE, "undo"])
def test_before_the_first_memory_a_question_has_an_answer_and_nothing_is_made(name, place, tmp_path):
    empty = Place(tmp_path / "nowhere", tmp_path, None)
    words = "" if name in ("reflect", "undo") else ROWS[name].right
    done = empty.use(name, words)
    assert done.exit_code == 0, done.output
    assert ANSWER_WITHOUT_STORE.get(name, "there is nothing to undo") in done.output
    assert str(tmp_path / "nowhere") in done.output
    said = empty.use(name, words, "--json")
    assert said.exit_code == 0
    if name != "undo":  # whose answer is that of the act
        assert json.loads(said.stdout).keys() == json.loads(place.use(name, words, "--json").stdout).keys()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["--markdown", "--okf"])
def test_an_export_for_people_is_written_beside_a_client_and_without_one(place, form):
    folder = place["new"]
    done = place.use("export", f"{form} {folder}", "--json")
    assert (done.exit_code, json.loads(done.stdout)["memories"] > 0) == (0, True)
    assert any("piano" in path.name for path in Path(folder).rglob("*.md"))


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if isinstance(row, Apart)])
def test_what_is_tested_apart_is_there(name):
    where = ROWS[name].tested_in
    assert " " in where or (Path(__file__).parents[3] / where).is_file()
    assert CliRunner().invoke(app, [*name.split(), "--help"]).exit_code == 0
