"""Two git repositories without a marker: over real hooks, servers and git, none sees the other's words."""

import json
import subprocess

import pytest
from tests.server.hooks.hooking import NAMES, Talk, environment, run_hook
from tests.server.hubs import short_folder
from tests.server.raw import started

from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.projects import MARKER

pytestmark = pytest.mark.slow

CUSTOMERS = "We decided to use Oracle for the Contoso ledger."
BLOGS = "We decided to use Hugo for the weblog."
PERSONAL = "My sister Maria is allergic to peanuts."
CLIENTS = ("claude-code", "codex", "gemini", "cursor")


def git(folder, *arguments):
    names = ("-c", "user.name=A", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *names, *arguments], check=True, capture_output=True)


@pytest.fixture
def home():
    """A store in a person's home folder, with a hub that a client keeps alive."""
    with short_folder() as folder:
        folder.parent.mkdir(exist_ok=True)
        with started(folder, alone=False, folder=folder.parent) as client:
            client.initialize()
            client.call(1, "read_memories")
            yield folder
        stop_hub(folder)


@pytest.fixture
def repositories(home):
    found = [home.parent / name for name in ("contoso", "blog")]
    for folder in found:
        (folder / "src").mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return found


class Conversation:
    """A conversation as each client holds it: the event's folder, and a transcript whose lines tell a folder where theirs do."""

    def __init__(self, home, client, session, folder):
        self.home, self.client, self.session, self.folder = home, client, session, folder
        self.transcript = home.parent / f"{session}.jsonl"

    def cd(self, folder):
        self.folder = folder
        return self

    def say(self, text):
        if self.client == "codex":
            payload = {"type": "user_message", "message": text, "kind": "plain"}
            line = {"type": "event_msg", "cwd": str(self.folder), "payload": payload}
        elif self.client == "gemini":
            line = {"type": "user", "content": text, "cwd": str(self.folder)}
        elif self.client == "cursor":
            line = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}, "cwd": str(self.folder)}
        else:
            line = {"type": "user", "message": {"role": "user", "content": text}, "cwd": str(self.folder)}
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return self

    def hook(self, event, **more):
        where = {"workspace_roots": [str(self.folder)]} if self.client == "cursor" else {"cwd": str(self.folder)}
        name = NAMES.get(event, "SessionEnd")
        given = {"session_id": self.session, "transcript_path": str(self.transcript), "hook_event_name": name}
        return run_hook(self.home, event, self.client, given | where | more).decode()

    def start(self, source="startup"):
        return self.hook("session-start", source=source)


def brief(home, folder, session, client="claude-code"):
    return Conversation(home, client, session, folder).start()


def of_every_client(*cases):
    """Return every client with every case; all but those of the first client run daily."""
    return [
        pytest.param(client, case, marks=[] if client == CLIENTS[0] else [pytest.mark.daily])
        for client in CLIENTS
        for case in cases
    ]


@pytest.mark.parametrize("client", [CLIENTS[0], *(pytest.param(one, marks=pytest.mark.daily) for one in CLIENTS[1:])])
def test_what_is_said_in_one_repository_is_not_in_the_brief_of_another(home, repositories, client):
    contoso, blog = repositories
    talk = Conversation(home, client, "first", contoso / "src")
    talk.start()
    talk.say(CUSTOMERS).say(PERSONAL).hook("stop")
    seen = {
        folder: [word in brief(home, folder, f"in-{folder.name}", client) for word in ("Oracle", "Maria")]
        for folder in (contoso, blog, home.parent)
    }
    assert seen == {contoso: [True, True], blog: [False, True], home.parent: [False, True]}


def test_all_assistants_of_one_repository_share_it_from_any_folder_and_worktree(home, repositories):
    contoso, _ = repositories
    elsewhere = home.parent / "elsewhere"
    git(contoso, "worktree", "add", "-q", str(elsewhere))
    for client, folder in zip(CLIENTS, (contoso, contoso / "src", elsewhere, elsewhere), strict=True):
        Conversation(home, client, f"by-{client}", folder).say(f"We decided to use {client} for the reviews.").hook(
            "stop"
        )
    seen = [brief(home, folder, f"of-{number}") for number, folder in enumerate((contoso / "src", elsewhere))]
    assert [[client in one for client in CLIENTS] for one in seen] == [[True] * len(CLIENTS)] * 2


def test_a_server_of_another_repository_finds_none_of_its_memories_by_any_tool(home, repositories):
    contoso, blog = repositories
    where = {"CLAUDE_PROJECT_DIR": "", "HYBRID_MEMORY_PROJECT": "", "HOME": str(home.parent)}
    with started(home, alone=False, folder=contoso, environment=where) as raw:
        raw.initialize()
        kept = raw.call(1, "write_memory", content=CUSTOMERS)["structuredContent"]
        mine = raw.call(2, "write_memory", content="The user's sister Maria is allergic to peanuts")[
            "structuredContent"
        ]
    assert kept["namespace"].startswith("project:contoso-")
    assert mine["namespace"] == "default"
    with started(home, alone=False, folder=blog, environment=where) as raw:
        raw.initialize()
        answers = [
            raw.call(1, "read_memories", query="Which database for the Contoso ledger?"),
            raw.call(2, "read_memories"),
            raw.call(3, "read_memories", ids=[kept["id"]]),
            raw.call(4, "reflect"),
            raw.call(5, "update_memory", id=kept["id"], content="We use MySQL"),
            raw.call(6, "forget_memories", ids=[kept["id"]]),
            raw.call(7, "write_memory", content="We decided to use MySQL for the Contoso ledger."),
        ]
        assert "Maria" in json.dumps(answers[1])
    assert "Oracle" not in json.dumps(answers)


@pytest.mark.parametrize(("client", "event"), of_every_client("prompt", "stop", "pre-compact", "session-end"))
def test_a_conversation_that_goes_to_another_folder_stays_where_it_began(home, repositories, client, event):
    contoso, blog = repositories
    talk = Conversation(home, client, "first", contoso)
    talk.start()
    talk.cd(blog)
    if event == "prompt":
        talk.hook("prompt", prompt=CUSTOMERS)
    else:
        talk.say(CUSTOMERS).hook(event)
    seen = ["Oracle" in brief(home, folder, f"in-{folder.name}") for folder in (contoso, blog, home.parent)]
    assert seen == [True, False, False]


@pytest.mark.parametrize(("client", "switch"), of_every_client("off = true", "read_only = true"))
def test_no_cd_gets_past_the_switches_of_the_folder_where_a_conversation_began(home, repositories, client, switch):
    contoso, blog = repositories
    (contoso / MARKER).write_text(switch + "\n")
    talk = Conversation(home, client, "first", contoso)
    talk.start()
    talk.cd(blog).say(CUSTOMERS).hook("stop")
    talk.cd(home.parent).say(BLOGS).hook("session-end")
    (contoso / MARKER).unlink()
    seen = [brief(home, folder, f"in-{folder.name}") for folder in (contoso, blog, home.parent)]
    assert not any("Oracle" in one or "Hugo" in one for one in seen)


@pytest.mark.daily
@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_where_hooks_come_late_the_transcript_says_where_a_conversation_began(home, repositories, client):
    contoso, blog = repositories
    talk = Conversation(home, client, "first", contoso).say("Please fix the test.")
    talk.cd(blog).say(CUSTOMERS).hook("stop")
    seen = ["Oracle" in brief(home, folder, f"in-{folder.name}") for folder in (contoso, blog, home.parent)]
    assert seen == [True, False, False]


@pytest.mark.daily
def test_a_conversation_that_is_resumed_elsewhere_stays_where_it_began(home, repositories):
    contoso, blog = repositories
    talk = Conversation(home, "codex", "first", contoso)
    talk.start()
    talk.cd(blog).start("resume")
    talk.say(CUSTOMERS).hook("stop")
    seen = ["Oracle" in brief(home, folder, f"in-{folder.name}") for folder in (contoso, blog)]
    assert seen == [True, False]


@pytest.mark.daily
def test_the_next_conversation_of_a_client_that_names_none_begins_in_its_own_folder(home, repositories):
    contoso, blog = repositories
    Conversation(home, "gemini", "", contoso).start()
    talk = Conversation(home, "gemini", "", blog)
    talk.start()
    talk.say(BLOGS).hook("stop")
    seen = ["Hugo" in brief(home, folder, f"in-{folder.name}") for folder in (contoso, blog)]
    assert seen == [False, True]


@pytest.mark.daily
def test_words_that_wait_for_a_hub_are_the_repositorys_though_its_folder_is_gone(home, repositories):
    contoso, blog = repositories
    stop_hub(home)
    talk = Conversation(home, "gemini", "first", contoso)
    talk.hook("prompt", prompt=CUSTOMERS)
    contoso.rename(home.parent / "renamed")
    talk.cd(blog).hook("session-end")
    seen = ["Oracle" in brief(home, folder, f"in-{folder.name}") for folder in (blog, home.parent)]
    (home.parent / "renamed").rename(contoso)
    assert [*seen, "Oracle" in brief(home, contoso, "back")] == [False, False, True]


@pytest.mark.daily
def test_a_repository_that_is_deleted_during_a_conversation_keeps_its_words_to_itself(home, repositories):
    contoso, blog = repositories
    talk = Talk(home, "first", folder=contoso)
    talk.start()
    contoso.rename(home.parent / "gone")
    talk.say(CUSTOMERS).hook("stop")
    assert not any("Oracle" in brief(home, folder, f"in-{folder.name}") for folder in (blog, home.parent))


def test_with_the_project_switched_off_all_repositories_share_one_memory(home, repositories):
    contoso, blog = repositories
    off = environment(home, HYBRID_MEMORY_PROJECT="off")
    talk = Talk(home, "first", folder=contoso, variables=off)
    talk.start()
    talk.say(CUSTOMERS).hook("stop")
    assert "Oracle" in Talk(home, "second", folder=blog, variables=off).start()
