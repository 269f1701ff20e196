"""Plans and makes the changes of one client: which files, what is in them afterwards, what is said about each."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from hybrid_memory_mcp.clients import changes, diffs, toml_text
from hybrid_memory_mcp.clients.changes import ForeignEntry, Parts
from hybrid_memory_mcp.clients.command import MODULE, PROGRAM, shell_line
from hybrid_memory_mcp.clients.files import FileProblem, backup_of, change_file, check_changeable, hand_over, read_file
from hybrid_memory_mcp.clients.jsonc import DamagedText, UnexpectedShape
from hybrid_memory_mcp.clients.places import Machine
from hybrid_memory_mcp.clients.starts import for_hooks, read_start, server_options, words_of
from hybrid_memory_mcp.clients.table import CLIENTS, SERVER, Client
from hybrid_memory_mcp.hooks.definitions import BESIDE, hooks_for

State = Literal[
    "installed", "updated", "already there", "left to its plugin", "removed", "not there", "refused", "left out"
]
HOME_VARIABLE = "HYBRID_MEMORY_HOME"
_SHOWN = ("command", "args", "type", "source")
"""What of an entry of ours may be shown; in what a person added there may be a password."""
_READS = 5
_pause: Callable[[float], None] = time.sleep  # a test's is shorter


_FILLED_IN = re.compile(r"\$\{(?:env:)?(\w+)\}")


@dataclass(frozen=True)
class Wish:
    """What a client is to have: how the memory is started, which variables the server gets, and whether there are hooks.

    ``servers`` is the file with its servers. What a person put into the entry there holds for the hooks too, so that both have one store.
    """

    client: Client
    command: tuple[str, ...]
    env: Mapping[str, str]
    with_hooks: bool
    servers: Path
    environment: Mapping[str, str]

    def parts(self, text: str, *, of_servers: bool) -> Parts:
        """Return what belongs into the file with the servers, whose text this is, or into the one for hooks alone."""
        client = self.client
        server = Parts(client.shape, (client.key, SERVER), client.entry(self.command, self.env), client.env_key)
        beside = BESIDE.get(client.name, {})
        if client.hooks is None:
            return server
        if of_servers:
            same_file = client.hooks == client.servers
            return replace(server, hooks=self._hooks(text, server), beside=beside) if same_file else server
        return Parts(hooks=self._hooks(_text(read_file(self.servers)), server), beside=beside)

    def entry(self, text: str) -> Mapping[str, Any]:
        """Return the entry that will be there, where this is the text of the file with the servers."""
        return self._entry(text, Parts(self.client.shape, (self.client.key, SERVER), {}, self.client.env_key))

    def _entry(self, text: str, server: Parts) -> Mapping[str, Any]:
        server = replace(server, entry=self.client.entry(self.command, self.env))
        found = changes.entry_in(text, server)
        return changes.merged(found, server) if changes.is_ours(found) else server.entry

    def _hooks(self, text: str, server: Parts) -> dict[str, list[dict[str, Any]]]:
        """Return the client's hooks. They get no variables as the server does, so what was chosen is told as options."""
        if not self.with_hooks:
            return {}
        try:
            entry = self._entry(text, server)
        except (DamagedText, UnexpectedShape):
            entry = server.entry
        started = read_start(words_of(entry))
        env = entry.get(self.client.env_key)
        options = server_options(started.rest if started else (), env if isinstance(env, Mapping) else {})
        words = [word for name, value in options.items() for word in (f"--{name}", self._filled_in(name, value))]
        hooks = hooks_for(self.client.name, for_hooks(started.start if started else self.command)) or {}
        for handler in (one for items in hooks.values() for item in items for one in item.get("hooks", [item])):
            if words and "args" in handler:
                handler["args"] = [*handler["args"], *words]
            elif words and "command" in handler:
                handler["command"] += f" {shell_line(words)}"
        return hooks

    def _filled_in(self, name: str, value: str) -> str:
        """Return a value of the entry with the variables that the client would fill in there, but not in a hook."""
        environment = self.environment
        filled = _FILLED_IN.sub(lambda found: environment.get(found[1]) or found[0], value)
        if "${" in filled:
            raise UnexpectedShape(
                f"the entry `{SERVER}` has a {name} that only {self.client.title} can fill in, so its hooks would look into "
                "another memory; write it out there"
            )
        return filled


@dataclass(frozen=True)
class Step:
    """What is to be done to one file.

    ``problem`` says why it cannot be; ``foreign`` that an entry of somebody else is in the way, ``mentions_us`` that the file, which
    cannot be understood, has our name in it. ``trusted`` begins the names under which the client notes that hooks are trusted.
    """

    path: Path
    parts: Parts
    uninstall: bool
    before: str = ""
    after: str = ""
    had_ours: bool = False
    problem: str = ""
    foreign: bool = False
    mentions_us: bool = False
    trusted: tuple[str, ...] = ()
    wish: Wish | None = None

    @property
    def changes(self) -> bool:
        """Whether the file would be another one."""
        return self.before != self.after

    def diff(self) -> str:
        """Return what would change, as a unified diff that shows nothing of others but names."""
        ours = changes.present(self.before, self.parts) if not self.problem else None
        command = changes.command_in(self.before, self.parts) if not self.problem else ""
        shown = {
            *diffs.all_strings(self.parts.entry),
            *diffs.all_strings(self.parts.hooks or {}),
            *([command] if command else []),
            *diffs.all_strings({key: ours.entry[key] for key in _SHOWN if key in ours.entry} if ours else {}),
            *diffs.all_strings((ours and ours.hooks) or {}),
        }
        return diffs.diff(self.before, self.after, name=str(self.path), shape=self.parts.shape, shown=shown)


@dataclass(frozen=True)
class Plan:
    """What is to be done for one client; nothing where our plugin is on in it, which brings server and hooks.

    ``remarks`` are for the person. ``places`` are those where other clients have their files.
    """

    client: Client
    steps: tuple[Step, ...]
    by_plugin: bool = False
    remarks: tuple[str, ...] = ()
    places: tuple[Path, ...] = ()

    @property
    def problem(self) -> str:
        """Why nothing can be done, in sentences; empty if it can."""
        return "\n".join(step.problem for step in self.steps if step.problem)

    @property
    def foreign(self) -> bool:
        """Whether the only problem is an entry of somebody else."""
        return any(step.foreign for step in self.steps) and all(step.foreign for step in self.steps if step.problem)

    @property
    def changes(self) -> bool:
        """Whether any file would be another one."""
        return any(step.changes for step in self.steps)

    @property
    def may_hold_ours(self) -> bool:
        """Whether ours is in a file, or may be in one that cannot be understood."""
        return self.changes or any(step.mentions_us for step in self.steps)

    @property
    def uninstalls(self) -> bool:
        """Whether it takes the memory out."""
        return bool(self.steps) and all(step.uninstall for step in self.steps)

    @property
    def with_hooks(self) -> bool:
        """Whether it puts hooks into a file."""
        return any(step.parts.hooks and not step.uninstall for step in self.steps)

    def foreseen(self) -> Result:
        """Return what carrying it out would do."""
        files = tuple(step.path for step in self.steps if step.changes)
        return Result(self.client, _state(self, files, ()), files, with_hooks=self.with_hooks)


@dataclass(frozen=True)
class Result:
    """What was done for one client."""

    client: Client
    state: State
    files: tuple[Path, ...] = ()
    backups: tuple[Path, ...] = ()
    problem: str = ""
    with_hooks: bool = False

    @property
    def next_step(self) -> str:
        """What the person does now; empty if nothing."""
        if self.problem:
            return "see above"
        if self.state == "removed":
            return "restart it"
        if self.state not in ("installed", "updated"):
            return ""
        return "; ".join(filter(None, (self.client.next_step, self.client.hooks_step if self.with_hooks else "")))


def environment_of_entry(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an entry hands over: the store's folder, if the person chose one."""
    chosen = environment.get(HOME_VARIABLE, "").strip()
    return {HOME_VARIABLE: str(Path(chosen).expanduser().absolute())} if chosen else {}


def plan_install(
    client: Client, machine: Machine, command: Sequence[str], *, with_hooks: bool = True, may_replace: bool = False
) -> Plan:
    """Return what has to be done so that a client has the memory."""
    if has_our_plugin(client, machine):
        return Plan(client, (), by_plugin=True, remarks=_said_of_twice(client, machine))
    path = machine.file(client.servers)
    env = environment_of_entry(machine.environment)
    wish = Wish(client, tuple(command), env, with_hooks, path, machine.environment)
    first = _planned(Step(path, _server_parts(client, {}), uninstall=False, wish=wish), may_replace)
    steps = [first]
    hooks_path = None if client.hooks is None else machine.file(client.hooks)
    if hooks_path is not None and hooks_path != path:
        for_hooks = Parts(hooks={}, beside=BESIDE.get(client.name, {}))
        second = Step(hooks_path, for_hooks, uninstall=not with_hooks, wish=wish if with_hooks else None)
        steps.append(_planned(second, may_replace))
    return Plan(
        client, tuple(steps), remarks=() if first.problem else _remarks(wish, first.before), places=_places(machine)
    )


def _said_of_twice(client: Client, machine: Machine) -> tuple[str, ...]:
    if not plan_uninstall(client, machine).may_hold_ours:
        return ()
    return (
        f"an earlier `install` is there too, so its tools come twice; `hybrid-memory-mcp install --uninstall {client.name}` takes it out",
    )


def _remarks(wish: Wish, before: str) -> tuple[str, ...]:
    """Return what the person should know about an entry that is there already."""
    found = changes.entry_in(before, _server_parts(wish.client, {}))
    if not changes.is_ours(found):
        return ()
    remarks = []
    former, now = (_folder_of(entry, wish.client.env_key) for entry in (found, wish.entry(before)))
    if former and former != now:
        remarks.append(f"its memory is now in {now}, before in {former}; what is there stays there")
    started = read_start(words_of(found))
    if started is not None and started.is_chosen:
        remarks.append(f"it starts as you wrote it: {shell_line(started.start)}")
    if wish.env and now not in wish.env.values():
        remarks.append(f"its memory is in {now}, as its entry says, not in {wish.env[HOME_VARIABLE]}")
    return tuple(remarks)


def _folder_of(entry: Mapping[str, Any], env_key: str) -> str:
    started, env = read_start(words_of(entry)), entry.get(env_key)
    options = server_options(started.rest if started else (), env if isinstance(env, Mapping) else {})
    return options.get("home", "")


def has_our_plugin(client: Client, machine: Machine) -> bool:
    """Return whether our plugin is on in a client: with it and with an entry of ours, everything would be done twice."""
    if client.plugin is None:
        return False
    places, path = client.plugin
    try:
        value = changes.value_at(_text(read_file(machine.file(places))), path, client.shape)
    except (FileProblem, DamagedText, UnexpectedShape):
        return False
    return value is True


def plan_uninstall(client: Client, machine: Machine) -> Plan:
    """Return what has to be done so that nothing of the memory is in a client's files."""
    parts = _server_parts(client, client.entry([""], {}))
    if client.hooks is None:
        steps = [_uninstall_step(path, parts) for path in machine.files(client.servers)]
        return Plan(client, tuple(steps), places=_places(machine))
    beside = BESIDE.get(client.name, {})
    of_hooks = machine.files(client.hooks)
    steps = [
        _uninstall_step(path, replace(parts, hooks={}, beside=beside) if path in of_hooks else parts)
        for path in machine.files(client.servers)
    ]
    done = {step.path for step in steps}
    last = [_uninstall_step(path, Parts(hooks={}, beside=beside)) for path in of_hooks if path not in done]
    # Hooks that are gone with their file are trusted no more.
    gone = [str(path) for step in last if step.changes and not step.after for path in (step.path, step.path.resolve())]
    if gone and client.shape == "toml":
        trusted = tuple(f"{path}:" for path in gone)
        steps = [_planned(replace(step, trusted=trusted), may_replace=False) for step in steps]
    steps += last
    # Last in, first out: the first file is the one that knows of folders made for it.
    return Plan(client, tuple(reversed(steps)), places=_places(machine))


def _places(machine: Machine) -> tuple[Path, ...]:
    """Return where the clients have their files."""
    kinds = [kind for client in CLIENTS for kind in (client.servers, client.hooks) if kind is not None]
    return tuple(machine.file(kind) for kind in kinds)


def carry_out(plan: Plan, *, may_replace: bool = False) -> Result:
    """Make the changes of a plan; each file is read again, so that what was written since the plan was made is not lost."""
    files: list[Path] = []
    backups: list[Path] = []
    problems: list[str] = []
    for step in plan.steps:
        if not (step.changes or step.problem):
            continue
        try:
            change = change_file(
                step.path,
                partial(_edited, step, may_replace=may_replace),
                lock_folder=plan.client.locked_by_folder and step.parts.path != (),
                forget_made=step.uninstall,
                wait=_pause,
            )
            if change.left is not None:
                hand_over(*change.left, plan.places)
        except (FileProblem, DamagedText, UnexpectedShape, ForeignEntry) as error:
            problems.append(_sentence(step.path, error, step.parts))
            if files:
                problems.append(
                    f"{files[0]} is done, this is not: the memory is half there. Try again when that is mended."
                )
            break
        files += [step.path] if change.changed else []
        backups += [change.backup] if change.backup is not None else []
    return Result(
        plan.client, _state(plan, files, problems), tuple(files), tuple(backups), "\n".join(problems), plan.with_hooks
    )


def _state(plan: Plan, files: Sequence[Path], problems: Sequence[str]) -> State:
    if problems:
        return "refused"
    if plan.by_plugin:
        return "left to its plugin"
    if plan.uninstalls:
        return "removed" if files else "not there"
    if not files:
        return "already there"
    return "updated" if plan.steps[0].had_ours else "installed"


def _server_parts(client: Client, entry: Mapping[str, Any]) -> Parts:
    return Parts(client.shape, (client.key, SERVER), entry, client.env_key)


def _uninstall_step(path: Path, parts: Parts) -> Step:
    return _planned(Step(path, parts, uninstall=True), may_replace=False)


def _planned(step: Step, may_replace: bool) -> Step:
    for tries_left in reversed(range(_READS)):
        content: bytes | None = None
        try:
            content, backup = read_file(step.path), read_file(backup_of(step.path))
            before = _text(content)
            step = replace(step, parts=_parts(step, before))
            after = _text(_edited(step, content, backup, may_replace=may_replace)[0])
            step = replace(step, before=before, after=after, had_ours=changes.has_ours(before, step.parts))
            if step.changes:
                check_changeable(step.path)
        except DamagedText as error:
            # It may be in the middle of being written.
            if tries_left and _comes_to_an_end(step.path, content):
                continue
            mentions_us = content is not None and (PROGRAM.encode() in content or MODULE.encode() in content)
            return replace(step, problem=_sentence(step.path, error, step.parts), mentions_us=mentions_us)
        except (FileProblem, UnexpectedShape, ForeignEntry) as error:
            problem = _sentence(step.path, error, step.parts)
            return replace(step, problem=problem, foreign=isinstance(error, ForeignEntry))
        else:
            break
    return step


def _comes_to_an_end(path: Path, content: bytes | None) -> bool:
    """Return whether a file changes within a second."""
    for _ in range(10):
        _pause(0.1)
        if read_file(path) != content:
            return True
    return False


def _text(content: bytes | None) -> str:
    return "" if content is None else changes.read(content)


def _parts(step: Step, text: str) -> Parts:
    """Return what belongs into the file of a step, where this is its text."""
    return step.parts if step.wish is None else step.wish.parts(text, of_servers=step.path == step.wish.servers)


def _edited(
    step: Step, content: bytes | None, backup: bytes | None, *, may_replace: bool
) -> tuple[bytes | None, bytes | None]:
    """Return what a file and its backup shall be, as `clients.files.Edit`."""
    text = _text(content)
    parts = _parts(step, text)
    if step.uninstall:
        if step.trusted and changes.has_ours(text, parts):
            text = toml_text.remove_below(text, ("hooks", "state"), step.trusted)
        return _without(step.path, text, content, backup, parts)
    former = None if backup is None else _decoded(backup)
    new = changes.install(text, parts, replace=may_replace, backup=former).encode()
    if new == (content or b""):
        return content, backup
    return new, _backup(text, new.decode(), content, backup, parts)


def _backup(text: str, new: str, content: bytes | None, backup: bytes | None, parts: Parts) -> bytes | None:
    """Return what the backup shall be: what `uninstall` goes back to, so it never has ours in place of what was there before.

    Where ours is in the file already, that is the backup that there is, if it still leads to the same; where none is, and nothing
    but ours is in the file, it was made for ours.
    """
    if content is None or not changes.has_ours(text, parts):
        return content
    former = None if backup is None else _decoded(backup)
    if (
        former is not None
        and not changes.has_ours(former, parts)
        and changes.same_without(text, former, former, new, parts)
    ):
        return backup
    without = changes.uninstall(text, parts, former)
    if not changes.same_without(text, former, None, new, parts):
        return without.encode()
    return backup if changes.is_blank(without, parts) else content


def _without(
    path: Path, text: str, content: bytes | None, backup: bytes | None, parts: Parts
) -> tuple[bytes | None, bytes | None]:
    if content is None or not changes.has_ours(text, parts):
        return content, backup
    former = None if backup is None else _decoded(backup)
    kept = changes.uninstall(text, parts, former)
    if kept == former:
        return backup, None
    had_none = former is None or changes.has_ours(former, parts)
    if had_none and changes.is_blank(kept, parts) and not path.is_symlink():
        return None, None  # the file was made for us
    return kept.encode(), content


def _decoded(content: bytes) -> str | None:
    try:
        return changes.read(content)
    except DamagedText:
        return None


def _sentence(path: Path, error: Exception, parts: Parts) -> str:
    hint = " Or leave hooks out with --no-hooks." if not parts.path and parts.hooks else ""
    if isinstance(error, DamagedText):
        where = f"{path}: line {error.line}: {error.problem}."
        return f"{where} Correct it in an editor and try again; the file is as it was.{hint}"
    if isinstance(error, ForeignEntry):
        name = ".".join(parts.path)
        return f"{path} has an entry `{name}` that starts something else. Rename it there, or use --replace, which keeps a backup."
    if isinstance(error, FileProblem):
        return f"{path} {error}.{hint}"
    return f"{path}: {error}. The file is as it was.{hint}"
