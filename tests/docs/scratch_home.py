"""A home folder of its own in which a page's commands run as a reader would type them: one after the other, in a shell."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

from tests.docs.page_blocks import Block

from hybrid_memory import MemoryService, Origin, Scope, WriteRequest

_OURS = Path(sys.executable).parent  # where the command of this project lies
_MOVED_BY = ("XDG_", "HYBRID_MEMORY_", "CLAUDE_", "CODEX_", "APPDATA", "LOCALAPPDATA", "GEMINI_", "FASTEMBED")
_ID = re.compile(r"\bID\b")
_CHANGING = re.compile(
    r"\b[0-9a-z]{20}\b|\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?|[0-9.]+ (MB|KB|kB|s)\b|\d+(?= of an answer)"
)
_DATA = (
    "Library/Application Support" if sys.platform == "darwin" else ".local/share"
)  # where a platform keeps a program's data
TOLD = (
    "I prefer tabs over spaces.",
    "My sister Maria is allergic to peanuts.",
    "We deploy on Tuesdays, never on Fridays.",
    "My dentist is Dr. Bauer.",
    "The password of the router is Tr0ub4dor-and-3-horses.",
)
_NEWEST_ID = """#!{python}
import json, subprocess, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["{ours}", "export", "--force", folder + "/all.jsonl"], check=True, stdout=sys.stderr)
    lines = [json.loads(line) for line in open(folder + "/all.jsonl", encoding="utf-8")]
print(max((one["created_at"], one["id"]) for one in lines if "content" in one)[1])
"""
SECONDS = 240  # for one block, on a machine with much else to do; most take a few


class ScratchHome:
    """A home, of somebody who has a memory already or of a newcomer; in its working folder lie the files that pages speak of."""

    def __init__(self, folder: Path, *, knows_something: bool = True) -> None:
        self.home = folder / "home"
        self.work = self.home / "notes"
        self.work.mkdir(parents=True)
        (self.home / "vault").mkdir()
        add_sample_files(self.work)
        if knows_something:
            fill_store(self.home / _DATA)
        programs = folder / "bin"
        self._add_newest_id(programs)
        state = shlex.quote(str(folder / "shell"))
        self._taken_up = f"if [ -f {state} ]; then . {state}; fi"
        self._left = f'{{ export -p; echo "cd \\"$PWD\\""; }} > {state}'
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_MOVED_BY)}  # noqa: TID251 - for a process of its own
        self.environment = kept | {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(programs), str(_OURS), kept.get("PATH", "")]),
            "HYBRID_MEMORY_LINGER_SECONDS": "1",  # no hub stays behind for long
            "COLUMNS": "120",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
        }

    def run(self, block: Block) -> None:
        """Run a block and fail where a command does; of a `console` block also where it prints something else than the page."""
        if block.language != "console":
            self._shell(block, block.text)
            return
        for line, shown in commands_and_output(block):
            said = self._shell(block, line)
            assert _same_lines(said, shown), f"{block}: {line}\nthe page shows:\n{shown}\nit is:\n{said}"

    def _shell(self, block: Block, script: str) -> str:
        """Run lines as the same shell would that ran those before: in its folder, with what was exported."""
        given = _ID.sub('"$(newest-id)"', script)
        command = ["bash", "-euo", "pipefail", "-c", f"{self._taken_up}\n{given}\n{self._left}"]
        code, said = self._in_terminal(command) if block.language == "console" else self._in_pipe(command)
        assert code == 0, f"{block}: {script}\n{said}"
        return said

    def _in_pipe(self, command: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return done.returncode, done.stdout

    def _in_terminal(self, command: list[str]) -> tuple[int, str]:
        """Run a command as in a terminal, where what is printed is laid out for people; without colours, and nobody answers."""
        ours, its = os.openpty()
        with open(ours, "rb", buffering=0) as screen:  # noqa: PTH123 - a descriptor
            environment = self.environment | {"NO_COLOR": "1"}
            process = subprocess.Popen(
                command, cwd=self.work, env=environment, stdin=subprocess.DEVNULL, stdout=its, stderr=its
            )
            os.close(its)
            pieces = []
            with suppress(OSError):  # how Linux tells that all of the other side are gone
                while piece := screen.read(65536):
                    pieces.append(piece)
        return process.wait(timeout=SECONDS), b"".join(pieces).decode().replace("\r\n", "\n")

    def _add_newest_id(self, folder: Path) -> None:
        """Make the command that prints the id of the memory that was written last: what a page means by ID."""
        folder.mkdir()
        program = folder / "newest-id"
        program.write_text(_NEWEST_ID.format(python=sys.executable, ours=_OURS / "hybrid-memory-mcp"), encoding="utf-8")
        program.chmod(0o755)

    def close(self) -> None:
        """Let the hub of the store leave, so that nothing runs on in a folder that goes."""
        from hybrid_memory_mcp.admin.hub_client import stop_hub

        for database in self.home.rglob("memory.duckdb"):
            stop_hub(database.parent)


def commands_and_output(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a `console` block, each with what the page shows below it."""
    parts = re.split(r"^\$ ", re.sub(r" *\\\n\s*", " ", block.text), flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def _same_lines(said: str, shown: str) -> bool:
    """Compare what was printed with what a page shows; `...` alone in a line stands for any lines, ids and times for any."""
    pattern = "\n".join(
        r"(?:.*\n?)*?" if line.strip() in ("...", "…") else _alike(line) for line in shown.strip("\n").splitlines()
    )
    return re.fullmatch(pattern.replace("\n(?:", "\n?(?:"), _CHANGING.sub("#", _trimmed(said))) is not None


def _alike(line: str) -> str:
    return re.escape(_CHANGING.sub("#", " ".join(line.split())))


def _trimmed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip("\n").splitlines())


def fill_store(data: Path) -> None:
    """Make the memory of somebody who has told a few things already; the last one is a secret."""
    data.mkdir(parents=True)
    memory = MemoryService.open(data / "hybrid-memory-mcp")
    for said in TOLD:
        memory.write(Scope(session="yesterday"), WriteRequest(content=said, origin=Origin.USER))
    memory.close()


def add_sample_files(folder: Path) -> None:
    """Put into a folder what pages import: small files in the forms of other programs, made up here."""
    spoken = {
        "name": "Packing",
        "uuid": "00000000-0000-4000-8000-000000000001",
        "created_at": "2026-01-05T09:00:00Z",
        "updated_at": "2026-01-05T09:01:00Z",
        "chat_messages": [
            {
                "uuid": "00000000-0000-4000-8000-000000000002",
                "sender": "human",
                "text": "My sister Maria is allergic to walnuts.",
                "content": [{"type": "text", "text": "My sister Maria is allergic to walnuts."}],
                "created_at": "2026-01-05T09:00:00Z",
            },
        ],
    }
    with zipfile.ZipFile(folder / "claude-export.zip", "w") as packed:
        packed.writestr("conversations.json", json.dumps([spoken]))
        packed.writestr("users.json", "[]")
        packed.writestr("projects.json", "[]")
    turn = {
        "id": "b",
        "parent": "a",
        "children": [],
        "message": {
            "id": "b",
            "author": {"role": "user"},
            "create_time": 1767603600.0,
            "content": {"content_type": "text", "parts": ["I prefer tea over coffee in the morning."]},
        },
    }
    root = {"id": "a", "parent": None, "children": ["b"], "message": None}
    chat = {
        "title": "Mornings",
        "create_time": 1767603600.0,
        "update_time": 1767603601.0,
        "mapping": {"a": root, "b": turn},
        "current_node": "b",
        "conversation_id": "c",
        "id": "c",
    }
    with zipfile.ZipFile(folder / "chatgpt-export.zip", "w") as packed:
        packed.writestr("conversations.json", json.dumps([chat]))
    entity = {"type": "entity", "name": "Ferris", "entityType": "server", "observations": ["runs the nightly builds"]}
    (folder / "memory.jsonl").write_text(json.dumps(entity) + "\n", encoding="utf-8")
    notes = folder / "vault"
    notes.mkdir()
    (notes / "garden.md").write_text("# Garden\n\n- The roses are pruned in February.\n", encoding="utf-8")


def has_shell() -> bool:
    """Return True where there is a shell that can run a page's commands."""
    return shutil.which("bash") is not None and sys.platform != "win32"
