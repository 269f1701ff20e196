"""The command ``status``: what a store holds, where it lies, how it is, and who is connected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hybrid_memory_mcp.cli import project
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Namespace, call_or_exit
from hybrid_memory_mcp.cli.output import (
    cell,
    is_terminal,
    megabytes,
    moment,
    note,
    one_line_errors,
    print_result,
    print_rows,
    print_values,
)

_APART = ("session", "clients", "bytes_on_disk")  # shown otherwise, or of no use to a person
_CLIENT = ("client", "pid", "namespace", "session", "since", "requests")


def status(home: Home = None, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """Show what a store holds, where it lies, how it is, and who is connected."""
    from hybrid_memory_mcp.cli import hooks

    with one_line_errors():
        place = project.place_here(home, namespace)
    values = call_or_exit(home, "status", namespace=namespace)
    of_project = project.namespace_of(place)
    of_it = {} if of_project is None else call_or_exit(home, "status", namespace=of_project)
    counted: dict[str, int] = {name: of_it[name] for name in ("memories", "insights") if name in of_it}
    with one_line_errors():
        values["store"] = _store(home, values["bytes_on_disk"])
        values["hooks"] = hooks.described(home)
    values["project"] = project.described(place, counted)
    in_words = {
        "needs_you": "; ".join(map(_need_in_words, values["needs_you"])) or "nothing",
        "store": _store_in_words(values["store"]),
        "project": (project.in_words(place) + _counted_in_words(counted)).removesuffix("."),
        "hooks": hooks.in_words(values["hooks"]),
    }
    if (behind := values["behind"]) is not None:
        in_words["behind"] = f"{behind['changes']} changes, {behind['seconds']:.1f} s behind other hubs"
    in_words["synchronised"] = "; ".join(
        f"{one['folder']} (last news {moment(one['last']) if one['last'] else 'unknown'})"
        for one in values["synchronised"]
    )
    if not values["synchronised"]:
        in_words["synchronised"] = "with no other machine"
    print_result(values, as_json, lambda: _print(values, in_words))


def _need_in_words(need: dict[str, Any]) -> str:
    says = need["says"].rstrip(".")
    way = need["command"] or ("hybrid-memory-mcp inspect" if need["kind"] != "health" else "")
    return f"{says} ({way})" if way else says


def _store(home: Path | None, size: int) -> dict[str, Any]:
    """Return where the store lies and what it takes there, with backups and what was put aside (bytes); ``size`` is that of a database."""
    from hybrid_memory.settings import DATABASE, client_settings
    from hybrid_memory.store.home_files import list_backups, plain_files, set_aside
    from hybrid_memory.store.opening import shown_address

    folder = client_settings(home=home).folder().absolute()
    backups = list_backups(folder)
    sizes = [file.stat().st_size for file in backups]
    aside = set_aside(folder)
    address = shown_address(folder)
    if address is None:
        place = {"file": str(folder / DATABASE), "bytes": (folder / DATABASE).stat().st_size}
    else:
        place = {"database": address, "bytes": size}
    return {
        "folder": str(folder),
        **place,
        "backups": {"count": len(backups), "bytes": sum(sizes), "newest": str(backups[-1]) if backups else None},
        "set_aside": {
            "count": len(aside),
            "bytes": sum(file.stat().st_size for one in aside for file in plain_files(one)),
            "newest": str(aside[-1]) if aside else None,
        },
    }


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
    return f"{place} ({megabytes(store['bytes'])}; {backups}{put_aside if aside['count'] else ''})"


def _counted_in_words(counted: dict[str, int]) -> str:
    if not counted:
        return ""
    count, insights = counted.get("memories", 0), counted.get("insights", 0)
    some = "1 memory is" if count == 1 else f"{count} memories are"
    return f" {some} kept for it{f', insights: {insights}' if insights else ''}."


def _print(values: dict[str, Any], in_words: dict[str, str]) -> None:
    shown = [
        (name.replace("_", " "), in_words.get(name, _plain(value)))
        for name, value in values.items()
        if name not in _APART and (value or name not in ("other_hubs", "behind"))
    ]
    first = [row for row in shown if row[0] == "store"]
    print_values(first + [row for row in shown if row[0] != "store"], title="hybrid-memory-mcp")
    clients = values["clients"]
    if not clients:
        note("nobody is connected")
        return
    if not is_terminal():
        print_values([("connected", _client_in_words(one)) for one in clients])
        return
    rows = [
        [moment(one.get(column)) if column == "since" else cell(one.get(column, "")) for column in _CLIENT]
        for one in clients
    ]
    print_rows(_CLIENT, rows, title="connected")


def _client_in_words(one: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name in _CLIENT if (value := one.get(name)) not in (None, ""))


def _plain(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items() if count) or "none"
    if isinstance(value, tuple | list):
        return "; ".join(str(one) for one in value) or "none"
    return str(value)
