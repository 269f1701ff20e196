"""What a person says in a prompt to an assistant, without what was pasted into it. Pure.

A prompt is often long and mostly code, a log, an error or a text to work on. What is stored bears on what the person says, and a word in
a paste says nothing about that; so pastes are left out, and of what remains the beginning and the end are kept, where people ask.
"""

from __future__ import annotations

import re

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

GIST_CHARACTERS = 1_200  # of what a person says; more words make everything alike
_LOOKED_AT = 6_000  # characters at either end of a prompt; what lies between is pasted, or says nothing alone
_SYMBOL_SHARE = 0.16  # of a line's characters without blanks, from which it is code or a log
_LONG_LINE = 12  # characters; of a shorter line the share tells nothing
_HANDED_OVER = 60  # characters behind "translate this:" that are a text to work on

_FENCED = LazyPattern(r"(?s)(```|~~~).*?(?:\1|\Z)")
_TAG = LazyPattern(r"<(/?)([A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>")
_SYMBOLS = LazyPattern(r"[{}()\[\]<>=;|\\/@#$%^&*_+~`\"]")
_PASTED = LazyPattern(
    r"(?x)(?:\ {4,}|\t)\S|>"  # an indented line, a quotation
    r"|@@\s|diff\ --git|index\ [0-9a-f]{7}|(?:\+\+\+|---)\ "
    r"|[+-].*[;{}()\[\],]\s*$"  # a line of a diff
    r"|Traceback\ \(|\s*File\ \".+\",\ line\ \d|\s*at\ \S+\s?\("
    r"|[A-Z]\w*(?:Error|Exception|Warning)\b"
    r"|(?:FAILED|PASSED|ERROR|E\ {3})\s*\S"
    r"|\S{1,200}:\d+(?::\d+)?:\s"  # a place in a file
    r"|\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"  # a line of a log
    r"|(?:def|class|if|for|while|with|else|elif|try|except|func|fn|function|export|return|const|let|var)\b.*[;:{}()=]\s*$"
    r"|(?:import\ [\w.]+|from\ [\w.]+\ import\b.*|package\ [\w.]+;?)\s*$"
    r"|\$\ "
)
_PASTED_BELOW = LazyPattern(r"(?:- )?[\w.\-]{1,80}:(?:\s+\S+)?\s*$|\d+ (?:passed|failed)\b")
"""What is pasted behind the first line, and may be said in it: "todo: milk"."""
_TO_WORK_ON = LazyPattern(
    lambda: rf"\b(?:{lexicon.pattern('prompts.to_work_on')})\b[^\n]{{0,80}}?(?P<text>:|\n)", re.IGNORECASE
)


def gist_of(prompt: str) -> str:
    """Return what a person says in a prompt, at most about `GIST_CHARACTERS`; empty where all of it is pasted.

    Left out are fenced and tagged blocks, lines that are code, diffs, logs, errors or quotations by their look, the text that is
    handed over to be translated, summarised or corrected, and characters that cannot be printed. A prompt above 12,000 characters
    takes no longer than one of that length.
    """
    if len(prompt) > 2 * _LOOKED_AT:
        prompt = f"{prompt[:_LOOKED_AT]}\n{prompt[-_LOOKED_AT:]}"
    text = _without_tagged(_FENCED.sub("\n", prompt.replace("\r\n", "\n")))
    handed = _TO_WORK_ON.search(text)
    if handed is not None and len(text) - handed.end("text") >= _HANDED_OVER:
        text = text[: handed.start("text")]
    lines = [line for line in text.splitlines() if line.strip()]
    said = "\n".join(_printable(line) for at, line in enumerate(lines) if not _is_pasted(line, first=at == 0))
    if len(said) <= GIST_CHARACTERS:
        return said
    half = GIST_CHARACTERS // 2
    return f"{said[:half].rsplit(None, 1)[0]}\n{said[-half:].split(None, 1)[-1]}"


def _is_pasted(line: str, *, first: bool) -> bool:
    if _PASTED.match(line) or (not first and _PASTED_BELOW.match(line)):
        return True
    bare = "".join(line.split())
    return len(bare) >= _LONG_LINE and len(_SYMBOLS.findall(bare)) >= _SYMBOL_SHARE * len(bare)


def _without_tagged(text: str) -> str:
    """Return a text without what is between a tag and the tag that ends it: a client's note about the editor, a page of HTML."""
    opened: dict[str, int] = {}
    kept, end = [], 0
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.start())
        elif (begin := opened.pop(name, -1)) >= end:
            kept.append(text[end:begin])
            end = tag.end()
            opened.clear()
    return "\n".join((*kept, text[end:]))


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else " " for c in line).strip()
