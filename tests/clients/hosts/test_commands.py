"""What failed in one conversation is told at the same command in the next one, by the real assistants."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.clients.hosts import life
from tests.clients.hosts.fake_model import Reply
from tests.clients.hosts.hosts import HOSTS
from tests.clients.hosts.machine import machine_with

CLAUDE, CODEX, GEMINI = HOSTS[:3]
FAILS = "npm-not-there install lodash"
WORKS = "./pnpm-like install lodash"
# Nobody allowed the first to Claude Code, and the sandbox of Codex is read-only.
NOT_ALLOWED = {
    "claude-code": "npm-not-there install express",
    "codex": "npm-not-there install express > made.txt",
    "gemini": FAILS,
}
REFUSALS = ("requires approval", "Read-only file system")
STILL_HERE = Reply("Still here.")
SUMMARY = Reply("<summary>They spoke of nothing but the weather.</summary>")
LESSON = f"`{WORKS}` worked instead"
DECISION = "We decided to use PostgreSQL for the billing service."
TASK = "Look at the login."
REPORT = "The login is in src/auth/login.ts."
MOST_LOOKS = 20  # at the store, each of which takes a second


def in_repository(machine):
    subprocess.run(["git", "init", "--quiet", str(machine.project)], check=True)
    script = machine.project / WORKS.partition(" ")[0]
    script.write_text("#!/bin/sh\necho installed $2\n")
    script.chmod(0o755)
    machine.install()
    machine.say(DECISION)
    return machine


def once_kept(machine, words):
    """Return a model's last answer, for which it takes as long as hooks that run in the background, which end with Claude Code."""

    def answer(_):
        listed = (machine.command("list", "--kind", "episode").stdout for _ in range(MOST_LOOKS))
        return Reply("It was kept." if any(words in one for one in listed) else "Nothing was kept.")

    return answer


@pytest.fixture(scope="module", params=[CLAUDE, CODEX, GEMINI], ids=lambda host: host.name)
def at_work(request):
    """What was said in a repository on Monday, on Tuesday, with a command that is not allowed, and with a broken store."""
    # Not below /dev, where pytest may have its files: in the sandbox of Codex there is another one.
    made = tempfile.TemporaryDirectory(prefix="hm-", dir="/tmp", ignore_cleanup_errors=True)
    with made as folder, machine_with(request.param, Path(folder)) as machine:
        in_repository(machine)

        def run(*lines, last=STILL_HERE):
            return machine.say("Please install it.", *map(request.param.shell_call, lines), last)

        monday = run(FAILS, WORKS, last=once_kept(machine, LESSON))
        tuesday, not_allowed = run(FAILS), run(NOT_ALLOWED[request.param.name])
        life.break_store(machine.store)
        yield request.param, {"monday": monday, "tuesday": tuesday, "not allowed": not_allowed, "broken": run(FAILS)}


def test_the_model_is_told_what_worked_instead_as_soon_as_it_calls_the_command_again(at_work):
    _, said = at_work
    told = [[LESSON in request.text for request in said[day].requests] for day in ("monday", "tuesday")]
    assert told == [[False] * 3, [False, True]]


def test_what_is_told_at_a_command_allows_nothing(at_work):
    host, said = at_work
    if host is GEMINI:
        pytest.skip("Gemini CLI is told after the command")
    text = said["not allowed"].requests[-1].text
    assert (LESSON in text, any(refusal in text for refusal in REFUSALS)) == (True, True)


def test_commands_run_as_before_where_the_store_is_broken(at_work):
    broken = at_work[1]["broken"]
    text = broken.requests[-1].text
    assert (broken.exit_code, "npm-not-there: command not found" in text, LESSON in text) == (0, True, False)


def ask_of_claude_code():
    task = {"description": "Look", "prompt": TASK, "subagent_type": "Explore", "run_in_background": False}
    return [Reply(tool="Agent", arguments=task), Reply(REPORT)]


def ask_of_codex():
    def answer(request):
        return Reply(REPORT) if f'"text": "{TASK}"' in request.text else None

    def wait(request):
        agent = re.search(r'agent_id\\*": *\\*"([0-9a-f-]+)', request.text)
        return Reply(tool="wait_agent", arguments={"targets": [agent[1]]}) if agent else None

    return [Reply(tool="spawn_agent", arguments={"message": TASK, "agent_type": "explorer"}), answer, wait]


@pytest.mark.parametrize(
    ("host", "ask"), [(CLAUDE, ask_of_claude_code), (CODEX, ask_of_codex)], ids=[CLAUDE.name, CODEX.name]
)
def test_an_agent_that_the_assistant_starts_gets_the_brief_and_its_report_is_kept(host, ask, folder):
    with machine_with(host, folder) as machine:
        in_repository(machine)
        said = machine.say("Please ask an agent.", *ask(), once_kept(machine, REPORT))
        (of_agent,) = [request for request in said.requests if f'"text": "{TASK}' in request.text]
        assert "use PostgreSQL for the billing service" in of_agent.text
        assert "It was kept." in said.output


def test_after_a_compaction_of_claude_code_the_brief_begins_with_the_conversation_and_no_summary_is_kept(folder):
    with machine_with(CLAUDE, folder) as machine:
        in_repository(machine).say("/compact", SUMMARY, SUMMARY, goes_on=True)
        brief = machine.say(life.GREETING, goes_on=True).first.text.partition("this conversation:")[2]
        listed = machine.command("list", "--all").stdout
        assert ["use PostgreSQL" in text for text in (brief, listed)] == [True, True]
        assert SUMMARY.text not in listed
