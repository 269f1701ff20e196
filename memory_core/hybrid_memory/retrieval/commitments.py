"""Which commitments are still open (what was done closes one, a day gone by ends one), and which questions ask for them.

Used for the brief and for "What is still to do?" (``reads.py``). Rules by words; pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import function_words
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.names import calendar_names
from hybrid_memory.language.text import words
from hybrid_memory.model import Memory, Tier
from hybrid_memory.retrieval.aspects import Aspect, fold, names_in

# Set by hand where no reason is named.
_SHARED = 2 / 3  # of a commitment's own words that what closes it must repeat
_MANY = 3  # words in common, of which half of the commitment's are enough
_STEM = 6  # letters of a word that are compared
_READ_CHARACTERS = 400  # of a text; what is to be done is at its beginning
_OVERDUE = timedelta(days=14)  # a task is still shown so long after its day
_APPOINTMENT_OVER = timedelta(days=1)


def is_open_commitment(memory: Memory, aspects: Aspect, now: datetime) -> bool:
    """Return True if a memory tells of something to be done, or is working memory, and its day has not long gone by.

    Whether another memory says that it was done, `closes` tells.
    """
    if memory.tier is Tier.WORKING:
        return True
    return bool(aspects & Aspect.COMMITMENT) and not is_past(memory, now)


def is_past(memory: Memory, now: datetime) -> bool:
    """Return True if the last day that a commitment names lies behind it for good; without a day it never does."""
    ends = [_EPOCH + timedelta(days=day + 1) for day in memory.days]
    if memory.occurred_at is not None:
        ends.append(memory.occurred_at)
    ahead = [end for end in ends if end > memory.created_at]
    if not ahead:
        return False
    grace = _APPOINTMENT_OVER if _APPOINTMENT.search(fold(memory.content)) else _OVERDUE
    return max(ahead) + grace < now


def closes(done: str, commitment: str) -> bool:
    """Return True if a text says that something is done, and means a commitment.

    It repeats most of what tells what is to be done, or its first clause tells nothing else. One word in common is enough only alongside
    the same deed ("call", "called") or a word such as "done". A different name or figure in each of the two speaks against it.
    """
    after, task = account_of(done), account_of(commitment)
    shared = task.objects & after.objects
    if not after.tells_done or not shared or after.contradicts(task):
        return False
    covers = len(shared) >= _SHARED * len(task.objects) or (
        len(shared) >= _MANY and 2 * len(shared) >= len(task.objects)
    )
    tells_nothing_else = bool(after.first_clause) and after.first_clause <= task.objects
    if not (covers or tells_nothing_else):
        return False
    return len(shared) > 1 or after.is_finished or not task.deeds.isdisjoint(after.deeds)


@dataclass(frozen=True, slots=True)
class Account:
    """What a text says of a deed: what it is done to, which deed it is, names, figures, and whether it tells of something done.

    Words are folded and cut to their first six letters, so that most inflections are one, in whatever language.
    """

    objects: frozenset[str]
    first_clause: frozenset[str]
    deeds: frozenset[str]
    names: frozenset[str]
    figures: frozenset[str]
    tells_done: bool
    is_finished: bool

    def contradicts(self, other: Account) -> bool:
        """Return True if each of two has a name, or each a figure, that the other has not."""
        if self.figures and other.figures and self.figures.isdisjoint(other.figures):
            return True
        return bool(self.names - other.objects) and bool(other.names - self.objects)


@lru_cache(maxsize=8192)
def account_of(text: str) -> Account:
    """Return what a text says of a deed."""
    text = text[:_READ_CHARACTERS]
    folded = fold(text)
    clause = _CLAUSE_END.split(folded.strip(), maxsplit=1)[0]
    deed_of = lexicon.meanings("commitments.deeds")
    return Account(
        objects=_objects_in(folded),
        first_clause=_objects_in(clause),
        deeds=frozenset(deed_of[one] for one in _WORD.findall(folded) if one in deed_of),
        names=_objects_in(" ".join(names_in(text.strip()[1:]))),
        figures=frozenset(_FIGURE.findall(folded)) - frozenset(_DAY_FIGURE.findall(folded)),
        tells_done=_DONE.search(text.casefold()) is not None,
        is_finished=_IS_FINISHED.search(folded) is not None,
    )


def asks_for_open_items(query: str) -> bool:
    """Return True if a question asks what is still to be done."""
    return _OPEN_QUESTION.search(fold(query)) is not None


def topic_words(query: str) -> frozenset[str]:
    """Return the words of a question for open items that say which ones are meant; none where all are."""
    return frozenset(words(query)) - _asking_words()


def _objects_in(folded: str) -> frozenset[str]:
    deed_of, no_objects = lexicon.meanings("commitments.deeds"), _no_objects()
    found = {word[:_STEM] for word in _WORD.findall(folded) if word not in deed_of and word not in no_objects}
    # Scripts without spaces give pairs of characters.
    dense = frozenset(words(folded)) if _DENSE.search(folded) else frozenset()
    return frozenset(one for one in found if len(one) > 1 and not one.isdigit()) | dense


@lru_cache(maxsize=1)
def _asking_words() -> frozenset[str]:
    asking = lexicon.words("commitments.asking")
    return asking | frozenset(words(" ".join(sorted(asking))))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_APPOINTMENT = LazyPattern(lambda: rf"\b(?:{lexicon.pattern('commitments.appointment')})\b")
_OPEN_QUESTION = LazyPattern(lambda: lexicon.pattern("commitments.asked"))
_CLAUSE_END = LazyPattern(r"[,;:.!?]\s|[,;:.!?]$|[。，；]")
_WORD = LazyPattern(r"[^\W_]+")
_DENSE = LazyPattern("[\u3040-\u30ff\u3400-\u9fff]")
_FIGURE = LazyPattern(r"\d+")
_DAY_FIGURE = LazyPattern(
    lambda: rf"{_month_beginnings()}[a-z]*\.? (\d+)|(\d+)\.? (?:de )?{_month_beginnings()}|(\d+)[:.]\d\d"
)
_IS_FINISHED = LazyPattern(
    lambda: (
        rf"\b{lexicon.any_of(lexicon.words('commitments.finished'))}\b"
        rf"|{lexicon.any_of(lexicon.words('commitments.finished_characters'))}"
    )
)
# In small letters, but with accents: they tell a participle ("payé") from other forms.
_DONE = LazyPattern(lambda: lexicon.pattern("commitments.done"))


def _month_beginnings() -> str:
    english = (month[:3] for month in lexicon.places("calendar.months", "en"))
    return lexicon.any_of({*english, *lexicon.words("calendar.month_beginnings")})


@lru_cache(maxsize=1)
def _no_objects() -> frozenset[str]:
    # Of other languages months are names too: Julio, Mars.
    months, days = calendar_names("months", "en", "de"), calendar_names("weekdays", "en", "de", "fr", "es")
    return function_words() | lexicon.words("commitments.silent") | frozenset(map(fold, months | days))
