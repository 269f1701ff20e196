"""What `recall` and `remember` do around their operation, for typer's commands and for those that are done without it (``quick.py``).

Nothing that takes long to import: typer, rich and pydantic are not needed before an answer is there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.cli.memory_text import marks_of, print_memories, print_memory
from hybrid_memory_mcp.cli.output import note, print_json
from hybrid_memory_mcp.memory_words import PROBABLY_UNKNOWN
from hybrid_memory_mcp.projects import ABOUT_ME

if TYPE_CHECKING:
    from hybrid_memory_mcp.projects import Place

_OF_AN_OLDER_HUB: Mapping[str, Any] = {"id": "", "newer": None, "section": None}
"""What a hub that was started before an upgrade does not tell of a hit; it answers until its last client leaves."""

_BESIDE_CHARACTERS = 160  # of a memory that is shown with the result: enough to see whether it says something else
_OF_THE_UNKNOWN = 3  # hits that are shown where probably nothing is known


def there(here: Place, given: dict[str, Any], *, writes: bool) -> str | None:
    """Return the namespace in which a command does something in a place, None for the person's; adds to ``given`` what goes with it.

    Raises:
        InvalidInput: nothing may be written here.
    """
    for notice in here.notices:
        note(notice, "yellow")
    if writes and here.refuses_writes:
        raise InvalidInput("folder", f"{here.refuses_writes}; or name a namespace with --namespace")
    if here.off and not writes:
        note("memory is off in this folder for assistants; this is what is remembered elsewhere", "yellow")
    if here.project is None:
        return None
    given["personal"] = here.personal
    given["about_me_is_personal"] = here.about_me == ABOUT_ME[1]
    return here.namespace


def print_recalled(result: Mapping[str, Any], *, as_json: bool, brief: bool) -> None:
    """Print what was found by a question, or a brief."""
    hits = [{**_OF_AN_OLDER_HUB, "when": hit["created_at"], **hit} for hit in result["hits"]]
    if as_json:
        print_json({**result, "hits": hits})
        return
    unknown = result.get("unknown") or (not brief and bool(hits) and all(hit["weak"] for hit in hits))
    if unknown:
        note(PROBABLY_UNKNOWN)
        hits = hits[:_OF_THE_UNKNOWN]
    for hit in hits:
        print_memory(hit, [*_judged(hit), *marks_of(hit)])
    if not hits:
        note("nothing is remembered yet" if brief else "nothing is remembered about this")
    if (offline := result.get("offline_seconds")) is not None:
        note(f"the database cannot be reached: this is what was known {offline:.0f} seconds ago, and nothing later")
    if result["words_alone"]:
        note("searched by words alone: the embedding model is not ready (`embedder status` says why)")
    if result["total"] > len(hits) and not unknown:  # of what is unknown three are shown, whatever the limit
        note(f"{result['total'] - len(hits)} more; raise --limit to see them")


def _judged(hit: Mapping[str, Any]) -> list[str]:
    """Return the section of a line of a brief; else what is claimed of the hit; its score is in `--json` alone."""
    if hit["section"] is not None:
        return [str(hit["section"])]
    marks = ["weak"] if hit["weak"] else []
    return marks + ([f"newer: {hit['newer']}"] if hit["newer"] else [])


def print_remembered(done: Mapping[str, Any], *, as_json: bool, again: str) -> None:
    """Print what was remembered; ``again`` are the options that say where, for a command that is named."""
    if as_json:
        print_json(done)
        return
    note("known already:" if done["known"] else "remembered:")
    print_memories([done["memory"]])
    if done["said_before"]:
        note(f"the same words were said before, in another conversation: {done['said_before']}")
    note_secrets(done, again)
    if done["related"]:
        note("what is known about the same; `correct ID TEXT` mends one, `forget ID` takes one away:")
        note_memories(done["related"])


def place_again(home: Path | None, namespace: str | None) -> str:
    """Return the options that say where a command was done, for a command that is named."""
    given = {"--home": None if home is None else str(home), "--namespace": namespace}
    return "".join(f" {option} {shlex.quote(value)}" for option, value in given.items() if value is not None)


def note_memories(memories: Sequence[Mapping[str, Any]]) -> None:
    """Tell of memories that are not the result, on stderr."""
    for one in memories:
        note(f"  {one['id']}  {' '.join(str(one['content']).split())[:_BESIDE_CHARACTERS]}")


def note_secrets(done: Mapping[str, Any], place: str) -> None:
    """Tell of secrets in what was written; ``place`` are the options that say where."""
    if not done["secrets"]:
        return
    kinds = ", ".join(done["secrets"])
    if done["secrets_left_out"]:
        note(f"left out what looks like a secret ({kinds})", "yellow")
        return
    told = f"it holds what looks like a secret ({kinds}), which is shown masked from now on"
    note(f"{told}; `hybrid-memory-mcp redact {done['memory']['id']}{place}` takes it out for good", "yellow")
