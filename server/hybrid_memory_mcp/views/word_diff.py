"""What changed between two versions of a text, word by word. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal, TypeAlias, TypedDict

# A word; in scripts that put no spaces between words each character is one. White space and marks stand for themselves.
_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    r"|[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
    r"|\s+|[^\w\s]"
)
_MOST_TOKENS = 3000  # of the part that differs, in both texts: comparing takes their product in time
_LEAST_KEPT = 0.25  # of the shorter text that must be the same: two other sentences would share only their small words

Change: TypeAlias = Literal["same", "removed", "added"]


class DiffPart(TypedDict):
    """A run of text that is in both texts, only in the earlier one or only in the later one."""

    op: Change
    text: str


def word_diff(before: str, after: str) -> list[DiffPart]:
    """Return the parts of two texts in order: those that are the same or removed give ``before``, the same or added ones ``after``.

    Texts with hardly a word in common are one part removed and one added.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    parts = [_part("same", old[:head]), *_changed(middle_old, middle_new), _part("same", old[len(old) - tail :])]
    joined = _joined([one for one in parts if one["text"]])
    kept = sum(len(one["text"].strip()) for one in joined if one["op"] == "same")
    if kept < _LEAST_KEPT * min(len(before.strip()), len(after.strip())):
        return [one for one in (_part("removed", old), _part("added", new)) if one["text"]]
    return joined


def _changed(old: list[str], new: list[str]) -> list[DiffPart]:
    if len(old) + len(new) > _MOST_TOKENS:
        return [_part("removed", old), _part("added", new)]
    parts: list[DiffPart] = []
    for op, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if op == "equal":
            parts.append(_part("same", old[old_from:old_to]))
        else:
            parts += [_part("removed", old[old_from:old_to]), _part("added", new[new_from:new_to])]
    return parts


def _joined(parts: list[DiffPart]) -> list[DiffPart]:
    """Return parts of which no two neighbours are alike, and no white space alone is between two changes."""
    runs: list[tuple[str, str, str]] = []  # what is the same, or else what was removed and added
    for at, part in enumerate(parts):
        text, op = part["text"], part["op"]
        if op == "same" and (text.strip() or at in (0, len(parts) - 1)):
            runs.append((text, "", ""))
            continue
        removed, added = "" if op == "added" else text, "" if op == "removed" else text
        if runs and not runs[-1][0]:
            runs[-1] = ("", runs[-1][1] + removed, runs[-1][2] + added)
        else:
            runs.append(("", removed, added))
    told: list[DiffPart] = []
    for same, removed, added in runs:
        told += [DiffPart(op="same", text=same), DiffPart(op="removed", text=removed), DiffPart(op="added", text=added)]
    return [one for one in told if one["text"]]


def _common(first: list[str], second: list[str]) -> int:
    """Return how many elements two lists begin with alike."""
    return next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )


def _part(op: Change, tokens: list[str]) -> DiffPart:
    return DiffPart(op=op, text="".join(tokens))
