"""Edits of JSON text that leave every other byte as it is: comments, trailing commas, order, indentation, line ends.

A path is a sequence of keys, and of places in lists. Where a key stands twice the last one counts, as it does for the programs that
read such files.
Nothing here recurses, so that no depth is too deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_LINE_SPACE = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\r\n]*)?")
_STRING = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*"')
_SCALAR = re.compile(r"[-+.\w]+")
_SKIPPED = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*"|//[^\n]*|/\*.*?\*/|[{}\[\]]', re.DOTALL)
_INDENTED = re.compile(r"\n([ \t]+)[\"{\[]")
_TIGHT = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*":(?=[^\s])')
_CLOSERS = {"{": "}", "[": "]"}


class DamagedText(ValueError):
    """The text is not what its format wants; ``line`` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class UnexpectedShape(ValueError):
    """The text is sound, but something else is where an object or a list was expected."""


@dataclass(frozen=True)
class Item:
    """A member of an object, or an item of a list (whose ``key`` is empty and whose ``start`` is ``value``). Offsets of the text."""

    key: str
    start: int
    value: int
    end: int
    comma: int | None


@dataclass(frozen=True)
class Container:
    """An object or a list: where its brackets stand, and its items."""

    open: int
    close: int
    items: tuple[Item, ...]

    def last(self, key: str) -> Item | None:
        """Return the member of this name that counts: the last."""
        return next((item for item in reversed(self.items) if item.key == key), None)


def parse(text: str) -> Any:
    """Return the value of JSON with comments and trailing commas; None if there is nothing but space.

    Raises:
        DamagedText: it is no such text.
    """
    if _after_space(text, 0) == len(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _Reader(text).read()


class _Reader:
    """Reads leniently and without recursion; tells where a text is damaged."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> Any:
        self._skip_space()
        open_containers: list[tuple[Any, str | None]] = []
        while True:
            value, opened = self._value()
            if opened:
                key = self._first_key(value)
                if key is not _CLOSED:
                    open_containers.append((value, key))
                    continue
            while open_containers:
                container, key = open_containers.pop()
                if isinstance(container, dict):
                    container[key] = value
                else:
                    container.append(value)
                key = self._next_key(container)
                if key is not _CLOSED:
                    open_containers.append((container, key))
                    break
                value = container
            else:
                self._skip_space()
                if self._at < len(self._text):
                    raise self._damage("there is more after the end")
                return value

    def _value(self) -> tuple[Any, bool]:
        character = self._text[self._at : self._at + 1]
        if character in _CLOSERS:
            self._at += 1
            return ({} if character == "{" else []), True
        if character == '"':
            return self._string(), False
        found = _SCALAR.match(self._text, self._at)
        if found is None:
            raise self._damage("the file ends in the middle" if not character else "a value is missing or wrong")
        try:
            value = json.loads(found[0])
        except ValueError:
            raise self._damage("a value is wrong") from None
        self._at = found.end()
        return value, False

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self._damage("a text has no end")
        try:
            value: str = json.loads(found[0], strict=False)
        except ValueError:
            raise self._damage("a text has a wrong escape") from None
        self._at = found.end()
        return value

    def _first_key(self, container: Any) -> Any:
        self._skip_space()
        return self._key_or_close(container)

    def _next_key(self, container: Any) -> Any:
        self._skip_space()
        closer = "}" if isinstance(container, dict) else "]"
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip_space()
        elif not self._text.startswith(closer, self._at):
            ended = self._at >= len(self._text)
            raise self._damage("the file ends in the middle" if ended else f"a comma or {closer} is missing")
        return self._key_or_close(container)

    def _key_or_close(self, container: Any) -> Any:
        if self._text.startswith("}" if isinstance(container, dict) else "]", self._at):
            self._at += 1
            return _CLOSED
        if isinstance(container, list):
            return None
        if not self._text.startswith('"', self._at):
            ended = self._at >= len(self._text)
            raise self._damage("the file ends in the middle" if ended else "a name in double quotes is missing")
        key = self._string()
        self._skip_space()
        if not self._text.startswith(":", self._at):
            raise self._damage("a colon is missing")
        self._at += 1
        self._skip_space()
        return key

    def _skip_space(self) -> None:
        self._at = _after_space(self._text, self._at)
        if self._text.startswith("/*", self._at):
            raise self._damage("a comment has no end")

    def _damage(self, problem: str) -> DamagedText:
        return DamagedText(problem, self._text.count("\n", 0, self._at) + 1)


_CLOSED = object()


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def container_at(text: str, at: int) -> Container | None:
    """Return the object or list that begins at ``at`` of a sound text; None if something else does."""
    closer = _CLOSERS.get(text[at : at + 1])
    if closer is None:
        return None
    items: list[Item] = []
    place = _after_space(text, at + 1)
    while text[place] != closer:
        start, key = place, ""
        if closer == "}":
            end = _end_of(_STRING, text, place)
            key = json.loads(text[place:end], strict=False)
            place = _after_space(text, _after_space(text, end) + 1)
        value, end = place, _end_of_value(text, place)
        place = _after_space(text, end)
        comma = place if text[place] == "," else None
        items.append(Item(key, start, value, end, comma))
        if comma is not None:
            place = _after_space(text, comma + 1)
    return Container(at, place, tuple(items))


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # noqa: S101 - the text is sound
    return found.end()


def _end_of_value(text: str, at: int) -> int:
    if text[at] == '"':
        return _end_of(_STRING, text, at)
    if text[at] not in _CLOSERS:
        return _end_of(_SCALAR, text, at)
    depth = 0
    for found in _SKIPPED.finditer(text, at):
        if found[0] in ("{", "["):
            depth += 1
        elif found[0] in ("}", "]"):
            depth -= 1
            if not depth:
                return found.end()
    raise AssertionError("an unsound text was not refused")


def find(text: str, path: Sequence[str | int]) -> Item | None:
    """Return the member at a path, None if there is none."""
    at, item = _after_space(text, 0), None
    for key in path:
        container = container_at(text, at)
        item = None if container is None else _item_of(text, container, key)
        if item is None:
            return None
        at = item.value
    return item


def _item_of(text: str, container: Container, key: str | int) -> Item | None:
    if isinstance(key, int):
        return container.items[key] if text[container.open] == "[" and key < len(container.items) else None
    return container.last(key) if text[container.open] == "{" else None


@dataclass(frozen=True)
class Style:
    """How a text is laid out: line end, one level of indentation, whether all is in one line, what follows a comma and a colon."""

    newline: str
    unit: str
    one_line: bool
    separators: tuple[str, str]

    def dump(self, value: Any, indent: str, *, inline: bool) -> str:
        """Return a value as text in this layout; ``indent`` is that of the line on which it begins."""
        if inline:
            return json.dumps(value, ensure_ascii=False, separators=self.separators)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)

    def member(self, key: str, value: Any, indent: str, *, inline: bool) -> str:
        """Return ``"key": value``."""
        colon = self.separators[1] if inline else ": "
        return json.dumps(key, ensure_ascii=False) + colon + self.dump(value, indent, inline=inline)


def style_of(text: str) -> Style:
    """Return the layout of a text; of one that shows none that of most files: two spaces a level."""
    indented = _INDENTED.search(text)
    at = _after_space(text, 0)
    root = container_at(text, at)
    one_line = root is not None and bool(root.items) and "\n" not in text[root.open : root.close]
    separators = (",", ":") if one_line and _TIGHT.search(text) else (", ", ": ")
    return Style(newline_of(text), indented[1] if indented else "  ", one_line, separators)


def newline_of(text: str) -> str:
    """Return the line end of a text's first line."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def set_member(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return the text with a value at a path: the former one replaced, or a member added last, with the objects on the way to it.

    Raises:
        UnexpectedShape: something else than an object is on the way.
    """
    style = style_of(text)
    at = _after_space(text, 0)
    if at == len(text):
        return _new_document(text, style, _nested(path, value))
    for depth, key in enumerate(path):
        if isinstance(key, int):
            container = container_at(text, at)
            item = None if container is None else _item_of(text, container, key)
            assert item is not None  # noqa: S101 - only what is there is named by its place
            at = item.value
            continue
        container = _object_at(text, at, path[:depth])
        item = container.last(key)
        if item is None:
            return _insert(text, style, container, key, _nested(path[depth + 1 :], value))
        if depth + 1 < len(path) and text[item.value : item.end] == "null":
            return _replace(text, style, item, _nested(path[depth + 1 :], value))
        at = item.value
    assert item is not None  # noqa: S101 - a path has at least one key
    return _replace(text, style, item, value)


def _nested(path: Sequence[str | int], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _object_at(text: str, at: int, path: Sequence[str | int]) -> Container:
    container = container_at(text, at)
    if container is None or text[at] != "{":
        what = f"`{'.'.join(map(str, path))}` is" if path else "the outermost value is"
        raise UnexpectedShape(f"line {text.count(chr(10), 0, at) + 1}: {what} not an object in braces")
    return container


def _new_document(text: str, style: Style, value: Any) -> str:
    gap = style.newline if text.strip() and not text.endswith("\n") else ""
    return text + gap + style.dump(value, "", inline=False) + style.newline


def _replace(text: str, style: Style, item: Item, value: Any) -> str:
    inline = style.one_line or _stands_inline(text, item)
    return text[: item.value] + style.dump(value, _indent_of(text, item.start), inline=inline) + text[item.end :]


def _stands_inline(text: str, item: Item) -> bool:
    """Return whether an item shares its line with what is before it, apart from brackets that open there."""
    return text[_line_start(text, item.start) : item.start].strip() != ""


def _insert(text: str, style: Style, container: Container, key: str | None, value: Any) -> str:
    """Add a member, or an item where ``key`` is None, behind the last one of a container."""
    spread = "\n" in text[container.open : container.close] or not (container.items or style.one_line)
    if not spread:
        return _insert_inline(text, style, container, key, value)
    indent = _indent_of(text, container.open) + style.unit
    if container.items and not _stands_inline(text, container.items[-1]):
        indent = _indent_of(text, container.items[-1].start)
    made = style.dump(value, indent, inline=False) if key is None else style.member(key, value, indent, inline=False)
    made = style.newline + indent + made
    if not container.items:
        at = _end_of_line(text, container.open + 1)
        if at is not None:
            return text[:at] + made + text[at:]
        kept = text[container.open + 1 : container.close].rstrip()
        ending = style.newline + _indent_of(text, container.open)
        return text[: container.open + 1] + kept + made + ending + text[container.close :]
    last = container.items[-1]
    if last.comma is not None:
        at = _end_of_line(text, last.comma + 1)
        at = last.comma + 1 if at is None else at
        return text[:at] + made + "," + text[at:]
    at = _end_of_line(text, last.end)
    at = last.end if at is None else at
    return text[: last.end] + "," + text[last.end : at] + made + text[at:]


def _insert_inline(text: str, style: Style, container: Container, key: str | None, value: Any) -> str:
    made = style.dump(value, "", inline=True) if key is None else style.member(key, value, "", inline=True)
    gap = " " if style.separators[0].endswith(" ") else ""
    if not container.items:
        kept = text[container.open + 1 : container.close].strip()
        return text[: container.open + 1] + kept + made + text[container.close :]
    last = container.items[-1]
    if last.comma is not None:
        at = last.comma + 1
        return text[:at] + gap + made + "," + text[at:]
    return text[: last.end] + "," + gap + made + text[last.end :]


def _end_of_line(text: str, at: int) -> int | None:
    """Return where the line's end begins if only space and comments are before it, else None."""
    found = _LINE_SPACE.match(text, at)
    end = at if found is None else found.end()
    return end if text.startswith(("\n", "\r\n"), end) else None


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indent_of(text: str, at: int) -> str:
    line = text[_line_start(text, at) : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def remove_member(text: str, path: Sequence[str | int]) -> str:
    """Return the text without the member at a path, which has to be there; its container stays, even if empty."""
    parent = find(text, path[:-1]) if len(path) > 1 else None
    at = _after_space(text, 0) if parent is None else parent.value
    container = container_at(text, at)
    assert container is not None  # noqa: S101 - the member is there
    places = [place for place, item in enumerate(container.items) if item.key == path[-1]]
    return _remove(text, container, places[-1])


def _remove(text: str, container: Container, place: int) -> str:
    item = container.items[place]
    line = _line_start(text, item.start)
    own_line = line > container.open and not text[line : item.start].strip()
    before = container.items[place - 1].end if place else container.open + 1
    if item.comma is None:
        start = (
            _back_over_newline(text, line) if own_line else _back_over_space(text, item.start) if place else item.start
        )
        if place:  # the comma before it goes as well
            comma = container.items[place - 1].comma
            assert comma is not None  # noqa: S101 - another item follows
            text = text[:comma] + " " + text[comma + 1 :]
            cut = _joined(text, before, start, item.end)
            return cut[:comma] + cut[comma + 1 :]
        cut = _joined(text, before, start, item.end)
    else:
        end = item.comma + 1
        after = _end_of_blank(text, end)
        if own_line and after is not None:
            kept = text[item.end : item.comma].strip(" \t")
            cut = text[: _back_over_newline(text, line)] + kept + text[after:]
        elif place and place == len(container.items) - 1:
            cut = _joined(text, before, _back_over_space(text, item.start), end)
        else:
            while text[end : end + 1] in (" ", "\t"):
                end += 1
            cut = _joined(text, before, item.start, end)
    return _emptied(cut, container.open) if len(container.items) == 1 else cut


def _joined(text: str, before: int, start: int, end: int) -> str:
    """Return the text without a piece; a comment to the end of the line that comes before it still ends its line."""
    swallows = "//" in text[before:start].rsplit("\n", 1)[-1] and not text.startswith(("\n", "\r\n"), end)
    return text[:start] + (newline_of(text) if swallows else "") + text[end:]


def _emptied(text: str, at: int) -> str:
    container = container_at(text, at)
    assert container is not None  # noqa: S101 - only its item was taken out
    blank = not text[at + 1 : container.close].strip()
    return text[: at + 1] + text[container.close :] if blank else text


def _end_of_blank(text: str, at: int) -> int | None:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at if text.startswith(("\n", "\r\n"), at) else None


def _back_over_newline(text: str, line: int) -> int:
    at = line - 1
    return at - 1 if at > 0 and text[at - 1] == "\r" else at


def _back_over_space(text: str, at: int) -> int:
    while at and text[at - 1] in " \t\r\n":
        at -= 1
    return at


def _list_at(text: str, path: Sequence[str | int]) -> Container:
    item = find(text, path)
    container = None if item is None else container_at(text, item.value)
    if item is None or container is None or text[item.value] != "[":
        line = 1 if item is None else text.count("\n", 0, item.start) + 1
        raise UnexpectedShape(f"line {line}: `{'.'.join(map(str, path))}` is not a list in brackets")
    return container


def append_item(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return the text with a value behind the last item of the list at a path; the list is made if it is not there or null.

    Raises:
        UnexpectedShape: there is no list there.
    """
    item = find(text, path)
    if item is None or text[item.value : item.end] == "null":
        return set_member(text, path, [value])
    return _insert(text, style_of(text), _list_at(text, path), None, value)


def replace_item(text: str, path: Sequence[str | int], place: int, value: Any) -> str:
    """Return the text with another value at a place of the list at a path."""
    return _replace(text, style_of(text), _list_at(text, path).items[place], value)


def remove_item(text: str, path: Sequence[str | int], place: int) -> str:
    """Return the text without the item at a place of the list at a path."""
    return _remove(text, _list_at(text, path), place)


def strings(text: str) -> Iterator[tuple[int, int, bool]]:
    """Give each text and comment of a sound document: where it begins and ends, and whether it is the name of a member."""
    for found in re.finditer(r'"(?:[^"\\\n\r]|\\[^\n\r])*"|//[^\n\r]*|/\*.*?\*/', text, re.DOTALL):
        is_name = found[0][0] == '"' and text.startswith(":", _after_space(text, found.end()))
        yield found.start(), found.end(), is_name


def has_comments(text: str, path: Sequence[str | int]) -> bool:
    """Return whether there are comments in the member at a path, which has to be there, or before its comma."""
    item = find(text, path)
    assert item is not None  # noqa: S101 - it is there
    piece = text[item.start : item.end if item.comma is None else item.comma]
    return any(piece[start] == "/" for start, _, _ in strings(piece))


def same(one: Any, other: Any) -> bool:
    """Return whether two values of JSON are equal, of whatever depth; members in the same order."""
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict):
            if list(left) != list(right):
                return False
            pairs.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif left != right and not (left != left and right != right):  # noqa: PLR0124 - NaN
            return False
    return True
