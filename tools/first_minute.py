"""Play what a new user sees in the first minute with the real program, and draw it: docs/figures/first-minute.svg; the README has its text.

    uv run python tools/first_minute.py            # writes both
    uv run python tools/first_minute.py --text     # prints what the picture shows

What stands in it is what the installed program answers at the hooks of a client: nothing of ours is made up. What an assistant says to
that is its own affair, so it is left out.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PROJECT = Path(__file__).resolve().parents[1]
PICTURE = PROJECT / "docs" / "figures" / "first-minute.svg"
README = PROJECT / "README.md"
_SHOWN = re.compile(r"(?<=```text\n)Memory: .*?(?=```)", re.DOTALL)
COLUMNS = 92
MONDAY = "2026-11-16T09:00:00.000Z"
SAID = (
    "I prefer tabs over spaces.",
    "My sister Maria is allergic to peanuts.",
    "We deploy on Tuesdays, never on Fridays.",
    "Can you fix the failing test?",
)
QUESTION = "What can I cook for Maria?"


@dataclass(frozen=True)
class FirstMinute:
    """What the program answered: the line after the first conversation, at the start of the second one, and at its question.

    ``elsewhere`` is what a conversation in another repository began with.
    """

    kept: str
    loaded: str
    brief: str
    at_prompt: str
    elsewhere: str

    def text(self) -> str:
        """Return what the second conversation is given, as the README shows it."""
        return f"{self.loaded}\n{self.brief}\n"


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
        """Start the server as a client does beside its hooks, and wait until it answers: hooks have little time to start one themselves."""
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
        """Let the server go."""
        self._server.communicate(timeout=30)

    def event(self, session: str, event: str, name: str, client: str, folder: str, **more: str) -> dict[str, Any]:
        """Let the hook of an event run in the repository ``folder``; returns its answer."""
        cwd = self._home / folder
        (cwd / ".git").mkdir(parents=True, exist_ok=True)
        told = {"session_id": session, "cwd": str(cwd), "hook_event_name": name, "source": "startup"} | more
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "hybrid_memory_mcp", "hook", event, "--client", client],
            input=json.dumps(told),
            env=self._environment,
            cwd=self._home,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout or "{}")
        return answer


def play() -> FirstMinute:
    """Hold two conversations in a home of their own."""
    from hybrid_memory_mcp.admin.hub_client import stop_hub

    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        player = Player(home)
        player.connect()
        transcript, none = home / "monday.jsonl", str(home / "none.jsonl")
        player.event("monday", "session-start", "SessionStart", "claude-code", "shop", transcript_path=none)
        transcript.write_text("".join(map(_typed, range(len(SAID)), SAID)), encoding="utf-8")
        kept = player.event("monday", "stop", "Stop", "claude-code", "shop", transcript_path=str(transcript))
        player.event("monday", "session-end", "SessionEnd", "claude-code", "shop", transcript_path=str(transcript))
        start = player.event("tuesday", "session-start", "SessionStart", "gemini", "shop", transcript_path=none)
        asked = {"transcript_path": none, "prompt": QUESTION}
        other = player.event("wednesday", "prompt", "BeforeAgent", "gemini", "shop", **asked)
        blog = player.event("thursday", "session-start", "SessionStart", "gemini", "blog", transcript_path=none)
        player.leave()
        for database in home.rglob("memory.duckdb"):
            stop_hub(database.parent)
    return FirstMinute(kept["systemMessage"], start["systemMessage"], _context(start), _context(other), _context(blog))


def _typed(place: int, text: str) -> str:
    message = {"role": "user", "content": text}
    line = {
        "type": "user",
        "sessionId": "monday",
        "uuid": f"u{place}",
        "timestamp": MONDAY,
        "cwd": "/",
        "message": message,
    }
    return json.dumps(line) + "\n"


def _context(answer: dict[str, Any]) -> str:
    return str(answer["hookSpecificOutput"]["additionalContext"])


def drawn(seen: FirstMinute) -> Console:
    """Return a terminal on which it was printed."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"), force_terminal=True)  # noqa: PTH123, SIM115
    console.print(Text("Monday, in Claude Code, in the repository shop", style="bold"))
    for said in SAID:
        console.print(Text("> ", style="bright_black") + said)
    console.print(Text(seen.kept, style="green"))
    console.print()
    console.print(
        Text("Tuesday, in Gemini CLI, in shop: a new conversation begins, and the model is given", style="bold")
    )
    console.print(Text(seen.loaded, style="green"))
    console.print(Text(seen.brief, style="cyan"))
    console.print()
    console.print(Text("Thursday, in the repository blog, of the same", style="bold"))
    console.print(Text("\n".join(line for line in seen.elsewhere.splitlines() if '"' in line), style="cyan"))
    return console


def svg(console: Console) -> str:
    """Return the picture; without the fonts that rich would have a browser fetch, since nothing of ours opens a connection unasked."""
    form = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(
        title="what you type, and what the memory does", code_format=form, unique_id="first-minute"
    )


def shown_in_readme() -> str:
    """Return what the README shows of it."""
    found = _SHOWN.search(README.read_text(encoding="utf-8"))
    if found is None:
        sys.exit("README.md: there is no block of text that begins with the memory's line")
    return found[0]


def main() -> None:
    """Write the picture and the README's text, or print the text."""
    seen = play()
    console = drawn(seen)
    if "--text" in sys.argv:
        print(console.export_text(), end="")
        return
    PICTURE.write_text(svg(console), encoding="utf-8")
    page = README.read_text(encoding="utf-8").replace(shown_in_readme(), seen.text())
    README.write_text(page, encoding="utf-8")
    print(f"written: {PICTURE.name} and the README's text")


if __name__ == "__main__":
    main()
