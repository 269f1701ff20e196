"""Which words of a text are written as names: people, projects, tickets, files, acronyms, numbers. Pure; by writing alone.

A name is a word with a capital inside a sentence (months, weekdays and titles apart), a part of an identifier (``BUG-412``,
``src/router.py``, ``api_gateway``, ``getUser``), an acronym, or a number of three and more digits that is no year. Where a
capital tells nothing, because the word opens a sentence or the text is German, the word is *undecided*, unless it has a
possessive ``'s`` or follows another word with a capital ("Frau Keller", "Projekt Heron"). A line in which each word has a
capital is a headline and decides nothing.
"""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import all_function_words, function_words, language_of
from hybrid_memory.language.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.language.terms import TermHasher

_UNDECIDED = 0x2545F491  # any fixed number: a word's hash with it is another hash


@overload
def undecided(term: int) -> int: ...
@overload
def undecided(term: NDArray[np.int32]) -> NDArray[np.int32]: ...
def undecided(term: Any) -> Any:
    """Return the entry that says in a memory's ``names`` that a term is there, but not whether as a name.

    A term, or an int32 array of terms. It is its own inverse.
    """
    return term ^ _UNDECIDED


def language_entry(language: str) -> int:
    """Return the entry that says in a memory's ``names`` that its text is in a language, which is not English."""
    code = zlib.crc32(f"a text in {language}".encode())
    return code - (1 << 32) if code >= 1 << 31 else code


OTHER_SCRIPT = language_entry("another script")
"""The entry that says in a memory's ``names`` that most of its letters are not Latin ones."""


def name_entries(
    content: str, speaker: str | None = None, language: str | None = None, *, hasher: TermHasher
) -> tuple[int, ...]:
    """Return the terms of words that are written as names, then the `undecided` ones, each once.

    Each word of a speaker's name that has a capital is one. ``language`` is that of the content; None: it is found out. ``hasher``
    makes the terms.
    """
    language = language or language_of(content)
    found = _found_in(content, speaker, language)
    names = {term for word in found.named for term in hasher.terms(_SCHEME.sub("", word), language)}
    unsure = {term for word in found.unsure for term in hasher.terms(word, language)} - names
    return (*sorted(names), *sorted(map(undecided, unsure)))


def written_names(content: str, speaker: str | None = None) -> dict[str, bool]:
    """Return the words that are, or may be, written as names, each as it is in the text; True where that is sure.

    Names of several words that follow one another on a line ("Ada Nowak", "Ponto Verde") stand behind their words.
    """
    found = _found_in(content, None, language_of(content))
    words = dict.fromkeys(found.unsure, False) | dict.fromkeys(found.named, True)
    together: dict[str, bool] = {}
    for line in _LINE_END.split(content) if len(words) > 1 else ():
        run: list[str] = []
        for token in (*line.split(), ""):
            bare = _POSSESSIVE.sub("", token.strip(_AROUND))
            if bare in words and bare.lower() not in all_function_words() and not _is_identifier(bare):
                run.append(bare)
                if token[-1] not in _SEPARATES and token.endswith(bare):
                    continue
            if 1 < len(run) <= _LONGEST_RUN:
                together[" ".join(run)] = words[run[-1]]
            run = []
    if speaker and speaker.strip():
        words[" ".join(speaker.split())] = True
    return words | together


def _found_in(content: str, speaker: str | None, language: str) -> _Found:
    found = _Found({word: None for word in (speaker or "").split() if word[0].isupper()}, {})
    if content != content.lower() or _MAYBE_IDENTIFIER.search(content):
        for line in _LINE_END.split(content):
            _read_line(line, language, found)
    return found


class _Found(NamedTuple):
    """Words that are names, and words that may be."""

    named: dict[str, None]
    unsure: dict[str, None]


def _read_line(line: str, language: str, found: _Found) -> None:
    tokens = line.split()
    is_headline = _is_headline(tokens)
    of_grammar, no_names = function_words(language), _no_names()
    opens, follows = True, False  # a sentence begins here; the word before has a capital
    for token in tokens:
        if token.isalpha() and token.islower():
            opens = follows = False
            continue
        word = token.strip(_AROUND)
        bare = _POSSESSIVE.sub("", word) if "'" in word or "’" in word else word
        low = bare.lower()
        follows_title, is_function_word = low in lexicon.words("people.titles"), low in of_grammar
        if _is_identifier(bare) or (not is_headline and _is_acronym(bare)):
            found.named[bare] = None
        elif bare[:1].isupper() and low not in no_names and not (opens and is_function_word):
            sure = (bare != word and not is_function_word) or follows or not (opens or language == "german")
            (found.named if sure and not is_headline else found.unsure)[bare] = None
        follows = follows_title or (
            bare[:1].isupper() and token[-1] not in _SEPARATES and low not in no_names and not is_function_word
        )
        opens = _ends_sentence(token, low) or (opens and not bare)


def _is_identifier(word: str) -> bool:
    if word.isalpha():
        return not word.islower() and _CAMEL.search(word) is not None
    if word.isdigit():
        return len(word) >= _LONG_NUMBER and not _YEAR.fullmatch(word)
    return _IDENTIFIER.fullmatch(word) is not None and _MEASURE.fullmatch(word) is None


def _is_acronym(word: str) -> bool:
    return word.isupper() and word.isalpha() and len(word) > 1 and word not in lexicon.words("names.not_acronyms")


def _is_headline(tokens: list[str]) -> bool:
    """Return True if all longer words of a line have a capital, or all words nothing else."""
    if any(len(token) >= _LONG_WORD and token.isalpha() and token.islower() for token in tokens):
        return False
    words = [word for token in tokens if (word := token.strip(_AROUND)).isalpha()]
    if len(words) >= _SHOUTED_WORDS and all(word.isupper() for word in words):
        return True
    long = [word for word in words if len(word) >= _LONG_WORD]
    if len(long) < _HEADLINE_WORDS or any(token[-1] in _SEPARATES for token in tokens[:-1]):
        return False
    return all(word[0].isupper() for word in long)


def _ends_sentence(token: str, low: str) -> bool:
    last = token.rstrip(_CLOSING)[-1:]
    if last == ".":
        return len(low) > 1 and low not in _abbreviations()
    return last in _ENDS


_LINE_END = LazyPattern(r"[\r\n]+")
_CLOSING = "\"'”’»)]}*_`"
_AROUND = "\"'“”„‘’«»‹›()[]{}<>.,;:!?…*_`#|=~¿¡&-–—+$€£%/\\"
_ENDS = ".!?…:;-–—•*#>|¿¡"
_SEPARATES = ",;:.!?)]}"
_MAYBE_IDENTIFIER = LazyPattern(r"[\d_]|/\w|\w\.\w")
_SCHEME = LazyPattern(r"^https?://(?:www\.)?")
_POSSESSIVE = LazyPattern(r"['’]s?$")
_CAMEL = LazyPattern(r"[^\W\d_][^\W\d_]*[a-zà-ÿ][A-ZÀ-Þ]|^[a-z][A-Z]")
_YEAR = LazyPattern(r"(?:19|20)\d\d")
_LONG_NUMBER = 3
_LONG_WORD = 4  # letters; shorter ones are "of" and "the"
_HEADLINE_WORDS = 4
_SHOUTED_WORDS = 3
_LONGEST_RUN = 4  # words of a name; more are a headline
# Letters with digits; with "_"; paths and files: "/" alongside another mark or twice, a dot before an ending of a file or a domain.
_IDENTIFIER = LazyPattern(
    r"(?=[^\W_]*[\w./\-]*[^\W\d_])(?:"
    r"(?=.*\d)[\w./\-:@#+]+"
    r"|(?=.*[^_]_[^_])[\w./\-]+"
    r"|(?:https?://)?[\w.\-~]*/[\w.\-]+/[\w./\-]+"
    r"|(?=.*/)[\w\-/]+\.[a-z]\w{0,4}"
    r"|[\w\-]{2,}(?:\.[\w\-]{2,})*\.[a-z]\w{0,4}"
    r"|[A-Z]{2,}-\w+"
    r")"
)
# What has digits and letters and is no identifier: "14th", "5pm", "20km", "1990s", "10:30h", "3-day".
_MEASURE = LazyPattern(
    r"[\d.,:/\-–]+(?:st|nd|rd|th|er|ème|[^\W\d_]{1,2}|min|sec|[kmg]i?b|mph|pcs|bit|day|days)?|\d+-[a-z]+(?:-[a-z]+)*"
)


@functools.cache
def _no_names() -> frozenset[str]:
    # Languages that write months and days of the week with a capital.
    days = calendar_names("months", "en", "de") | calendar_names("weekdays", "en", "de")
    short = calendar_names("short_months", "en") | calendar_names("short_weekdays", "en")
    return lexicon.words("names.never") | lexicon.words("people.titles") | days | short


@functools.cache
def _abbreviations() -> frozenset[str]:
    return lexicon.words("names.abbreviations") | calendar_names("short_months", "en")


@functools.cache
def calendar_names(key: str, *codes: str) -> frozenset[str]:
    """Return the names of months or days of the week, as ``months``, in some languages."""
    return frozenset(lexicon.places(f"calendar.{key}", *codes))
