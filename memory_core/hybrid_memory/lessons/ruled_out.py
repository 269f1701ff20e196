"""Whether a person's statement rules a command out: "never push to main", "we use pnpm", "npm is banned here". Pure.

The words of what is ruled out have to be in the command, all of them: a rule that names less than the command does may be about
something else, and silence costs less than a wrong warning. Which programs do the same work is data (``data/alternatives.json``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.lessons.commands import Words

LONGEST_RULE = 300  # characters; a longer text tells more than a rule


def _any_of(key: str) -> str:
    """Return a pattern for the phrases of a list, in which a space is any space."""
    return rf"\b(?:{lexicon.pattern(f'prohibitions.{key}')})\b".replace(" ", r"\s+")


# What is ruled out is what follows such a word, up to the end of the clause, or what comes before "is banned".
_FORBIDS = LazyPattern(lambda: rf"{_any_of('forbids')}\s+(?P<object>[^.,;:!?()\n]+)", re.IGNORECASE)
_FORBIDDEN = LazyPattern(
    lambda: rf"(?P<object>[^.,;:!?()\n]+?)\s+{_any_of('being')}\s+{_any_of('forbidden')}", re.IGNORECASE
)
_CLAUSE_END = LazyPattern(lambda: rf"{_any_of('clause_ends')}.*", re.IGNORECASE)
_CONDITION = LazyPattern(
    lambda: _any_of("conditions"), re.IGNORECASE
)  # whether such a rule holds for a command cannot be seen in it
_PREFERS = LazyPattern(lambda: _any_of("prefers"), re.IGNORECASE)
_WORD = re.compile(r"\w+")
_LEAST_STEM = 4  # letters that two forms of a word share


def rules_out(statement: str, command: str, words: Words) -> bool:
    """Return True if a statement plainly rules a command out; ``command`` is the whole line, ``words`` those of the command in it."""
    if len(statement) > LONGEST_RULE or "?" in statement:
        return False
    typed = {one.casefold() for one in _WORD.findall(command)}
    if any(_is_in(one, typed) for one in _ruled_out_by(statement)):
        return True
    return _prefers_another(statement, words)


def _ruled_out_by(statement: str) -> Iterator[list[str]]:
    """Yield for each prohibition the words of what it rules out."""
    for pattern in (_FORBIDS, _FORBIDDEN):
        for found in pattern.finditer(statement):
            told = _CLAUSE_END.sub("", found["object"])
            if _CONDITION.search(told):
                continue
            words = [
                word for word in _WORD.findall(told.casefold()) if word not in lexicon.words("prohibitions.around")
            ]
            if words:
                yield words


def _is_in(wanted: list[str], typed: set[str]) -> bool:
    return all(any(_is_same(word, other) for other in typed) for word in wanted)


def _is_same(word: str, other: str) -> bool:
    """Return True for forms of one word: "migrations" and "migrate", "prod" and "production"; a short word only for itself."""
    if word == other:
        return True
    shared = min(len(word), len(other))
    return shared >= _LEAST_STEM and (
        word.startswith(other)
        or other.startswith(word)
        or (shared > _LEAST_STEM + 1 and word[: shared - 2] == other[: shared - 2])
    )


def alternatives_to(program: str) -> frozenset[str]:
    """Return the programs that do the same work."""
    return _alternatives().get(program, frozenset())


def _prefers_another(statement: str, words: Words) -> bool:
    """Return True where a person uses another program for the same work, and names this one nowhere."""
    others = alternatives_to(words[0])
    told = {word.casefold() for word in re.findall(r"[\w.-]+", statement)}
    if words[0] in told or not _PREFERS.search(statement) or _FORBIDS.search(statement):
        return False
    return bool(others & {word.rstrip(".") for word in told})


@cache
def _alternatives() -> dict[str, frozenset[str]]:
    """Return for each program those that do the same work."""
    text = resources.files("hybrid_memory.lessons").joinpath("data/alternatives.json").read_text(encoding="utf-8")
    groups = [frozenset(group) for group in json.loads(text).values()]
    return {program: group - {program} for group in groups for program in group}
