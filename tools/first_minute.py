"""Play three days of a new user with the real program, and draw them: docs/figures/first-minute.svg.

    uv run python -m tools.first_minute            # writes both
    uv run python -m tools.first_minute --text     # prints what the picture shows

Every line in it is what the installed program answers to the hooks of three clients. What an assistant says to that is its own affair,
so it is left out. Ids are left out too: the picture is the same in every run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools.moving_picture import Day, Remembered, Typed, moving_picture

PROJECT = Path(__file__).resolve().parents[1]
PICTURE = PROJECT / "docs" / "figures" / "first-minute.svg"
_LINE = re.compile(r'^[0-9a-z]{20} (\S+ \S+) "(.*)"$', re.MULTILINE)
# The program with time to answer, so that a busy machine makes no other picture.
_PATIENT = """
from hybrid_memory_mcp import __main__
from hybrid_memory_mcp.hooks import program
program.LIMIT_SECONDS = dict.fromkeys(program.LIMIT_SECONDS, 30.0)
__main__.main()
"""
_UNPACK = "from hybrid_memory.embedding.universal import load_encoder; load_encoder()"


@dataclass(frozen=True)
class Conversation:
    """What is typed on one day: each text in a message of its own."""

    day: str
    date: str
    client: str
    assistant: str
    texts: tuple[str, ...] = ()


CONVERSATIONS = (
    Conversation(
        "Monday",
        "2026-11-16",
        "claude-code",
        "Claude Code",
        (
            "I prefer tabs over spaces.",
            "My sister Maria is allergic to peanuts.",
            "We deploy on Tuesdays, never on Fridays.",
            "Can you fix the failing test?",
        ),
    ),
    Conversation("Tuesday", "2026-11-17", "codex", "Codex", ("No, we deploy on Wednesdays now, not on Tuesdays.",)),
    Conversation("Wednesday", "2026-11-18", "gemini", "Gemini CLI"),
)
QUESTION = "What can I cook for Maria?"


@dataclass(frozen=True)
class Heard:
    """What the program answered in one conversation: its line and the brief at the start, and its line after each message."""

    conversation: Conversation
    loaded: str
    brief: str
    kept: tuple[str, ...]

    def remembered(self) -> tuple[tuple[str, str], ...]:
        """Return the lines of the brief: the day, and the words."""
        return tuple((day, words) for day, words in _LINE.findall(self.brief))


@dataclass(frozen=True)
class FirstMinute:
    """What the program answered on each day, and what came at a question in a conversation that had no brief."""

    days: tuple[Heard, ...]
    at_prompt: str


class Player:
    """Speaks to the program as a client does at the events of a conversation."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._environment = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", ""),  # noqa: TID251 - for a process of its own
            "HYBRID_MEMORY_LINGER_SECONDS": "1",
        }

    def connect(self) -> None:
        """Start the server as a client does next to its hooks, and wait until it answers: hooks have little time to start one themselves.

        The encoder is unpacked before: what is kept in the first seconds after an installation depends on how fast the machine is.
        """
        subprocess.run([sys.executable, "-c", _UNPACK], env=self._environment, cwd=self._home, check=True)  # noqa: S603 - our own program
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "picture", "version": "1"}}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
        self._server = subprocess.Popen(
            [sys.executable, "-m", "hybrid_memory_mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            cwd=self._home,
            text=True,
        )
        if self._server.stdin is not None and self._server.stdout is not None:
            self._server.stdin.write(line)
            self._server.stdin.flush()
            self._server.stdout.readline()

    def leave(self) -> None:
        """Close the connection, and wait until the server has left."""
        self._server.communicate(timeout=30)

    def hold(self, conversation: Conversation) -> Heard:
        """Hold a conversation in the repository shop: each message is in the client's transcript when its hook runs."""
        transcript = self._home / f"{conversation.day}.jsonl"
        start = self.event(conversation, "session-start", "SessionStart", source="startup")
        kept = []
        for place, text in enumerate(conversation.texts):
            with transcript.open("a", encoding="utf-8") as file:
                file.write(_line_of_transcript(conversation, place, text))
            kept.append(self.event(conversation, "stop", "Stop").get("systemMessage", ""))
        self.event(conversation, "session-end", "SessionEnd")
        return Heard(conversation, start.get("systemMessage", ""), context_of(start), tuple(kept))

    def event(self, conversation: Conversation, event: str, name: str, **more: str) -> dict[str, Any]:
        """Run the hook of an event; returns its answer."""
        cwd = self._home / "shop"
        (cwd / ".git").mkdir(parents=True, exist_ok=True)
        given = {
            "session_id": conversation.day,
            "cwd": str(cwd),
            "hook_event_name": name,
            "transcript_path": str(self._home / f"{conversation.day}.jsonl"),
        }
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", _PATIENT, "hook", event, "--client", conversation.client],
            input=json.dumps(given | more),
            env=self._environment,
            cwd=self._home,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout or "{}")
        return answer


def play() -> FirstMinute:
    """Hold the conversations in a home of their own."""
    from hybrid_memory_mcp.admin.hub_client import stop_hub

    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        player = Player(home)
        player.connect()
        heard = tuple(player.hold(one) for one in CONVERSATIONS)
        cooking = replace(CONVERSATIONS[-1], day="Thursday")
        asked = player.event(cooking, "prompt", "BeforeAgent", prompt=QUESTION)
        player.leave()
        for database in home.rglob("memory.duckdb"):
            stop_hub(database.parent)
    return FirstMinute(heard, context_of(asked))


def _line_of_transcript(conversation: Conversation, place: int, text: str) -> str:
    """Return a message as the client writes it down."""
    at = f"{conversation.date}T09:0{place}:00.000Z"
    if conversation.client == "codex":
        payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        return json.dumps({"timestamp": at, "type": "response_item", "payload": payload}) + "\n"
    message = {"role": "user", "content": text}
    line = {"type": "user", "sessionId": conversation.day, "uuid": f"u{place}", "timestamp": at, "message": message}
    return json.dumps(line) + "\n"


def context_of(answer: dict[str, Any]) -> str:
    """Return what the model is given by the answer of a hook."""
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def days_of(seen: FirstMinute) -> tuple[Day, ...]:
    """Return what the picture shows: of each day what its conversation began with, and what was typed and kept.

    A memory is marked as replaced where the next brief has it no more, and as new where the brief before did not have it.
    """
    found = []
    for at, heard in enumerate(seen.days):
        before = {words for _, words in seen.days[at - 1].remembered()} if at else set()
        after = {words for _, words in seen.days[at + 1].remembered()} if at + 1 < len(seen.days) else None
        remembered = tuple(
            Remembered(
                day, words, new=bool(before) and words not in before, replaced=after is not None and words not in after
            )
            for day, words in heard.remembered()
        )
        typed = tuple(map(Typed, heard.conversation.texts, heard.kept))
        found.append(Day(heard.conversation.day, heard.conversation.assistant, heard.loaded, remembered, typed))
    return tuple(found)


def text_of(days: tuple[Day, ...]) -> str:
    """Return what the picture shows, as lines."""
    return "\n\n".join(f"{day.name}, {day.where()}\n" + "\n".join(day.lines()) for day in days) + "\n"


def main() -> None:
    """Write the picture, or print its text."""
    seen = play()
    days = days_of(seen)
    if "--text" in sys.argv:
        print(text_of(days), end="")
        return
    PICTURE.write_text(moving_picture(days), encoding="utf-8")
    print(f"written: {PICTURE.name}")


if __name__ == "__main__":
    main()
