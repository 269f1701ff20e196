"""A command that failed in one conversation is warned of in the next, at the command itself."""

import json

import pytest
from tests.server.hooks import hooking

from hybrid_memory.model import Kind, Origin, Scope
from hybrid_memory.requests import ListRequest, WriteRequest
from hybrid_memory_mcp.projects import project_namespace
from hybrid_memory_mcp.relay.repositories import project_name_of

pytestmark = pytest.mark.usefixtures("unhurried")


class Agent:
    """An agent at work in a repository: before and after each command its client runs our hooks."""

    def __init__(self, home, session, repository="shop", client="claude-code"):
        self.talk = hooking.Talk(home, session, client=client, folder=home.parent / repository, here=True)
        (self.talk.folder / ".git").mkdir(parents=True, exist_ok=True)

    def _hook(self, event, line, *arguments, **more):
        given = {"session_id": self.talk.session, "cwd": str(self.talk.folder), "tool_name": "Bash"}
        return self.talk.run(event, given | {"tool_input": {"command": line}} | more, *arguments)

    def before(self, line, *arguments):
        """Return what the model is told before a command."""
        said = self._hook("pre-tool", line, *arguments)
        return "" if said is None else said["hookSpecificOutput"]["additionalContext"]

    def fails(self, line, error="command not found", **more):
        return self._hook("post-tool", line, error=f"Exit code 1\n{error}", **more)

    def works(self, line):
        self._hook("post-tool", line, tool_response={"stdout": "ok", "stderr": ""})

    def edits(self):
        self._hook("post-tool", "", tool_name="Edit")


def lessons(service, home, repository="shop"):
    namespace = project_namespace(project_name_of(home.parent / repository), "default")
    listed = service.list_memories(Scope(namespace=namespace, session="test"), ListRequest(kind=Kind.EPISODE))
    return [one.content for one in listed.memories]


def test_what_worked_instead_is_told_before_the_command_in_the_next_conversation(home, service):
    monday = Agent(home, "monday")
    assert monday.before("npm install lodash") == ""
    monday.fails("npm install lodash", "npm error This project uses pnpm")
    monday.works("pnpm install lodash")
    told = Agent(home, "tuesday", client="codex").before("npm install express")
    assert "`pnpm install lodash` worked instead" in told
    assert told.startswith("<remembered>")
    assert Agent(home, "tuesday").before("pnpm install express") == ""


def test_it_is_told_once_in_a_conversation(home, service):
    agent = Agent(home, "monday")
    agent.fails("npm test")
    agent.works("pnpm test")
    assert agent.before("npm test") != ""
    assert agent.before("npm test") == ""


def test_a_test_that_fails_is_no_lesson(home, service):
    agent = Agent(home, "monday")
    agent.fails("pytest", "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed, 3 passed in 0.1s")
    agent.works("pytest -k other")
    assert lessons(service, home) == []


def test_what_works_after_files_were_changed_may_work_for_that(home, service):
    agent = Agent(home, "monday")
    agent.fails("npm run build", "cannot find the entry")
    agent.edits()
    agent.works("pnpm run build")
    assert not any("worked" in one for one in lessons(service, home))


def test_a_command_that_works_again_is_forgotten(home, service):
    agent = Agent(home, "monday")
    agent.fails("make test", "make: *** missing separator")
    assert len(lessons(service, home)) == 1
    agent.works("make test")
    assert lessons(service, home) == []


def test_of_several_commands_in_a_line_nobody_knows_which_one_failed(home, service):
    agent = Agent(home, "monday")
    agent.fails("npm test && npm run lint")
    agent.works("pnpm test")
    assert lessons(service, home) == []


def test_another_repository_hears_nothing_of_it(home, service):
    shop = Agent(home, "monday")
    shop.fails("npm test")
    shop.works("pnpm test")
    assert Agent(home, "tuesday", "blog").before("npm test") == ""


def test_outside_of_a_project_nothing_is_learned(home, service):
    agent = Agent(home, "monday")
    agent.talk.folder = home.parent
    agent.fails("npm test")
    agent.works("pnpm test")
    assert agent.before("npm test") == ""


def test_a_rule_of_the_person_is_told_and_with_ask_the_person_is_asked(home, service):
    service.write(Scope(session="test"), WriteRequest(content="Never push to main", origin=Origin.USER))
    assert "Never push to main" in Agent(home, "monday").before("git push origin main")
    agent = Agent(home, "tuesday")
    asked = agent._hook("pre-tool", "git push origin main", "--ask")["hookSpecificOutput"]
    assert asked["permissionDecision"] == "ask"


def test_without_ask_nothing_is_decided(home, service):
    service.write(Scope(session="test"), WriteRequest(content="Never push to main", origin=Origin.USER))
    said = Agent(home, "monday")._hook("pre-tool", "git push origin main")
    assert set(said["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}


def test_gemini_hears_it_behind_the_output_of_the_command_that_failed(home, service):
    agent = Agent(home, "monday")
    agent.fails("npm test")
    agent.works("pnpm test")
    other = Agent(home, "tuesday", client="gemini")
    failed = {
        "tool_response": {"llmContent": "Output: npm: command not found\nExit Code: 127"},
        "tool_name": "run_shell_command",
    }
    said = other._hook("post-tool", "npm test", **failed)
    assert "`pnpm test` worked instead" in said["hookSpecificOutput"]["additionalContext"]


def test_of_codex_the_transcript_tells_how_a_command_ended(home, service):
    agent = Agent(home, "monday", client="codex")
    for call, line, code in (("call_1", "npm test", 127), ("call_2", "pnpm test", 0)):
        item = {"type": "CommandExecution", "id": call, "exit_code": code}
        with agent.talk.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}) + "\n")
        told = {"tool_use_id": call, "transcript_path": str(agent.talk.transcript)}
        agent._hook("post-tool", line, tool_response="npm: command not found\n", **told)
    assert "`pnpm test` worked instead" in Agent(home, "tuesday", client="codex").before("npm test")


def test_switched_off_it_neither_learns_nor_tells(home, service):
    (home / "config.toml").write_text("[hooks]\nlessons = false\n", encoding="utf-8")
    agent = Agent(home, "monday")
    agent.fails("npm test")
    agent.works("pnpm test")
    assert agent.before("npm test") == ""
    assert lessons(service, home) == []


def test_after_a_compaction_comes_what_this_conversation_decided_and_tried(home, service):
    agent = Agent(home, "monday")
    agent.talk.say("We decided to use SQLite for the queue.").hook("stop", stop_hook_active=False)
    agent.fails("npm test")
    agent.works("pnpm test")
    context = agent.talk.start("compact")
    here = context.partition("this conversation:")[2]
    assert "SQLite for the queue" in here
    assert "`pnpm test` worked instead" in here
    assert "this conversation:" not in Agent(home, "tuesday").talk.start()


def test_an_agent_that_the_assistant_starts_gets_the_brief_of_the_project(home, service):
    agent = Agent(home, "monday")
    agent.talk.say("We decided to use SQLite for the queue.").hook("stop", stop_hook_active=False)
    given = {"session_id": "monday", "cwd": str(agent.talk.folder), "agent_id": "a1", "agent_type": "Explore"}
    said = agent.talk.run("subagent-start", given)["hookSpecificOutput"]
    assert said["hookEventName"] == "SubagentStart"
    assert "SQLite for the queue" in said["additionalContext"]


def test_what_such_an_agent_reports_is_kept_with_its_name_and_found_when_asked_for(home, service):
    agent = Agent(home, "monday")
    given = {"session_id": "monday", "cwd": str(agent.talk.folder), "agent_id": "a1", "agent_type": "Explore"}
    report = "The login is in src/auth/login.ts; tokens are issued by issueToken."
    assert agent.talk.run("subagent-stop", given | {"last_assistant_message": report}) is None
    assert lessons(service, home) == [report]
    assert "login.ts" not in Agent(home, "tuesday").talk.start()
