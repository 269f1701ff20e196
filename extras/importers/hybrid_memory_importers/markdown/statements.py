"""Notes of a person or an assistant, taken apart into statements: what could stand in a memory by itself.

A list item, a row of a table, each line of ``name: value`` and each sentence of a short paragraph that needs no other is a statement.
Items of an item belong to it; code belongs to what comes before it. A statement gets the words that introduce it, unless it is a
sentence with its subject: the line before its list, else its heading. What a reader does not see (comments, front matter), what was
crossed out, pictures and queries are left out.

The blocks are those of CommonMark with tables, found by markdown-it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hybrid_memory_importers.markdown.inline import Line, words_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_LONGEST_ITEM = 800  # characters of an item with the items in it; of a longer one each is a statement
_LONGEST_INTRODUCTION = 160  # characters that go before a statement
_LONGEST_APART = (
    400  # characters of a paragraph that may tell several things; the sentences of a longer one hang together
)
_FEW_WORDS = 6
_FEW_CHARACTERS = 14  # of a script without blanks between words
_BELOW_ALL = 7  # the title of a callout is a heading below those that a page has
_DEEPEST = 20  # blocks in blocks

_COMMENT_SIGNS = (("<!--", "-->"), ("%%", "%%"))
_UNSEEN_TAG = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_BOX = re.compile(r"^\[([ xX/>-])\]\s+")
_STATES = {" ": "to do", "x": "done", "X": "done", "/": "begun", ">": "put off", "-": "cancelled"}
_IMPORT = re.compile(r"@[\w./~-]+")  # in CLAUDE.md, and in GEMINI.md
_CALLOUT = re.compile(r"^\[![\w-]+\][+-]?[ \t]*")
_PAIR = re.compile(r"^(?:[-*] )?[^:\n]{1,40}:{1,2}(?: .*)?$")
_ENDS_A_SENTENCE = (".", "!", "?", "。", "！", "？", "…", ":", "।")
_BEGINS_A_SENTENCE = re.compile(
    r"^(?:i|i['’]m|i['’]ve|my|we|our|he|she|they|it|his|her|their|the|this|user|you|your|ich|mein|wir|je|mon)\b",
    re.IGNORECASE,
)
_HAS_NO_SUBJECT = re.compile(
    r"^(?:is|was|has|had|he|she|they|it|his|her|their|works?|worked|lives?|lived|likes?|loves?|hates?|prefers?|wants?|needs?|plays?|speaks?|"
    r"owns?|knows?|studie[sd]|moved|married|born|died|ist|war|hat|wohnt|arbeitet|mag|geboren|est|travaille|habite|aime|vit|es|era|tiene|"
    r"trabaja|vive|elle|il|ella|él)\b(?!['’]|-)",
    re.IGNORECASE,
)
"""Begins as a sentence about somebody or something that is named elsewhere: in a note, by its title."""
_QUERIES = frozenset(
    {
        "dataview",
        "dataviewjs",
        "query",
        "tasks",
        "mermaid",
        "plantuml",
        "base",
        "excalidraw",
        "button",
        "chart",
        "leaflet",
    }
)
_GENERIC = re.compile(
    r"(?:readme|index|notes?|memory|memories|claude(?:\.local)?|agents?(?:\.override)?|gemini|copilot-instructions|todo|inbox|daily"
    r"|untitled|home|about|misc|\..*|\d[\d\W_]*)",
    re.IGNORECASE,
)
_NAMES_NOTHING = re.compile(r"claude|agents|gemini|[\w.-]+\.md|\d[\d\W_]*", re.IGNORECASE)  # but the file, or a day


@dataclass(frozen=True, slots=True)
class Statement:
    """What a note says in one place, under which headings, with its tags and the notes that it links to.

    ``done`` says of a task whether it is ticked off.
    """

    text: str
    headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    done: bool | None = None
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a note that is no statement."""

    reason: str


def statements(markdown: str, *, title: str | None, apart: Callable[[str], list[str]]) -> list[Statement | LeftOut]:
    """Return what a note says, in its order. ``title`` is the note's own, which introduces what is under no heading.

    ``apart`` takes a paragraph apart into what can be understood alone.
    """
    from markdown_it.tree import SyntaxTreeNode

    seen = without_comments(markdown)
    root = SyntaxTreeNode(_parser().parse(seen))
    walk = _Walk(None if title is None or _GENERIC.fullmatch(title) else title, apart)
    walk.blocks(root.children)
    return walk.found


def without_comments(markdown: str) -> str:
    """Return a note without what its reader does not see: comments of HTML and Obsidian, scripts and styles."""
    for opening, closing in _COMMENT_SIGNS:
        markdown = _cut(markdown, opening, closing)
    return _UNSEEN_TAG.sub("", markdown) if "</" in markdown else markdown


def _cut(text: str, opening: str, closing: str) -> str:
    parts, reached = [], 0
    while (start := text.find(opening, reached)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        parts.append(text[reached:start])
        reached = end + len(closing)
    return "".join([*parts, text[reached:]])


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Without the rules for what is in a line: `hybrid_memory_importers.markdown.inline` knows those of more programs.
    return MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table").disable("inline")


@dataclass(slots=True)
class _Walk:
    """Goes through the blocks of a note. ``introduction`` is a line that ends in a colon, of the list that follows it."""

    title: str | None
    apart: Callable[[str], list[str]]
    found: list[Statement | LeftOut] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    introduction: str | None = None

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> None:
        """Take blocks apart, one after the other."""
        for number, node in enumerate(nodes):
            follower = nodes[number + 1].type if number + 1 < len(nodes) else None
            kind = node.type
            if kind == "heading":
                self._heading(node)
            elif kind == "paragraph":
                self._paragraph(_content(node), follower)
            elif kind in ("bullet_list", "ordered_list"):
                for item in node.children:
                    self._item(item)
                self.introduction = None
            elif kind in ("fence", "code_block"):
                self._code(node)
            elif kind == "blockquote":
                self._quote(node)
            elif kind == "table":
                self._table(node)
            elif kind == "html_block":
                self._paragraph(node.content, follower)

    def _heading(self, node: SyntaxTreeNode) -> None:
        level, line = int(node.tag[1:]), words_of(_content(node))
        self.headings = [(depth, text) for depth, text in self.headings if depth < level]
        if line.text:
            self.headings.append((level, line.text))
        self.introduction = None

    def _paragraph(self, content: str, follower: str | None) -> None:
        self._introduce_alone()
        lines = content.splitlines()
        if len(lines) > 1 and all(_PAIR.match(line.strip()) for line in lines):
            for line in lines:
                self._say(words_of(line), listed=True)
            return
        if len(lines) > 1 and all(line.rstrip().endswith(_ENDS_A_SENTENCE) for line in lines):
            for line in lines[:-1]:  # a sentence a line, as people write rules
                self._paragraph(line, None)
            content = lines[-1]
        said = words_of(content)
        if follower in ("bullet_list", "ordered_list", "fence", "table") and said.text.endswith((":", "：")):
            self.introduction = said.text
            return
        parts = [said.text] if len(said.text) > _LONGEST_APART else self.apart(said.text)
        for part in parts or [said.text]:
            self._say(replace(said, text=part))

    def _introduce_alone(self) -> None:
        """Say a line that introduced nothing."""
        if self.introduction is not None:
            self.found.append(Statement(self.introduction.rstrip(":： "), self._titles()))
            self.introduction = None

    def _say(self, line: Line, state: str | None = None, *, listed: bool = False) -> None:
        if line.crossed_out:
            self.found.append(LeftOut("crossed out"))
        elif _IMPORT.fullmatch(line.text):
            self.found.append(LeftOut("the name of another file"))
        elif any(one.isalnum() for one in line.text):
            said = self._introduced(line.text, listed=listed) + (f" ({state})" if state else "")
            done = None if state is None else state == _STATES["x"]
            self.found.append(Statement(said, self._titles(), line.tags, done, line.links))
        elif line.text:
            self.found.append(LeftOut("no words"))

    def _item(self, item: SyntaxTreeNode) -> None:
        line, inner = _item_line(item)
        box = _BOX.match(line.text)
        state = None if box is None else _STATES[box[1]]
        text = line.text[box.end() :] if box else line.text
        if not text.strip():
            self.found.append(LeftOut("crossed out" if "~~" in _source_of(item) else "no words"))
            return
        if len(text) <= _LONGEST_ITEM or not inner:
            parts = self.apart(text) if state is None and not inner and "\n" not in text else [text]
            alone = len(parts) > 1 and all(_BEGINS_A_SENTENCE.match(part) for part in parts)
            for part in parts if alone else [text]:
                self._say(replace(line, text=part), state, listed=True)
            return
        # A long item with items of its own: each of these is a statement, introduced by it.
        own = words_of(_first_paragraph(item))
        before = self.introduction
        self._say(own, state, listed=True)
        for child in inner:
            self.introduction = own.text[:_LONGEST_INTRODUCTION].rstrip(":： .") + ":" if own.text else before
            self._item(child)
        self.introduction = before

    def _code(self, node: SyntaxTreeNode) -> None:
        language = (node.info or "").split(maxsplit=1)[0].strip("{}").lower() if node.info.strip() else ""
        code = node.content.rstrip("\n")
        if language in _QUERIES:
            self.found.append(LeftOut("a query or a drawing"))
            return
        if not code.strip():
            return
        if self.introduction is not None:
            self.found.append(Statement(f"{self.introduction}\n{code}", self._titles()))
            self.introduction = None
            return
        last = self.found[-1] if self.found else None
        if isinstance(last, Statement) and last.headings == self._titles():
            self.found[-1] = replace(last, text=f"{last.text}\n{code}")
        else:
            before = self._nearest()
            self.found.append(Statement(f"{before}:\n{code}" if before else code, self._titles()))

    def _quote(self, node: SyntaxTreeNode) -> None:
        children = list(node.children)
        if children and children[0].type == "paragraph" and (callout := _CALLOUT.match(_content(children[0]))):
            title, _, rest = _content(children[0])[callout.end() :].partition("\n")
            titled, children = words_of(title), children[1:]
            if not rest.strip() and not children:
                self._say(titled)
                return
            outer = list(self.headings)
            if titled.text:
                self.headings.append((_BELOW_ALL, titled.text))
            if rest.strip():
                self._paragraph(rest, None)
            self.blocks(children)
            self.headings = outer
            return
        self.blocks(children)

    def _table(self, node: SyntaxTreeNode) -> None:
        rows = [
            [words_of(_content(cell)).text for cell in row.children] for part in node.children for row in part.children
        ]
        if not rows:
            return
        names, *others = rows
        for row in others:
            cells = [f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=False) if cell]
            if cells:
                self._say(Line("; ".join(cells)), listed=True)
        self.introduction = None

    def _introduced(self, text: str, *, listed: bool) -> str:
        """Return a statement with what introduces it, where it has a line of its own for that, is in a list, or says little without."""
        if self.introduction is not None:
            return f"{self.introduction[:_LONGEST_INTRODUCTION]} {text}"
        before = self._nearest()
        if _HAS_NO_SUBJECT.match(text) and (text[0].isupper() or not _says_little(text)):
            before = self.title or before
        elif _BEGINS_A_SENTENCE.match(text) or not (listed or _says_little(text)):
            return text
        if before is None or before.casefold() in text.casefold():
            return text
        return f"{before}: {text}"

    def _nearest(self) -> str | None:
        """Return the heading, behind the one above it if that is not the page's, else the title of the note."""
        named = [(level, text.rstrip(":： ")) for level, text in self.headings if not _NAMES_NOTHING.fullmatch(text)]
        last = [text for level, text in named[-2:] if level > 1 or text == named[-1][1]]
        found = next((one for one in (", ".join(last), *last[-1:]) if len(one) <= _LONGEST_INTRODUCTION), "")
        return found or (None if self.headings else self.title)

    def _titles(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.headings)


def _says_little(text: str) -> bool:
    if text.endswith(_ENDS_A_SENTENCE) or _BEGINS_A_SENTENCE.match(text) or "\n" in text or ": " in text:
        return False
    spaced = text.split()
    return len(spaced) <= _FEW_WORDS if text.isascii() or len(spaced) > 1 else len(text) <= _FEW_CHARACTERS


def _item_line(item: SyntaxTreeNode) -> tuple[Line, list[SyntaxTreeNode]]:
    """Return all that an item says, with the items in it as lines below it, and these items."""
    parts: list[str] = []
    said: list[Line] = []
    inner: list[SyntaxTreeNode] = []
    for child in item.children:
        if child.type in ("bullet_list", "ordered_list"):
            inner += child.children
            for below in child.children:
                line, _ = _item_line(below)
                said.append(line)
                parts.append("- " + line.text.replace("\n", "\n  ") if line.text else "")
        elif child.type in ("fence", "code_block"):
            parts.append(child.content.rstrip("\n"))
        else:
            said.append(words_of(_source_of(child)))
            parts.append(said[-1].text)
    tags = tuple(dict.fromkeys(tag for line in said for tag in line.tags))
    links = tuple(dict.fromkeys(link for line in said for link in line.links))
    return Line("\n".join(part for part in parts if part), tags, links), inner


def _first_paragraph(item: SyntaxTreeNode) -> str:
    return next((_content(child) for child in item.children if child.type == "paragraph"), "")


def _source_of(node: SyntaxTreeNode) -> str:
    """Return what is in a block and the blocks in it."""
    if node.type in ("inline", "html_block", "fence", "code_block"):
        return str(node.content)
    return "\n".join(_source_of(child) for child in _children(node))


def _content(node: SyntaxTreeNode) -> str:
    return "\n".join(str(child.content) for child in _children(node) if child.type == "inline")


def _children(node: Any) -> Iterator[Any]:
    return iter(node.children)
