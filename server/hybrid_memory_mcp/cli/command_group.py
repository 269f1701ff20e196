"""The typer group that all commands are in: what ``--json`` means for a command line that is wrong, or that meets a bug."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from textwrap import wrap
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperArgument, TyperGroup, TyperOption

from hybrid_memory_mcp.cli.exit_codes import FAILED, INTERRUPTED, WRONG_USE
from hybrid_memory_mcp.cli.former_names import FORMER, current_words
from hybrid_memory_mcp.cli.output import fail, note, print_error_value, set_wants_json
from hybrid_memory_mcp.cli.streams import OutputFailed

START, MEMORIES, FILES, STORE, SETTINGS = PANELS = ("Start", "Memories", "Files", "The store", "Settings and servers")
"""The headings of the program's help, each with its commands."""

_WIDTH = 80
_INDENT = 12  # of what a command does
_BELOW = "COMMAND --help shows its options and an example. --version shows the version, --install-completion completes commands."


def example(words: str) -> str:
    """Return the line under the help of a command that shows one use of it; ``words`` follow the name of the program."""
    return f"Example: [bold]hybrid-memory-mcp {escape(words)}[/bold]"


def refuse_own_options(context: typer.Context) -> None:
    """Refuse the options of a group that also works without a subcommand, where a subcommand follows them.

    Raises:
        typer.BadParameter: there are some.
    """
    sources = {one: context.get_parameter_source(one.name or "") for one in context.command.params}
    given = [one.opts[0] for one, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        word = context.invoked_subcommand
        raise typer.BadParameter(f"goes behind the word: {context.info_name} {word} ...", param_hint=", ".join(given))


def unwrapped(help_text: str) -> str:
    """Return a docstring with each paragraph on one line: typer keeps line ends of all but the first, and breaks lines once more."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(help_text).split("\n\n"))


def hide_plain_types() -> None:
    """Leave out of the help that a flag is a ``<bool>`` and an argument a ``<str>``: typer has no option for that."""
    for kind in (TyperOption, TyperArgument):
        if hasattr(kind, "display_type_rich"):  # earlier versions show no such types
            kind.display_type_rich = _without_plain(kind.display_type_rich)  # type: ignore[method-assign] # the purpose of it


def _without_plain(original: Callable[..., str | None]) -> Callable[..., str | None]:
    def shown_type(param: Any, ctx: Any) -> str | None:
        found = original(param, ctx=ctx)
        is_word = isinstance(param, TyperArgument) and (found or "").strip("<>") in {"str", "list[str]"}
        return None if is_word or getattr(param, "is_flag", False) else found

    return shown_type


class CommandGroup(TyperGroup):
    """A group that says as JSON too why a command was not done."""

    def main(self, args: Sequence[str] | None = None, *positional: Any, **options: Any) -> Any:
        """Run a command line."""
        given = list(sys.argv[1:] if args is None else args)
        set_wants_json("--json" in (given[: given.index("--")] if "--" in given else given))
        given = self._renamed(_without_empty_home(given))
        return super().main(self._command_first(given), *positional, **options)

    def _renamed(self, given: list[str]) -> list[str]:
        """Put a command's present name in the place of an old one, and say so."""
        at = self._place_of_command(given, {*self.commands, *FORMER})
        if at is None or given[at] in self.commands:
            return given
        now = current_words(given[at], given[at + 1 :])
        note(f"`{given[at]}` is now `{FORMER[given[at]]}`; the old name goes with the next release", "yellow")
        return [*given[:at], *now]

    @staticmethod
    def _place_of_command(given: Sequence[str], names: Collection[str]) -> int | None:
        """Return where the command is: first, or behind options; a folder or a namespace may have the name of one."""
        if given and not given[0].startswith("-"):
            return 0 if given[0] in names else None
        found = (at for at, one in enumerate(given) if one in names and given[at - 1] not in {"--home", "--namespace"})
        return next(found, None)

    def _command_first(self, given: list[str]) -> list[str]:
        """Put options that stand before the command behind it, as in ``--home FOLDER status``: people type that."""
        own = {name for one in self.params for name in one.opts} | {"--help", "-h"}
        if not given or not given[0].startswith("-") or own & set(given[:1]):
            return given
        begin = self._place_of_command(given, self.commands)
        if begin is None:
            return given
        end, group = begin + 1, self.commands[given[begin]]
        while end < len(given) and given[end] in getattr(group, "commands", {}):
            group, end = group.commands[given[end]], end + 1  # type: ignore[attr-defined] # asked in the line above
        return [*given[begin:end], *given[:begin], *given[end:]]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the program on one screen, a line for each command; typer frames each panel."""
        lines = [f"Usage: {ctx.info_name} COMMAND [OPTIONS]", *wrap(self.help or "", _WIDTH), ""]
        commands: Mapping[str, Any] = self.commands  # of typer's classes, which know their panel
        for panel in PANELS:
            lines.append(typer.style(panel, bold=True))
            shown = {name: one for name, one in commands.items() if one.rich_help_panel == panel and not one.hidden}
            lines += [f"  {name:<9} {one.get_short_help_str(_WIDTH - _INDENT)}" for name, one in shown.items()]
        formatter.write("\n".join([*lines, "", *wrap(_BELOW, _WIDTH)]) + "\n")

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read what comes before the name of a command."""
        with _told_as_json():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Do a command."""
        with _told_as_json():
            return super().invoke(ctx)


def _without_empty_home(given: list[str]) -> list[str]:
    """Leave an empty ``--home`` out, as a script has it whose variable is not set: it would mean the folder at hand."""
    end = given.index("--") if "--" in given else len(given)
    empty = {at for at in range(end - 1) if given[at] == "--home" and not given[at + 1]}
    gone = empty | {at + 1 for at in empty} | {at for at in range(end) if given[at] == "--home="}
    return [one for at, one in enumerate(given) if at not in gone]


def _is_no_home(error: Exception) -> bool:
    """Return True for what Python and platformdirs raise where nobody knows the home folder."""
    return isinstance(error, RuntimeError) and "determine" in str(error) and "home directory" in str(error)


@contextmanager
def _told_as_json() -> Iterator[None]:
    """Print as JSON what typer is about to print on stderr. What a command refuses itself is printed already (`typer.Exit`)."""
    try:
        yield
    except typer.Exit:
        raise
    except OutputFailed:
        raise  # nothing more can be printed
    except (typer.Abort, EOFError):
        print_error_value("nobody answered, or the command was stopped", code="aborted", exit_code=FAILED)
        raise
    except KeyboardInterrupt:
        print_error_value("interrupted", code="interrupted", exit_code=INTERRUPTED)
        raise
    except Exception as error:
        # typer has its own copy of click's errors, under a private name; a wrong command line is one that can be formatted.
        words = getattr(error, "format_message", None)
        if _is_no_home(error):
            from hybrid_memory.settings import no_home_folder

            fail(no_home_folder(), code="invalid_input")
        if words is None:
            print_error_value(
                "something went wrong that should not; stderr has the traceback", code="internal", exit_code=FAILED
            )
        else:
            if type(error).__name__ == "NoArgsIsHelpError":
                print_error_value("name a command", code="usage", exit_code=WRONG_USE)
                raise  # typer shows the help
            context = getattr(error, "ctx", None)
            if context is not None:
                note(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.")
            fail(words(), code="usage", exit_code=WRONG_USE)
        raise
