"""Text of the program as Markdown: tables, and docstrings without what only a program reads."""

import inspect
import re
from collections.abc import Iterable, Sequence

_ROLE = re.compile(r"``(.+?)``")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; nothing for no row."""
    lines = ["| " + " | ".join(_cell(one) for one in row) + " |" for row in rows]
    return (
        "\n".join(["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |", *lines, ""])
        if lines
        else ""
    )


def _cell(text: str) -> str:
    pieces = " ".join(text.split()).replace("|", "\\|").split("`")
    pieces[::2] = [one.replace("<", "&lt;") for one in pieces[::2]]  # every second one is code, which shows what it is
    return "`".join(pieces)


def code(text: object) -> str:
    """Return a text as code in a line; nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def prose(docstring: str | None) -> str:
    """Return a docstring as paragraphs: indented blocks stay, sections with names get them in bold."""
    text = _ROLE.sub(r"`\1`", inspect.cleandoc(docstring or ""))
    made = []
    for paragraph in re.split(r"\n\s*\n", text):
        head = re.match(r"(Raises|Yields|Returns|Attributes|Args|Example|Examples):\n", paragraph)
        if head is not None:
            made.append(f"**{head[1]}:** " + _items(paragraph[head.end() :]))
        else:
            made.append(paragraph if paragraph.startswith("    ") else paragraph.replace("\n", " "))
    return "\n\n".join(one for one in made if one)


def _items(lines: str) -> str:
    return "; ".join(" ".join(one.split()) for one in re.split(r"\n(?=    \S)", lines)).replace(" : ", ": ")


def first_sentence(docstring: str | None) -> str:
    """Return what a docstring says first."""
    text = prose(docstring).split("\n\n", 1)[0]
    found = re.match(r"(.+?[.!?])(\s|$)", text)
    return found[1] if found else text
