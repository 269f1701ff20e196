"""What a short statement says of what: "the deploy is on Tuesday" gives the deploy a day. Pure.

Two frames are rivals if both give a value to the same attribute of the same thing. Read are only attributes that hold one value at a
time, and only where the whole statement is understood: whatever else it says is its ``rest``, and what limits it sets it apart.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hybrid_memory.capture.alternatives import alternative_at
from hybrid_memory.capture.rules import spelled
from hybrid_memory.capture.sentences import lowered
from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import ENGLISH_CODE
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.text import words


@dataclass(frozen=True, slots=True)
class Frame:
    """A value that a statement gives to an attribute.

    ``scope`` are the stems of what the attribute is of, and of what it holds for; ``sort`` is what its values are ("day", "name");
    ``start`` and ``end`` is where the value is in the text. ``settled`` says that another value takes its place without being
    called a correction, ``changes`` that the verb tells of a change ("moved to"); ``names`` are the names among the scope.
    """

    attribute: str
    scope: frozenset[str]
    sort: str
    start: int
    end: int
    rest: str = ""
    settled: bool = True
    changes: bool = False
    names: frozenset[str] = frozenset()

    def value_in(self, text: str) -> str:
        """Return the value as the text writes it."""
        return text[self.start : self.end]

    @property
    def limits(self) -> bool:
        """Whether what comes behind the value says where, when or for what it holds."""
        return _LIMITS.match(self.rest) is not None

    def is_rival_of(self, other: Frame) -> bool:
        """Return True if both give a value to the same attribute of the same; a person's bare name stands for more words."""
        if (self.attribute, self.sort) != (other.attribute, other.sort):
            return False
        return self.scope == other.scope or (
            bool(self.names) and self.names == other.names and self.scope < other.scope
        )


@functools.lru_cache(maxsize=2048)
def frame_of(text: str) -> Frame | None:
    """Return the frame of a statement that begins with its subject and has no "now" or "not Tuesday" at its end; None for most."""
    low = lowered(text)
    if _SEVERAL.search(low) is not None:
        return None
    return next((found for reader in _READERS for found in reader(text, low)), None)


def question_for(frame: Frame) -> str:
    """Return what finds statements about the attribute of a frame."""
    return _QUESTIONS.get(frame.attribute, "")


def _stems(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _of_person(text: str, low: str) -> Iterator[Frame]:
    """Yield where somebody lives or works, and what they are called."""
    if _PERSON_VERB.search(low) is None:
        return
    for attribute, sort, pattern in _OF_PERSON:
        found = pattern.fullmatch(low)
        if found is None:
            continue
        end = found.end("value") if found["moved"] is None else _end_of_name(low, *found.span("value"))
        value = text[found.start("value") : end]
        if not _is_proper(value) or (sort == "place" and _NO_PLACE.fullmatch(lowered(value)) is not None):
            continue
        who = text[found.start("who") : found.end("who")]
        own = found["who"].rstrip("'") in ("i", "we")
        names = (
            "" if own else " ".join(one for one in who.split() if one[:1].isupper() and one.casefold() not in _OWNERS)
        )
        if not own and not (names or found["who"].startswith(("my ", "our "))):
            continue
        country = sort == "place" and lowered(value) in lexicon.phrases("places.countries")
        yield Frame(
            attribute,
            frozenset({"self"}) if own else _stems(who),
            "country" if country else sort,
            found.start("value"),
            end,
            rest=low[end:].strip(),
            settled=(own or bool(names)) and " for " not in low[: found.start("value")],
            changes=found["moved"] is not None,
            names=_stems(names),
        )


def _of_self(text: str, low: str) -> Iterator[Frame]:
    """Yield what a person has one of: name, diet, language of answers."""
    for attribute, pattern, proper in _OF_SELF:
        found = pattern.fullmatch(low)
        if found is None or (proper and not text[found.start("value")].isupper()):
            continue
        which = found["which"] or "" if "which" in found.re.groupindex else ""
        yield Frame(attribute, _stems(which), attribute, *found.span("value"), rest=found["rest"].strip())


def _of_habit(_: str, low: str) -> Iterator[Frame]:
    """Yield which of some alternatives is used or preferred: "I prefer npm"."""
    found = _HABIT.match(low)
    if found is None:
        return
    known = alternative_at(low, found.end())
    if known is None:
        return
    group, end, exclusive = known
    who = (found["who"] or "you").split("'")[0]
    prefers = found["prefers"] is not None
    yield Frame(
        "habit",
        frozenset({who}),
        group,
        found.end(),
        end,
        rest=low[end:].strip(" ,."),
        settled=prefers or exclusive,
        changes=found["switched"] is not None,
    )


def _of_schedule(_: str, low: str) -> Iterator[Frame]:
    found = _SCHEDULE.fullmatch(low)
    if found is not None:
        scope = frozenset({found["who"]}) | _stems(found["what"])
        yield Frame("schedule", scope, "day", *found.span("value"), rest=found["rest"].strip(), settled=False)


def _of_thing(text: str, low: str) -> Iterator[Frame]:
    """Yield what a thing is, when or where: "the report deadline moved to March 10th"."""
    if _THING_VERB.search(low) is None or _STARTS_THING.match(low) is None:
        return
    for sort, pattern in _OF_THING:
        found = pattern.fullmatch(low)
        if found is None:
            continue
        subject, rest = found["subject"], found["rest"].strip(" ,")
        if not _STARTS_THING.match(subject) or not lexicon.words("frames.not_in_subject").isdisjoint(subject.split()):
            continue
        limited = _FOR.fullmatch(rest)
        own = _stems(_DETERMINER.sub("", subject))
        scope = own | (_stems(limited[1]) if limited is not None else frozenset())
        scope -= _empty()
        value = text[found.start("value") : found.end("value")]
        named = _sort_of_thing(sort, subject, value, (found["unit"] or "") if sort == "number" else "")
        if named is None or not scope:
            continue
        changes = found["verb"] not in ("is", "'s")
        subject_changes = subject.startswith(("my new ", "our new ")) and named == "name"
        yield Frame(
            "of thing",
            scope - (_NEW if named == "name" else frozenset()),
            named,
            *found.span("value"),
            rest="" if limited is not None else rest,
            settled=not (own & _many() and len(own) == 1),
            changes=changes or subject_changes,
        )


def _sort_of_thing(sort: str, subject: str, value: str, unit: str) -> str | None:
    """Return the sort of a value that a thing has one of; None where it may have several, or the value tells no such thing."""
    favourite = _FAVOURITE.search(subject) is not None
    if sort == "number":
        return f"number of {unit.rstrip('s')}" if unit or not favourite else "favourite"
    if sort == "place" and (
        not _is_proper(value) or any(one.fullmatch(lowered(value)) for one in (_NO_PLACE, _QUALITY))
    ):
        return None
    if sort != "name":
        return sort
    if favourite:
        return "favourite"
    if not _is_proper(value) or _QUALITY.fullmatch(lowered(value)) is not None:
        return None
    return "name" if subject.rsplit(maxsplit=1)[-1] in lexicon.words("frames.one_at_a_time") else None


@functools.cache
def _many() -> frozenset[str]:
    return frozenset(words(" ".join(lexicon.words("frames.several"))))


@functools.cache
def _empty() -> frozenset[str]:
    """Return words that name no other thing: "the release date" is that of the release."""
    return frozenset(words("date day"))


def _end_of_name(low: str, start: int, end: int) -> int:
    """Return where a place ends to which somebody moved: "lisbon" of "lisbon last", before a time."""
    time = _TIME_BEHIND.search(low, start, end)
    return end if time is None else time.start()


def _is_proper(value: str) -> bool:
    """Return True for words that are written as a name."""
    return all(word[:1].isupper() for word in value.split()) and _CALENDAR.fullmatch(lowered(value)) is None


def _p(source: str) -> LazyPattern:
    return LazyPattern(lambda: spelled(lexicon.filled(source, ENGLISH_CODE)))


_REST = r"(?P<rest>(?:,? [^.!?]{1,120})?)"
_WORD = r"[\w'/+.-]+"
_DATE = (
    r"(?:(?:next |this )?<calendar.weekdays*>|(?:the )?\d{1,2}(?:st|nd|rd|th)?\.?(?: of)? <MONTH>(?: 20\d\d)?"
    r"|<MONTH> \d{1,2}(?:st|nd|rd|th)?(?:,? 20\d\d)?|the \d{1,2}(?:st|nd|rd|th)|20\d\d-\d\d-\d\d)\b"
)
_CLOCK = r"(?:\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midnight)\b"
_ADDRESS = r"(?:https?://\S+|\S+@\S+|\d+\.\d+\.\d+\.\d+\S*|[\w-]+(?:\.[\w-]+)*\.[a-z][\w-]+\S*|[~/][\w./-]+)"
_PLACE_VALUE = r"[\w'.-]+(?: [\w'.-]+)?"
_SEVERAL = LazyPattern(
    r"\b(?:also|too|as well|either|both|and|or|but|except|unless|if|maybe|sometimes|mostly|usually)\b"
)
_LIMITS = LazyPattern(
    r"(?:in|on|at|when|whenever|after|before|for|during|while|every|each|until|till|to|by|from|only|except|as long as|part[- ]time)\b"
)
_OWNERS = frozenset({"my", "our", "the"})
_NEW = frozenset({"new"})
_STARTS_THING = LazyPattern(
    r"(?:the|my|our|his|her|their|[\w-]+'s) \w"
    r"|(?:deadline|stand-?up|retro|demo|launch|release|deploy|deployment|budget|kick-?off|go-live|code freeze|staging|production|prod)\b"
)
_DETERMINER = LazyPattern(r"^(?:the|my|our)\b ?")
_FOR = LazyPattern(r"(?:for|of|with) ([\w' -]{2,60})")
_QUALITY = LazyPattern(lambda: lexicon.pattern("frames.quality", ENGLISH_CODE))
_NO_PLACE = LazyPattern(lambda: f"(?:{lexicon.pattern('frames.no_place', ENGLISH_CODE)})")
_FAVOURITE = LazyPattern(r"\bfavou?rite\b")
_CALENDAR = _p(r"(?:<DAY>|<MONTH>|christmas|easter)(?: .*)?")
_TIME_BEHIND = LazyPattern(r" (?:last|this|yesterday|recently|today|two|three|ago)$")
_WHO = r"(?P<who>i|we|(?:(?:my|our) )?[\w'-]+(?: [\w'-]+){0,2}?)"
_RECENTLY = r"(?:just |recently |now |currently |actually |finally )?"
_OF_PERSON = (
    (
        "residence",
        "place",
        _p(
            rf"{_WHO}(?:'re| are|'m| am)? {_RECENTLY}(?:lives?|living|based|resides?)(?P<moved>\0)? ?in (?P<value>{_PLACE_VALUE}){_REST}"
        ),
    ),
    (
        "residence",
        "place",
        _p(rf"{_WHO}(?:'ve| have|'s| has)? {_RECENTLY}(?P<moved>moved|relocated) to (?P<value>{_PLACE_VALUE}){_REST}"),
    ),
    ("work", "employer", _p(rf"{_WHO} {_RECENTLY}works?(?P<moved>\0)?(?: at| for) (?P<value>{_PLACE_VALUE}){_REST}")),
    (
        "work",
        "employer",
        _p(rf"{_WHO}(?:'ve| have|'s| has)? {_RECENTLY}(?P<moved>joined|started at) (?P<value>{_PLACE_VALUE}){_REST}"),
    ),
)
_PERSON_VERB = LazyPattern(r"liv|based|resid|moved|relocated|works?\b|joined|started")
_THING_VERB = LazyPattern(
    r"\bis\b|'s |\bwas |moved|pushed|changed|will be"
)  # most texts have none, and need not be matched
_OF_SELF = (
    (
        "name",
        _p(
            rf"my (?P<which>(?:first|last|full|middle|sur|nick|user|given|family)[ -]?)?name(?:'s| is) (?P<value>{_PLACE_VALUE}){_REST}"
        ),
        False,
    ),
    (
        "nickname",
        _p(
            r"(?:please |pls |you can |just |everyone |people )*calls? me (?P<value>[\w'-]+)(?P<rest>(?: please| pls)?)"
        ),
        False,
    ),
    (
        "diet",
        _p(
            r"(?:i'm|i am|i've been|i have been) (?:a |an |strictly |fully )?(?:no longer |not )?(?:a )?"
            r"(?P<value>vegetarian|vegan|pescatarian|pescetarian)(?: for .{2,20} years?| since .{2,20})?"
            rf"{_REST}"
        ),
        False,
    ),
    (
        "diet",
        _p(rf"i (?:now )?(?P<value>(?:eat|started eating) (?:meat|fish|everything|eggs|dairy)) again{_REST}"),
        False,
    ),
    (
        "language of answers",
        _p(
            r"(?:please |pls |always |from now on,? |you should )*(?:answer|reply|respond|talk|speak|write)(?: to me| me| always| only)*"
            rf" in (?P<value><LANGUAGE>){_REST}"
        ),
        False,
    ),
)
_HABIT = _p(
    r"(?:(?P<who>i|we)(?:'ll|'re|'m|'ve| will| are| am| have)? )?(?:please |always |now |only |actually |really |generally |both )*"
    r"(?:(?P<prefers>prefer|favou?r)|(?P<switched>switched to|moved to|migrated to|changed to)|use|using|want|indent with|stick to"
    r"|go with|going with|decided (?:to use|on|to go with)|settled on|chose|work with)"
    r" (?:to use |using )?"
)
_SCHEDULE = _p(
    rf"(?P<who>i|we) (?:always |only |now )?(?P<what>deploy|release|ship|meet|train|rehearse|play) on (?P<value><DAY>){_REST}"
)
_SUBJECT = rf"(?P<subject>{_WORD}(?: {_WORD}){{0,6}}?)"
_VERB = (
    r"(?: ?(?P<verb>\x27s|is|was moved|has moved|has been moved|is moved|got moved|moved|was pushed|got pushed|has been pushed|was changed"
    r"|has changed|changed|will be))(?: now| currently| set| due| scheduled| planned| hosted| located| held| back)*"
)
_OF_THING = (
    ("day", _p(rf"{_SUBJECT}{_VERB}(?: on| by| to| until| for)? (?P<value>{_DATE}){_REST}")),
    ("clock", _p(rf"{_SUBJECT}{_VERB}(?: at| to| by)? (?P<value>{_CLOCK}){_REST}")),
    ("address", _p(rf"{_SUBJECT}{_VERB}(?: at| on| under| to)? (?P<value>{_ADDRESS}){_REST}")),
    ("number", _p(rf"{_SUBJECT}{_VERB} (?P<value>[$€£]?\d[\d.,]*k?)(?: (?P<unit>[a-z%]+))?{_REST}")),
    ("place", _p(rf"{_SUBJECT}{_VERB} in (?P<value>[a-z][\w'-]+){_REST}")),
    ("name", _p(rf"{_SUBJECT}(?: ?(?P<verb>\x27s|is))(?: now)? (?P<value>{_PLACE_VALUE}){_REST}")),
)
_READERS: tuple[Callable[[str, str], Iterator[Frame]], ...] = (_of_self, _of_person, _of_habit, _of_schedule, _of_thing)
_QUESTIONS = {
    "residence": "where I live",
    "work": "where I work",
    "name": "my name is",
    "nickname": "call me by my name",
    "diet": "vegetarian vegan pescatarian diet",
    "language of answers": "answer in which language",
    "habit": "prefer use always",
}
