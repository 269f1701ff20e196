"""The assistants themselves: how each is started, pointed at the scripted model, and what it has before we come."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.clients.environments import node_packages
from tests.clients.hosts.fake_model import MODEL, Reply, Request

_FENCED = re.compile(r"<hook_context>.*</hook_context>", re.DOTALL)
TABLE = tomllib.loads((Path(__file__).parent / "hosts.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Host:
    """An assistant; `name` is what `install` calls it."""

    name: str

    @property
    def shown(self) -> str:
        return str(TABLE[self.name]["shown"])

    @property
    def runs_hooks(self) -> bool:
        """Whether it runs commands at what happens in a conversation."""
        return True

    def program(self) -> Path:
        """Return its program; gets it from the registry if need be."""
        row = TABLE[self.name]
        folder = node_packages(self.name, [row["package"]]) / "node_modules"
        # A package for this machine may come in two builds; the plain name is the first.
        return min(folder.glob(row["program"]))

    def files(self, model: str) -> Mapping[str, str]:
        """Return what lies in the home of somebody who has used it: its settings, which we must not harm."""
        raise NotImplementedError  # each assistant has its own

    def environment(self, model: str) -> Mapping[str, str]:
        """Return the variables that point it at a model, and that keep it from calling home."""
        raise NotImplementedError  # each assistant has its own

    def arguments(self, words: str, *, goes_on: bool) -> list[str]:
        """Return how a person says something without a screen; `goes_on` in the conversation before."""
        raise NotImplementedError  # each assistant has its own

    def told_at_prompt(self, request: Request) -> str:
        """Return what hooks have put alongside the last prompt of a request."""
        raise NotImplementedError  # each assistant has its own

    def replies_that_find(self, tool: str) -> list[Reply]:
        """Return what a model says before it can call a tool; most assistants list all tools at once."""
        return []

    def shell_call(self, line: str) -> Reply:
        """Return what a model says to run a line of the shell."""
        raise NotImplementedError  # each assistant whose hooks hear of commands has its own

    def plugin_commands(self, repository: Path) -> list[list[str]]:
        """Return how the plugin of this repository is added, or nothing where it knows no plugins of ours."""
        return []

    def without_its_own_notes(self, files: Mapping[Path, str]) -> Mapping[Path, object]:
        """Return the files without what the assistant itself writes into them when it runs."""
        return files


class ClaudeCode(Host):
    def shell_call(self, line: str) -> Reply:
        return Reply(tool="Bash", arguments={"command": line, "description": "Run it"})

    def plugin_commands(self, repository: Path) -> list[list[str]]:
        return [["marketplace", "add", str(repository)], ["install", "hybrid-memory@hybrid-memory-mcp"]]

    def files(self, model: str) -> Mapping[str, str]:
        return {
            ".claude/settings.json": """\
{
    "permissions": { "allow": ["mcp__memory", "Bash(npm-not-there install lodash)", "Bash(./pnpm-like:*)"] },
  "theme": "light"
}
""",
            ".claude.json": '{"numStartups": 3, "mcpServers": {}}',
        }

    def environment(self, model: str) -> Mapping[str, str]:
        quiet = (
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
        )
        return {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(quiet, "1")}

    def arguments(self, words: str, *, goes_on: bool) -> list[str]:
        return [*(["--continue"] if goes_on else []), "-p", words]

    def replies_that_find(self, tool: str) -> list[Reply]:
        return [Reply(tool="ToolSearch", arguments={"query": f"select:mcp__memory__{tool}"})]

    def without_its_own_notes(self, files: Mapping[Path, str]) -> Mapping[Path, object]:
        # It keeps its counters in the file that lists its servers, and writes it again at every start.
        own = Path(".claude.json")
        return {**files, own: json.loads(files[own])["mcpServers"]}

    def told_at_prompt(self, request: Request) -> str:
        # One message of the role "system" follows the prompt; a line for each hook.
        last = request.body["messages"][-1]
        texts = (
            [last["content"]]
            if isinstance(last["content"], str)
            else [part.get("text", "") for part in last["content"]]
        )
        lines = [line for text in texts for line in text.split("\n\n") if line.startswith("UserPromptSubmit hook")]
        return "\n".join(line.partition(": ")[2] for line in lines)


class Codex(Host):
    def shell_call(self, line: str) -> Reply:
        return Reply(tool="exec_command", arguments={"cmd": line})

    def plugin_commands(self, repository: Path) -> list[list[str]]:
        return [["marketplace", "add", str(repository)], ["add", "hybrid-memory@hybrid-memory-mcp"]]

    def files(self, model: str) -> Mapping[str, str]:
        return {
            ".codex/config.toml": f"""\
# mine
model = "{MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false   # no thanks

[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"
"""
        }

    def environment(self, model: str) -> Mapping[str, str]:
        return {}

    def arguments(self, words: str, *, goes_on: bool) -> list[str]:
        return ["exec", *(["resume", "--last"] if goes_on else []), "--skip-git-repo-check", words]

    def without_its_own_notes(self, files: Mapping[Path, str]) -> Mapping[Path, object]:
        # Which hooks are trusted is noted by Codex when a person says so, behind all else.
        return {name: text.partition("\n[hooks.state")[0].rstrip() for name, text in files.items()}

    def told_at_prompt(self, request: Request) -> str:
        told = []
        for item in reversed(request.body["input"]):
            if item.get("role") == "user":
                break
            if item.get("role") == "developer":
                told.append("".join(part["text"] for part in item["content"]))
        return "\n".join(told)


class Gemini(Host):
    def shell_call(self, line: str) -> Reply:
        return Reply(tool="run_shell_command", arguments={"command": line, "description": "Run it"})

    def files(self, model: str) -> Mapping[str, str]:
        return {
            ".gemini/settings.json": """\
{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
        }

    def environment(self, model: str) -> Mapping[str, str]:
        trusted = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1"}
        return {"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": "none", **trusted}

    def arguments(self, words: str, *, goes_on: bool) -> list[str]:
        # Without a name of a model another model would be asked which one to take.
        return ["--yolo", "-m", "gemini-2.5-pro", *(["--resume", "latest"] if goes_on else []), "-p", words]

    def told_at_prompt(self, request: Request) -> str:
        texts = [part.get("text", "") for part in request.body["contents"][-1]["parts"]]
        # What was told at the beginning is in one part with the prompt; what is told alongside a prompt is a part of its own.
        return "\n".join(text for text in texts if _FENCED.fullmatch(text))


class Opencode(Host):
    @property
    def runs_hooks(self) -> bool:
        return False

    def files(self, model: str) -> Mapping[str, str]:
        return {
            ".config/opencode/opencode.json": f"""\
{{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false, "share": "disabled",
  "model": "scripted/{MODEL}",
  "provider": {{
    "scripted": {{ // mine
      "npm": "@ai-sdk/openai-compatible",
      "options": {{"baseURL": "{model}/v1", "apiKey": "none"}},
      "models": {{"{MODEL}": {{"tool_call": true, "limit": {{"context": 200000, "output": 8000}}}}}},
    }}
  }}
}}
"""
        }

    def environment(self, model: str) -> Mapping[str, str]:
        return dict.fromkeys(
            ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD"), "1"
        )

    def arguments(self, words: str, *, goes_on: bool) -> list[str]:
        return ["run", *(["--continue"] if goes_on else []), words]

    def told_at_prompt(self, request: Request) -> str:
        return ""


class Copilot(Host):
    @property
    def runs_hooks(self) -> bool:
        return False

    def files(self, model: str) -> Mapping[str, str]:
        return {".copilot/mcp-config.json": json.dumps({"mcpServers": {}})}

    def environment(self, model: str) -> Mapping[str, str]:
        own = {"COPILOT_PROVIDER_BASE_URL": f"{model}/v1", "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": MODEL}
        return {**own, "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}

    def arguments(self, words: str, *, goes_on: bool) -> list[str]:
        return ["--allow-tool", "memory", *(["--continue"] if goes_on else []), "-p", words]

    def told_at_prompt(self, request: Request) -> str:
        return ""


HOSTS: tuple[Host, ...] = (
    ClaudeCode("claude-code"),
    Codex("codex"),
    Gemini("gemini"),
    Opencode("opencode"),
    Copilot("copilot"),
)
