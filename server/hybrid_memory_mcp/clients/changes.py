"""Makes the new text of a client's file out of the old one: our parts added, brought up to date, or taken out. Pure.

A file has at most two parts of ours: a server's entry under a key, and hooks under the key ``hooks``. After each edit the new text
is read again: it must hold what was wanted, and without our parts the same as before; else the edit is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hybrid_memory_mcp.clients import jsonc, toml_text
from hybrid_memory_mcp.clients.jsonc import DamagedText, UnexpectedShape, same
from hybrid_memory_mcp.clients.starts import read_hook_line, read_start, runs_hook, server_options, words_of

HOOKS = "hooks"
_BOM = "\ufeff"
_OF_THE_CLIENT = ("type", "source")
"""Keys of an entry that a client wants so and not otherwise; what else is in it may be the person's, and stays."""
_HOME = "HYBRID_MEMORY_HOME"


class ForeignEntry(Exception):
    """An entry of this name is there, and it starts something else."""


@dataclass(frozen=True)
class Parts:
    """What of ours belongs into one file.

    ``path`` is where the entry belongs and ``entry`` what it is; both are empty in a file for hooks alone. ``hooks`` maps events to
    what belongs into each one's list. ``beside`` is what such a file wants at its root.
    """

    shape: Literal["json", "toml"] = "json"
    path: tuple[str, ...] = ()
    entry: Mapping[str, Any] = field(default_factory=dict)
    env_key: str = "env"
    hooks: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)


def read(content: bytes) -> str:
    """Return a file's text, with its byte order mark if it has one.

    Raises:
        DamagedText: it is not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DamagedText("it is not UTF-8; save it as UTF-8 in an editor", line) from None


def install(text: str, parts: Parts, *, replace: bool = False, backup: str | None = None) -> str:
    """Return the text with our parts in it; the same text if they are.

    One that is the backup and ours, nothing else, is made again out of the backup, so that it looks as if it had been made at once.

    Raises:
        ForeignEntry: an entry of our name starts something else, and ``replace`` does not allow it to go.
        DamagedText: the text is not what its format wants.
        UnexpectedShape: something is where our parts would belong.
    """
    mark, body = _split(text)
    before = _value(body, parts)
    if before is None and not parts.entry and not parts.hooks:
        return text
    found = _entry_of(before, parts)
    if parts.entry and found is not _NOTHING:
        if is_ours(found):
            parts = dataclasses.replace(parts, entry=merged(found, parts))
        elif not replace:
            raise ForeignEntry
    if parts.hooks is not None:
        parts = dataclasses.replace(parts, hooks=_merged_hooks(before, parts.hooks))
    if backup is not None and _present(before, parts) is not None and uninstall(text, parts, backup) == backup:
        renewed = install(backup, parts, replace=True)
        return text if _same_values(text, renewed, parts) else renewed
    install_into = _install_toml if parts.shape == "toml" else _install_json
    after = install_into(body, parts, before, parts.entry)
    _check(before, _value(after, parts), parts, wanted=parts.entry)
    return mark + after


def uninstall(text: str, parts: Parts, backup: str | None = None) -> str:
    """Return the text without our parts: the backup's if it would become this text by `install`, else with them cut out.

    What a cut leaves empty goes too, unless the backup had it.

    Raises:
        DamagedText: the text is not what its format wants.
        UnexpectedShape: our parts are written in a form that cannot be cut out.
    """
    mark, body = _split(text)
    before = _value(body, parts)
    ours = _present(before, parts)
    if ours is None:
        return text
    former = None
    if backup is not None:
        try:
            former = _value(_split(backup)[1], parts)
            is_before_us = _present(former, parts) is None
            # A group that holds another's hook as well is no longer what was put in.
            if is_before_us and not _has_mixed(before) and install(backup, ours, replace=True) == text:
                return backup
            former = former if is_before_us else None
        except (DamagedText, UnexpectedShape, ForeignEntry):
            former = None
    written = "" if former is None or backup is None else _split(backup)[1]
    after = (_uninstall_toml if parts.shape == "toml" else _uninstall_json)(body, ours, former, written)
    _check(before, _value(after, parts), parts, wanted=None)
    return mark + after


def same_without(text: str, one: str | None, other: str | None, after: str, parts: Parts) -> bool:
    """Return whether `uninstall` of ``after`` with the backup ``other`` gives the values that it gives of ``text`` with ``one``."""
    return _same_values(uninstall(text, parts, one), uninstall(after, parts, other), parts)


def _same_values(text: str, other: str, parts: Parts) -> bool:
    return same(_value(_split(text)[1], parts), _value(_split(other)[1], parts))


def value_at(text: str, path: Sequence[str], shape: Literal["json", "toml"]) -> Any:
    """Return what is at a path of a text; None if nothing does."""
    found = _at(_value(_split(text)[1], Parts(shape)), path)
    return None if found is _NOTHING else found


def present(text: str, parts: Parts) -> Parts | None:
    """Return what of ours is in a text, as parts; None if nothing is."""
    return _present(_value(_split(text)[1], parts), parts)


def has_ours(text: str, parts: Parts) -> bool:
    """Return whether anything of ours is in a text."""
    return present(text, parts) is not None


def is_ours(entry: Any) -> bool:
    """Return whether a server's entry starts this memory."""
    return isinstance(entry, Mapping) and read_start(words_of(entry)) is not None


def entry_in(text: str, parts: Parts) -> Any:
    """Return the entry that is at the place of ours; None if none does."""
    found = _entry_of(_value(_split(text)[1], parts), parts)
    return None if found is _NOTHING else found


def command_in(text: str, parts: Parts) -> str:
    """Return the program of the entry at the place of ours, whoever's it is; empty if there is none."""
    found = entry_in(text, parts)
    command = found.get("command") if isinstance(found, Mapping) else None
    # More than a program may have a password behind it.
    return command if isinstance(command, str) and len(command.split()) == 1 else ""


def is_our_hook(item: Any, server: str = "memory") -> bool:
    """Return whether one item of an event's list is wholly ours: a command of ours, a call of our server, or a group of such."""
    if not isinstance(item, Mapping):
        return False
    inner = item.get(HOOKS)
    if isinstance(inner, list):
        return bool(inner) and all(is_our_hook(one, server) for one in inner)
    if item.get("type") == "mcp_tool":
        return item.get("server") == server and item.get("tool") == "read_memories"
    command, arguments = item.get("command"), item.get("args")
    if not isinstance(command, str):
        return False
    if isinstance(arguments, list):
        return runs_hook([command, *arguments])
    return read_hook_line(command) is not None


def merged(found: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """Return our entry brought up to date: how it is started is as it should be, what a person added to it stays.

    What comes behind our name stays always, and so does a start that says more than where our program lies (`Started.is_chosen`).
    """
    started = read_start(words_of(found))
    assert started is not None  # noqa: S101 - it is ours
    ours = read_start(words_of(parts.entry))
    words = [*(started.start if started.is_chosen or ours is None else ours.start), *started.rest]
    one_list = isinstance(parts.entry["command"], list)
    fresh = {**parts.entry, **({"command": words} if one_list else {"command": words[0], "args": words[1:]})}
    entry = {key: value for key, value in found.items() if not (one_list and key == "args")}
    for key, value in fresh.items():
        if value == [] and key not in entry:
            continue  # some clients leave it out when they write the file again
        if key in ("command", "args", *_OF_THE_CLIENT) or key not in entry:
            entry[key] = value
        elif key == parts.env_key and isinstance(entry[key], Mapping):
            entry[key] = {**entry[key], **value}
    env = entry.get(parts.env_key)
    if "home" in server_options(started.rest, {}) and _HOME in parts.entry.get(parts.env_key, {}):
        # The option of the entry is what counts, so the variable would only mislead.
        entry.pop(parts.env_key)
        if parts.env_key in found:
            entry[parts.env_key] = found[parts.env_key]
    elif isinstance(env, Mapping) and isinstance(entry.get("env_vars"), list):
        entry["env_vars"] = [name for name in entry["env_vars"] if name not in env]
    return entry


def is_blank(text: str, parts: Parts) -> bool:
    """Return whether a text holds nothing, or nothing but what a file for our parts alone would."""
    body = _split(text)[1]
    value = _value(body, parts)
    if value is None or (parts.shape == "toml" and not body.strip()):
        return not body.strip()
    has_comments = parts.shape == "json" and any(body[start] == "/" for start, _, _ in jsonc.strings(body))
    return not has_comments and parts.shape == "json" and value in ({}, dict(parts.beside))


_NOTHING: Any = object()


def _split(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _value(body: str, parts: Parts) -> Any:
    value = toml_text.parse(body) if parts.shape == "toml" else jsonc.parse(body)
    if value is not None and not isinstance(value, dict):
        raise UnexpectedShape("line 1: the outermost value is not an object in braces")
    return value


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return _NOTHING
        value = value[key]
    return value


def _entry_of(value: Any, parts: Parts) -> Any:
    return _at(value, parts.path) if parts.path else _NOTHING


def _present(value: Any, parts: Parts) -> Parts | None:
    found = _entry_of(value, parts)
    entry = found if is_ours(found) else {}
    hooks = _our_hooks(value) if parts.hooks is not None else {}
    if not entry and not hooks:
        return None
    path = parts.path if entry else ()
    return Parts(parts.shape, path, entry, parts.env_key, hooks if parts.hooks is not None else None, parts.beside)


def _our_hooks(value: Any) -> dict[str, list[Any]]:
    """Return our items of each event's list; of a group with others' as well what of it is ours."""
    events = _at(value, (HOOKS,))
    found = {}
    for event, items in events.items() if isinstance(events, Mapping) else ():
        ours = [_only_ours(one) for one in items if is_our_hook(one) or _mixed(one)] if isinstance(items, list) else []
        if ours:
            found[event] = ours
    return found


def _only_ours(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**item, HOOKS: [one for one in item[HOOKS] if is_our_hook(one)]} if _mixed(item) else item


def _has_mixed(value: Any) -> bool:
    events = _at(value, (HOOKS,))
    lists = [items for items in events.values() if isinstance(items, list)] if isinstance(events, Mapping) else []
    return any(_mixed(item) for items in lists for item in items)


def _merged_hooks(value: Any, wanted: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return our hooks brought up to date: what they run is as it should be, what a person changed or added stays."""
    found = _our_hooks(value)
    after = {}
    for event, items in wanted.items():
        there = found.get(event, ())
        after[event] = [
            _merged_item(there[place], item) if place < len(there) else dict(item) for place, item in enumerate(items)
        ]
    return after


def _merged_item(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    if HOOKS not in wanted:
        return dict(wanted) if HOOKS in found else _merged_handler(found, wanted)
    if HOOKS not in found:
        return dict(wanted)
    handlers = [
        _merged_handler(found[HOOKS][place], one) if place < len(found[HOOKS]) else dict(one)
        for place, one in enumerate(wanted[HOOKS])
    ]
    return {**found, **{key: one for key, one in wanted.items() if key not in found}, HOOKS: handlers}


def _merged_handler(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    if found.get("type", "command") != wanted.get("type", "command"):
        return dict(wanted)
    runs = [name for name in ("command", "args", "type", "server", "tool") if name in wanted]
    handler = {name: one for name, one in found.items() if name != "args" or "args" in wanted}
    handler |= {name: one for name, one in wanted.items() if name in runs or name not in found}
    line = read_hook_line(found["command"]) if "command" in wanted and "args" not in found else None
    if line is not None and (line.before or line.after):
        # Around ours a person put variables or other commands, which only a shell can run.
        words = [wanted["command"], *wanted["args"]] if "args" in wanted else None
        handler["command"] = line.before + wanted["command"] + line.after if words is None else line.with_words(words)
        handler.pop("args", None)
    return handler


def _mixed(item: Any) -> bool:
    """Return whether an item is a group that holds ours and others'."""
    inner = item.get(HOOKS) if isinstance(item, Mapping) else None
    return isinstance(inner, list) and not is_our_hook(item) and any(is_our_hook(one) for one in inner)


def _install_json(body: str, parts: Parts, before: Any, entry: Mapping[str, Any]) -> str:
    for key, value in parts.beside.items() if parts.hooks else ():
        if key not in (before or {}):
            body = jsonc.set_member(body, [key], value)
    there = _entry_of(before, parts)
    if parts.entry and is_ours(there):
        body = _update_members(body, parts.path, there, entry)
    elif parts.entry:
        body = jsonc.set_member(body, parts.path, dict(entry))
    if parts.hooks is None:
        return body
    listed = _at(before, (HOOKS,))
    # Those that are there first: the layout of what is added may depend on it, and `uninstall` knows no other order.
    events = [*(listed if isinstance(listed, Mapping) else ()), *parts.hooks]
    ours = {*parts.hooks, *_our_hooks(before)}
    for event in dict.fromkeys(event for event in events if event in ours):
        body = _install_hooks(body, event, [dict(item) for item in parts.hooks.get(event, ())])
    return body


def _install_hooks(body: str, event: str, wanted: list[dict[str, Any]]) -> str:
    path: tuple[str | int, ...] = (HOOKS, event)
    items = _at(jsonc.parse(body), path)
    items = [] if items is _NOTHING or items is None else items
    if not isinstance(items, list):
        raise UnexpectedShape(f"`{HOOKS}.{event}` is not a list in brackets")
    places = [place for place, item in enumerate(items) if is_our_hook(item) or _mixed(item)]
    for place, item in zip(places, wanted, strict=False):
        body = _update_item(body, (*path, place), items[place], item)
    for item in wanted[len(places) :]:
        body = jsonc.append_item(body, path, item)
    for place in reversed(places[len(wanted) :]):
        body = _take_out(body, path, place, items[place])
    return body if wanted else _prune(body, path, None)


def _update_item(body: str, path: tuple[str | int, ...], found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Change what differs of one item, and nothing else: a person may have written comments into it, or other hooks alongside ours."""
    inner = found.get(HOOKS)
    if isinstance(inner, list) and HOOKS in wanted:
        ours = [place for place, one in enumerate(inner) if is_our_hook(one)]
        if len(ours) == len(wanted[HOOKS]):
            for place, one in zip(ours, wanted[HOOKS], strict=True):
                body = _update_members(body, (*path, HOOKS, place), inner[place], one)
            rest = {key: one for key, one in wanted.items() if key != HOOKS}
            return _update_members(body, path, {key: one for key, one in found.items() if key != HOOKS}, rest)
    elif inner is None and HOOKS not in wanted:
        return _update_members(body, path, found, wanted)
    if _mixed(found):
        raise UnexpectedShape(f"`{HOOKS}.{path[1]}` has hooks of ours and others in one group; take ours out of it")
    return jsonc.replace_item(body, path[:-1], int(path[-1]), dict(wanted))


def _update_members(body: str, path: tuple[str | int, ...], found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Change the members that differ, so that comments alongside them stay."""
    for key in found:
        if key not in wanted:
            body = jsonc.remove_member(body, (*path, key))
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(found.get(key), Mapping):
            body = _update_members(body, (*path, key), found[key], value)
        elif key not in found or not same(found[key], value):
            body = jsonc.set_member(body, (*path, key), value)
    return body


def _take_out(body: str, path: tuple[str | int, ...], place: int, item: Mapping[str, Any]) -> str:
    """Take one item of ours out of its list, or out of a group that holds others' as well."""
    if not _mixed(item):
        return jsonc.remove_item(body, path, place)
    for at in reversed(range(len(item[HOOKS]))):
        if is_our_hook(item[HOOKS][at]):
            body = jsonc.remove_item(body, (*path, place, HOOKS), at)
    return body


def _without_ours(group: Mapping[str, Any]) -> dict[str, Any]:
    return {**group, HOOKS: [one for one in group[HOOKS] if not is_our_hook(one)]}


def _uninstall_json(body: str, ours: Parts, former: Any, written: str) -> str:
    """Return the text without ours; ``former`` is the backup's value, and ``written`` its text."""
    if ours.path:
        replaced = jsonc.find(written, ours.path) if written else None
        at = jsonc.find(body, ours.path)
        if replaced is None:
            body = _prune(jsonc.remove_member(body, ours.path), ours.path[:-1], former)
        elif at is not None:
            body = body[: at.value] + written[replaced.value : replaced.end] + body[at.end :]
    for event in ours.hooks or ():
        path: tuple[str | int, ...] = (HOOKS, event)
        items = _at(jsonc.parse(body), path)
        for place in reversed(range(len(items))):
            if _mixed(items[place]) or is_our_hook(items[place]):
                body = _take_out(body, path, place, items[place])
        body = _prune(body, path, former)
    return body


def _prune(body: str, path: Sequence[str | int], former: Any) -> str:
    """Take out what is empty now, from the inside out, but leave or restore what was there before us."""
    value = jsonc.parse(body)
    while path and _at(value, path) in ({}, []):
        was = _at(former, path)
        if was is not _NOTHING:
            return jsonc.set_member(body, path, was) if was is None and not _has_notes(body, path) else body
        if jsonc.has_comments(body, path):
            return body
        body = jsonc.remove_member(body, path)
        value, path = jsonc.parse(body), path[:-1]
    return body


def _has_notes(body: str, path: Sequence[str | int]) -> bool:
    """Return whether comments stand within the value at a path."""
    item = jsonc.find(body, path)
    piece = "" if item is None else body[item.value : item.end]
    return any(piece[start] == "/" for start, _, _ in jsonc.strings(piece))


def _install_toml(body: str, parts: Parts, before: Any, entry: Mapping[str, Any]) -> str:
    found = _entry_of(before, parts)
    if found is _NOTHING:
        return toml_text.add_table(body, parts.path, entry)
    if not is_ours(found):
        return toml_text.add_table(toml_text.remove_table(body, parts.path), parts.path, entry)
    changed = {key: value for key, value in entry.items() if key not in found or not same(found[key], value)}
    gone = [key for key in found if key not in entry]
    return toml_text.update_table(body, parts.path, changed, gone)


def _uninstall_toml(body: str, parts: Parts, former: Any, written: str) -> str:
    replaced = _at(former, parts.path)
    body = toml_text.remove_table(body, parts.path)
    if replaced is _NOTHING:
        return body
    try:
        return toml_text.append(body, toml_text.source_of(written, parts.path))
    except UnexpectedShape:
        return toml_text.add_table(body, parts.path, replaced)


def _check(before: Any, after: Any, parts: Parts, *, wanted: Mapping[str, Any] | None) -> None:
    """Refuse an edit that did anything else than it should; that would be an error of this program."""
    sound = same(_others(before, parts), _others(after, parts))
    if wanted is not None:
        sound = sound and (not parts.entry or same(_unordered(_entry_of(after, parts)), _unordered(wanted)))
        sound = sound and (parts.hooks is None or _same_hooks(after, parts))
    else:
        sound = sound and _present(after, parts) is None
    if not sound:
        raise UnexpectedShape("it is written in a form that this program cannot change without touching the rest")


def _unordered(entry: Any) -> Any:
    return dict(sorted(entry.items())) if isinstance(entry, Mapping) else entry


def _same_hooks(after: Any, parts: Parts) -> bool:
    """Return whether the hooks of ours are those that were wanted."""
    wanted = {event: [dict(one) for one in items] for event, items in (parts.hooks or {}).items() if items}
    return _our_hooks(after) == wanted


def _others(value: Any, parts: Parts) -> Any:
    """Return what of a file is not ours, without what is empty at our places."""
    rest = dict(value or {})
    if parts.path:
        table = rest.get(parts.path[0])
        if isinstance(table, Mapping):
            table = {key: one for key, one in table.items() if key != parts.path[1]}
        rest[parts.path[0]] = table
        if not table:
            del rest[parts.path[0]]
    if parts.hooks is not None and isinstance(rest.get(HOOKS), Mapping):
        events = {event: _other_items(items) for event, items in rest[HOOKS].items()}
        rest[HOOKS] = {event: items for event, items in events.items() if items not in ([], None)}
    if parts.hooks is not None and not rest.get(HOOKS):
        rest.pop(HOOKS, None)
    for key, one in parts.beside.items():
        if rest.get(key) == one:
            del rest[key]
    return rest


def _other_items(items: Any) -> Any:
    if not isinstance(items, list):
        return items
    return [_without_ours(item) if _mixed(item) else item for item in items if not is_our_hook(item)]
