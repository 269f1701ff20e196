"""The commands `inspect search`, `timeline` and `tiers`, which show memory as the page does; and what `show` adds of a memory's life.

They print what `hybrid_memory_mcp.views` load, by operation `view`. On a terminal with pictures, in a pipe a line for each memory, with
``--json`` the view's whole data.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.model import Kind, Tier, Trust
from hybrid_memory.requests import MemoryState
from hybrid_memory_mcp.cli import pictures
from hybrid_memory_mcp.cli.arguments import text_of
from hybrid_memory_mcp.cli.memories import Namespace, Session, Tags, call_here, done_here
from hybrid_memory_mcp.cli.memory_text import marks_of, tier_name
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Reveal, zone_here
from hybrid_memory_mcp.cli.output import cell, is_terminal, moment, note, one_line_errors, print_json, shown
from hybrid_memory_mcp.cli.pictures import TIER_STYLES, Glyphs, day
from hybrid_memory_mcp.memory_words import TIER_NAMES

if TYPE_CHECKING:
    from rich.console import RenderableType

_INDENT = 2
_WIDEST_PICTURE = 110
_TEXT_OF_LIST = 400  # characters on a terminal; `show` has the rest
_LINE_OF_OTHER = 160
_SHOWN_BESIDE = 3  # of each group that is not shown to a model
_BAR = 16
_LOOK_EVERY_SECONDS = 1.0
_FRESH_SECONDS = 15.0  # so long what moved is lit up
_SIDE_BY_SIDE = 110  # columns from which the parts of memory appear next to each other
_HAPPENED = 6
_AROUND, _AROUND_TIER = 5, 3  # lines of a screen alongside the memories


class Order(StrEnum):
    """By what a timeline is ordered; `hybrid_memory.overview.timeline.TimeOrder` for who need not wait for numpy."""

    LEARNED = "learned"
    TRUE = "true"


AsOf = Annotated[str | None, typer.Option("--as-of", help="What was known then: a date or words.")]


def search(
    query: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="As an assistant asks it; - reads it from stdin.")
    ],
    *,
    home: Home = None,
    namespace: Namespace = None,
    since: Annotated[
        str | None, typer.Option(help="What happened, or was written, since then: a date or words.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="And until then; a day is meant whole.")] = None,
    as_of: AsOf = None,
    tag: Tags = None,
    session: Session = None,
    speaker: Annotated[str | None, typer.Option(help="Said by this one.")] = None,
    trust: Annotated[Trust | None, typer.Option(help="Trusted at least so far.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=100, help="How many memories; 8 unless told.")] = None,
    budget: Annotated[
        int | None, typer.Option(min=100, max=200_000, help="Tokens of the answer; 1500 unless told.")
    ] = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Search as an assistant does: the very answer it gets, why each memory is in it, and what it is not shown. It counts as no use."""
    question = text_of(query)
    if not question.strip():
        raise typer.BadParameter("is empty; `recall` without a question shows the brief", param_hint="QUESTION")
    given = {
        "q": question,
        "since": since,
        "until": until,
        "as_of": as_of,
        "tags": ",".join(tag or ()),
        "session": session,
        "speaker": speaker,
        "trust": trust,
        "limit": limit,
        "budget": budget,
        "reveal": int(reveal),
    }
    found = _view(home, "search", given, namespace)
    if as_json:
        print_json(found)
    else:
        print_search(found)


def timeline(
    *,
    home: Home = None,
    namespace: Namespace = None,
    since: Annotated[str | None, typer.Option(help="From when: a date or words.")] = None,
    until: Annotated[str | None, typer.Option(help="Until when; a day is meant whole.")] = None,
    by: Annotated[Order, typer.Option(help="By when it was learned, or since when it was true.")] = Order.LEARNED,
    as_of: Annotated[str | None, typer.Option("--as-of", help="What was believed then: a date or words.")] = None,
    true_at: Annotated[str | None, typer.Option("--true-at", help="What was true then: a date or words.")] = None,
    changes: Annotated[bool, typer.Option("--changes", help="Only what took the place of something.")] = False,
    kind: Annotated[Kind | None, typer.Option(help="What sort of statement it is.")] = None,
    tier: Annotated[Tier | None, typer.Option(help="Where it stands in attention.")] = None,
    trust: Annotated[Trust | None, typer.Option(help="How far it is trusted.")] = None,
    state: Annotated[MemoryState | None, typer.Option(help="How it stands.")] = None,
    tag: Annotated[str | None, typer.Option(help="With this tag.")] = None,
    session: Session = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many on a page.")] = 20,
    page: Annotated[int, typer.Option(min=1, help="Which page.")] = 1,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Show what was learned when, since when it was true, and with --as-of what was believed at a moment."""
    given = {
        "from": since,
        "to": until,
        "order": by,
        "as_of": as_of,
        "true_at": true_at,
        "changes": int(changes),
        "kind": kind,
        "tier": tier,
        "trust": trust,
        "state": state,
        "tag": tag,
        "session": session,
        "limit": limit,
        "page": page,
        "reveal": int(reveal),
    }
    found = _view(home, "timeline", given, namespace)
    if as_json:
        print_json(found)
    else:
        print_timeline(found)


def tiers(
    *,
    live: Annotated[
        bool, typer.Option("--live", help="Stay, and show what moves as it moves; Ctrl-C ends it.")
    ] = False,
    home: Home = None,
    namespace: Namespace = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Show what is where in memory: just heard, in mind, kept, faded; with --live what moves, and why, as it happens."""
    if live and as_json:
        raise typer.BadParameter(
            "--live and --json exclude each other; ask for --json again when you want to know more"
        )
    given = {"reveal": int(reveal)}
    if live:
        with one_line_errors():
            _show_live(home, namespace, given)
        return
    found = _view(home, "now", given, namespace)
    if as_json:
        print_json(found)
    elif is_terminal():
        console = _console()
        console.print(tiers_shown(found, console.width, _glyphs(console), frozenset()))
    else:
        for line in _tier_lines(found):
            typer.echo(line)


def _view(home: Path | None, name: str, parameters: Mapping[str, Any], namespace: str | None) -> dict[str, Any]:
    """Return what a view shows in the namespace that is named, else where an assistant would read that works in this folder."""
    return call_here(home, "view", _asked(name, parameters), namespace)


def _asked(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: str(value) for key, value in parameters.items() if value not in (None, "", 0)}
    return {"view": name, "parameters": given, "zone": zone_here()}


def _console() -> Console:
    return Console(highlight=False, emoji=False)


def _glyphs(console: Console) -> Glyphs:
    return pictures.glyphs_for(console.encoding, dumb=console.is_dumb_terminal)


def _indented(text: RenderableType, by: int = _INDENT) -> Padding:
    return Padding(text, (0, 0, 0, by), expand=False)


def _cut(text: str, most: int = _TEXT_OF_LIST) -> str:
    """Return stored text as it may stand in one line of a list."""
    line = shown(text)
    return line if len(line) <= most else f"{line[:most]}…"


def _in_a_line(*parts: object) -> str:
    return "\t".join(shown(one) for one in parts)


# --- search ---


def print_search(found: Mapping[str, Any]) -> None:
    """Print the answer to a question with its reasons; in a pipe a line for each hit: id, time, why, text."""
    hits, answer = found["hits"], found["answer"]
    if not is_terminal():
        for hit in hits:
            memory = hit["memory"]
            typer.echo(_in_a_line(memory["id"], moment(_happened(memory)), hit["why"], memory["content"]))
    else:
        console = _console()
        _print_understood(console, found["understood"])
        for hit in hits:
            _print_hit(console, hit)
    for one in found["notes"]:
        note(one)
    if not hits:
        note("nothing is remembered about this")
    if is_terminal():
        _print_left_out(_console(), found["left_out"])
    more = sum(group["count"] for group in found["left_out"])
    tokens = answer["tokens"]
    told = f"{len(hits)} shown to an assistant, in {max(tokens['text'], tokens['structured']):,} of {tokens['budget']:,} tokens"
    note(f"{told}; {more:,} more not shown" + ("" if is_terminal() or not more else "; --json says why"))


def _happened(memory: Mapping[str, Any]) -> str:
    return str(memory.get("occurred_at") or memory["created_at"])


def _print_understood(console: Console, understood: Mapping[str, Any] | None) -> None:
    if not understood:
        return
    times = [
        f"{'about ' if one['about'] else ''}{one['first'] or '…'} to {one['last'] or '…'}"
        for one in understood["times"]
    ]
    parts = [*(f"time: {one}" for one in times), understood["asks"], understood["says"]]
    missing = understood["unheld"]
    parts += [f"In no memory: {', '.join(missing)}."] if missing else []
    told = " ".join(shown(one) for one in parts if one)
    if told:
        console.print(Text(told, "dim"))
        console.print()


def _print_hit(console: Console, hit: Mapping[str, Any]) -> None:
    memory, glyphs = hit["memory"], _glyphs(console)
    head = Text.assemble((f"{hit['place']}  ", "dim"), cell(memory["id"], "bold"), f"  {day(_happened(memory))}")
    marks = _marks(memory)
    marks += ["weak"] if hit["weak"] else []
    marks += [f"newer: {hit['newer']}"] if hit["newer"] else []
    _print_head(console, head, ", ".join(marks))
    console.print(_indented(_with_words(memory["content"], hit["words"])))
    console.print(_indented(Text(shown(hit["why"]), "dim")))
    grid = Table.grid(padding=(0, 1))
    for term in hit["terms"]:
        style = "red" if term["value"] < 0 else "cyan"
        means = Text(shown(term["means"]), "dim", overflow="fold")
        grid.add_row(pictures.share_bar(term["share"], _BAR, glyphs, style=style), shown(term["title"]), means)
    console.print(_indented(grid, 2 * _INDENT))


def _marks(memory: Mapping[str, Any]) -> list[str]:
    """Return what is remarkable about a memory, its part of memory in plain words first."""
    is_plain = memory["kind"] == Kind.OBSERVATION.value
    return marks_of(memory) if is_plain else [tier_name(memory), *marks_of(memory)]


def _print_head(console: Console, head: Text, remarks: str) -> None:
    """Print the first line of a memory, with its remarks where they fit, else below."""
    told = cell(remarks, "dim")
    if head.cell_len + _INDENT + told.cell_len <= console.width:
        console.print(Text.assemble(head, "  ", told))
    else:
        console.print(head)
        console.print(_indented(told))


def _with_words(content: str, words: Sequence[Mapping[str, Any]]) -> Text:
    """Return a memory's text, the words for which it was found in bold; inert."""
    text, reached = Text(overflow="fold"), 0
    for one in words:
        begin, end = one["begin"], one["end"]
        if begin < reached or end > _TEXT_OF_LIST:
            continue
        text.append(shown(content[reached:begin], lines=True).replace("\n", " "))
        text.append(shown(content[begin:end]), "bold underline")
        reached = end
    rest = content[reached : max(_TEXT_OF_LIST, reached)]
    text.append(shown(rest, lines=True).replace("\n", " ") + ("…" if len(content) > _TEXT_OF_LIST else ""))
    return text


def _print_left_out(console: Console, groups: Sequence[Mapping[str, Any]]) -> None:
    if not groups:
        return
    console.print()
    console.print(Text("Not shown to an assistant", "bold"))
    for group in groups:
        console.print(
            _indented(
                Text.assemble((shown(group["title"]), ""), f" ({group['count']:,})  ", (shown(group["says"]), "dim"))
            )
        )
        for one in group["memories"][:_SHOWN_BESIDE]:
            line = Text(
                f"{one['memory']['id']}  {_cut(one['memory']['content'], _LINE_OF_OTHER)}",
                "dim",
                no_wrap=True,
                overflow="ellipsis",
            )
            console.print(_indented(line, 2 * _INDENT))


# --- timeline ---


def print_timeline(found: Mapping[str, Any]) -> None:
    """Print a timeline; in a pipe a line for each memory: id, learned, true from, true until, how it is, text."""
    if not is_terminal():
        for one in found["memories"]:
            times = one["times"]
            until = moment(times["true_until"]) or "now"
            told = (
                one["id"],
                moment(times["learned"]),
                moment(times["true_from"]),
                until,
                one["state"],
                one["content"],
            )
            typer.echo(_in_a_line(*told))
    else:
        _draw_timeline(_console(), found)
    first, count, total = (found["page"] - 1) * found["limit"] + 1, len(found["memories"]), found["total"]
    if not total:
        note("nothing was learned in this time" if found["everything"] else "nothing is remembered here yet")
    elif not count:
        note(f"there are {total:,} only, which is less than {found['page']} pages")
    elif first + count <= total:
        note(f"{first:,} to {first + count - 1:,} of {total:,}; --page {found['page'] + 1} shows what follows")


def _draw_timeline(console: Console, found: Mapping[str, Any]) -> None:
    picture, glyphs = found["picture"], _glyphs(console)
    width = max(min(console.width - _INDENT, _WIDEST_PICTURE), 1)
    if found["everything"]:
        for order, title in ((Order.LEARNED, "learned"), (Order.TRUE, "true since then")):
            counted = [(one["x"], one["width"], sum(one[order.value].values())) for one in picture["bars"]]
            told = f"{title}, by the {picture['unit']}; the most: {picture['highest'][order.value]:,}"
            console.print(Text(told, "bold" if found["order"] == order.value else "dim"))
            for row in pictures.bars(counted, width, glyphs, style="cyan" if order is Order.LEARNED else "green"):
                console.print(_indented(row))
        console.print(_indented(pictures.scale([(one["x"], one["text"]) for one in picture["ticks"]], width)))
        for name, words in (("as_of", "what was believed on"), ("true_at", "what was true on")):
            if picture[name] is not None:
                console.print(_indented(pictures.marked(picture[name], f"{words} {day(found[name])}", width, glyphs)))
        console.print()
    for one in found["memories"]:
        _print_row(
            console, one, width, glyphs, picture["as_of"] if picture["as_of"] is not None else picture["true_at"]
        )


def _print_row(console: Console, one: Mapping[str, Any], width: int, glyphs: Glyphs, marker: float | None) -> None:
    times = one["times"]
    head = Text.assemble(cell(one["id"], "bold"), f"  learned {day(times['learned'])}")
    _print_head(console, head, ", ".join(_marks(one)))
    console.print(_indented(Text(_cut(one["content"]), overflow="fold")))
    if "before" in one:
        since = _happened(one["before"])
        told = Text(f"{day(since)} {glyphs.dash} {day(times['true_from'])}: ", "dim")
        console.print(_indented(told + _diff_shown(one["before"].get("diff"), one["before"]["content"], console)))
    style = "bright_black" if times["true_until"] else "green"
    begin, end = one["spans"]["true"]
    console.print(_indented(pictures.span(begin, end, width, glyphs, style=style, marker=marker)))


def _diff_shown(parts: Sequence[Mapping[str, Any]] | None, before: str, console: Console) -> Text:
    """Return the words before a change with those that went struck out, and those that came; where nothing is coloured in brackets."""
    if not parts:
        return Text(_cut(before), "strike", overflow="fold")
    plain = console.no_color or console.is_dumb_terminal
    text = Text(overflow="fold")
    for part in parts:
        words = shown(part["text"])
        if part["op"] == "same":
            text.append(words, "dim")
        elif part["op"] == "removed":
            text.append(f"[-{words}-]" if plain else words, "strike red")
        else:
            text.append(
                f"{{+{words}+}}"
                if plain
                else f" {words}"
                if words[:1].isalnum() and text.plain[-1:].isalnum()
                else words,
                "bold green",
            )
    return text


# --- one memory ---


def print_life(home: Path | None, namespace: str | None, memory_id: str, *, reveal: bool) -> None:
    """Print a picture of a memory's life and what it said when; nothing where the running hub is too old to tell."""
    try:
        found = done_here(home, "view", _asked("memory", {"id": memory_id, "reveal": int(reveal)}), namespace)
    except HybridMemoryError:
        return
    if found.get("memory") is not None:
        draw_life(_console(), found)


def draw_life(console: Console, found: Mapping[str, Any]) -> None:
    """Draw what the view of one memory tells: its life, its versions, what speaks against it, what rests on it."""
    glyphs = _glyphs(console)
    width = min(console.width, _WIDEST_PICTURE)
    console.print()
    console.print(Text("its life", "bold"))
    for row in pictures.life(found["life"], max(width - _INDENT, 1), glyphs):
        console.print(_indented(row))
    if len(found["versions"]) > 1:
        console.print()
        console.print(Text("what it said, and when that was true", "bold"))
        for version in found["versions"]:
            console.print(_indented(_version_shown(version, glyphs, console)))
    for title, others in (
        ("it speaks against", [found["disputes"]] if found["disputes"] else []),
        ("what speaks against it", found["disputed_by"]),
        ("it rests on", found["evidence"]),
        ("what rests on it", found["children"]),
        ("the same words", found["duplicates"]),
    ):
        if others:
            console.print()
            console.print(Text(title, "bold"))
        for one in others:
            told = "(gone)" if one.get("gone") else _cut(one["content"], _LINE_OF_OTHER)
            console.print(_indented(Text.assemble((f"{one['id']}  ", "dim"), told, overflow="fold")))
    console.print()
    console.print(Text("what happened", "bold"))
    for event in found["events"][:_HAPPENED]:
        details = f": {'; '.join(event['details'])}" if event["details"] else ""
        told = f"{event['title']} by {event['by']}{details}"
        console.print(_indented(Text.assemble((f"{moment(event['at'])}  ", "dim"), shown(told), overflow="fold")))
    left = len(found["events"]) - _HAPPENED + found["events_left_out"]
    if left > 0:
        console.print(_indented(Text(f"{left:,} more; `show --history {found['id']}` has all", "dim")))


def _version_shown(version: Mapping[str, Any], glyphs: Glyphs, console: Console) -> Text:
    times, diff = version["times"], version.get("diff")
    until = times["true_until"]
    held = f"{day(times['true_from'])} {glyphs.dash} {day(until)}" if until else f"since {day(times['true_from'])}"
    said = _diff_shown(diff, version["content"], console) if diff else Text(_cut(version["content"]))
    return Text.assemble((f"{held}  ", "dim"), said, overflow="fold")


# --- the parts of memory ---


def tiers_shown(
    found: Mapping[str, Any], width: int, glyphs: Glyphs, fresh: frozenset[str], height: int | None = None
) -> RenderableType:
    """Return the parts of memory as they are now; what is ``fresh`` is lit up. Where a screen has a ``height``, it holds all parts."""
    beside = width >= _SIDE_BY_SIDE
    room = None if height is None else height - _HAPPENED - _AROUND
    most = None if room is None else max(room if beside else room // len(found["tiers"]) - _AROUND_TIER, 1)
    columns = [_tier_shown(one, glyphs, fresh, most) for one in found["tiers"]]
    if beside:
        grid = Table.grid(padding=(0, 3), expand=True)
        for _ in columns:
            grid.add_column(ratio=1, overflow="fold")
        grid.add_row(*columns)
        body: RenderableType = grid
    else:
        body = Group(*(part for column in columns for part in (column, Text(""))))
    happened = [_happening(one) for one in found.get("happened", ())[:_HAPPENED]]
    parts: list[RenderableType] = [body]
    if happened:
        parts += [Text("what happened last", "bold"), *(_indented(one) for one in happened)]
    return Group(*parts)


def _tier_shown(told: Mapping[str, Any], glyphs: Glyphs, fresh: frozenset[str], most: int | None) -> RenderableType:
    name, style = told["tier"], TIER_STYLES.get(told["tier"], "")
    room = f" of {told['room']}" if told["room"] else ""
    further = f" {glyphs.arrow}" if name in ("sensory", "short_term") else ""
    head = Text.assemble(
        (TIER_NAMES.get(name, name), f"bold {style}".strip()), (f"  {told['count']:,}{room}{further}", "dim")
    )
    lines: list[RenderableType] = [head]
    memories = told["memories"][:most]
    for one in memories:
        lit = one["id"] in fresh
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{glyphs.begin if lit else glyphs.dot} ", f"bold {style}".strip() if lit else "dim")
        if one.get("enhanced"):
            line.append(f"{glyphs.begin * one['enhanced']} ", "blue")
        line.append(_cut(one["content"], _LINE_OF_OTHER), "bold" if lit else "")
        lines.append(line)
        if lit and one.get("why"):
            lines.append(_indented(Text(shown(one["why"]), f"italic {style}".strip())))
    shown_here = len(memories)
    if told["count"] > shown_here:
        lines.append(Text(f"  and {told['count'] - shown_here:,} more", "dim"))
    return Group(*lines)


def _happening(one: Mapping[str, Any]) -> Text:
    named = one.get("memories") or [{}]
    what = _cut(str(named[0].get("text", "")), _LINE_OF_OTHER)
    more = f" and {one['count'] - 1:,} more" if one.get("count", 1) > 1 else ""
    told = f"{one['title']} by {one['by']}: {what}{more}" if what else f"{one['title']} by {one['by']}"
    why = f" ({'; '.join(one['details'])})" if one.get("details") else ""
    line = Text.assemble((f"{moment(one['at'])}  ", "dim"), shown(told), (shown(why), "dim"))
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _tier_lines(found: Mapping[str, Any]) -> Iterator[str]:
    for told in found["tiers"]:
        for one in told["memories"]:
            moved = moment(one.get("moved_at") or one["created_at"])
            yield _in_a_line(told["tier"], one["id"], moved, one.get("why") or "", one["content"])


def places_of(found: Mapping[str, Any]) -> dict[str, str]:
    """Return in which part of memory each memory that is shown stands."""
    return {one["id"]: told["tier"] for told in found["tiers"] for one in told["memories"]}


def moved_since(
    before: Mapping[str, str], found: Mapping[str, Any]
) -> Iterator[tuple[str | None, str, Mapping[str, Any]]]:
    """Yield what came in or moved since an earlier look: from where (None: it came in), whereto, the memory.

    What merely came into sight because something else left it has not moved: it is older than what was seen.
    """
    newest = max(
        (one["created_at"] for told in found["tiers"] for one in told["memories"] if one["id"] in before), default=""
    )
    for told in found["tiers"]:
        for one in told["memories"]:
            earlier = before.get(one["id"])
            if earlier is None and one["created_at"] > newest:
                yield None, told["tier"], one
            elif earlier is not None and earlier != told["tier"]:
                yield earlier, told["tier"], one


def _show_live(home: Path | None, namespace: str | None, given: Mapping[str, Any]) -> None:
    look = _Looks(home, namespace, given)
    if not is_terminal():
        for earlier, tier, one in look.changes():
            came = f"{TIER_NAMES[earlier]} to {TIER_NAMES[tier]}" if earlier else f"new in {TIER_NAMES[tier]}"
            typer.echo(
                _in_a_line(
                    moment(one.get("moved_at") or one["created_at"]),
                    came,
                    one["id"],
                    one.get("why") or "",
                    one["content"],
                )
            )
        return
    from rich.live import Live

    console = _console()
    with (
        _ended_by_person(),
        Live(Text("Looking into the memory…", "dim"), console=console, screen=True, auto_refresh=False) as shown_live,
    ):
        for found, fresh in look.pictures():
            foot = Text("Ctrl-C ends this. Nobody moves anything but your assistants.", "dim")
            shown_live.update(
                Group(tiers_shown(found, console.width, _glyphs(console), fresh, console.height), Text(""), foot),
                refresh=True,
            )


class _Looks:
    """One look after the other at the parts of memory, by way of the store's hub, which is started if there is none.

    Where none can be started nothing moves but by commands, and those must find the store free: so it is opened once, and again only
    when its files changed.
    """

    def __init__(self, home: Path | None, namespace: str | None, given: Mapping[str, Any]) -> None:
        from hybrid_memory.settings import client_settings

        self._home, self._namespace, self._given = home, namespace, given
        self._folder = client_settings(home=home, namespace=namespace).folder()
        self._seen: tuple[int, ...] | None = None

    def pictures(self) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
        """Yield what there is, with the ids of what moved a moment ago."""
        before: dict[str, str] | None = None
        lit: dict[str, float] = {}
        for found in self._looks():
            now = time.monotonic()
            if before is not None:
                lit |= {one["id"]: now for _, _, one in moved_since(before, found)}
            lit = {one: at for one, at in lit.items() if now - at < _FRESH_SECONDS}
            before = places_of(found)
            yield found, frozenset(lit)

    def changes(self) -> Iterator[tuple[str | None, str, Mapping[str, Any]]]:
        """Yield what moves, as `moved_since` tells it."""
        before: dict[str, str] | None = None
        for found in self._looks():
            yield from () if before is None else moved_since(before, found)
            before = places_of(found)

    def _looks(self) -> Iterator[dict[str, Any]]:
        found: dict[str, Any] | None = None
        while True:
            state, has_hub = self._files(), self._has_hub()
            if found is None or has_hub or state != self._seen:
                found = self._look(found)
                self._seen = state
            if found is not None:
                yield found
            time.sleep(_LOOK_EVERY_SECONDS)

    def _look(self, before: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return what there is now; what there was before, while one hub ends and the next one comes."""
        from hybrid_memory.errors import StoreLocked
        from hybrid_memory_mcp.admin.hub_client import HubEnded

        try:
            return done_here(self._home, "view", _asked("now", self._given), self._namespace)
        except (HubEnded, StoreLocked):
            return before

    def _has_hub(self) -> bool:
        """Return True if a hub has the store, after one was started if need be."""
        from hybrid_memory.store.opening import is_missing
        from hybrid_memory_mcp.relay import connecting

        if is_missing(self._folder):
            return False
        if connecting.hub_is_running(str(self._folder)):
            return True
        try:
            connecting.connect_or_start(str(self._folder), None, os.environ).close()  # noqa: TID251 - handed on
        except (connecting.HubUnavailable, connecting.HubNotAnswering):
            return False
        return True

    def _files(self) -> tuple[int, ...]:
        files = (self._folder / "memory.duckdb", self._folder / "memory.journal")
        return tuple(one.stat().st_mtime_ns for one in files if one.exists())


@contextmanager
def _ended_by_person() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        return
