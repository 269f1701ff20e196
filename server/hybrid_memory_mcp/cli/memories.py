"""The commands on memories: recall, remember, list, show, forget, pin, reflect.

They read the project in the folder at hand alongside the person's own memories, as an assistant does that works there, unless a namespace
is named. What is written goes to the project, and is the person's word. Results go to stdout; messages about them to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.clock import SystemClock
from hybrid_memory.model import Kind, MemoryType, Origin, Tier, Trust
from hybrid_memory.requests import BRIEF_PAGE, DEFAULT_PAGE, MemoryState
from hybrid_memory.validation import LIST_LIMIT
from hybrid_memory_mcp.cli.arguments import ids_of, insights_of, moment_of, text_of
from hybrid_memory_mcp.cli.by_ids import completed_ids
from hybrid_memory_mcp.cli.history_text import print_history
from hybrid_memory_mcp.cli.memory_text import marks_of, others_in_words, print_memories, print_memory, print_whole
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Reveal, call_operation
from hybrid_memory_mcp.cli.output import is_terminal, note, one_line_errors, print_json, say
from hybrid_memory_mcp.cli.project import place_here
from hybrid_memory_mcp.cli.told import note_memories, place_again, print_recalled, print_remembered, there

Namespace = Annotated[
    str | None,
    typer.Option(
        help="The wall around the memories. Default: the project in this folder together with your own; else your own."
    ),
]
Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="ID",
        help="Ids, or their first characters (6 or more); - reads them from stdin.",
        autocompletion=completed_ids,
    ),
]
OneId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The id of a memory, or its first characters (6 or more).", autocompletion=completed_ids
    ),
]

Since = Annotated[str | None, typer.Option(help="What happened, or was written, since then: a date or words.")]
Until = Annotated[str | None, typer.Option(help="And until then; a day is meant whole.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="May be given several times; a memory has all of them.")]
Session = Annotated[str | None, typer.Option(help="Of this conversation.")]


def recall(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="In your own words; without it a brief; - reads it from stdin."),
    ] = None,
    *,
    home: Home = None,
    namespace: Namespace = None,
    since: Since = None,
    until: Until = None,
    tag: Tags = None,
    session: Session = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, max=100, help=f"How many memories; {DEFAULT_PAGE} unless told, {BRIEF_PAGE} of a brief."),
    ] = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Find what is remembered, by a question in your own words; without one, the brief that an assistant begins with."""
    question = text_of(query or ())
    brief = not question.strip()
    wanted = limit or (BRIEF_PAGE if brief else DEFAULT_PAGE)
    given: dict[str, Any] = {
        "query": question,
        "limit": wanted,
        "reveal": reveal,
        "tags": tag or [],
        "session": session,
        "since": moment_of("--since", since, "begin"),
        "until": moment_of("--until", until, "through"),
    }
    result = call_here(home, "recall", given, namespace)
    print_recalled(result, as_json=as_json, brief=brief)


def remember(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="One statement; - reads it from stdin.")],
    *,
    home: Home = None,
    namespace: Namespace = None,
    tag: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    importance: Annotated[
        float | None, typer.Option(min=0, max=1, help="0 to 1; 0.9: must never be missed, as an allergy.")
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Put it at the head of each brief.")] = False,
    when: Annotated[
        str | None, typer.Option(help="When it happened: 2026-01-31, or words such as last Friday.")
    ] = None,
    expires: Annotated[str | None, typer.Option(help="Until when it holds: a date, or words such as 30 days.")] = None,
    type_: Annotated[MemoryType, typer.Option("--type", help="What becomes of it.")] = MemoryType.LONG_TERM,
    as_json: AsJson = False,
) -> None:
    """Remember a statement, as yours. The first one makes the store."""
    given = {
        "content": text_of(text),
        "tags": tag or [],
        "importance": importance,
        "pinned": pin,
        "occurred_at": moment_of("--when", when, "moment"),
        "expires_at": moment_of("--expires", expires, "end"),
        "memory_type": type_.value,
        "session": f"terminal-{SystemClock().now().astimezone():%Y-%m-%d}",
    }
    done = call_here(home, "remember", given, namespace, writes=True)
    print_remembered(done, as_json=as_json, again=place_again(home, namespace))


def list_(
    *,
    home: Home = None,
    namespace: Namespace = None,
    since: Annotated[
        str | None, typer.Option(help="What happened, or was written, since then: a date or words.")
    ] = None,
    until: Until = None,
    kind: Annotated[Kind | None, typer.Option(help="What sort of statement it is.")] = None,
    tier: Annotated[
        Tier | None,
        typer.Option(help="Which part of memory: just heard is sensory, in mind short_term, kept long_term."),
    ] = None,
    tag: Tags = None,
    session: Session = None,
    origin: Annotated[Origin | None, typer.Option(help="Whose word it is.")] = None,
    trust: Annotated[Trust | None, typer.Option(help="How far it is trusted.")] = None,
    imported: Annotated[
        bool, typer.Option("--imported", help="What was imported; the same as --origin import.")
    ] = False,
    pinned: Annotated[bool, typer.Option("--pinned", help="What is pinned.")] = False,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="What is forgotten, instead of what is current.")
    ] = False,
    superseded: Annotated[bool, typer.Option("--superseded", help="Versions that were replaced.")] = False,
    expired: Annotated[bool, typer.Option("--expired", help="What is over.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All of these and what is current.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=LIST_LIMIT, help="How many on a page.")] = 20,
    page: Annotated[int, typer.Option(min=1, help="Which page.")] = 1,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """List memories with their ids, the newest first. In a pipe each is one line: id, time, remarks and text, with tabs between."""
    state = _listed_state(forgotten=forgotten, superseded=superseded, expired=expired, everything=everything)
    if imported and origin not in (None, Origin.IMPORT):
        raise typer.BadParameter("--imported and another --origin exclude each other")
    given = {
        "since": moment_of("--since", since, "begin"),
        "until": moment_of("--until", until, "through"),
        "kind": kind,
        "tier": tier,
        "origin": Origin.IMPORT if imported else origin,
        "trust": trust,
        "tags": tag or [],
        "session": session,
        "pinned": pinned,
        "state": state,
        "limit": limit,
        "offset": (page - 1) * limit,
        "reveal": reveal,
        "others": namespace is None and page == 1,
    }
    found = call_here(home, "list", given, namespace)
    if as_json:
        print_json(found)
        return
    print_memories(found["memories"])
    narrowed = any(
        given[name] for name in ("since", "until", "kind", "tier", "origin", "trust", "tags", "session", "pinned")
    )
    _note_page(found, page, narrowed=narrowed or state is not MemoryState.CURRENT.value)


def _listed_state(*, everything: bool, **wanted: bool) -> str | None:
    """Return the state that a list is of, None for all; what is current unless one is wanted."""
    chosen = [MemoryState(name) for name, is_wanted in wanted.items() if is_wanted]
    if len(chosen) + everything > 1:
        raise typer.BadParameter("choose one of --forgotten, --superseded, --expired and --all")
    return None if everything else (chosen or [MemoryState.CURRENT])[0].value


def _note_page(found: Mapping[str, Any], page: int, *, narrowed: bool) -> None:
    first, count, total = found["offset"] + 1, len(found["memories"]), found["total"]
    if not total and not narrowed:
        note(
            "nothing is remembered here yet; `remember` tells something, `import` brings in what other assistants know"
        )
    elif not total:
        note("no memory is like that; `list --all` shows all, `import` brings in what other assistants know")
    elif not count:
        note(f"there are {total} only, which is less than {page} pages")
    elif first + count <= total:
        note(f"{first} to {first + count - 1} of {total}; --page {page + 1} shows what follows")
    if found.get("others"):
        note(others_in_words(found["others"]))


def show(
    ids: Ids,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Show one memory's versions and what happened to each; of a purged memory give the whole id.",
        ),
    ] = False,
    home: Home = None,
    namespace: Namespace = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Show everything about memories, or the history of one. The whole text, times, whose word it is, versions, links; also if forgotten.

    On a terminal with a picture of its life. `--history` shows each version, what happened to it, when, why and by which client,
    and how often it was recalled.
    """
    named = ids_of(ids)
    if history:
        _show_history(named, home, namespace, reveal=reveal, as_json=as_json)
        return
    found = call_here(home, "show", {"ids": named, "reveal": reveal}, namespace)
    if as_json:
        print_json(found)
        return
    for number, one in enumerate(found["memories"]):
        if number:
            say("")
        print_whole(one)
        if is_terminal():
            from hybrid_memory_mcp.cli.terminal_views import print_life

            print_life(home, namespace, one["id"], reveal=reveal)


def _show_history(named: list[str], home: Path | None, namespace: str | None, *, reveal: bool, as_json: bool) -> None:
    if len(named) != 1:
        raise typer.BadParameter("shows one memory; give one id", param_hint="--history")
    found = call_here(home, "history", {"id": named[0], "reveal": reveal}, namespace)
    if as_json:
        print_json(found)
        return
    print_history(found)


def forget(
    ids: Ids,
    restore: Annotated[bool, typer.Option("--restore", help="Bring forgotten memories back instead.")] = False,
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Forget memories, or bring them back. No answer has a forgotten one; `list --forgotten` shows them, `purge` erases for good."""
    if restore:
        _restore(ids_of(ids), home, namespace, as_json=as_json)
        return
    named_ids = ids_of(ids, may_be_none=True)
    if not named_ids:
        note("nothing to forget")
        if as_json:
            print_json({"memories": [], "unchanged": [], "revived": []})
        return
    done = call_here(home, "forget", {"ids": named_ids, "restore": False}, namespace)
    if as_json:
        print_json(done)
        return
    _print_outcome(done, "forgotten:", "forgotten before:")
    if done["revived"]:
        note("current again, because more trusted; forget these too if they are meant:")
        note_memories(done["revived"])
    if done["memories"]:
        named = " ".join(one["id"] for one in done["memories"])
        note(f"`hybrid-memory-mcp forget --restore {named}{place_again(home, namespace)}` brings it back")


def _restore(ids: list[str], home: Path | None, namespace: str | None, *, as_json: bool) -> None:
    done = call_here(home, "forget", {"ids": ids, "restore": True}, namespace)
    if as_json:
        print_json(done)
        return
    _print_outcome(done, "brought back:", "not forgotten:")
    for held in done["held"]:
        note(f"stays forgotten: {held['id']}, in its place stands {held['by']}; forget that one first")


def pin(
    ids: Ids,
    off: Annotated[bool, typer.Option("--off", help="Take them from there.")] = False,
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Put memories at the top of each brief. `list --pinned` shows which are pinned."""
    done = call_here(home, "pin", {"ids": ids_of(ids), "off": off}, namespace)
    if as_json:
        print_json(done)
        return
    if off:
        _print_outcome(done, "no longer pinned:", "not pinned:")
    else:
        _print_outcome(done, "pinned:", "pinned already:")


def reflect(
    focus: Annotated[list[str] | None, typer.Argument(metavar="TOPIC", help="What to think about.")] = None,
    *,
    home: Home = None,
    namespace: Namespace = None,
    session: Session = None,
    since: Annotated[str | None, typer.Option(help="What was told since then: a date or words.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=20, help="How many groups.")] = 3,
    insights: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|FILE|-",
            help='Store conclusions: a list of {"text": "...", "evidence": ["ID", ...]}, as JSON, in a file or from stdin.',
        ),
    ] = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Show groups of memories to draw conclusions from. With --insights it stores the conclusions."""
    if insights is not None:
        done = call_here(home, "store_insights", {"insights": insights_of(insights)}, namespace)
        if as_json:
            print_json(done)
            return
        note("stored:")
        print_memories(done["memories"])
        return
    given = {
        "focus": " ".join(focus) if focus else None,
        "session": session,
        "since": moment_of("--since", since, "begin"),
        "limit": limit,
        "reveal": reveal,
    }
    found = call_here(home, "reflect", given, namespace)
    if as_json:
        print_json(found)
        return
    for number, group in enumerate(found["groups"], 1):
        note(f"group {number}: {group['asks'] or ''}".rstrip(), "bold")
        for one in group["memories"]:
            print_memory(one, [f"group {number}", *marks_of(one)])
    if found["groups"]:
        note("What follows from a group that none of its memories says alone? --insights stores it")
    else:
        note("nothing is worth a thought yet; tell more, or name another topic")


def done_here(
    home: Path | None, operation: str, arguments: Mapping[str, Any], namespace: str | None, *, writes: bool = False
) -> dict[str, Any]:
    """Have an operation done in the namespace that is named, else where an assistant would read that works in this folder.

    ``writes`` says that something new goes there.

    Raises:
        InvalidInput: nothing may be written in this folder.
    """
    given = dict(arguments)
    if namespace is None:
        namespace = there(place_here(home), given, writes=writes)
    return call_operation(home, operation, given, namespace=namespace, may_be_new=writes)


call_here = one_line_errors()(done_here)
"""As `done_here`, but an error is one line and exit code 1."""


def _print_outcome(done: Mapping[str, Any], changed: str, unchanged: str) -> None:
    """Print the memories that a command has changed, and those that were that way before."""
    for memories, told in ((done["memories"], changed), (done["unchanged"], unchanged)):
        if memories:
            note(told)
            print_memories(memories)
