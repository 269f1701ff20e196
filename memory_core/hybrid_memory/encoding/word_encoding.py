"""What search knows of a memory's words: terms, names, days and aspects, made in one place and with a version.

`TextEncoder` calls it for each write, imports for each line.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.language.languages import ENGLISH, character_language, language_of
from hybrid_memory.language.names import OTHER_SCRIPT, language_entry, name_entries, undecided
from hybrid_memory.language.text import compounds, dense_text, is_mostly_of_other_scripts
from hybrid_memory.model import EncodedWords, Memory
from hybrid_memory.retrieval.aspects import Aspect, aspects_of_words
from hybrid_memory.retrieval.time_expressions.stated_days import stated_days
from hybrid_memory.retrieval.told_words import lists_many, tells_change
from hybrid_memory.secret_detection.masking import masked

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher

ENCODING = 13
"""The version of `encode_words`: raise it when the same text gives other values, and open stores make theirs again."""


def encode_words(
    content: str, speaker: str | None, when: datetime, key: str | None = None, *, hasher: TermHasher
) -> EncodedWords:
    """Return what search knows of a statement by a speaker about a time; a working memory is found by its ``key`` as well.

    ``hasher`` is that of the store which keeps the statement.
    """
    # A secret is found by nobody: asking for guesses must not tell which one is right.
    content, key = masked(content), None if key is None else masked(key)
    language = language_of(content)
    searched = dense_text(_with_key(content, key), speaker)
    found = (*map(hasher.compound_term, compounds(searched)), *hasher.terms(searched, language))
    held = frozenset(found)
    entries = name_entries(content, speaker, language, hasher=hasher)
    names = tuple(entry for entry in entries if entry in held or undecided(entry) in held)
    told = character_language(content) if language == ENGLISH else language
    if told is not None:
        names = (*names, language_entry(told))
    if is_mostly_of_other_scripts(content):
        names = (*names, OTHER_SCRIPT)
    aspects = aspects_of_words(content, speaker)
    aspects |= Aspect.CHANGE if tells_change(content) else Aspect.NONE
    aspects |= Aspect.LISTS if lists_many(content) else Aspect.NONE
    return EncodedWords(found, names, stated_days(content, when), int(aspects), ENCODING)


def with_encoded_words(memory: Memory, hasher: TermHasher) -> Memory:
    """Return a memory with what search knows of its words made again, for the store of the hasher."""
    when = memory.occurred_at or memory.created_at
    made = encode_words(memory.content, memory.speaker, when, memory.key, hasher=hasher)
    return replace(
        memory, terms=made.terms, names=made.names, days=made.days, aspects=made.aspects, encoding=made.encoding
    )


def searchable_text(content: str, key: str | None) -> str:
    """Return the words by which a memory is found: its content, behind the key under which a working memory is held, without secrets."""
    return _with_key(masked(content), None if key is None else masked(key))


def _with_key(content: str, key: str | None) -> str:
    return f"{key}: {content}" if key else content
