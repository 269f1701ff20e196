"""What of a person's message is plainly something else than telling: questions, orders, tasks, talk about the answer, fiction. Pure.

Of a history comes in what is none of these. So an expression here is wrong where it fits a fact; that it misses others costs little.
The clauses of a sentence are judged one by one, but a sentence comes in whole: one clause that tells is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hybrid_memory.capture import refusals
from hybrid_memory.capture.own_words import GAP
from hybrid_memory.capture.sentences import Sentence, without_fillers
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory_importers.not_statements_words import (
    ABOUT_IT,
    ANSWERED,
    BROKEN,
    CARRIES,
    CARRIES_NAMED,
    CLAUSE,
    CORRECTS,
    DATED,
    DECIDES,
    DEFINES,
    DENIES,
    DENSE_ORDER,
    DENSE_PERSON,
    DENSE_SMALL,
    DENSE_SUBJECT,
    FEELS,
    FICTION,
    FOREIGN_TASK,
    FRAGMENT_OF_TASK,
    GAME,
    HELPER,
    IN_FICTION,
    LEANS_ON_SOMEBODY,
    NO_QUESTION,
    OF_NOW,
    OF_ONESELF,
    ORDER,
    ORDER_NOT,
    OURS,
    PEOPLE,
    PLANS,
    SMALL_TALK,
    SPEECH,
    STATED,
    SUPPOSED,
    TALK,
    TASK_SUBJECT,
    VALUE,
    WRITES,
    WRITES_FICTION,
)
from hybrid_memory_importers.told_statements_words import I_NOT, MINE_NOT

_SHORTEST_WORDS = 3
_SHORTEST_CORRECTION = 2
_SHORTEST_DENSE = 4  # characters
_SHORTEST_DENSE_WITHOUT_SUBJECT = 6
_SHORTEST_SCRIPT = 10  # characters of a sentence in a script that writes no blanks, which no rule knows
_SHORT_DENSE = 8  # characters of a sentence that may mean something of the talk: "I like this one"
_FEW_WORDS = 6  # as above
_LONGEST_OF_NOW = 9  # words
_MOST_CLAUSES = 8
_DENSE_CLAUSES = LazyPattern("[，,、；;]")


def corrects(sentence: Sentence) -> bool:
    """Return True if a sentence puts something right, in whatever way people do: "change of plan: ...", "nee, doch erst ..."."""
    found = CORRECTS.search(sentence.low)
    if found is None or sentence.asks or GAP in sentence.low:
        return False
    end = found.end("lead") if found["lead"] is not None else 0
    rest = without_fillers(sentence.behind(end))
    rest = rest.behind(len(rest.low) - len(rest.low.lstrip(" ,.:;!–—-")))
    if sentence.dense:
        return DENSE_ORDER.search(rest.low) is None
    if len(rest.low.split()) < _SHORTEST_CORRECTION or _asks_by_words(rest.low) or ORDER.match(rest.low) is not None:
        return False
    return not _is_of_the_talk(rest.low) and _says_something(rest)


def _says_something(clause: Sentence) -> bool:
    """Return True unless a clause is about the task, or about "it" without a value."""
    low = clause.low
    if OF_ONESELF.match(low) is not None:
        return not _is_of_the_task(low)
    if _any_matches((ABOUT_IT, ANSWERED, FRAGMENT_OF_TASK), low):
        return VALUE.search(clause.raw[1:]) is not None
    return TASK_SUBJECT.match(low) is None


def _is_of_the_talk(low: str) -> bool:
    return BROKEN.search(low) is not None or TALK.search(low) is not None


def _is_of_the_task(low: str) -> bool:
    if not _any_matches((I_NOT, MINE_NOT, FEELS), low):
        return False
    return not _any_matches((DECIDES, PLANS), low) and DATED.search(low) is None


def _any_matches(forms: Iterable[LazyPattern], low: str) -> bool:
    return any(form.match(low) is not None for form in forms)


def _asks_by_words(low: str) -> bool:
    return refusals.is_question(low) and NO_QUESTION.match(low) is None


def orders(low: str) -> bool:
    """Return True for what is to be done: "use the slim image"."""
    return ORDER.match(low) is not None and ORDER_NOT.match(low) is None


def is_instead(low: str, before: str) -> bool:
    """Return True for what is to be done instead of what the sentence before says is not: "we don't use alpine", "use debian slim"."""
    return orders(low) and DENIES.search(before) is not None


def leans_on_somebody(low: str) -> bool:
    """Return True if a sentence means something only behind a message in which somebody is named: its subject is "she"."""
    return LEANS_ON_SOMEBODY.match(low) is not None


def is_game(sentence: Sentence) -> bool:
    """Return True if what a message says is played: "pretend you are", "act as a pirate"; not for "act as a nutritionist"."""
    if GAME.search(sentence.low) is not None:
        return True
    return refusals.plays(sentence) and not _is_helper(sentence.low) and not is_fiction(sentence.low)


def _is_helper(low: str) -> bool:
    return HELPER.search(low) is not None or (WRITES.search(low) is not None and WRITES_FICTION.search(low) is None)


def plays_in_fiction(low: str) -> bool:
    """Return True if a message tells what happens in a book, also where it says "I"."""
    return IN_FICTION.search(low) is not None


def is_fiction(low: str) -> bool:
    """Return True if a sentence is about people who do not exist: "the main character", "write a scene where"."""
    return FICTION.search(low) is not None or WRITES_FICTION.search(low) is not None


def orders_fiction(low: str) -> bool:
    """Return True for "write a scene where ...": what comes behind that is made up as well."""
    return WRITES_FICTION.search(low) is not None


def asks(sentence: Sentence) -> bool:
    """Return True if a sentence is a question, with or without its mark."""
    return sentence.asks or _asks_by_words(without_fillers(sentence).low)


def tells(sentence: Sentence, *, alone: bool, fiction: bool) -> bool:
    """Return True unless a sentence is plainly something else.

    ``alone`` says that its message is not somebody's text; ``fiction`` that its conversation is about people who do not exist.
    """
    low = sentence.low
    is_heading = low.rstrip().endswith((":", "："))
    if is_heading or GAP in low or SPEECH.search(low) is not None or SUPPOSED.search(low) is not None:
        return False
    if carries(sentence) or is_fiction(low):
        return carries(sentence)
    if sentence.dense or (not sentence.raw.isascii() and " " not in sentence.raw.strip()):
        return _tells_dense(sentence)
    head = before_question(sentence)
    if head is not None and _clause_tells(head, first=True, personal_only=fiction or not alone):
        return True
    return any(
        _clause_tells(clause, first=at == 0, personal_only=fiction or not alone)
        for at, clause in enumerate(_clauses(sentence))
    )


def before_question(sentence: Sentence) -> Sentence | None:
    """Return what comes before the last comma of a question: "favourite game is Outer Wilds, so something like that?"."""
    if not sentence.asks:
        return None
    at = max(sentence.low.rfind(mark) for mark in (", ", "; ", " - ", " – ", " — "))
    head = sentence.before(at) if at > 0 else None
    return None if head is None or asks(head) or len(head.low.split()) < _SHORTEST_WORDS else head


def _clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Yield the first clause of a sentence, and each that begins with a subject of its own, without a question at the end."""
    start = 0
    for count, found in enumerate(CLAUSE.finditer(sentence.low)):
        if count == _MOST_CLAUSES:
            break
        yield sentence.behind(start).before(found.start() - start)
        start = found.end()
    yield sentence.behind(start)


def carries(sentence: Sentence) -> bool:
    """Return True for an order or a question that says who somebody is: "a poem for my wife Elena, who turns 40"."""
    if PEOPLE.search(sentence.low) is None and CARRIES.search(sentence.low) is None:
        return False
    return CARRIES.search(sentence.low) is not None or CARRIES_NAMED.search(sentence.raw) is not None


def _tells_dense(sentence: Sentence) -> bool:
    if not sentence.dense:
        return not sentence.asks and len(sentence.raw) >= _SHORTEST_SCRIPT
    return dense_end(sentence) > 0


def dense_end(sentence: Sentence) -> int:
    """Return where the last clause ends that tells something in a sentence without blanks; 0 where none does."""
    end = at = 0
    asked = sentence.asks or DENSE_ORDER.search(sentence.low) is not None or refusals.is_question(sentence.low)
    for clause in _DENSE_CLAUSES.split(sentence.low):
        begin, at = at, at + len(clause) + 1
        said = clause.strip()
        own = DENSE_PERSON.search(said) is not None
        enough = _SHORTEST_DENSE if DENSE_SUBJECT.search(said) is not None else _SHORTEST_DENSE_WITHOUT_SUBJECT
        is_last = at > len(sentence.low)
        if len(said) < enough or (asked and not own and not end) or (sentence.asks and is_last):
            continue
        if any(one.search(said) is not None for one in (DENSE_SMALL, DENSE_ORDER, OF_NOW)) or refusals.is_question(
            said
        ):
            continue
        if end or len(said) > _SHORT_DENSE or not refusals.is_loose(said):
            end = begin + len(clause)
    return end


def _clause_tells(clause: Sentence, *, first: bool, personal_only: bool) -> bool:
    asked = asks(clause) or SMALL_TALK.match(clause.low) is not None
    clause = without_fillers(clause)
    low = clause.low
    if STATED.fullmatch(low.strip(" ,.")) is not None:
        return not asked
    few = len(low.split())
    is_short = few < _SHORTEST_WORDS and not (first and few > 1 and VALUE.search(low) is not None)
    of_oneself = OF_ONESELF.match(low) is not None
    if asked or is_short or (personal_only and not of_oneself):
        return False
    of_somebody = PEOPLE.search(low) is not None
    loose = few <= _FEW_WORDS and (of_oneself or low.startswith("let's")) and refusals.is_loose(low)
    if not of_somebody and (loose or (few <= _LONGEST_OF_NOW and OF_NOW.search(low) is not None)):
        return False
    if not of_somebody and (_is_of_the_talk(low) or (of_oneself and _is_of_the_task(low))):
        return False
    return FOREIGN_TASK.search(low) is None and (of_oneself or _tells_of_others(clause, of_somebody=of_somebody))


def _tells_of_others(clause: Sentence, *, of_somebody: bool) -> bool:
    low = clause.low
    if orders(low):
        return False
    if ABOUT_IT.match(low) is not None:
        says = VALUE.search(clause.raw[1:]) is not None or OURS.search(low) is not None
        return says and TASK_SUBJECT.search(low) is None
    return of_somebody or not _any_matches((ANSWERED, FRAGMENT_OF_TASK, TASK_SUBJECT, DEFINES), low)
