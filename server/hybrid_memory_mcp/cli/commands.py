"""The typer application: all commands are registered here, in the order in which the help shows them.

Each has an operation done (``operation_call.py``) and prints the result (``output.py``). A new command is one line here, with the
panel of the help that it is in and an example, and a row in ``tests/server/cli/test_every_command.py``.
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
    embedders,
    erasing,
    evaluating,
    exporting,
    importing,
    memories,
    project,
    seeing,
    serving,
    status,
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

_COMMANDS = "hybrid_memory_mcp.commands"  # the entry points of commands

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


def _add(panel: str, function: Callable[..., None], shown: str, **options: Any) -> None:
    """Register a command. ``shown`` is an example of its use; the first sentence of its help is its line in the program's."""
    options.setdefault("help", unwrapped(function.__doc__ or ""))
    app.command(rich_help_panel=panel, epilog=example(shown), **options)(function)


def _add_extra(panel: str, name: str, shown: str, **options: Any) -> None:
    """Register a command of an extra. Where its part is missing the help still shows it, and it says what to install."""
    try:
        function = load_extra(_COMMANDS, name)
    except InvalidInput as error:
        function = _missing(error)
        options["context_settings"] = {"allow_extra_args": True, "ignore_unknown_options": True}
    _add(panel, function, shown, name=name, **options)


def _add_extra_group(panel: str, name: str) -> None:
    """Register a group of commands of an extra; where its part is missing, as `_add_extra` does."""
    try:
        _add_group(panel, load_extra(_COMMANDS, name), name)
    except InvalidInput:
        _add_extra(panel, name, f"{name} --help")


def _missing(error: InvalidInput) -> Callable[..., None]:
    def command(context: typer.Context) -> None:
        """Is not installed here."""
        if context.invoked_subcommand is None:
            fail(str(error))

    return command


def _add_group(panel: str, group: typer.Typer, name: str) -> None:
    app.add_typer(group, name=name, rich_help_panel=panel)


def _group_of_extra(name: str, shown: str) -> typer.Typer:
    """Return a group that does an extra's command where no subcommand is named."""
    group = typer.Typer(invoke_without_command=True, epilog=example(shown))
    try:
        group.callback()(load_extra(_COMMANDS, name))
    except InvalidInput as error:
        group.callback()(_missing(error))
    return group


def _add_inside(group: typer.Typer, function: Callable[..., None], shown: str, **options: Any) -> None:
    """Register a subcommand whose function is in another file than its group."""
    group.command(help=unwrapped(function.__doc__ or ""), epilog=example(shown), **options)(function)


inspecting = _group_of_extra("inspect", "inspect timeline --as-of '1 March'")
_BRIEFLY = "Find memories by a question; without one, show the brief."

_add(START, install, "install claude-code")
_add(START, serving.demo, "demo")
_add(START, status.status, "status", short_help="Show what is stored, what is new and what waits for you.")
_add_group(START, inspecting, "inspect")
_add(MEMORIES, memories.remember, 'remember "Ada is allergic to peanuts" --importance 0.9', cls=TextCommand)
_add(MEMORIES, memories.recall, 'recall "Which package manager do we use?"', cls=TextCommand, short_help=_BRIEFLY)
_add(MEMORIES, memories.list_, "list --since 'last Monday' --tag work", name="list")
_add(MEMORIES, memories.show, "show 06h082aa7p6hm85pxyqj")
_add(MEMORIES, acting.correct, 'correct 06h082aa7p "The rehearsal is on Thursdays"', cls=TextCommand)
_add(MEMORIES, memories.forget, "forget 06h082aa7p 06h0877v2h")
_add(MEMORIES, memories.pin, "pin 06h082aa7p")
_add(MEMORIES, acting.merge, 'merge 06h082aa7p 06h0877v2h --text "Ada has a dog and a cat"')
_add(MEMORIES, acting.split, 'split 06h082aa7p "Ada has a dog" "Ada has a cat"')
_add(MEMORIES, acting.undo, "undo", short_help="Undo your last change.")
_add(MEMORIES, memories.reflect, "reflect music")
_add(FILES, importing.import_, "import ~/Downloads/chatgpt-export.zip", name="import")
_add(FILES, exporting.export, "export memories.jsonl")
_add_extra(FILES, "sync", "sync ~/Dropbox/memory")
_add(FILES, care.backup, "backup")
_add(FILES, care.restore, "restore memory-backup.duckdb")
_add(STORE, care.doctor, "doctor")
_add(STORE, erasing.purge, "purge 06h082aa7p6hm85pxyqj")
_add(STORE, erasing.redact, "redact 06h082aa7p6hm85pxyqj --words")
_add(STORE, evaluating.eval_, "eval questions.jsonl --embedder static", name="eval")
_add_group(STORE, embedders.app, "embedder")
_add_extra_group(STORE, "postgres")
_add_group(SETTINGS, config.app, "config")
_add_group(SETTINGS, project.app, "project")
_add_group(SETTINGS, tokens.app, "token")
_add(
    SETTINGS,
    serving.serve,
    "serve --namespace work",
    help="Serve MCP over stdin and stdout, or with --http over HTTP. Clients run it; the same happens without any command.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
_add(
    SETTINGS,
    serving.hook,
    "hook session-start --client claude-code",
    help="What a client runs at an event of a conversation: session-start, prompt, pre-tool, post-tool ... "
    "Reads the client's JSON, prints its answer, never fails. `install` writes it into the client's files.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    hidden=True,  # nobody types it
)
_add_inside(inspecting, seeing.search, 'inspect search "Where does Ada live?"', cls=TextCommand)
_add_inside(inspecting, seeing.timeline, "inspect timeline --as-of '1 March'")
_add_inside(inspecting, seeing.tiers, "inspect tiers --live")
