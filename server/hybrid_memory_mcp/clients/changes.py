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
from hybrid_memory_mcp.clients.command import mentions_us, starts_us
from hybrid_memory_mcp.clients.jsonc import DamagedText, UnexpectedShape, same

HOOKS = "hooks"
_BOM = "\ufeff"
_WHOLLY_OURS = ("command", "args", "type", "source")
"""Keys of an entry that are ours alone; what else stands in it may be the person's, and stays."""


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

    One that is the backup and ours, nothing else, is made anew out of the backup, so that it looks as if it had been made at once.

    Raises:
        ForeignEntry: an entry of our name starts something else, and ``replace`` does not allow it to go.
        DamagedText: the text is not what its format wants.
        UnexpectedShape: something stands where our parts would belong.
    """
    mark, body = _split(text)
    before = _value(body, parts)
    if before is None and not parts.entry and not parts.hooks:
        return text
    entry = dict(parts.entry)
    found = _entry_of(before, parts)
    if parts.entry and found is not _NOTHING:
        if is_ours(found):
            entry = merged(found, parts)
            if backup is not None and uninstall(text, parts, backup) == backup:
                renewed = install(backup, dataclasses.replace(parts, entry=entry), replace=True)
                return text if _same_values(text, renewed, parts) else renewed
        elif not replace:
            raise ForeignEntry
    install_into = _install_toml if parts.shape == "toml" else _install_json
    after = install_into(body, parts, before, entry)
    _check(before, _value(after, parts), parts, wanted=entry)
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
            if _present(former, parts) is None and install(backup, ours, replace=True) == text:
                return backup
            former = former if _present(former, parts) is None else None
        except (DamagedText, UnexpectedShape, ForeignEntry):
            former = None
    after = _uninstall_toml(body, parts) if parts.shape == "toml" else _uninstall_json(body, ours, former)
    _check(before, _value(after, parts), parts, wanted=None)
    return mark + after


def _same_values(text: str, other: str, parts: Parts) -> bool:
    return same(_value(_split(text)[1], parts), _value(_split(other)[1], parts))


def value_at(text: str, path: Sequence[str], shape: Literal["json", "toml"]) -> Any:
    """Return what stands at a path of a text; None if nothing does."""
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
    if not isinstance(entry, Mapping):
        return False
    words = [entry.get("command"), entry.get("args")]
    flat = [one for word in words for one in (word if isinstance(word, list) else [word])]
    return starts_us(flat)


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
        return starts_us([command, *arguments]) and HOOKS[:-1] in arguments
    return mentions_us(command) and f" {HOOKS[:-1]} " in command


def merged(found: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """Return our entry brought up to date: what is ours is as it should be, what a person added to it stays."""
    entry = {key: value for key, value in found.items() if key not in _WHOLLY_OURS or key in parts.entry}
    for key, value in parts.entry.items():
        if value == [] and key not in entry:
            continue  # some clients leave it out when they write the file anew
        if key in _WHOLLY_OURS or key not in entry:
            entry[key] = value
        elif key == parts.env_key and isinstance(entry[key], Mapping):
            entry[key] = {**entry[key], **value}
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


def _at(value: Any, path: Sequence[str]) -> Any:
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
    """Return our items of each event's list, those within groups with others' as well."""
    events = _at(value, (HOOKS,))
    found = {}
    for event, items in events.items() if isinstance(events, Mapping) else ():
        ours = [one for one in items if is_our_hook(one) or _mixed(one)] if isinstance(items, list) else []
        if ours:
            found[event] = ours
    return found


def _mixed(item: Any) -> bool:
    """Return whether an item is a group that holds ours and others'."""
    inner = item.get(HOOKS) if isinstance(item, Mapping) else None
    return isinstance(inner, list) and not is_our_hook(item) and any(is_our_hook(one) for one in inner)


def _install_json(body: str, parts: Parts, before: Any, entry: Mapping[str, Any]) -> str:
    for key, value in parts.beside.items() if parts.hooks else ():
        if key not in (before or {}):
            body = jsonc.set_member(body, [key], value)
    if parts.entry and not same(_entry_of(before, parts), dict(entry)):
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
    path = [HOOKS, event]
    items = _at(jsonc.parse(body), path)
    items = [] if items is _NOTHING or items is None else items
    if not isinstance(items, list):
        raise UnexpectedShape(f"`{HOOKS}.{event}` is not a list in brackets")
    if [one for one in items if is_our_hook(one)] == wanted and not any(_mixed(one) for one in items):
        return body
    for place, item in enumerate(items):
        if _mixed(item):
            body = jsonc.replace_item(body, path, place, _without_ours(item))
    places = [place for place, item in enumerate(items) if is_our_hook(item)]
    for place, item in zip(places, wanted, strict=False):
        if not same(items[place], item):
            body = jsonc.replace_item(body, path, place, item)
    for item in wanted[len(places) :]:
        body = jsonc.append_item(body, path, item)
    for place in reversed(places[len(wanted) :]):
        body = jsonc.remove_item(body, path, place)
    return body if wanted else _prune(body, path, None)


def _without_ours(group: Mapping[str, Any]) -> dict[str, Any]:
    return {**group, HOOKS: [one for one in group[HOOKS] if not is_our_hook(one)]}


def _uninstall_json(body: str, ours: Parts, former: Any) -> str:
    if ours.path:
        replaced = _at(former, ours.path)
        if replaced is _NOTHING:
            body = _prune(jsonc.remove_member(body, ours.path), ours.path[:-1], former)
        else:
            body = jsonc.set_member(body, ours.path, replaced)
    for event in ours.hooks or ():
        path = [HOOKS, event]
        items = _at(jsonc.parse(body), path)
        for place in reversed(range(len(items))):
            if _mixed(items[place]):
                body = jsonc.replace_item(body, path, place, _without_ours(items[place]))
            elif is_our_hook(items[place]):
                body = jsonc.remove_item(body, path, place)
        body = _prune(body, path, former)
    return body


def _prune(body: str, path: Sequence[str], former: Any) -> str:
    """Take out what is empty now, from the inside out, but leave or restore what was there before us."""
    value = jsonc.parse(body)
    while path and _at(value, path) in ({}, []):
        was = _at(former, path)
        if was is not _NOTHING:
            return jsonc.set_member(body, path, was) if was is None else body
        if jsonc.has_comments(body, path):
            return body
        body = jsonc.remove_member(body, path)
        value, path = jsonc.parse(body), path[:-1]
    return body


def _install_toml(body: str, parts: Parts, before: Any, entry: Mapping[str, Any]) -> str:
    found = _entry_of(before, parts)
    if found is _NOTHING:
        return toml_text.add_table(body, parts.path, entry)
    if not is_ours(found):
        return toml_text.add_table(toml_text.remove_table(body, parts.path), parts.path, entry)
    changed = {key: value for key, value in entry.items() if key not in found or not same(found[key], value)}
    gone = [key for key in found if key not in entry]
    return toml_text.update_table(body, parts.path, changed, gone)


def _uninstall_toml(body: str, parts: Parts) -> str:
    return toml_text.remove_table(body, parts.path)


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
