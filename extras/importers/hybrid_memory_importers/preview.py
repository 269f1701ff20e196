"""What ``import`` shows before it stores anything, and what it says when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybrid_memory.project_names import PREFIX
from hybrid_memory_mcp.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hybrid_memory_importers.plan import Plan

_SAMPLE_CHARACTERS = 100
_REASONS_SHOWN = 12


def as_values(plan: Plan, seen: dict[str, Any], *, as_exported: bool = False) -> dict[str, Any]:
    """Return a preview as ``--json`` has it; ``seen`` is what the store said of what would come in.

    ``as_exported`` says that origin and trust are as an export of this program has them. Secrets in samples are masked.
    """
    from hybrid_memory.secret_detection.masking import masked

    left_out = dict(plan.left_out.most_common())
    if seen["refused"]:
        left_out["what looks like a secret, which the settings refuse"] = seen["refused"]
    if seen["other_namespaces"]:
        left_out["of other namespaces; name one with --namespace, or take all with --mine"] = seen["other_namespaces"]
    samples = seen["samples"]
    if samples is None:  # there is no store: all of it is new
        samples = [(_iso(one.at), one.text) for one in plan.samples]
    return {
        "id": plan.id,
        "format": plan.format,
        "title": plan.title,
        "namespace": plan.namespace,
        "trust": "as exported" if as_exported else "agent" if plan.told else "untrusted",
        "conversations": plan.conversations,
        "messages": plan.messages,
        "of_the_person": plan.of_the_person,
        "memories": plan.memories,
        "first": _iso(plan.first),
        "last": _iso(plan.last),
        "taken": plan.chosen,
        "new": seen["new"],
        "in_projects": sum(count for _, count in seen["projects"]),
        "projects": dict(seen["projects"]),
        "here_already": seen["there"] + seen["known"] + seen["longer"],
        "in_longer_form": seen["longer"],
        "repeated": plan.repeated,
        "corrected": plan.corrected,
        "unreadable": plan.unreadable,
        "secrets": seen["secrets"],
        "left_out": left_out,
        "samples": [{"at": at, "text": masked(text)} for at, text in samples],
    }


def say_plan(values: dict[str, Any]) -> None:
    """Tell a person what would come in."""
    title = values["title"]
    say(f"{title[:1].upper()}{title[1:]}: {_held(values)}{_days(values)}")
    say("")
    if values["new"]:
        _say_what_comes(values)
    _say_counts(values)
    stays_out = {
        "here already": values["here_already"] - values["in_longer_form"],
        "here already in a longer form": values["in_longer_form"],
        "said more than once, taken once": values["repeated"],
    }
    if out := sum(stays_out.values()) + sum(values["left_out"].values()):
        say("")
        say(f"What stays out: {out:,}")
        _say_each(stays_out | dict(list(values["left_out"].items())[:_REASONS_SHOWN]))
    say("")


def _say_what_comes(values: dict[str, Any]) -> None:
    say(f"What comes in: {_many(values['new'], 'new memory', 'new memories')}{_as_whose(values)}")
    for one in values["samples"]:
        day = one["at"][:10] if one["at"] else "no date   "
        say(f"  {day}  {_shortened(one['text'])}")
    if values["new"] > len(values["samples"]):
        say("  ...")


def say_done(values: dict[str, Any]) -> None:
    """Tell a person what came in, and how to take it back."""
    here = f" ({values['here_already']:,} were here already)" if values["here_already"] else ""
    say(f"remembered: {values['stored']:,}{here}")
    say(f"take it back with: {values['undo']}")


def _held(values: dict[str, Any]) -> str:
    parts = []
    if values["messages"]:
        said = f"{_many(values['messages'], 'message', 'messages')} ({values['of_the_person']:,} yours)"
        talks = _many(values["conversations"], "conversation", "conversations")
        parts.append(f"{talks} with {said}" if values["conversations"] else said)
    if values["memories"] or not parts:
        parts.append(_many(values["memories"], "memory or note", "memories or notes"))
    return ", ".join(parts)


def _days(values: dict[str, Any]) -> str:
    if values["first"] is None:
        return ""
    first, last = values["first"][:10], values["last"][:10]
    return f", of {first}" if first == last else f", from {first} to {last}"


def _as_whose(values: dict[str, Any]) -> str:
    into = f"into {_places(values)}"
    if values["trust"] == "as exported":
        return ", with origin, trust and namespaces as this program exported them."
    if values["trust"] == "agent":
        return f", as yours, {into}. What you said here stands above them."
    return f", as somebody else's, {into}: they stand behind what is yours (--mine if you wrote them)."


def _places(values: dict[str, Any]) -> str:
    projects = [name.removeprefix(PREFIX) for name in values["projects"]]
    if not projects:
        return f"the namespace {values['namespace']}"
    into = f"the project {projects[0]}" if len(projects) == 1 else f"{len(projects)} projects"
    return into if values["in_projects"] == values["new"] else f"the namespace {values['namespace']} and {into}"


def _say_counts(values: dict[str, Any]) -> None:
    told = {
        "corrected by a later one": values["corrected"],
        **{
            f"in the project {name.removeprefix(PREFIX)}, known there only (--namespace default: everywhere)": count
            for name, count in list(values["projects"].items())[:_REASONS_SHOWN]
        },
        "with letters that cannot be read, since the file is not in UTF-8": values["unreadable"],
        "with what looks like a secret (`secrets` in config.toml says what is done about them)": values["secrets"],
    }
    _say_each(told)


def _say_each(counts: Mapping[str, int]) -> None:
    for what, count in counts.items():
        if count:
            say(f"  {count:>9,}  {what}")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SAMPLE_CHARACTERS else line[: _SAMPLE_CHARACTERS - 1] + "…"


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
