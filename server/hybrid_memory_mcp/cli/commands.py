"""The typer application: all commands are registered here, in the order in which the help shows them.

Each has an operation done (``operation_call.py``) and prints the result (``output.py``). A new command is one line here, with the
panel of the help that it stands in and an example, and a row in ``tests/server/cli/test_every_command.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from hybrid_memory.errors import InvalidInput
from hybrid_memory.extras import load_extra
from hybrid_memory_mcp.cli import (
    acting,
    care,
    config,
    databases,
    embedders,
    erasing,
    evaluating,
    exporting,
    importing,
    inspecting,
    memories,
    migrating,
    project,
    seeing,
    serving,
    status,
    syncing,
    tokens,
)
from hybrid_memory_mcp.cli.command_group import (
    FILES,
    MEMORIES,
    SETTINGS,
    START,
    STORE,
    CommandGroup,
    example,
    hide_plain_types,
    unwrapped,
)
from hybrid_memory_mcp.cli.given import TextCommand
from hybrid_memory_mcp.cli.install import install
from hybrid_memory_mcp.cli.output import fail

hide_plain_types()
app = typer.Typer(
    name="hybrid-memory-mcp",
    cls=CommandGroup,
    help="A memory for every MCP client. Without a command it serves MCP over stdin and stdout, as clients start it.",
    epilog="Exit codes: 0 done; 1 not done, the reason is on stderr; 2 the command line is wrong, or nobody can be asked; 130 Ctrl-C. "
    'With --json an error is on stdout too: {"error": {"code", "message", "exit_code"}}.',
    no_args_is_help=False,
    pretty_exceptions_show_locals=False,  # they may be somebody's memories
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    """Show the version, if that is asked for."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("hybrid-memory-mcp"))
        raise typer.Exit


def _add(panel: str, function: Callable[..., None], shown: str, short: str, **options: Any) -> None:
    """Register a command; ``shown`` is an example of its use, ``short`` its line in the program's help."""
    options.setdefault("help", unwrapped(function.__doc__ or ""))
    app.command(rich_help_panel=panel, epilog=example(shown), short_help=short, **options)(function)


def _add_extra(panel: str, name: str, shown: str, short: str, **options: Any) -> None:
    """Register a command of an extra. Where its part is missing the help still shows it, and it says what to install."""
    try:
        function = load_extra("hybrid_memory_mcp.commands", name)
    except InvalidInput as error:
        function = _missing(error)
        options["context_settings"] = {"allow_extra_args": True, "ignore_unknown_options": True}
    _add(panel, function, shown, short, name=name, **options)


def _missing(error: InvalidInput) -> Callable[..., None]:
    def command() -> None:
        """Is not installed here."""
        fail(str(error))

    return command


def _add_group(panel: str, group: typer.Typer, name: str, short: str) -> None:
    app.add_typer(group, name=name, rich_help_panel=panel, short_help=short)


def _add_inside(group: typer.Typer, function: Callable[..., None], shown: str, **options: Any) -> None:
    """Register a subcommand whose function is in another file than its group."""
    group.command(help=unwrapped(function.__doc__ or ""), epilog=example(shown), **options)(function)


_add(START, install, "install claude-code", "Connect your assistants to this memory.")
_add(START, serving.demo, "demo", "See it work: a short scripted session with a real MCP client.")
_add(START, status.status, "status", "Show what is stored, what is new and what waits for you.")
_add_group(START, inspecting.app, "inspect", "Look at the memory in the browser, or in the terminal.")
_add(
    MEMORIES,
    memories.remember,
    'remember "Ada is allergic to peanuts" --importance 0.9',
    "Store a statement.",
    cls=TextCommand,
)
_add(
    MEMORIES,
    memories.recall,
    'recall "Which package manager do we use?"',
    "Find memories by a question; without one, show the brief.",
    cls=TextCommand,
)
_add(MEMORIES, memories.list_, "list --since 'last Monday' --tag work", "List memories with their ids.", name="list")
_add(MEMORIES, memories.show, "show 06h082aa7p6hm85pxyqj", "Show everything about memories, or one's history.")
_add(
    MEMORIES,
    acting.correct,
    'correct 06h082aa7p "The rehearsal is on Thursdays"',
    "Give a memory new words, or say that it is true, untrue or over.",
    cls=TextCommand,
)
_add(MEMORIES, memories.forget, "forget 06h082aa7p 06h0877v2h", "Hide memories from every answer, or bring them back.")
_add(MEMORIES, memories.pin, "pin 06h082aa7p", "Put memories at the top of each brief.")
_add(
    MEMORIES,
    acting.merge,
    'merge 06h082aa7p 06h0877v2h --text "Ada has a dog and a cat"',
    "Combine several memories into one.",
)
_add(
    MEMORIES,
    acting.split,
    'split 06h082aa7p "Ada has a dog" "Ada has a cat"',
    "Divide one memory into several.",
)
_add(MEMORIES, acting.undo, "undo", "Undo your last change.")
_add(MEMORIES, memories.reflect, "reflect music", "Show groups of memories to draw conclusions from.")
_add(
    FILES,
    importing.import_,
    "import ~/Downloads/chatgpt-export.zip",
    "Import what you told other assistants, notes and exports.",
    name="import",
)
_add(FILES, exporting.export, "export memories.jsonl", "Write everything as text.")
_add(FILES, syncing.sync, "sync ~/Dropbox/memory", "Synchronise machines through a shared folder.")
_add(FILES, care.backup, "backup", "Copy the store into one checked file.")
_add(FILES, care.restore, "restore memory-backup.duckdb", "Replace the store with a backup.")
_add(STORE, care.doctor, "doctor", "Check the store, or repair it.")
_add(STORE, erasing.purge, "purge 06h082aa7p6hm85pxyqj", "Erase memories permanently, in backups and logs too.")
_add(
    STORE,
    erasing.redact,
    "redact 06h082aa7p6hm85pxyqj --words",
    "Erase keys, passwords and card numbers, but keep the memories.",
)
_add(
    STORE,
    evaluating.eval_,
    "eval questions.jsonl --embedder static",
    "Ask your own questions and count the right answers.",
    name="eval",
)
_add_group(STORE, embedders.app, "embedder", "List embedding models, or use another.")
_add_group(STORE, databases.app, "postgres", "Keep the store in a PostgreSQL database.")
_add_group(SETTINGS, config.app, "config", "Show settings, or change one.")
_add_group(SETTINGS, project.app, "project", "Say which project a folder belongs to.")
_add_group(SETTINGS, tokens.app, "token", "Say who may use the memory over HTTP.")
_add(
    SETTINGS,
    serving.serve,
    "serve --namespace work",
    "Serve MCP over stdin and stdout, or over HTTP.",
    help="Serve MCP over stdin and stdout; what a client runs. The same happens without any command. With --http over HTTP.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
_add(
    SETTINGS,
    serving.hook,
    "hook session-start --client claude-code",
    "Serve one event of a client.",
    help="What a client runs at an event of a conversation: session-start, prompt, pre-tool, post-tool ... "
    "Reads the client's JSON, prints its answer, never fails. `install` writes it into the client's files.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    hidden=True,  # nobody types it
)
_add_inside(inspecting.app, seeing.search, 'inspect search "Where does Ada live?"', cls=TextCommand)
_add_inside(inspecting.app, seeing.timeline, "inspect timeline --as-of '1 March'")
_add_inside(inspecting.app, seeing.tiers, "inspect tiers --live")
_add_inside(
    databases.app,
    migrating.migrate,
    "postgres migrate ~/.local/share/hybrid-memory-mcp postgresql://hub@db.example/memory",
)
