"""Whether a question is about something that is nowhere in the store, as far as that can be known.

A likelihood learnt on one kind of memories is worse than chance on another (docs/decisions/0061), so nothing is weighed here: the form
of a short question tells whose thing is asked for (``asked_subject.py``), and no visible memory holds that name, another way to write
it (``name_variants.py``). A claim that is wrong costs more than one that is not made: False claims nothing, and of a
subject that is known nothing is claimed.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.embedding.vocabulary import UNLISTED, english_rank
from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH, function_words
from hybrid_memory.language.text import compounds, spellings
from hybrid_memory.retrieval.asked_subject import asked_subject
from hybrid_memory.retrieval.name_variants import (
    digits_apart,
    is_abbreviated,
    names_alike,
    spellings_of_name,
    words_beginning_with,
)

if TYPE_CHECKING:
    from hybrid_memory.retrieval.arrays import Mask
    from hybrid_memory.retrieval.asked_subject import AskedSubject
    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.question import Question

MIN_NAME = 4  # letters; a shorter name is too easily written another way, or in another script
MAX_ACRONYM = 5  # capitals; a longer word of them is a name that somebody shouts
MIN_LONG_NAME = 5  # letters from which one letter more or less is a slip of the pen too
MAX_COMMON_DIGITS = 2  # of a number that is in any day or price, and tells no ticket


def _stands_for_others(folded: str) -> bool:
    """Return True for a name of a wide place, which may mean one in it, and of kin, who have another name too."""
    return folded in lexicon.words("places.wide") or folded in lexicon.words("people.kin_as_names")


def is_unknown(question: Question, lexical: LexicalIndex, visible: Mask) -> bool:
    """Return True if whose thing a question asks for is nowhere among the ``visible`` memories."""
    asked = asked_subject(question.text, question.language)
    if asked is None or not visible.any():
        return False
    return _subject_unknown(asked, _Store(lexical, visible, question.language))


def are_nowhere(names: Sequence[str], lexical: LexicalIndex, visible: Mask, language: str) -> bool:
    """Return True if no visible memory holds any of some names of a question, in any spelling near to it."""
    store = _Store(lexical, visible, language)
    return all(_is_nowhere(name, store) for name in names)


class _Store:
    """What the visible memories hold of words."""

    def __init__(self, lexical: LexicalIndex, visible: Mask, language: str) -> None:
        self._lexical = lexical
        self.compound_term = lexical.hasher.compound_term
        self._visible = visible
        self._languages = dict.fromkeys((language, ENGLISH))

    def terms_of(self, word: str) -> list[int]:
        """Return the terms under which a word may be held."""
        return list(dict.fromkeys(self._lexical.hasher.term_in(language, word.lower()) for language in self._languages))

    def english_term(self, word: str) -> int:
        """Return the term of a folded word in English."""
        return self._lexical.hasher.term_in(ENGLISH, word)

    def holds(self, terms: Sequence[int]) -> bool:
        """Return True if a memory holds one of some terms."""
        distinct = list(dict.fromkeys(terms))
        return bool(distinct) and any(self._lexical.document_frequencies(distinct, self._visible))

    def holds_name(self, words: Iterable[str]) -> bool:
        """Return True if a memory holds one of some folded words as a name: as far as that can be told, if it is an English word."""
        terms = {term: word for word in words for term in self.terms_of(word)}
        held = self._lexical.document_frequencies(list(terms), self._visible)
        found = [term for term, count in zip(terms, held, strict=True) if count]
        if not found:
            return False
        decided, named = self._lexical.name_frequencies(found)
        undecided = self._lexical.frequencies(found) - decided
        return bool((named + undecided).any()) or any(english_rank(terms[term]) >= UNLISTED for term in found)

    def holds_abbreviated(self, letters: str) -> bool:
        """Return True if a memory holds a word that begins with some folded letters: project for "proj"."""
        return self.holds([term for word in words_beginning_with(letters) for term in self.terms_of(word)])

    def in_other_scripts(self) -> bool:
        """Return True if a memory is in another script, in which it may hold a name that the question writes in Latin letters."""
        return self._lexical.in_other_scripts()


def _subject_unknown(asked: AskedSubject, store: _Store) -> bool:
    words = [word for word in asked.subject if any(map(str.isalpha, word))]
    if asked.plain and all(map(str.islower, words)):
        return False  # "the hamster" is no name, however rare the word
    if not words or not all(_is_nowhere(word, store) for word in words):
        return False
    initials = "".join(word[0].casefold() for word in words)
    return len(words) == 1 or not store.holds(store.terms_of(initials))


def _is_nowhere(word: str, store: _Store) -> bool:
    """Return True if a word of a question is a name that no memory holds, in any spelling near to it."""
    parts = [part for part in spellings(word) if part not in function_words()]
    if not parts or _stands_for_others(word.casefold()):
        return False
    if len(parts) > 1:
        return _compound_is_nowhere(word, parts, store)
    return _name_is_nowhere(parts[0], word, store)


def _name_is_nowhere(name: str, word: str, store: _Store) -> bool:
    if len(word) < MIN_NAME or is_abbreviated(name) or (word.isupper() and word.isalpha() and len(word) <= MAX_ACRONYM):
        return False
    if word.isalpha() and store.in_other_scripts():
        return False
    if store.holds(store.terms_of(name)) or not _may_be_name(name, word):
        return False
    runs = digits_apart(name)
    if len(runs) > 1:
        return not (store.holds([store.compound_term("-".join(runs))]) or all(_holds_run(run, store) for run in runs))
    return not _is_held_otherwise(name, word, store)


def _is_held_otherwise(name: str, written: str, store: _Store) -> bool:
    """Return True if a memory holds a word that may be a name of letters alone in another spelling."""
    others = [term for other in spellings_of_name(name, written) for term in store.terms_of(other)]
    return store.holds([*others, *_near_spellings(name, store)]) or store.holds_name(names_alike(name))


def _compound_is_nowhere(word: str, parts: Sequence[str], store: _Store) -> bool:
    """Return True if no memory holds a word of several parts: a ticket, a file, a hyphenated name."""
    if store.holds([*map(store.compound_term, compounds(word)), *store.terms_of("".join(parts))]):
        return False
    digits = [part for part in parts if part.isdigit()]
    unheld = [part for part in parts if not store.holds(store.terms_of(part))]
    if digits and all(_holds_number(part, store) for part in digits):
        if max(map(len, digits)) > MAX_COMMON_DIGITS:
            return False  # "ORD-4711" may be called 4711
        return any(part.isalpha() and len(part) > 1 and not store.holds_abbreviated(part) for part in unheld)
    if digits:
        return True
    held = len(parts) - len(unheld)
    if held and word.replace("-", "").isalpha() and all(map(_is_no_word, parts, word.split("-"))):
        return False  # "Mueller-Luedenscheidt" may be called Müller
    return any(_may_be_name(part, word) and not _is_held_otherwise(part, word, store) for part in unheld)


def _is_no_word(part: str, written: str) -> bool:
    return written[:1].isupper() or english_rank(part) >= UNLISTED


def _holds_run(run: str, store: _Store) -> bool:
    return _holds_number(run, store) if run.isdigit() else store.holds(store.terms_of(run))


def _holds_number(digits: str, store: _Store) -> bool:
    bare = digits.lstrip("0") or "0"
    return store.holds([store.english_term(other) for other in (digits, bare, f"0{bare}", f"00{bare}")])


def _may_be_name(part: str, word: str) -> bool:
    return any(map(str.isupper, word)) or english_rank(part) >= UNLISTED


def _near_spellings(word: str, store: _Store) -> Iterator[int]:
    """Yield the terms of what a slip of the pen makes of a word: another letter, two changed over, one more or one less."""
    letters, term_in = string.ascii_lowercase, store.english_term
    for at in range(len(word)):
        head, tail = word[:at], word[at + 1 :]
        yield from (term_in(head + letter + tail) for letter in letters)
        if tail:
            yield term_in(head + tail[0] + word[at] + tail[1:])
        if len(word) >= MIN_LONG_NAME or head.endswith(word[at]):
            yield term_in(head + tail)
        if len(word) >= MIN_LONG_NAME:
            yield from (term_in(head + letter + word[at:]) for letter in letters)
    if len(word) >= MIN_LONG_NAME:
        yield from (term_in(word + letter) for letter in letters)
