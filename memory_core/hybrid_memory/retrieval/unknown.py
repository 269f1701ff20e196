"""Whether a question is about something that is nowhere in the store, as far as that can be known.

A likelihood learnt on one kind of memories is worse than chance on another (docs/decisions/0026), so nothing is weighed here.
**Subject unknown**: the form of a short question tells whose thing is asked for (``asked_subject.py``), and no visible memory holds
that name, a near spelling of it, or a near word. **Attribute unknown**: the noun that names the thing is nowhere, nor a word near
to it, and no memory about the subject comes near to it. False claims nothing.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.vocabulary import UNLISTED, english_rank
from hybrid_memory.languages import ENGLISH, word_set
from hybrid_memory.retrieval.asked_subject import asked_subject
from hybrid_memory.text import STOP_WORDS, compound_term, compounds, spellings, term_in

if TYPE_CHECKING:
    from hybrid_memory.retrieval.arrays import Mask
    from hybrid_memory.retrieval.asked_subject import AskedSubject
    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.query_expansion import ExpansionTable
    from hybrid_memory.retrieval.question import Question

SAMPLED = 64  # rows by which the language of a store is told
MIN_NAME = 4  # letters; a shorter name is too easily written another way, or in another script
MIN_LONG_NAME = 5  # letters from which one letter more or less is a slip of the pen too
NEAREST = 0.3  # how near a word may be to one in the store that is still called nowhere
ENGLISH_SHARE = 0.4  # of the words of a store that the table of near words must know,
ENGLISH_SHARE_OF_FEW = 0.2  # and of those of memories about a subject, which are names and numbers for a good part
COVERED = 0.25  # how much of the asked noun a memory about the subject may hold

_CHINESE_OR_JAPANESE = word_set("した ます です さん から まで 先生 我们 可以 一个 没有")
_OF_OTHER_SCRIPTS = word_set("что это для как на не مع من على في של את על 그리고 합니다 했다")
"""Words that hardly any text does without in Russian, Arabic, Hebrew and Korean."""

_ROMANISED = re.compile(r"(?:(?:[zcs]h|ts|[kgnhbpmr]y|[bcdfghjklmnpqrstwxyz])?[aeiou]{1,3}(?:ng?)?)+")
_COUNTRIES = word_set(
    "africa america american argentina asia asian australia australian austria austrian belgium belgian brazil brazilian britain "
    "british canada canadian chile china chinese colombia croatia cuba denmark danish dutch egypt england english europe european "
    "finland finnish france french germany german greece greek holland hungary iceland india indian indonesia ireland irish israel "
    "italy italian japan japanese kenya korea korean mexico mexican morocco netherlands norway norwegian poland polish portugal "
    "portuguese romania russia russian scotland scottish spain spanish sweden swedish switzerland swiss thailand turkey turkish "
    "ukraine usa us uk vietnam wales welsh"
)
"""Names that stand for many others: who asks for France may mean Paris."""


def is_unknown(question: Question, lexical: LexicalIndex, visible: Mask, spoken: Mask, table: ExpansionTable) -> bool:
    """Return True if what a question asks for is nowhere among the ``visible`` memories; ``spoken`` tells which have a speaker."""
    asked = asked_subject(question.text, question.language)
    if asked is None or not visible.any():
        return False
    store = _Store(lexical, visible, spoken, table, question.language)
    return _subject_unknown(asked, store) or (question.language == ENGLISH and _attribute_unknown(asked, store))


class _Store:
    """What the visible memories hold of words."""

    def __init__(
        self, lexical: LexicalIndex, visible: Mask, spoken: Mask, table: ExpansionTable, language: str
    ) -> None:
        self._lexical = lexical
        self._visible = visible
        self._spoken = spoken
        self._table = table
        self._languages = dict.fromkeys((language, ENGLISH))

    def terms_of(self, word: str) -> list[int]:
        """Return the terms under which a word may be held."""
        return list(dict.fromkeys(term_in(language, word.lower()) for language in self._languages))

    def holds(self, terms: Sequence[int]) -> bool:
        """Return True if a memory holds one of some terms."""
        distinct = list(dict.fromkeys(terms))
        return bool(distinct) and any(self._lexical.document_frequencies(distinct, self._visible))

    def nearest(self, word: str) -> float:
        """Return how near the nearest word is that a memory holds, from 0 to 1."""
        near = self._table.expansions(term_in(ENGLISH, word.lower()))
        held = self._lexical.document_frequencies(list(near), self._visible)
        return max((weight for weight, holding in zip(near.values(), held, strict=True) if holding), default=0.0)

    def sample(self) -> NDArray[np.intp]:
        """Return some of the visible rows."""
        return np.flatnonzero(self._visible)[-SAMPLED:]

    def about(self, subject: Sequence[int]) -> NDArray[np.intp]:
        """Return the rows that hold all of some terms."""
        found = self._visible.copy()
        for parts in self._lexical.postings(list(dict.fromkeys(subject))).values():
            holds = np.zeros(len(found), np.bool_)
            for rows, _ in parts:
                holds[rows] = True
            found &= holds
        return np.flatnonzero(found)

    def best_cover(self, rows: NDArray[np.intp], words: Sequence[str]) -> float:
        """Return how much of some words one of the rows holds at most, from 0 to 1; near words count for their nearness."""
        near = [self._table.expansions(term_in(ENGLISH, word.lower())) for word in words]
        held = [frozenset(one.tolist()) for one in self._lexical.terms_of_rows(rows)]
        return max(
            sum(max((weight for term, weight in one.items() if term in row), default=0.0) for one in near) / len(near)
            for row in held
        )

    def in_conversation(self, rows: NDArray[np.intp]) -> bool:
        """Return True if one of the rows has a speaker: conversations speak of a thing without its name."""
        return bool(self._spoken[rows].any())

    def may_write_otherwise(self, name: str) -> bool:
        """Return True if memories are in a script that may hold a name which the question writes in Latin letters."""
        if self.holds([term_in(ENGLISH, word) for word in _CHINESE_OR_JAPANESE]) and _ROMANISED.fullmatch(name):
            return True
        return self.holds([term_in(ENGLISH, word) for word in _OF_OTHER_SCRIPTS])

    def known_share(self, rows: NDArray[np.intp]) -> float:
        """Return the share of the words of some rows that the table of near words knows: some .65 in English, .17 in German."""
        held = np.concatenate(self._lexical.terms_of_rows(rows))
        return float(self._table.knows(held).mean()) if len(held) else 0.0


def _subject_unknown(asked: AskedSubject, store: _Store) -> bool:
    words = [word for word in asked.subject if any(map(str.isalpha, word))]
    return bool(words) and all(
        _is_nowhere(word, store) and not store.may_write_otherwise(word.casefold()) for word in words
    )


def _is_nowhere(word: str, store: _Store) -> bool:
    """Return True if a word of a question is a name that no memory holds, in any spelling near to it."""
    parts = [part for part in spellings(word) if part not in STOP_WORDS]
    if not parts or word.casefold() in _COUNTRIES:
        return False
    if len(parts) > 1:
        unheld = [part for part in parts if not store.holds(store.terms_of(part))]
        whole = [compound_term(one) for one in compounds(word)]
        return any(any(map(str.isdigit, part)) or _may_be_name(part, word) for part in unheld) and not (
            store.holds(whole)
        )
    if len(word) < MIN_NAME or store.holds(store.terms_of(word)) or store.nearest(word) > NEAREST:
        return False
    return _may_be_name(parts[0], word) and not store.holds([*_near_spellings(parts[0])])


def _may_be_name(part: str, word: str) -> bool:
    return any(map(str.isupper, word)) or english_rank(part) >= UNLISTED


def _near_spellings(word: str) -> Iterator[int]:
    """Yield the terms of what a slip of the pen makes of a word: another letter, two changed over, one more or one less."""
    letters = string.ascii_lowercase
    for at in range(len(word)):
        head, tail = word[:at], word[at + 1 :]
        yield from (term_in(ENGLISH, head + letter + tail) for letter in letters)
        if tail:
            yield term_in(ENGLISH, head + tail[0] + word[at] + tail[1:])
        if len(word) >= MIN_LONG_NAME or head.endswith(word[at]):
            yield term_in(ENGLISH, head + tail)
        if len(word) >= MIN_LONG_NAME:
            yield from (term_in(ENGLISH, head + letter + word[at:]) for letter in letters)
    if len(word) >= MIN_LONG_NAME:
        yield from (term_in(ENGLISH, word + letter) for letter in letters)


def _attribute_unknown(asked: AskedSubject, store: _Store) -> bool:
    """Return True if nothing is near to the noun that a question asks for, least of all what is said of its subject."""
    nouns = [word for word in asked.attribute if word.casefold() not in STOP_WORDS]
    if not nouns or not asked.subject or any(word[0].isupper() for word in nouns):
        return False
    if min(map(store.nearest, nouns)) > NEAREST or store.known_share(store.sample()) < ENGLISH_SHARE:
        return False
    if asked.plain and all(store.nearest(part) <= NEAREST for part in asked.subject):
        return True  # neither the thing nor whose it is
    parts = [part for word in asked.subject for part in spellings(word) if part not in STOP_WORDS]
    rows = store.about([term_in(ENGLISH, part) for part in parts])
    if not len(rows) or store.in_conversation(rows) or store.known_share(rows) < ENGLISH_SHARE_OF_FEW:
        return False
    return store.best_cover(rows, nouns) <= COVERED
