"""Hooks as clients run them, in processes of their own, and the JSON that clients give them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from hybrid_memory_mcp.hooks import program

TIMEOUT_SECONDS = 60

NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "pre-compact": "PreCompact", "stop": "Stop"}


def environment(home, **variables):
    """A bare environment, in which nothing of the person who runs the tests counts."""
    names = ("PATH", "SYSTEMROOT", "TEMP", "LANG")
    kept = {name: os.environ[name] for name in names if name in os.environ}  # noqa: TID251 - of another process
    return kept | {"HYBRID_MEMORY_HOME": str(home), "HOME": str(Path(home).parent)} | variables


def command_of(event, client, *arguments):
    return [sys.executable, "-m", "hybrid_memory_mcp", "hook", event, "--client", client, *arguments]


def run_hook(home, event, client="claude-code", given=b"", *arguments, variables=None):
    """Run a hook and return what it printed; it must end well."""
    done = subprocess.run(
        command_of(event, client, *arguments),
        input=given if isinstance(given, bytes) else json.dumps(given).encode(),
        capture_output=True,
        env=environment(home, **(variables or {})),
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@contextmanager
def started_hook(home, event, client, given, *, keeps_open=False):
    """A hook that runs and has been told everything, by a client that may keep its end open; it ends by itself."""
    process = subprocess.Popen(
        command_of(event, client), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home), cwd="/"
    )
    with process:
        process.stdin.write(json.dumps(given).encode())
        process.stdin.flush()
        if not keeps_open:
            process.stdin.close()
        yield process
        process.wait(TIMEOUT_SECONDS)


class Talk:
    """One conversation of Claude Code or Codex: its transcript as the client writes it, and its hooks.

    ``here`` runs the hooks in this process, without a limit of time.
    """

    def __init__(self, home, session, *, client="claude-code", folder=None, variables=None, here=False):
        self.home, self.session, self.client, self.variables, self.here = home, session, client, variables, here
        self.folder = Path(folder or home.parent)
        self.transcript = home.parent / f"{session}.jsonl"

    def say(self, text, at="2026-11-22T10:00:00.000Z"):
        """Write a turn of the person into the transcript, and an answer behind it."""
        if self.client == "codex":
            payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            answer = {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I prefer cats."}],
            }
            lines = [
                {"timestamp": at, "type": "response_item", "payload": payload},
                {"timestamp": at, "type": "event_msg", "payload": {"type": "user_message", "message": text}},
                {"timestamp": at, "type": "response_item", "payload": answer},
            ]
        else:
            lines = [
                {
                    "type": "user",
                    "isSidechain": False,
                    "sessionId": self.session,
                    "message": {"role": "user", "content": text},
                    "timestamp": at,
                },
                {
                    "type": "assistant",
                    "message": {"role": "assistant", "content": [{"type": "text", "text": "I prefer cats."}]},
                },
            ]
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return self

    def given(self, event, **more):
        name = "SessionEnd" if event == "session-end" else NAMES[event]
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "hook_event_name": name,
            "permission_mode": "default",
        } | more

    def hook(self, event, **more):
        """Run a hook of this conversation and return the JSON that it printed, None for nothing."""
        return self.run(event, self.given(event, **more))

    def run(self, event, given, *options):
        """Run a hook with what a client gives it, and return the JSON that it printed, None for nothing."""
        if self.here:
            arguments, deadline = [event, "--client", self.client, *options], time.monotonic() + TIMEOUT_SECONDS
            said = program.run(
                arguments, environment(self.home, **(self.variables or {})), json.dumps(given).encode(), deadline
            )
        else:
            said = run_hook(self.home, event, self.client, given, *options, variables=self.variables)
        return json.loads(said) if said else None

    def start(self, source="startup"):
        """Start the conversation and return what the model is given."""
        said = self.hook("session-start", source=source)
        return said["hookSpecificOutput"]["additionalContext"] if said and "hookSpecificOutput" in said else ""
