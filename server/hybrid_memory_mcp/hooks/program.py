"""``hybrid-memory-mcp hook EVENT --client NAME``: what a client runs at an event of a conversation.

It reads the client's JSON, asks the store's hub, prints the client's answer, and ends with exit code 0 whatever happens: no client is
held up or broken by it. It only ever speaks to the hub. A thread ends it at the event's limit of time.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time

from hybrid_memory_mcp.hooks import answers, tool_calls, transcripts
from hybrid_memory_mcp.hooks.asking import HubCaller, is_usable
from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES, EVENTS
from hybrid_memory_mcp.hooks.events import UNNAMED, read_event
from hybrid_memory_mcp.hooks.nearby import project_of
from hybrid_memory_mcp.hooks.state import Conversation, Conversations
from hybrid_memory_mcp.relay import paths
from hybrid_memory_mcp.relay.chosen_store import chosen_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from hybrid_memory_mcp.hooks.events import Event

LIMIT_SECONDS: Mapping[str, float] = {
    "session-start": 4.0,
    "prompt": 1.0,
    "pre-compact": 2.0,
    "stop": 2.0,
    "session-end": 2.0,
    "pre-tool": 1.0,
    "post-tool": 2.0,
    "subagent-start": 2.0,
    "subagent-stop": 2.0,
}
"""How long each event may take; then the program ends without an answer. What it could not tell the hub is read the next time."""

MOST_INPUT_BYTES = 8 << 20
SWITCH = "HYBRID_MEMORY_HOOKS"
_OFF = frozenset({"off", "0", "false", "no"})
_ROOT = "CLAUDE_PROJECT_DIR"  # where Claude Code was started, wherever it has gone since
_PLUGIN = "CLAUDE_PLUGIN_ROOT"  # in the environment of a plugin's hook, for Claude Code and Codex
_DATABASE = "memory.duckdb"
_CONFIG = "config.toml"
_READING_SHARE = 0.4  # of the limit, for transcripts
_ANSWER_SECONDS = 0.1  # of the limit, for what comes after the hub's answer
_MOST_SWEPT = 20  # earlier conversations whose rest is read when one starts
_CHUNK_BYTES = 1 << 16
_TOLD = ("text", "at", "answers", "folder", "root", "project")  # of a turn
_IDLE_SECONDS = 0.1  # after a whole JSON text: a client that keeps its end open has said all
_UNUSABLE = "its folder cannot be written, so nothing is kept or loaded"


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve one event; ``arguments`` are those behind ``hook``."""
    try:
        printing = _claim_standard_output()
        event = next((one for one in arguments if not one.startswith("-")), "")
        limit = LIMIT_SECONDS.get(event, 1.0)
        threading.Thread(target=_end_at, args=(limit,), daemon=True).start()
        said = run(arguments, os.environ, _read_input(time.monotonic() + limit), time.monotonic() + limit)  # noqa: TID251 - what the client chose goes to the hub as it is
        _print(printing, said)
    except BaseException:  # noqa: BLE001, S110 - a client must not notice
        pass
    os._exit(0)


def run(arguments: Sequence[str], environment: Mapping[str, str], given: bytes, deadline: float) -> bytes:
    """Return what is printed for an event: ``arguments`` behind ``hook``, ``given`` on standard input."""
    name = arguments[0] if arguments else ""
    client = paths.option(arguments, "--client") or ""
    if (name not in EVENTS and name not in tool_calls.EVENTS) or client not in EVENT_NAMES:
        return b""
    told = json.loads(given) if given.strip() else None
    options = _server_options(arguments[1:])
    home = paths.store_folder(options, environment)
    if name in tool_calls.EVENTS and isinstance(told, dict):
        may_ask = "--ask" in arguments
        return _at_tool_call(name, client, told, HubCaller(home, options, environment), deadline, may_ask=may_ask)
    event = read_event(name, client, told) if isinstance(told, dict) else None
    if event is None:
        return b""
    if switched_off(environment):
        _pass_over(event, Conversations(home))
        return b""
    event.folder = event.folder or _working_folder()
    event.whose = "plugin" if environment.get(_PLUGIN) else "client"
    event.root = environment.get(_ROOT, "") if client == "claude-code" else ""
    return _Run(event, home, HubCaller(home, options, environment), deadline).answer()


def _at_tool_call(
    name: str, client: str, told: dict[str, Any], hub: HubCaller, deadline: float, *, may_ask: bool
) -> bytes:
    """Tell the hub of a tool call or an agent, and return what is printed: what is known before a command, or a brief."""
    call = tool_calls.read_agent(name, told) if name in tool_calls.AGENTS else _tool_call(name, client, told)
    if call is None or switched_off(hub.environment) or "cursor_version" in told:
        return b""
    folder = call.folder or _working_folder()
    root = hub.environment.get(_ROOT, "") if client == "claude-code" else ""
    given = {
        "event": name,
        "client": client,
        "session": call.session or UNNAMED,
        "folder": folder,
        "root": root,
        "project": project_of(root, folder),
        "line": call.line,
        "edits": call.edits,
        "error": call.error,
        "agent": call.agent,
    }
    found = hub.ask(given, deadline - _ANSWER_SECONDS, may_start=False) or {}
    return answers.at_tool_call(
        client, name, str(found.get("context") or ""), asks=may_ask and found.get("rule") is True
    )


def _tool_call(name: str, client: str, told: dict[str, Any]) -> tool_calls.ToolCall | None:
    code = None
    if client == "codex" and name == "post-tool":
        code = transcripts.exit_code_of(str(told.get("transcript_path") or ""), str(told.get("tool_use_id") or ""))
    return tool_calls.read_call(name, told, exit_code=code)


def has_store(home: str, environment: Mapping[str, str]) -> bool:
    """Return False if the store is a file that is not there yet."""
    if os.path.exists(os.path.join(home, _DATABASE)) or chosen_store(environment):
        return True
    try:
        with open(os.path.join(home, _CONFIG), encoding="utf-8") as file:
            return any(line.partition("=")[0].strip() == "store" for line in file)
    except (OSError, ValueError):
        return False


def switched_off(environment: Mapping[str, str]) -> bool:
    """Return True if the variable says that hooks do nothing."""
    return environment.get(SWITCH, "").strip().lower() in _OFF


def _pass_over(event: Event, conversations: Conversations) -> None:
    """Let what was said while hooks are off be said for nobody: not read later, when they are on again."""
    conversation = conversations.load(event.client, event.session)
    if not conversation.is_new:
        conversation.follow(event)
        end = transcripts.end_of(conversation.transcript)
        if end:  # not behind what was noted: a transcript that was once begun again goes on to count as that
            conversation.mark = end | {"anew": max(end.get("anew", 0), conversation.mark.get("anew", 0))}
        conversations.save(conversation)


class _Run:
    """One event at work."""

    def __init__(self, event: Event, home: str, hub: HubCaller, deadline: float) -> None:
        self._event = event
        self._home = home
        self._hub = hub
        self._deadline = deadline - _ANSWER_SECONDS
        self._reading_until = time.monotonic() + _READING_SHARE * LIMIT_SECONDS[event.name]
        self._conversations = Conversations(home)
        self._conversation = self._conversations.load(event.client, event.session)
        self._batches: list[dict[str, Any]] = []
        # Of each conversation the new mark, how many of its waiting turns are told, and the number of its batch, if it has one.
        self._read: list[tuple[Conversation, dict[str, int], int, int | None]] = []

    def answer(self) -> bytes:
        """Do what the event asks for, and return what is printed."""
        event, conversation = self._event, self._conversation
        conversation.follow(event)
        if conversation.begins_at(event) or not conversation.project:
            # Now, not when a hub comes to it: what is said belongs to it, whatever becomes of the folder until then.
            conversation.project = project_of(conversation.root, conversation.folder)
        if event.name == "session-start":
            if not self._conversations.begin(conversation, event.source, event.whose):
                return b""
            self._begin()
        elif event.name == "prompt":
            if not event.said:
                return b""
            conversation.hear(event.said, _now(), transcripts.last_answer(conversation.transcript))
            self._collect(conversation, with_transcript=False)
        else:
            if event.said:  # Gemini tells the prompt again at the end of its turn
                conversation.hear(event.said, _now())
            self._collect(conversation)
            if not self._batches and event.name != "session-end":
                self._keep_marks([], None)
                return b""
        return self._ask()

    def _begin(self) -> None:
        """Prepare what is asked when a conversation starts: what earlier ones said and no hub has had comes first."""
        conversation = self._conversation
        if self._event.source == "compact":
            conversation.shortened = True
            self._conversations.forget_shown(conversation)
        if self._event.source in ("resume", "fork") and conversation.is_new and conversation.transcript:
            # Said in a conversation that was there before these hooks, or of which this one is a copy.
            conversation.mark = transcripts.end_of(conversation.transcript)
        self._collect(conversation)
        for number, other in enumerate(self._conversations.others(conversation)):
            if number < _MOST_SWEPT and (other.waiting or transcripts.has_more(other.transcript, other.mark)):
                self._collect(other)

    def _collect(self, conversation: Conversation, *, with_transcript: bool = True) -> None:
        """Take up what a person said in a conversation and no hub has had."""
        turns: list[dict[str, Any]] = []
        mark = conversation.mark
        if with_transcript and conversation.transcript and time.monotonic() < self._reading_until:
            turns, mark = transcripts.read_turns(
                conversation.transcript, conversation.client, conversation.mark, self._reading_until
            )
        waiting = len(conversation.waiting)
        turns = [*conversation.waiting, *turns]
        self._read.append((conversation, mark, waiting, len(self._batches) if turns else None))
        if turns:
            self._batches.append(
                {
                    "client": conversation.client,
                    "session": conversation.session,
                    "folder": conversation.folder,
                    "root": conversation.root,
                    "project": conversation.project,
                    "turns": [{name: turn[name] for name in _TOLD if name in turn} for turn in turns],
                }
            )

    def _ask(self) -> bytes:
        event = self._event
        is_prompt = event.name == "prompt"
        # A person waits for the answer to a prompt, and a store that is not there yet has nothing to show.
        is_empty = event.name == "session-start" and not has_store(self._home, self._hub.environment)
        # Before anything is asked: who is ended in the middle leaves to the next event what there is to read.
        self._conversations.save(self._conversation)
        found = self._hub.ask(
            {
                "event": event.name,
                "client": event.client,
                "session": event.session,
                "folder": self._conversation.folder,
                "root": self._conversation.root,
                "project": self._conversation.project,
                "source": event.source,
                "prompt": event.said if is_prompt else "",
                "shortened": self._conversation.shortened,
                "shown": self._conversation.shown,
                "batches": self._batches,
            },
            self._deadline,
            may_start=not is_prompt and not (is_empty and not self._batches),
            only_if_running=event.name == "session-end" and not self._batches,
        )
        if found is None:
            self._conversations.save(self._conversation)
            notice = self._hub.refusal if is_usable(self._home) else _UNUSABLE
            told = notice if event.name == "session-start" else ""
            return answers.answer(event.client, event.name, "", kept=0, loaded=0, notice=told)
        notice = self._take_project(found)
        context, kept, loaded = str(found.get("context") or ""), _count(found, "kept"), _count(found, "loaded")
        self._keep_marks([str(one) for one in found.get("shown") or ()], found.get("done"))
        self._conversations.note_run(event.client, event.name, kept=kept, loaded=loaded)
        return answers.answer(event.client, event.name, context, kept=kept, loaded=loaded, notice=notice)

    def _take_project(self, found: Mapping[str, Any]) -> str:
        """Keep what the hub says of the project at hand; return a word about it that the person has not been told."""
        conversation = self._conversation
        project, notice = found.get("project"), str(found.get("notice") or "")
        known = conversation.project, conversation.noticed
        if isinstance(project, dict):  # a hub of before an upgrade says nothing
            conversation.project = project
        conversation.noticed = notice
        if known != (conversation.project, notice):
            self._conversations.save(conversation)
        return "" if notice == known[1] else notice

    def _keep_marks(self, shown: list[str], done: object) -> None:
        """Note how far the transcripts were read, that what waited has been told, and what was shown.

        ``done`` says of each batch whether the hub has dealt with it; the others are told again at the next event.
        """
        for conversation, mark, waiting, batch in self._read:
            is_own = conversation is self._conversation
            told = batch is None or (isinstance(done, list) and done[batch : batch + 1] == [True])
            if told and (mark != conversation.mark or waiting):
                conversation.mark = mark
                self._conversations.save(conversation, shown=shown if is_own else None, sent=waiting)
            elif is_own and shown:
                self._conversations.save(conversation, shown=shown)


def _server_options(arguments: Sequence[str]) -> list[str]:
    """Return the options that a server takes too, without the hook's own."""
    found: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "--client":
            skip = True
        elif argument != "--ask" and not argument.startswith("--client="):
            found.append(argument)
    return found


def _read_input(deadline: float) -> bytes:
    """Return what the client says, until its end, the deadline, or more than any event has."""
    if os.isatty(0):
        return b""  # a person typed the command
    parts: list[bytes] = []
    size = 0
    while size <= MOST_INPUT_BYTES:
        if sys.platform != "win32" and not select.select([0], [], [], _patience(parts, deadline))[0]:
            if _is_whole(parts):
                return b"".join(parts)
            if time.monotonic() >= deadline:
                return b""
            continue
        chunk = os.read(0, _CHUNK_BYTES)
        if not chunk:
            return b"".join(parts)
        parts.append(chunk)
        size += len(chunk)
    return b""


def _patience(parts: list[bytes], deadline: float) -> float:
    """Return for how many seconds the client's next words are waited for."""
    left = max(deadline - time.monotonic(), 0)
    return min(left, _IDLE_SECONDS) if parts else left


def _is_whole(parts: list[bytes]) -> bool:
    try:
        json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        return False
    return True


def _claim_standard_output() -> int:
    """Return a descriptor that leads to the client; whatever else is printed goes nowhere."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        printing = os.dup(1)
    except OSError:
        printing = nothing
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    return printing


def _print(printing: int, said: bytes) -> None:
    rest = memoryview(said)
    while rest:
        rest = rest[os.write(printing, rest) :]


def _end_at(limit: float) -> None:
    time.sleep(limit)
    os._exit(0)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _now() -> str:
    now = time.time()  # noqa: TID251 - a hook has no clock but the machine's
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"


def _count(found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) and value > 0 else 0
