"""The official validators find nothing to say about what we publish."""

import json
import shutil

import pytest
from tests.clients.packaging import others
from tests.clients.packaging.others import PROJECT


@pytest.mark.parametrize(
    "arguments", [["plugin", "--profile", "directory"], ["."]], ids=["plugin, as its directory takes it", "marketplace"]
)
def test_claude_code_takes_it_strictly(folder, arguments):
    done = others.run(
        [others.claude_code(), "plugin", "validate", *arguments, "--strict", "--json"],
        cwd=PROJECT,
        env=others.machine(folder),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads(done.stdout)["manifest"]
    assert (manifest["errors"], manifest["warnings"]) == ([], [])


def test_claude_code_sees_every_part_of_the_plugin(folder):
    done = others.run(
        [others.claude_code(), "plugin", "validate", "plugin", "--json"], cwd=PROJECT, env=others.machine(folder)
    )
    provides = json.loads(done.stdout)["provides"]
    assert {one["event"] for one in provides["hooks"]} == {
        "SessionStart",
        "UserPromptSubmit",
        "PreCompact",
        "Stop",
        "SessionEnd",
    }
    assert "memory" in json.dumps(provides["mcpServers"])
    assert "hybrid-memory:memory" in json.dumps(provides["skills"])


def test_the_reference_validator_of_agent_skills_takes_the_skill():
    done = others.run(
        [
            others.python_program("skills-ref", others.SKILLS, "agentskills"),
            "validate",
            PROJECT / "plugin/skills/memory",
        ]
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_validator_refuses_a_skill_in_another_folder(folder):
    shutil.copytree(PROJECT / "plugin/skills/memory", folder / "recall")
    done = others.run(
        [others.python_program("skills-ref", others.SKILLS, "agentskills"), "validate", folder / "recall"]
    )
    assert done.returncode != 0


def test_the_tool_for_bundles_takes_the_manifest():
    done = others.run([*others.mcpb(), "validate", PROJECT / "packaging/mcpb/manifest.json"])
    assert "Manifest schema validation passes!" in done.stdout
    assert done.returncode == 0


def test_the_linter_of_container_files_has_nothing_to_say():
    done = others.run([others.python_program("hadolint", others.HADOLINT, "hadolint"), PROJECT / "Dockerfile"])
    assert (done.returncode, done.stdout) == (0, "")
