"""What the texts of two memories tell about one being the later word on the other: subjects as written, values, words of change.

Terms of the index know neither "parser" from "parsers" nor "York" from "New York", nor "was at the dentist" from "goes to the
dentist". Pure; the words of English, plain ones of German, French and Spanish.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import function_words
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.names import calendar_names
from hybrid_memory.language.text import compounds, word_hashes

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher


@dataclass(frozen=True)
class Statement:
    """A text, read for the asked ``names`` (terms).

    ``known`` are the terms that the store mostly writes as names, ``expected`` the words of the question, folded. ``hasher`` is that
    of the terms; None where there are none.
    """

    text: str
    names: frozenset[int]
    known: frozenset[int] = frozenset()
    expected: frozenset[str] = frozenset()
    hasher: TermHasher | None = None

    @cached_property
    def tokens(self) -> tuple[re.Match[str], ...]:
        """The words, with hyphens, dots, slashes and apostrophes inside."""
        return tuple(_TOKEN.finditer(self.text))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words, folded, without a possessive ending."""
        return frozenset(bare_word(token) for token in self.tokens)

    @cached_property
    def stems(self) -> frozenset[int]:
        """The hashes of the stems of its words."""
        return frozenset(stem for word in self.words for stem in stems_of(word))

    @cached_property
    def subjects(self) -> frozenset[str]:
        """The asked names as they are written, with what belongs to each: "new york", not "york"; titles apart."""
        return frozenset(run for run, asked in self._runs if asked) | self._compounds

    @cached_property
    def _compounds(self) -> frozenset[str]:
        """Words with a mark inside, which are often names though nothing else tells: "note-sync", "parser.py"."""
        return frozenset(bare for token in self.tokens if _INSIDE.search(bare := bare_word(token)))

    @cached_property
    def other_names(self) -> frozenset[str]:
        """Names that were not asked for, and words of digits and letters."""
        return frozenset(run for run, asked in self._runs if not asked)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers, as they are written."""
        return frozenset(NUMBER.findall(self.text))

    @cached_property
    def owners(self) -> frozenset[str]:
        """Whose things are spoken of: words with a possessive ending."""
        return frozenset(
            bare_word(token)
            for token in self.tokens
            if token[0][0].isupper() and OF_OWNER.search(token[0]) and bare_word(token) not in _no_owners()
        )

    @cached_property
    def lists_many(self) -> bool:
        """Whether it names four things or more in a row, so that it is about them all."""
        return lists_many(self.text)

    @cached_property
    def tells_once(self) -> bool:
        """Whether it speaks of a single time that passes: "next week's meeting is on Friday"."""
        return _ONCE.search(self.text) is not None

    @cached_property
    def tells_change(self) -> bool:
        """Whether it says that something is other than it was."""
        return tells_change(self.text)

    @cached_property
    def tells_past(self) -> bool:
        """Whether it tells of something that happened, by its first verb that shows a tense."""
        found = _TENSE.search(self.text)
        return found is not None and found["past"] is not None

    @cached_property
    def may_be_newer(self) -> bool:
        """Whether it can be said to be newer than anything: it tells of a change or denies something, of one thing, and for good."""
        if self.tells_once or self.lists_many:
            return False
        return self.tells_change or (not self.tells_past and _DENIED.search(self.text) is not None)

    def denies(self, other: Statement) -> bool:
        """Return True if it says that something is no longer, or is not, what ``other`` says."""
        values = other.words - self.expected - function_words()
        return any(
            values & {bare_word(token) for token in _TOKEN.finditer(found[1])} for found in _DENIED.finditer(self.text)
        )

    @cached_property
    def _runs(self) -> tuple[tuple[str, bool], ...]:
        """The names that the text writes, folded, and whether each is one of those asked for."""
        found: list[tuple[str, bool]] = []
        run: list[str] = []
        asked = closed = False
        end = 0
        for token in self.tokens:
            bare = bare_word(token)
            named = self._is_one_of(self.names, bare) and bare not in function_words()
            follows = bool(run) and not closed and not self.text[end : token.start()].strip(" ")
            counts = named or self._is_name(token, bare) or (follows and bare.isdigit() and bare in self.expected)
            if run and not (counts and follows):
                found.append((" ".join(run), asked))
                run, asked = [], False
            if counts and bare not in lexicon.words("people.titles"):
                run.append(bare)
                asked |= named
            closed, end = OF_OWNER.search(token[0]) is not None, token.end()
        if run:
            found.append((" ".join(run), asked))
        return tuple(found)

    def _is_name(self, token: re.Match[str], bare: str) -> bool:
        word = token[0]
        if word.isdigit() or bare in function_words() or bare in calendar_words():
            return False
        if any(map(str.isdigit, word)) or "_" in word or "/" in word:
            return any(map(str.isalpha, word))
        if not word[0].isupper():
            return any(map(str.isupper, word[1:]))
        before = self.text[: token.start()].rstrip(" \t\"'“‘«([*_`-–—#>")
        first = not before or before[-1] in ".!?:;\n…"
        if not first:
            return True
        if bare in self.expected or bare in lexicon.words("told.openers"):
            return False
        return self._is_one_of(self.known, bare) or self._stands_before_a_name(token)

    def _stands_before_a_name(self, token: re.Match[str]) -> bool:
        following = (
            _TOKEN.match(self.text, token.end() + 1) if self.text[token.end() : token.end() + 1] == " " else None
        )
        return following is not None and self._is_one_of(self.names, bare_word(following))

    def _is_one_of(self, terms: frozenset[int], word: str) -> bool:
        return self.hasher is not None and not terms.isdisjoint(map(self.hasher.fold, stems_of(word)))


def tells_change(text: str) -> bool:
    """Return True if a text says that something is other than it was."""
    return CHANGE.search(text) is not None


def lists_many(text: str) -> bool:
    """Return True if a text names four things or more in a row."""
    return _LIST.search(text) is not None


@lru_cache(16_384)
def stems_of(word: str) -> tuple[int, ...]:
    """Return the hashes of the stems of a word, or of its parts."""
    return tuple(word_hashes(word))


def bare_word(token: re.Match[str]) -> str:
    """Return a word of a text, folded, without a possessive ending."""
    return OF_OWNER.sub("", token[0]).casefold()


def written_subjects(question: str, hasher: TermHasher) -> frozenset[int]:
    """Return the terms of what a question's writing shows to be its subject: whose thing it asks for, words with a mark inside."""
    owners = [word for word in _OWNER.findall(question) if word.casefold() not in _no_owners()]
    marked = [word for word in compounds(question) if not word.replace(":", "").replace(".", "").isdigit()]
    parts = (hasher.fold(one) for word in (*owners, *marked) for one in word_hashes(word))
    return frozenset((*parts, *map(hasher.compound_term, marked)))


def same_subject(question: Statement, earlier: Statement, later: Statement) -> bool:
    """Return True if the later memory speaks of the question's subjects, as it writes them, and the earlier one of no fewer."""
    asked = question.subjects
    if not asked <= later.subjects or not all(any(_holds(run, one) for run in earlier.subjects) for one in asked):
        return False
    whole = {word for run in asked for word in run.split()}
    return later.owners - whole - question.words <= earlier.owners


def _holds(run: str, part: str) -> bool:
    return f" {part} " in f" {run} "


_TOKEN = LazyPattern(r"[^\W_]+(?:[-_./'’]+[^\W_]+)*", re.UNICODE)
OF_OWNER = LazyPattern(r"['’][sS]$")
_INSIDE = LazyPattern(r"[^\W_][-_./]+[^\W_]")
_OWNER = LazyPattern(r"([^\W_]+)['’]s(?= +[^\W_])")
_LIST = LazyPattern(r"(?:[^,;.:!?\n]{2,30}, ){2,}[^,;.:!?\n]{2,30},? (?:and|or|und|oder|et|ou|y|o) ")
NUMBER = LazyPattern(r"\d+(?:[.,:]\d+)*")
_ONCE = LazyPattern(lambda: rf"\b(?:{lexicon.pattern('told.once')})\b", re.IGNORECASE)
CHANGE = LazyPattern(lambda: rf"\b(?:{lexicon.pattern('told.change')})\b", re.IGNORECASE)
_DENIED = LazyPattern(lambda: rf"\b(?:{lexicon.pattern('told.denied')})\b([^.;!?]{{1,60}})", re.IGNORECASE)
_TENSE = LazyPattern(
    lambda: rf"\b(?:(?P<now>{lexicon.pattern('told.now')})|(?P<past>{lexicon.pattern('told.past')}))\b", re.IGNORECASE
)


@functools.cache
def calendar_words() -> frozenset[str]:
    """Return names of months and days of the week, in languages that write them with a capital."""
    # "may" is a verb too, and "Mar" a sea.
    short = calendar_names("short_months", "en") | calendar_names("short_weekdays", "en")
    return (calendar_names("months", "en", "de") | calendar_names("weekdays", "en", "de") | short) - {"may", "mar"}


@functools.cache
def _no_owners() -> frozenset[str]:
    return calendar_words() | lexicon.words("told.no_owners")
