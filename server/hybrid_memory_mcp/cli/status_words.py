"""What `status` says to a person: rows of a name and a sentence, made of the values that it prints as JSON. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hybrid_memory_mcp.cli import hooks, project
from hybrid_memory_mcp.cli.memory_text import others_in_words
from hybrid_memory_mcp.cli.output import megabytes, moment
from hybrid_memory_mcp.memory_words import TIER_NAMES
from hybrid_memory_mcp.words.client_words import client_name
from hybrid_memory_mcp.words.times_and_numbers import count, relative

if TYPE_CHECKING:
    from hybrid_memory_mcp.projects import Place

_TOLD = {  # in the lines before, or of no use to a person
    *(
        "assistants",
        "behind",
        "bytes_on_disk",
        "clients",
        "insights",
        "lately",
        "memories",
        "notices",
        "others",
        "session",
    ),
    *("judges", "other_hubs", "store", "synchronised", "used", "needs_you"),
}
_CLIENT = ("pid", "namespace", "since", "requests")
_TEXT = 60  # characters of a new memory
_FIRST = "none yet; tell an assistant something that lasts, or `hybrid-memory-mcp remember TEXT`"
_JUDGING = "none yet; what you said just now may still be judged, so look again in a minute"
_SHORTLY = timedelta(minutes=1)
_HAPPENED = {
    "learned": "learned",
    "corrected": "corrected",
    "kept": "kept for good",
    "faded": "faded",
    "forgotten": "forgotten",
    "erased": "erased for good",
}


def assistant_rows(values: Mapping[str, Any], now: datetime) -> Iterator[tuple[str, str]]:
    """Say which assistants have the memory and when each last used it, then those that only used it, then those without it."""
    used = dict(values["used"])
    connected = [one["client"] for one in values["clients"] if one.get("client")]
    having = [one for one in values["assistants"] if one["state"] in ("installed", "plugin")]
    for one in having:
        names = [name for name in dict.fromkeys([*used, *connected]) if _is_of(name, one)]
        times = [used.pop(name) for name in names if name in used]
        here = [name for name in connected if name in names]
        connected = [name for name in connected if name not in names]
        ran = values["hooks"]["clients"].get(one["name"], {}).get("at")
        did = _did(times, now) or (f"its hooks ran {_ago(ran, now)}" if ran else "has it, not used yet")
        yield "assistants", f"{one['title']}: {did}{'; connected' if here else ''}"
    for name in dict.fromkeys([*used, *connected]):
        did = _did([used[name]] if name in used else [], now)
        yield (
            "assistants",
            f"{client_name(name)}: {'; '.join(filter(None, (did, 'connected' if name in connected else '')))}",
        )
    lacking = [one for one in values["assistants"] if one["state"] == "absent"]
    if lacking:
        titles = ", ".join(one["title"] for one in lacking)
        yield "assistants", f"without it: {titles} (`hybrid-memory-mcp install` gives it to them)"
    if not (having or used or connected or lacking):
        yield "assistants", "none was found here; `hybrid-memory-mcp install --print` has the entry for any"


def _is_of(name: str, assistant: Mapping[str, str]) -> bool:
    """Return whether a client calls itself as an assistant is called, as ``codex-mcp-client`` does."""
    plain = _plain_name(name)
    return any(plain.startswith(_plain_name(assistant[key])) for key in ("name", "title"))


def _plain_name(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _did(times: list[Mapping[str, str | None]], now: datetime) -> str:
    asked = max((one["asked"] for one in times if one["asked"]), default="")
    told = max((one["told"] for one in times if one["told"]), default="")
    said = (f"asked {_ago(asked, now)}" if asked else "", f"told something {_ago(told, now)}" if told else "")
    return ", ".join(filter(None, said))


def _ago(at: str, now: datetime) -> str:
    return relative(datetime.fromisoformat(at), now)


def memory_rows(
    values: Mapping[str, Any], place: Place, counted: Mapping[str, int], now: datetime
) -> Iterator[tuple[str, str]]:
    """Say how much is kept, and what is new."""
    of_project = counted.get("memories", 0)
    kept = [
        f"{values['memories'] + of_project:,}" + (f", {of_project:,} of them of this project" if of_project else "")
    ]
    insights = values["insights"] + counted.get("insights", 0)
    kept += [count(insights, "insight")] if insights else []
    others = values.get("others")
    nothing = not (values["memories"] or insights or of_project or others)
    yield "memories", "; ".join(kept) if not nothing else _JUDGING if _heard_just_now(values["hooks"], now) else _FIRST
    if others:
        yield "memories", others_in_words(others)
    if _is_special(place):
        yield "project", project.in_words(place)
    lately = values["lately"]
    happened = [f"{lately[sort]} {words}" for sort, words in _HAPPENED.items() if lately[sort]]
    if happened:
        yield f"last {lately['days']} days", ", ".join(happened)
    for one in lately["newest"]:
        text = " ".join(one["content"].split())
        yield "newest", text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _heard_just_now(switches: Mapping[str, Any], now: datetime) -> bool:
    return any(now - datetime.fromisoformat(run["at"]) < _SHORTLY for run in switches["clients"].values())


def waiting_rows(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what needs the person, and what helps; one line where nothing does."""
    for notice in values["notices"]:
        yield "notice", notice
    for need in values["needs_you"]:
        command = need["command"] or ("" if need["kind"] == "health" else "hybrid-memory-mcp inspect")
        yield "needs you", need["says"].rstrip(".") + (f" (`{command}`)" if command else "")
    if not values["needs_you"] and not values["notices"]:
        yield "needs you", "nothing"


def where_rows(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say where the memory lies, and what is not as usual: hooks that are off, other machines."""
    yield "store", _store_in_words(values["store"])
    switches = values["hooks"]
    if not (switches["off_by"] or any(switches[name] for name in hooks.SWITCHES)):
        yield "hooks", "paused; `hybrid-memory-mcp config unset hooks` goes on"
    elif switches["off_by"] or not all(switches[name] for name in hooks.SWITCHES):
        yield "hooks", hooks.switches_in_words(switches)
    for name, state in values.get("judges", {}).items():
        if state:
            yield name, state
    for one in values["other_hubs"]:
        yield "also served by", one
    if (behind := values["behind"]) is not None:
        yield "behind", f"{behind['changes']} changes, {behind['seconds']:.1f} s behind other hubs"
    for one in values["synchronised"]:
        yield "synchronised", f"{one['folder']} (last news {moment(one['last']) if one['last'] else 'unknown'})"


def maker_rows(values: Mapping[str, Any], place: Place) -> Iterator[tuple[str, str]]:
    """Say all the rest: how the store works inside, and every connection."""
    tiers = {TIER_NAMES.get(name, name): count for name, count in values.get("tiers", {}).items()}
    in_words = {"hooks": hooks.in_words(values["hooks"]), "project": project.in_words(place), "tiers": _plain(tiers)}
    told = _TOLD | ({"project"} if _is_special(place) else set())
    for name, value in values.items():
        if value and name not in told:
            yield name.replace("_", " "), in_words.get(name, _plain(value))
    for one in values["clients"] or [None]:
        yield "connected", "nobody" if one is None else _client_in_words(one)


def _store_in_words(store: dict[str, Any]) -> str:
    kept = store["backups"]
    backups = (
        f"{kept['count']} {'backup' if kept['count'] == 1 else 'backups'}, {megabytes(kept['bytes'])}"
        if kept["count"]
        else "no backup yet"
    )
    aside = store["set_aside"]
    put_aside = f"; put aside by a restore or a repair, {megabytes(aside['bytes'])}: {aside['newest']}"
    place = store.get("database", store["folder"])
    if not store["bytes"]:
        return f"{place} (made with the first memory)"
    return f"{place} ({megabytes(store['bytes'])}; {backups}{put_aside if aside['count'] else ''})"


def _is_special(place: Place) -> bool:
    """Return whether something else holds in a place than for what is the person's own."""
    return bool(place.project is not None or place.refuses_reads or place.refuses_writes)


def _client_in_words(one: dict[str, Any]) -> str:
    told = (f"{name} {value}" for name in _CLIENT if (value := one.get(name)) not in (None, ""))
    return ", ".join((client_name(one.get("client") or "unknown"), *told))


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items() if count)
    return "; ".join(str(one) for one in value) if isinstance(value, tuple | list) else str(value)
