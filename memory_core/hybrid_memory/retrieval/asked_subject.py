"""Whose thing a short question asks for, by its form: "Who is Ada's dentist?" asks for one of Ada's. Pure.

Only what can be told by the form of a question; None for requests ("recommend", "should I"), long texts, and other forms. Subjects
are understood in English, and behind "de", "of", "von Herrn" and the like in German, French and Spanish.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.names import calendar_names

MAX_WORDS = 14
"""A longer question tells a story, in which names are not what is asked for."""


@dataclass(frozen=True, slots=True)
class AskedSubject:
    """The ``subject`` whose thing is asked for, in words as the question writes them; none where it has none.

    ``plain``: the subject is no name but a thing, as in "Which vet does the hamster go to?".
    """

    subject: tuple[str, ...] = ()
    plain: bool = False


def asked_subject(text: str, language: str = ENGLISH) -> AskedSubject | None:
    """Return what a question asks for; None where its form does not tell."""
    question = " ".join(text.split())
    if question.isupper():
        question = question.lower()  # who shouts writes no names with capitals
    if len(question.split()) > MAX_WORDS or _SENTENCE_END.search(question) or _REQUEST.search(question):
        return None
    if language != ENGLISH:
        found = _FOREIGN.search(question)
        return AskedSubject(subject=_words(found["subject"])) if found else None
    if _ASKS.match(question) is None:
        return None
    for form in _FORMS:
        found = form.search(question)
        if found is not None:
            parts = found.groupdict()
            subject = _words(parts.get("subject") or "")
            if any(word.casefold() in _no_subjects() for word in subject):
                continue
            return AskedSubject(subject=subject, plain=bool(parts.get("plain")))
    return _only_name(question)


def _only_name(question: str) -> AskedSubject | None:
    """Return the only name of a question as its subject; None if there is another, or it may be a mere place."""
    tokens = list(_TOKEN.finditer(question))[1:]
    named = [at for at, token in enumerate(tokens) if _is_written_as_name(token[0])]
    if not named or named != list(range(named[0], named[-1] + 1)):
        return None
    before = tokens[named[0] - 1][0].lower() if named[0] else ""
    subject = tuple(tokens[at][0] for at in named)
    if before in lexicon.words("asking.before_places") or any(word.casefold() in _no_subjects() for word in subject):
        return None
    return AskedSubject(subject=subject)


def _is_written_as_name(word: str) -> bool:
    return any(map(str.isupper, word)) or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(found[0] for found in _TOKEN.finditer(text))


_TOKEN = LazyPattern(r"[^\W_]+(?:[-_./:#@+]+[^\W_]+)*")
_SENTENCE_END = LazyPattern(r"[.!?;:]\s+\S")
_ASKS = LazyPattern(lambda: lexicon.pattern("asking.question_words", "en"), re.IGNORECASE)
_REQUEST = LazyPattern(lambda: rf"\b(?:{lexicon.pattern('asking.advice')})\b", re.IGNORECASE)
_NAME = r"[^\W_][\w./#@+-]*"
_AUXILIARY = lexicon.any_of(lexicon.words("asking.auxiliaries", "en"))
_NOUNS = rf"(?:[^\W\d_]+(?: (?!{_AUXILIARY}\b)[^\W\d_]+){{0,2}})"
_SUBJECT = rf"(?P<subject>{_NAME}(?: [A-Z0-9][\w./#@+-]*){{0,2}})"
_FORMS = (
    # "Who is Ada's dentist?", "What is our boiler's serial number?"; "my brother's dog" is asked as one of a thing
    re.compile(
        rf"^\W*(?:who|what|which|when|where)(?:['’]s| is| are| was| were) (?:the name of )?(?P<plain>(?:our |my |the )?)(?:[^\W\d_]+ )?"
        rf"(?P<subject>{_NAME})['’]s {_NOUNS}\W*$",
        re.IGNORECASE,
    ),
    # "What is the port of Heron?"
    re.compile(rf"\b(?:[Tt]he|[Oo]ur|[Mm]y|a) {_NOUNS} (?:of|for|in|on|behind|at) {_SUBJECT}\W*$"),
    # "Which hotel do we have in Narva?"
    re.compile(rf"^\W*(?:[Ww]hat|[Ww]hich|[Ww]here) [^,?]*(?:do|have|did) (?:we|I) \w+(?: \w+)? in {_SUBJECT}\b"),
    # "Which database does Heron use?", "Which vet does the hamster go to?", "Which checksum has src/router.py?"
    re.compile(rf"^\W*(?:[Ww]hat|[Ww]hich) (?!of ){_NOUNS} {_AUXILIARY} (?P<plain>(?:the |our |my )?){_SUBJECT}\b"),
    # "Which cloud region hosts Heron?", "Which ferry goes to Bergen?"
    re.compile(
        rf"^\W*[Ww]hich (?:[^\W\d_]+(?: [^\W\d_]+)?) (?:hosts?|goes to|belongs to|is open in|comes with) {_SUBJECT}\W*$"
    ),
    # "How many story points has BUG-412?"
    re.compile(rf"^\W*[Hh]ow many (?:[^\W\d_]+(?: [^\W\d_]+)?) (?:has|have|does|did|do) {_SUBJECT}\b"),
    # "What does Ada think of it?", "Where does Ada live?"
    re.compile(rf"^\W*(?:[Ww]ho|[Ww]hat|[Ww]hen|[Ww]here|[Hh]ow(?: \w+)?) (?:does|did|do|has) {_SUBJECT}\b"),
    # "What did we hear about Ada?"
    re.compile(rf"\b(?:of|for|about|behind) {_SUBJECT}\W*$"),
)
_FOREIGN = LazyPattern(
    r"\b(?:(?:von|bei|für|mit|über) (?:Herrn?|Frau|Tante|Onkel|Dr\.?)|(?:Herrn?|Frau|Tante|Onkel)|de|d['’]|pour|para|sobre|chez)\s?"
    r"(?P<subject>[A-ZÀ-Þ][\w-]+)\W*$"
)


@functools.cache
def _no_subjects() -> frozenset[str]:
    return lexicon.words("asking.no_subjects") | calendar_names("months", "en") | calendar_names("weekdays", "en")
