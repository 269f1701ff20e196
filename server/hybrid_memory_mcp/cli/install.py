"""The command ``install``: gives the memory to the clients of this machine, and takes it back; what is done is in ``clients/``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from hybrid_memory_mcp.cli.exit_codes import WRONG_USE
from hybrid_memory_mcp.cli.operation_call import AsJson
from hybrid_memory_mcp.cli.output import fail, print_grid, print_json
from hybrid_memory_mcp.clients import toml_text
from hybrid_memory_mcp.clients.command import PROGRAM, Start, keeping, shell_line, start_of_this_installation
from hybrid_memory_mcp.clients.installer import (
    Plan,
    Result,
    carry_out,
    environment_of_entry,
    plan_install,
    plan_uninstall,
)
from hybrid_memory_mcp.clients.links import links as all_links
from hybrid_memory_mcp.clients.places import Machine, this_machine
from hybrid_memory_mcp.clients.step_words import change_in_words
from hybrid_memory_mcp.clients.table import BY_NAME, CLIENTS, SERVER, Client

_NAMES = ", ".join(BY_NAME)
_CONTRADICTIONS = (
    ("--uninstall", "--print"),
    ("--uninstall", "--links"),
    ("--uninstall", "--replace"),
    ("--uninstall", "--no-hooks"),
    ("--print", "--links"),
)
_APART = "In a git repository, what you tell an assistant stays in that repository; what you say about yourself is known everywhere."
_MOST_BACKUPS = 2  # that are named
_INSTALL_FIRST = f"Install it yourself: `uv tool install {PROGRAM}`, then `{PROGRAM} install`."
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _completed(incomplete: str) -> list[str]:
    return [name for name in BY_NAME if name.startswith(incomplete.lower())]


def install(  # noqa: PLR0917 - typer makes options of them
    clients: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLIENT]...",
            help=f"Which ones. Default: those on this machine. {_NAMES}.",
            autocompletion=_completed,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take the memory out of their files again.")] = False,
    show: Annotated[
        bool, typer.Option("--print", help="Print the entry, for any client or the named one; write nothing.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show every change as a diff.")] = False,
    no_hooks: Annotated[
        bool, typer.Option("--no-hooks", help="Only the server: nothing is remembered unasked.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help=f"Replace an entry `{SERVER}` that starts something else.")
    ] = False,
    links: Annotated[bool, typer.Option("--links", help="Print the links that add the memory at a click.")] = False,
    as_json: AsJson = False,
) -> None:
    """Connect your assistants to this memory. It writes one entry into each one's file, and hooks where it has them.

    It says which files it will change and asks. What was there is kept as a backup next to each file, and --uninstall takes it back.
    """
    _refuse_contradictions(
        {"--uninstall": uninstall, "--print": show, "--links": links, "--replace": replace, "--no-hooks": no_hooks}
    )
    if links:
        _print_links(as_json)
        return
    if as_json and not (clients or yes or dry_run or show):
        raise typer.BadParameter("a program cannot be asked: name the clients, or say --yes", param_hint="--json")
    machine = this_machine()
    start = start_of_this_installation(machine.environment)
    named = _clients(clients or [])
    if show:
        _print_entries(named, machine, start, as_json=as_json)
        return
    console = Console(soft_wrap=True, highlight=False, quiet=as_json)
    ask = not (yes or dry_run or named or as_json)
    if start.keep and not uninstall and (named or machine.clients_here()):
        start = _kept(start, machine, console, ask=ask, dry_run=dry_run)
    plans = _plans(named, machine, start, uninstall=uninstall, with_hooks=not no_hooks, may_replace=replace)
    if not plans:
        _say_nothing_found(console, uninstall=uninstall)
        return
    if not as_json:
        _show_plans(plans, console, machine, with_diffs=diff)
    again = partial(_plans, machine=machine, start=start, uninstall=False, with_hooks=not no_hooks, may_replace=True)
    chosen = _chosen([plan for plan in plans if _would_change(plan)], ask=ask)
    results = [
        plan.foreseen()
        if dry_run and not plan.problem
        else _done(plan, console, chosen=chosen, ask=ask, may_replace=replace, again=again)
        for plan in plans
    ]
    _end(results, plans, console, dry_run=dry_run, as_json=as_json)


def _end(results: list[Result], plans: list[Plan], console: Console, *, dry_run: bool, as_json: bool) -> None:
    """Print what was done; exits with 1 where something could not be."""
    if as_json:
        print_json([_as_values(result, plan, dry_run=dry_run) for result, plan in zip(results, plans, strict=True)])
    else:
        _print_summary(console, results, dry_run=dry_run)
    if any(result.problem for result in results):
        raise typer.Exit(1)


def _kept(start: Start, machine: Machine, console: Console, *, ask: bool, dry_run: bool) -> Start:
    """Install what uvx runs, and return how it starts then: entries and hooks must lead to a program that stays."""
    console.print("This runs from uv's cache, which may be emptied. To keep it for your assistants:")
    keep = keeping(start, machine.environment)
    if keep is None:
        fail(f"uv does not say where it installs programs. {_INSTALL_FIRST}", code="not_installed")
    console.print(Text(f"  {shell_line(keep.command)}", style="bold"))
    if ask and not _answered("Install it?", default=True):
        raise typer.Exit
    done, said = (True, "") if dry_run else keep.carry_out()
    if said:
        typer.echo(said, err=True)
    if not done:
        fail(f"uv could not install it, so nothing was written. {_INSTALL_FIRST}", code="not_installed")
    return Start((str(keep.program),))


def _refuse_contradictions(given: Mapping[str, bool]) -> None:
    """Refuse options of which one would be passed over without a word."""
    for one, other in _CONTRADICTIONS:
        if given[one] and given[other]:
            raise typer.BadParameter(f"{one} and {other} contradict each other; leave one of them out", param_hint=one)


def _clients(names: Sequence[str]) -> list[Client]:
    unknown = [name for name in names if name.lower() not in BY_NAME]
    if unknown:
        meant = list(dict.fromkeys(one for name in unknown for one in _like(name)))
        raise typer.BadParameter(
            f"{', '.join(unknown)}: there is no such client here. "
            + (f"Did you mean: {' '.join(meant)}? " if meant else "")
            + f"Known are {_NAMES}; for others there is --print.",
            param_hint="CLIENT",
        )
    return [BY_NAME[name] for name in dict.fromkeys(name.lower() for name in names)]


def _like(name: str) -> list[str]:
    """Return the clients that a name may mean which is none: several in one word, a part of a name or title, a slip."""
    found: list[str] = []
    for word in re.split(r"[,;]", name):
        plain = _plain(word)
        if word.strip().lower() in BY_NAME:
            found.append(word.strip().lower())
        elif len(plain) > 2:  # noqa: PLR2004 - shorter ones are in every name
            in_names = [
                one.name for one in CLIENTS if plain in _plain(one.name + one.title) or _plain(one.name) in plain
            ]
            found += in_names or get_close_matches(word.lower(), BY_NAME, n=2)
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _plans(
    named: Sequence[Client], machine: Machine, start: Start, *, uninstall: bool, with_hooks: bool, may_replace: bool
) -> list[Plan]:
    if uninstall:
        plans = [plan_uninstall(client, machine) for client in named or CLIENTS]
        return plans if named else [plan for plan in plans if plan.may_hold_ours]
    chosen = named or machine.clients_here()
    return [
        plan_install(client, machine, start.command, with_hooks=with_hooks, may_replace=may_replace)
        for client in chosen
    ]


def _show_plans(plans: Sequence[Plan], console: Console, machine: Machine, *, with_diffs: bool) -> None:
    """Say what each file would get, in a line; the diffs of all before that, if they are wanted."""
    for plan in plans if with_diffs else ():
        _print_diffs(console, plan)
    print_grid([row for plan in plans if not plan.problem for row in _plan_rows(plan, machine)])
    for plan in plans:
        if plan.problem:
            console.print(Text(f"{plan.client.name}: {plan.problem}", style="red"))
        for remark in _remarks(plan, machine):
            console.print(f"{plan.client.name}: {escape(remark)}")
    changing = [plan for plan in plans if _would_change(plan)]
    if changing and not changing[0].uninstalls:
        if machine.is_of_another():
            console.print("note: you are root here, and this home is another user's: what is made new will be root's")
        console.print("Each file is backed up first, and --uninstall brings it back. --diff shows every change.")


def _plan_rows(plan: Plan, machine: Machine) -> list[tuple[str, str, str]]:
    rows = [(change_in_words(step), _at_home(step.path, machine)) for step in plan.steps if step.changes]
    return [(plan.client.name, *row) for row in rows or [(plan.foreseen().state, "")]]


def _remarks(plan: Plan, machine: Machine) -> list[str]:
    """Return what the person should know about a plan."""
    remarks = list(plan.remarks)
    if plan.by_plugin:
        remarks.append(
            "its plugin hybrid-memory is on and brings server and hooks; switch that off there to use `install` instead"
        )
    if _would_change(plan) and not plan.uninstalls:
        if not machine.is_here(plan.client):
            remarks.append("was not found on this machine; its files are made all the same")
        if plan.client.plugin_way and plan.foreseen().state == "installed":
            remarks.append(plan.client.plugin_way)
    return remarks


def _would_change(plan: Plan) -> bool:
    return plan.changes and not plan.problem


def _chosen(plans: Sequence[Plan], *, ask: bool) -> Collection[Client]:
    """Return the clients whose plans are to be carried out: those that the person chooses, if that is asked."""
    clients = [plan.client for plan in plans]
    if not ask or not plans:
        return clients
    names = clients[0].title if len(clients) == 1 else f"these {len(clients)} clients"
    question = f"Take the memory out of {names}?" if plans[0].uninstalls else f"Give {names} the memory?"
    if len(clients) == 1:
        return clients if _answered(question, default=True) else []
    answer = _said(f"{question} [Y]es, [n]o, [c]hoose")
    if answer == "c":
        return [client for client in clients if _answered(f"{client.title}?", default=True)]
    return clients if answer == "y" else []


def _done(
    plan: Plan,
    console: Console,
    *,
    chosen: Collection[Client],
    ask: bool,
    may_replace: bool,
    again: Callable[[Sequence[Client]], list[Plan]],
) -> Result:
    """Carry one plan out if the person has chosen it, and return what became of it."""
    if plan.problem:
        if not (plan.foreign and ask):
            return Result(plan.client, "refused", problem=plan.problem)
        return _replaced(again([plan.client])[0], console)
    if not plan.changes:
        return plan.foreseen()
    if plan.client not in chosen:
        return Result(plan.client, "left out")
    return _carried_out(plan, console, may_replace=may_replace)


def _replaced(plan: Plan, console: Console) -> Result:
    """Show what the entry of somebody else would become, and replace it if the person says so."""
    if plan.problem:
        console.print(Text(plan.problem, style="red"))
        return Result(plan.client, "refused", problem=plan.problem)
    _print_diffs(console, plan)
    if not _answered("Replace that entry?", default=False):
        return Result(plan.client, "left out")
    return _carried_out(plan, console, may_replace=True)


def _carried_out(plan: Plan, console: Console, *, may_replace: bool) -> Result:
    result = carry_out(plan, may_replace=may_replace)
    if result.problem:
        console.print(Text(result.problem, style="red"))
    return result


def _answered(question: str, *, default: bool) -> bool:
    with _somebody_answers():
        return typer.confirm(question, default=default)


def _said(question: str) -> str:
    """Ask until the answer is one of y, n and c, and return it."""
    answer = ""
    with _somebody_answers():
        while answer not in {"y", "n", "c"}:
            answer = str(typer.prompt(question, default="y", show_default=False)).strip().lower()[:1]
    return answer


@contextmanager
def _somebody_answers() -> Iterator[None]:
    try:
        yield
    except typer.Abort:
        typer.echo(err=True)
        words = "Nobody answered; nothing more was changed. Name the clients, or use --yes."
        fail(words, code="usage", exit_code=WRONG_USE)


def _print_diffs(console: Console, plan: Plan) -> None:
    for step in plan.steps:
        for line in step.diff().split("\n") if step.changes else ():
            console.print(Text(line, style=_COLOURS.get(line[:1], "")))


def _at_home(path: Path, machine: Machine) -> str:
    home = machine.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _print_summary(console: Console, results: Sequence[Result], *, dry_run: bool) -> None:
    """Print what became of the clients that were to be changed, and what the person does next."""
    console.print()
    done = [one for one in results if one.files or one.problem]
    if dry_run or not done:
        console.print("Nothing was written." if dry_run else "Nothing was changed.")
        return
    print_grid([(one.client.name, one.state, one.next_step) for one in done])
    if any(one.state in {"installed", "updated"} for one in results):
        console.print(_APART)
    backups = [backup for result in results for backup in result.backups]
    for backup in backups[:_MOST_BACKUPS]:
        console.print(f"kept: {escape(str(backup))}")
    if len(backups) > _MOST_BACKUPS:
        console.print(f"kept: {len(backups) - _MOST_BACKUPS} more, each next to its file")


def _state(result: Result, *, dry_run: bool) -> str:
    """Return what a client is, or would be without ``--dry-run``."""
    changes = result.state in {"installed", "updated", "removed"}
    return f"would be {result.state}" if dry_run and changes else result.state


def _as_values(result: Result, plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    return {
        "client": result.client.name,
        "state": _state(result, dry_run=dry_run),
        "files": [str(path) for path in result.files],
        "backups": [str(path) for path in result.backups],
        "next": result.next_step,
        "problem": result.problem or None,
        "diff": "\n".join(step.diff() for step in plan.steps if step.changes),
    }


def _print_entries(named: Sequence[Client], machine: Machine, start: Start, *, as_json: bool) -> None:
    env = environment_of_entry(machine.environment)
    if not named:
        any_client = {"command": start.command[0], "args": list(start.command[1:])} | ({"env": env} if env else {})
        _print_value({"mcpServers": {SERVER: any_client}})
        typer.echo(
            "Most clients take this; some call the first key otherwise. --print CLIENT for one of them.", err=True
        )
    entries = {client.name: {client.key: {SERVER: client.entry(start.command, env)}} for client in named}
    if as_json and len(entries) > 1:
        _print_value(entries)
        return
    for client in named:
        typer.echo(f"{client.title}: {machine.file(client.servers)}", err=True)
        if client.shape == "toml" and not as_json:
            typer.echo(toml_text.table_text((client.key, SERVER), client.entry(start.command, env)), nl=False)
        else:
            _print_value(entries[client.name])


def _print_value(value: Mapping[str, Any]) -> None:
    print_json(value)


def _print_links(as_json: bool) -> None:
    if as_json:
        print_json(all_links())
        return
    for title, link in all_links().items():
        typer.echo(f"{title}: {link}")


def _say_nothing_found(console: Console, *, uninstall: bool) -> None:
    if uninstall:
        console.print("The memory is in no client's files.")
        return
    fail(f"No client was found here. Name one ({_NAMES}), or take the entry from --print.", code="no_client")
