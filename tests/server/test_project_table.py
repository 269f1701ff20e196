"""Who sees what: real processes in repositories and folders with and without markers, over one store, as docs/projects.md shows it."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.server.raw import started

from hybrid_memory_mcp.projects import MARKER

PAGE = Path(__file__).parents[2] / "docs" / "projects.md"
FACTS = {
    "the person's": "Ada likes green tea",
    "acme's": "Acme uses Postgres",
    "other's": "Other ships on Friday",
    "web's": "The web shop uses Svelte",
    "of `--namespace bo`": "Bo plays the violin",
}
MARKERS = {
    "acme": 'namespace = "acme"',
    "other": 'namespace = "other"',
    "off": "off = true",
    "readonly": 'namespace = "acme"\nread_only = true',
    "broken": 'namspace = "acme"',
    "marked": 'namespace = "acme"',
    "default": 'namespace = "default"',
    "bo": 'namespace = "bo"',
    "up": 'namespace = "../acme"',
    "long": f'namespace = "{"x" * 10_000}"',
}
REPOSITORIES = ("web", "blog", "marked")
ROWS = (
    ("no git and no marker", "plain", (), None),
    ("the git repository `web`", "web", (), None),
    ("a folder within it, or another worktree", "web/src/deep", (), None),
    ("the git repository `blog`", "blog", (), None),
    ("the git repository `web`, `--project off`", "web", ("--project", "off"), None),
    ('a git repository with `namespace = "acme"`', "marked", (), None),
    ("the git repository `web`, `--namespace project:acme`", "web", ("--namespace", "project:acme"), None),
    ("no marker, the first root is the git repository `web`", "plain", (), "web"),
    ('`namespace = "acme"`', "acme", (), None),
    ("a folder below that", "acme/src/deep", (), None),
    ('`namespace = "other"`', "other", (), None),
    ("no marker, `--project acme`", "plain", ("--project", "acme"), None),
    ('`namespace = "acme"`, `--project off`', "acme", ("--project", "off"), None),
    ('no marker, the first root has `namespace = "acme"`', "plain", (), "acme"),
    ('`namespace = "other"`, the first root has `namespace = "acme"`', "other", (), "acme"),
    ('`namespace = "acme"` and `read_only = true`', "readonly", (), None),
    ("`off = true`", "off", (), None),
    ('a slip: `namspace = "acme"`', "broken", (), None),
    ('`namespace = "default"`', "default", (), None),
    ('`namespace = "bo"`, as another person is called', "bo", (), None),
    ('`namespace = "../acme"`', "up", (), None),
    ("a name of 10,000 characters", "long", (), None),
    ('`namespace = "acme"`, `--namespace bo`', "acme", ("--namespace", "bo"), None),
)


@pytest.fixture
def home(tmp_path):
    folder = tmp_path.resolve() / "home"
    (folder / "plain").mkdir(parents=True)
    for name in ("acme", "web"):
        (folder / name / "src" / "deep").mkdir(parents=True)
    for name in REPOSITORIES:
        subprocess.run(["git", "init", "-q", str(folder / name)], check=True)
    for name, text in MARKERS.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / MARKER).write_text(text + "\n")
    return folder


class Client:
    """A client in a folder, which tells its roots when it is asked."""

    def __init__(self, raw, root=None):
        self._raw = raw
        self._number = 0
        raw.initialize(capabilities={} if root is None else {"roots": {"listChanged": True}})
        if root is not None:
            asked = raw.receive()
            assert asked["method"] == "roots/list"
            roots = [{"uri": root.as_uri()}]
            raw.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})

    def call(self, name, **arguments):
        self._number += 1
        return self._raw.call(self._number, name, **arguments)

    def write(self, content, **more):
        answer = self.call("write_memory", content=content, **more)
        if answer["isError"]:
            return "nowhere"
        return answer["structuredContent"].get("namespace", "default")

    def seen(self):
        """Return what a brief shows, by whose it is; None where reading is refused."""
        answer = self.call("read_memories", limit=100, token_budget=20_000)
        if answer["isError"]:
            return None
        texts = [one["text"] for one in answer["structuredContent"]["memories"]]
        return [whose for whose, fact in FACTS.items() if fact in texts]


@pytest.mark.daily
@pytest.mark.slow
def test_the_page_shows_who_sees_what(home, tmp_path):
    store = tmp_path / "store"
    environment = {"HOME": str(home), "HYBRID_MEMORY_PROJECT": "", "CLAUDE_PROJECT_DIR": ""}

    def client(folder, *arguments):
        return started(store, *arguments, alone=False, folder=home / folder, environment=environment)

    lines = ["| a client in a folder with | sees | what it writes goes to |", "| --- | --- | --- |"]
    with client("plain") as stays:  # so that one hub serves all
        assert Client(stays).write(FACTS["the person's"]) == "default"
        for folder, whose in (("acme", "acme's"), ("other", "other's")):
            with client(folder) as raw:
                assert Client(raw).write(FACTS[whose]) == f"project:{folder}"
        with client("web") as raw:
            assert Client(raw).write(FACTS["web's"]).startswith("project:web-")
        with client("plain", "--namespace", "bo") as raw:
            assert Client(raw).write(FACTS["of `--namespace bo`"]) == "bo"
        for said, folder, arguments, root in ROWS:
            with client(folder, *arguments) as raw:
                one = Client(raw, None if root is None else home / root)
                seen = one.seen()
                told = "nothing: reading is refused" if seen is None else ", ".join(seen) or "nothing"
                written = re.sub(r"-[0-9a-f]{16}$", "-...", one.write(f"a note of {said}"))
                lines.append(f"| {said} | {told} | {written if written == 'nowhere' else f'`{written}`'} |")
    table = "\n".join(lines)
    assert table in PAGE.read_text(encoding="utf-8"), table
