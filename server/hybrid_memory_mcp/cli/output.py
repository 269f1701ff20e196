"""What all commands print with: results as a table or as JSON, errors, questions, progress, and text that does nothing to a terminal.

The rules that hold for each command:

- With ``--json`` stdout is one JSON value in UTF-8 and nothing else: the result, or ``{"error": {"code", "message", "exit_code"}}``.
- An error is a line on stderr, with ``--json`` too. Questions, notes and progress go to stderr.
- Stored text passes through `shown` (or `cell`) on its way to a person; never through markup. JSON has it as it is.
- In a pipe nothing is coloured, cut or wrapped, and a row is one line.

Typer and rich take longer to import than a hub to answer, so they are only where something is drawn, asked or wrong.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from hybrid_memory.errors import HybridMemoryError, error_code
from hybrid_memory.language.text import visible
from hybrid_memory_mcp.cli.exit_codes import FAILED, WRONG_USE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from hybrid_memory_mcp.admin.operations import ProgressCallback

_BREAKS = re.compile(r" *[\n\x0b\x0c\x85\u2028\u2029]+ *")
_BORDERS = 3  # columns of a terminal: a line, and a blank on both sides
_LONG_WORD = 30  # characters: what is longer may be broken
_SECONDS_OF_A_LINE = 5.0  # between two lines of progress in a log
_wants_json: ContextVar[bool] = ContextVar("wants_json", default=False)


def set_wants_json(wanted: bool) -> None:
    """Say whether this command line asks for JSON; errors are then printed as JSON too."""
    _wants_json.set(wanted)


def out() -> Console:
    """Return the console for what a person reads: it wraps nothing by itself, and highlights nothing."""
    from rich.console import Console

    return Console(soft_wrap=True, highlight=False, emoji=False)


def err() -> Console:
    """Return the console of stderr, for notes, questions and errors."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)


def is_terminal() -> bool:
    """Return True if a person sees what is printed; False in a pipe or a file."""
    return sys.stdout is not None and sys.stdout.isatty()


def shown(text: object, *, lines: bool = False) -> str:
    r"""Return text as a terminal may get it: what would act on it, hide or turn its order round is written out, as ``\u001b``.

    Line breaks become `` ⏎ `` so that it stays one line, unless ``lines`` keeps them. Letters of all scripts stay.
    """
    whole = str(text).replace("\r\n", "\n").replace("\t", "    ")
    if not lines:
        whole = _BREAKS.sub(" ⏎ ", whole.strip("\n"))
    return visible(whole)


def cell(text: object, style: str = "", *, lines: bool = False) -> Text:
    """Return stored text for a table or a console: inert, and without markup."""
    from rich.text import Text

    return Text(shown(text, lines=lines), style=style)


def moment(at: str | datetime | None) -> str:
    """Return a moment in the zone of this machine, to the minute; empty for None."""
    if at is None:
        return ""
    known = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{known.astimezone():%Y-%m-%d %H:%M}"


def megabytes(size: int) -> str:
    """Return a size in bytes as a person reads it."""
    return f"{size / 1e6:.1f} MB"


def say(text: object, style: str = "") -> None:
    """Print one sentence to a person on one line; what is in it is inert."""
    if style:
        out().print(cell(text, style))
    else:
        print_line(shown(text))


def note(text: object, style: str = "") -> None:
    """Print one sentence to stderr on one line: what a program that reads the result does not want."""
    if style and sys.stderr is not None and sys.stderr.isatty():
        err().print(cell(text, style))
    else:
        print(shown(text), file=sys.stderr, flush=True)  # noqa: T201 - where commands print


def print_line(text: str) -> None:
    """Print one line to stdout as it is."""
    print(text, flush=True)  # noqa: T201 - where commands print


def print_json(value: object) -> None:
    """Print one JSON value, in UTF-8 and not wrapped; what acts on a terminal is escaped as JSON does it, so that the value is the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    sys.stdout.flush()
    sys.stdout.buffer.write(visible(text).encode() + b"\n")
    sys.stdout.buffer.flush()


def print_result(values: Any, as_json: bool, table: Callable[[], None]) -> None:
    """Print a result: as JSON, or by calling ``table``, which prints it to a person."""
    if as_json:
        print_json(values)
    else:
        table()


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None) -> None:
    """Print rows: as a table on a terminal, else a line for each with tabs between, so that `cut`, `sort` and `grep` can take it.

    The first column is never cut nor wrapped (put the id there). A cell may be a `Text` with a style; else it is stored text. On a
    terminal that is too narrow for a table each row is a line with its first cell, and the others below it, with their names.
    """
    from rich.text import Text

    if not is_terminal():
        for row in rows:
            print_line("\t".join(shown(one.plain if isinstance(one, Text) else _plain(one)) for one in row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, emoji=False)
    texts = [[one if isinstance(one, Text) else cell(_plain(one), lines=True) for one in row] for row in rows]
    if _needed_width(columns, texts) > console.width:
        _print_below_each_other(console, columns, texts, title)
        return
    drawn = box.ASCII if console.is_dumb_terminal else box.HEAVY_HEAD
    table = Table(title=None if title is None else cell(title), title_justify="left", box=drawn)
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0, overflow="fold")
    for row in texts:
        table.add_row(*row)
    console.print(table)


def _needed_width(columns: Sequence[str], rows: Sequence[Sequence[Text]]) -> int:
    """Return how wide a terminal must be for a table in which no word is broken; long ones, as paths, may be."""
    from rich.cells import cell_len

    width = 1
    for number, column in enumerate(columns):
        cells = [cell(column), *(row[number] for row in rows)]
        words = max(cell_len(word) for one in cells for word in one.plain.split() or [""])
        width += _BORDERS + (max(one.cell_len for one in cells) if number == 0 else min(words, _LONG_WORD))
    return width


def _print_below_each_other(
    console: Console, columns: Sequence[str], rows: Sequence[Sequence[Text]], title: str | None
) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if title is not None:
        console.print(cell(title, "italic"))
    for first, *others in rows:
        console.print(first, overflow="fold", soft_wrap=True)
        named = [Text.assemble(f"{name}: ", one) for name, one in zip(columns[1:], others, strict=True) if one.plain]
        if named:
            console.print(Padding(Text("; ").join(named), (0, 0, 0, 2)))


def print_grid(rows: Sequence[Sequence[str | Text]]) -> None:
    """Print rows in columns without lines, the first cell once where several rows have the same; in a pipe as `print_rows` does."""
    if not is_terminal():
        print_rows((), rows)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for number in range(max(map(len, rows), default=0)):
        grid.add_column(no_wrap=number == 0, overflow="fold")
    former = None
    for first, *others in rows:
        grid.add_row(
            cell("" if first == former else first, "bold"),
            *(one if isinstance(one, Text) else cell(one) for one in others),
        )
        former = first
    Console(highlight=False, emoji=False).print(grid)


def print_values(values: Sequence[tuple[str, object]], *, title: str | None = None) -> None:
    """Print names with their values: as a table on a terminal, else ``name: value`` lines."""
    if is_terminal():
        print_rows(("what", "value"), values, title=title)
        return
    for name, value in values:
        print_line(f"{shown(name)}: {shown(_plain(value))}")


def _plain(value: object) -> str:
    return "" if value is None else str(value)


def fail(message: object, *, code: str = "failed", exit_code: int = FAILED) -> NoReturn:
    """Print an error (one line on stderr; with ``--json`` the value on stdout too) and end the command.

    Raises:
        typer.Exit: always, with ``exit_code``.
    """
    import typer

    print_error(message, code=code, exit_code=exit_code)
    raise typer.Exit(exit_code)


def print_error(message: object, *, code: str, exit_code: int = FAILED) -> None:
    """Print an error as `fail` does, and go on."""
    print_error_value(message, code=code, exit_code=exit_code)
    note(message, "red")


def print_error_value(message: object, *, code: str, exit_code: int) -> None:
    """Print an error as JSON on stdout, if JSON is wanted."""
    if _wants_json.get():
        print_json({"error": {"code": code, "message": str(message), "exit_code": exit_code}})


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn an error of the library, or of a system that has no memory left, into one line and exit code 1."""
    try:
        yield
    except Exception as error:
        said = told_error(error)
        if said is None:
            raise
    else:
        return
    fail(said, code=error_code(said))


def told_error(error: Exception) -> HybridMemoryError | None:
    """Return what a person hears of an error; None where it is a bug's."""
    if isinstance(error, HybridMemoryError):
        return error
    if not isinstance(error, (MemoryError, OSError, RuntimeError, ImportError)):
        return None
    from hybrid_memory.store.out_of_resources import shortage_of

    return shortage_of(error)


def can_ask() -> bool:
    """Return True if a person sits at the terminal and can answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirm(question: str, *, default: bool = False) -> None:
    """Ask on stderr and go on if the answer is yes; `yes |` may answer too.

    Raises:
        typer.Exit: the answer is no (1), or nobody answers (2).
    """
    import typer

    try:
        said = typer.confirm(question, default=default, err=True)
    except typer.Abort:
        typer.echo(err=True)
        fail("nobody answered, so nothing was changed; --yes does it without asking", code="usage", exit_code=WRONG_USE)
    if not said:
        fail("nothing was changed", code="declined")


@contextmanager
def progress(what: str) -> Iterator[ProgressCallback]:
    """Give what shows on stderr how far something is: a bar on a terminal, gone afterwards; elsewhere a line now and then."""
    if not sys.stderr.isatty():
        yield _lines_of_progress(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines_of_progress(what: str) -> ProgressCallback:
    """Return what tells a log how far something is that takes long; what is quick leaves no line there."""
    told_at = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= _SECONDS_OF_A_LINE:
            told_at = time.monotonic()
            note(f"{what}: {done} of {total}")

    return tell
