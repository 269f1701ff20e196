"""Which earlier statement a new one takes the place of, and what then holds. Pure.

A statement that hides another one wrongly is worse than two that stand side by side. So the same thing has to be meant for sure: the
same attribute of the same thing with another value (`frames.py`), or a named alternative that is over ("not Tuesday", "drop Redis").
And nothing is lost: the new statement says all that the earlier one did but for the value, or the earlier one holds on with its
value exchanged, or both stay.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hybrid_memory.capture.frames import Frame, frame_of, question_for
from hybrid_memory.capture.model import Statement
from hybrid_memory.capture.sentences import lowered
from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.text import words

_LONGEST_FOREIGN = 8  # words of a statement in another language that is replaced whole: nothing else can be in it
_LONGEST_COMPARED = 120  # characters of a text that gives one thing a value
_FEW_FIGURES = 2  # words of a value that is a name and a number: "Postgres 16"


@dataclass(frozen=True, slots=True)
class Corrected:
    """The ``place`` of the earlier statement that gives way, and the ``text`` that holds now."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class _Said:
    """A new statement taken apart: ``core`` begins at its subject, ``over`` are the words of what it says is over.

    ``marked`` says that it shows itself to be a change.
    """

    text: str
    core: str
    over: tuple[frozenset[str], ...]
    marked: bool

    @property
    def frame(self) -> Frame | None:
        return frame_of(self.core)


@functools.lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """Return the stems of a statement's words."""
    return frozenset(words(text))


def is_fragment(low: str) -> bool:
    """Return True for "it's Postgres 16, not 15", which means something only alongside what it corrects."""
    return _fragment_of(low) is not None


def tells_of_change(text: str) -> bool:
    """Return True if a statement gives something another value and says so: "Nora moved to Linz", "scratch Kafka, we use Redis now"."""
    said = _take_apart(text, corrects=False)
    frame = said.frame
    if frame is None:
        return names_what_is_over(lowered(text)) and _USES.fullmatch(lowered(said.core)) is not None
    return said.marked or frame.changes


def names_what_is_over(low: str) -> bool:
    """Return True for "scratch Kafka, we ..." and "I quit Siemens, I ...": what is over is in front of what holds."""
    return any(form.match(low) is not None for form in _OVER_BEFORE)


def may_replace(statement: Statement) -> bool:
    """Return True if a statement may take the place of another one; of all others nobody need look for one."""
    said = _take_apart(statement.text, corrects=False)
    return (
        bool(said.over)
        or said.frame is not None
        or is_fragment(lowered(statement.text))
        or _slot_of(lowered(statement.text)) is not None
        or _PREFERS.match(lowered(said.core)) is not None
    )


def questions(statement: Statement) -> tuple[str, ...]:
    """Return what to search a memory for, to find what a statement may replace; nothing where it replaces nothing."""
    if not may_replace(statement):
        return ()
    said = _take_apart(statement.text, corrects=False)
    slot = _slot_of(lowered(statement.text))
    asked = [statement.text, *(one for name, one, _ in _SLOTS if name == slot)]
    if said.frame is not None:
        asked.append(question_for(said.frame))
    return tuple(dict.fromkeys(one for one in asked if one))


def corrected(text: str, earlier: Sequence[str], *, corrects: bool = False) -> Corrected | None:
    """Return which of some earlier texts, the oldest first, a text replaces, and what then holds; None for none.

    ``corrects`` says that it was said as a correction ("no, ..."). Of several that it could mean the last one is taken; a fragment that
    could mean several means none.
    """
    fragment = _fragment_of(lowered(text))
    if fragment is not None:
        return _exchanged_fragment(text, fragment, earlier)
    said = _take_apart(text, corrects=corrects)
    for place in range(len(earlier) - 1, -1, -1):
        holds = _replaces(said, earlier[place])
        if holds is not None:
            return Corrected(place, holds)
    return None


def outdated(texts: Sequence[str], mute: Collection[int] = ()) -> set[int]:
    """Return the places of texts, the oldest first, in whose place a later one stands as it is: it gives the same thing another value.

    Those at the places ``mute`` stand in no other's place.
    """
    rivals: dict[tuple[str, str, frozenset[str]], list[int]] = {}
    found: set[int] = set()
    for at, text in enumerate(texts):
        said = _take_apart(text, corrects=False) if len(text) <= _LONGEST_COMPARED else None
        frame = None if said is None else said.frame
        if said is None or frame is None:
            continue
        earlier = rivals.setdefault((frame.attribute, frame.sort, frame.scope), [])
        if at not in mute:
            found.update(one for one in earlier if one not in found and _replaces(said, texts[one]) == text)
        earlier.append(at)
    return found


def _replaces(said: _Said, earlier: str) -> str | None:
    """Return what holds after a statement, if it corrects an earlier one."""
    turned_round = is_turned_round(said.core, earlier)
    if turned_round or words_of(said.text) == words_of(earlier):
        return said.text if turned_round else None
    slot = _slot_of(lowered(said.core))
    if slot is not None and slot == _slot_of(lowered(earlier)):
        return said.text if len(earlier.split()) <= _LONGEST_FOREIGN else None
    before = _take_apart(earlier, corrects=False)
    if said.over and not before.over and (holds := _without_what_is_over(said, before)) is not None:
        return holds
    new, old = said.frame, before.frame
    if new is None or old is None or not _gives_another_value(said, new, before, old):
        return None
    if new.scope == old.scope and words_of(old.rest) <= words_of(said.text):
        return said.text
    sure = any(one <= words_of(old.value_in(before.core)) for one in said.over) or new.scope < old.scope
    return _with_value(before, old, new.value_in(said.core)) if sure and not new.rest else None


def _gives_another_value(said: _Said, new: Frame, before: _Said, old: Frame) -> bool:
    """Return True if a statement gives another value to what an earlier one gave one, and not alongside it."""
    value, other = words_of(new.value_in(said.core)), words_of(old.value_in(before.core))
    if not new.is_rival_of(old) or value <= other or (said.over and not any(one <= other for one in said.over)):
        return False
    if new.limits and not words_of(new.rest) <= words_of(old.rest):
        return False
    return said.marked or new.changes or (new.settled and old.settled)


def is_turned_round(text: str, earlier: str) -> bool:
    """Return True for "I prefer tabs over spaces" and "I prefer spaces over tabs", which are of the same words."""
    new, old = _PREFERS.fullmatch(lowered(text)), _PREFERS.fullmatch(lowered(earlier.strip(" .!")))
    return new is not None and old is not None and (new[1], new[2]) == (old[2], old[1])


def _with_value(before: _Said, old: Frame, value: str) -> str:
    at = before.text.index(before.core) if before.core in before.text else -1
    if at < 0:
        return before.core[: old.start] + value + before.core[old.end :]
    return before.text[: at + old.start] + value + before.text[at + old.end :]


def _without_what_is_over(said: _Said, before: _Said) -> str | None:
    """Return what holds after "drop Redis", "no longer on Fridays": all of the earlier was said again, or its value is exchanged."""
    own, old = words_of(said.text), words_of(before.text)
    meant = [one for one in said.over if one <= old]
    if not meant or _speaker_of(said) != _speaker_of(before):
        return None
    if old - _common() <= own:
        return said.text
    new, used = _USES.fullmatch(lowered(said.core)), _USES.match(lowered(before.text))
    if new is None or used is None or words_of(used["what"].split(" for ")[0]) != meant[0]:
        return None
    value = said.core[new.start("what") : new.end("what")]
    end = used.start("what") + len(used["what"].split(" for ")[0])
    return before.text[: used.start("what")] + value + before.text[end:]


def _speaker_of(said: _Said) -> str:
    found = _SPEAKER.match(lowered(said.core))
    if found is None:
        return said.core.split(" ", 1)[0]
    return "we" if found[1] == "let's" else found[1].split("'")[0]


@functools.lru_cache(maxsize=1024)
def _take_apart(text: str, *, corrects: bool) -> _Said:
    core, marked = text.strip(" .!"), corrects
    over: list[frozenset[str]] = []
    led = _LEAD.match(lowered(core))
    if led is not None and led.end() < len(core):
        core, marked = core[led.end() :], True
    for pattern in _OVER_BEFORE:
        found = pattern.match(lowered(core))
        if found is not None and found.end() < len(core):
            over.append(words_of(found["over"]))
            core, marked = core[found.end() :], True
            break
    while (found := _TAIL.search(lowered(core))) is not None and found.start() > 0:
        if found["over"]:
            over.append(words_of(found["over"]))
        core, marked = core[: found.start()], True
    low = lowered(core)
    over += [words_of(next(one for one in found.groups() if one)) for found in _OVER.finditer(low)]
    fronted = _NOW_INSIDE.sub("", low)
    if len(fronted) != len(low):
        marked = True
    return _Said(text, core, tuple(one for one in over if one), marked)


def _fragment_of(low: str) -> tuple[str, str] | None:
    """Return the new value and the old one of "it's X, not Y", in small letters; None for what is no fragment."""
    core = low.strip(" .!")
    led = _LEAD.match(core)
    core = core[led.end() :] if led is not None else core
    found = next((one for form in _FRAGMENTS if (one := form.fullmatch(core)) is not None), None)
    if found is None:
        return None
    new, old = found["new"].strip(" ,.:"), found["old"].strip(" ,.:")
    return (new, old) if new and old else None


def _exchanged_fragment(text: str, fragment: tuple[str, str], earlier: Sequence[str]) -> Corrected | None:
    """Return the one earlier statement that holds the old value once, with the new one in its place."""
    new, old = fragment
    at = lowered(text).find(new)
    raw = text[at : at + len(new)] if at >= 0 else new
    named, before, after = _full_values(raw, old)
    whole = named + before
    whole_ones = [not is_fragment(lowered(one)) for one in earlier]
    places = [at for at, one in enumerate(earlier) if whole_ones[at] and len(_places_of(whole, one)) == 1]
    if len(places) != 1:
        return None
    one = earlier[places[0]]
    start = _places_of(whole, one)[0] + len(named)
    return Corrected(places[0], one[:start] + after + one[start + len(before) :])


def _full_values(new: str, old: str) -> tuple[str, str, str]:
    """Return what to look for, in two parts, and what to put in the place of the second: "postgres ", "15", "16"."""
    news, olds = new.split(), old.split()
    figure = news[-1][:1].isdigit() and olds[-1][:1].isdigit()
    if figure and len(olds) == 1 and len(news) == _FEW_FIGURES:
        return f"{lowered(news[0])} ", old, news[1]
    if figure and len(news) == 1 and len(olds) == _FEW_FIGURES:
        return f"{olds[0]} ", olds[1], new
    return "", old, new


def _places_of(value: str, text: str) -> list[int]:
    low, found, at = lowered(text), [], -1
    while (at := low.find(value, at + 1)) >= 0:
        before, after = low[at - 1 : at], low[at + len(value) : at + len(value) + 1]
        if not before.isalnum() and not after.isalnum():
            found.append(at)
    return found


def is_of_the_person(text: str) -> bool:
    """Return True if a text tells where a person lives or how they are called, of which they have one wherever they work."""
    return _slot_of(lowered(text)) in ("residence", "name to be called by")


def _slot_of(low: str) -> str | None:
    return next((name for name, _, form in _SLOTS if form.match(low)), None)


@functools.cache
def _common() -> frozenset[str]:
    """Return words that say how something is settled, not what."""
    return frozenset(words("use go with decide decided agreed will ship now always only we going using stick want"))


_STOP = r"(?:\s*[,.:;!–—]\s*|\s+-+\s+|\s+)"
_LEAD = LazyPattern(
    r"(?:(?:actually|sorry|no|nope|nah|wait|oh|ah|oops|ok|correction|small correction|(?:i(?:'ve| have)? )?changed my mind|change of plans?"
    r"|on second thoughts?|that(?:'s| is| was) wrong|my (?:mistake|bad)|update|forget (?:that|it)|scratch that|never ?mind"
    rf"|i misspoke|as of (?:today|now))\b{_STOP}(?:so |and |but )?)+"
)
_OBJECT = r"(?P<over>[\w.+#&'/-]+(?: [\w.+#&'/-]+){0,2}?)"
_HOLDS = r"(?=i |we |let's |i'|we')"
_NEXT = r"(?:,|;|\.|:| -+)"
_OVER_BEFORE = (
    LazyPattern(
        r"(?:scratch|forget|drop|ditch|scrap|dump|no more) (?!(?:that|it|this|about|the|a|an|my|your|these)\b)"
        rf"{_OBJECT}{_NEXT} {_HOLDS}"
    ),
    LazyPattern(
        r"(?:i|we)(?:'ve| have)? (?:quit|left|dropped|ditched|scrapped|abandoned|stopped using) "
        rf"{_OBJECT}(?:{_NEXT}| and) (?:and )?{_HOLDS}"
    ),
    LazyPattern(
        r"(?:i|we) (?:no longer|don't|do not) (?P<over>[\w.+#&'/-]+(?: [\w.+#&'/-]+){0,4}?)(?: any ?more)?"
        rf"(?:{_NEXT}|,? but) (?:and )?{_HOLDS}"
    ),
)
_TAIL = LazyPattern(
    r"(?:,? (?:now|instead|from now on|these days|any ?more|for good|going forward)"
    r"|,? not (?!(?:a|an|the|any|very|so|really)\b)(?:on |in |at |by |until |for |with )?"
    r"(?P<over>[\w.:+#/-]+(?: [\w.:+#/-]+){0,2})"
    r"|,? (?:instead of|rather than) [\w.:+#/-]+(?: [\w.:+#/-]+)?)$"
)
_NOW_INSIDE = LazyPattern(r"\b(?:now|no longer|again|instead)\b")
_OVER = LazyPattern(
    r"\bno longer ([\w.+#'/ -]{2,60})$|\binstead of ([\w.:+#-]+)"
    r"|\b(?:drop(?:ped|ping)?|scrap(?:ped)?|ditch(?:ed)?"
    r"|stopped (?:using|eating|drinking)|switch(?:ed|ing) (?:away )?from|mov(?:ed|ing) away from) ([\w.+#-]+)"
    r"|\b(?:don't|do not) (?:use|support) ([\w.+#-]+)(?= any ?more)"
)
_SPEAKER = LazyPattern(r"(i|we|let's|i'\w+|we'\w+)(?= )")
_USES = LazyPattern(
    r"(?:i|we|let's)(?:'ll|'re|'m|'ve| will| are| am| have)? ?(?:now |always |only )?(?:us(?:e|ing)|go(?:ing)? with|switch(?:ed)? to"
    r"|decided (?:to use|to go with|on)|chose|picked|settled on) "
    r"(?P<what>[\w.+#/-]+(?: (?!for\b)[\w.+#/-]+){0,2}?)(?=$| for | in | on )(?:$|.*)"
)
_PREFERS = LazyPattern(
    r"(?:i|we) (?:always |usually |generally |now |really |much )*(?:prefer|favou?r|like) ([^,;]{1,40}?)(?: better| more)?"
    r" (?:over|to|than|rather than|instead of) ([^,;]{1,40})"
)
_IT = r"(?:it'?s|it is|it was|that'?s|that should be|it should be|i meant?(?: to say)?|make (?:it|that))"
_VALUE = r"[^,;!?]{1,40}?"
_FRAGMENTS = (
    LazyPattern(rf"{_IT} (?P<new>(?!not\b){_VALUE}),? (?:and )?not (?P<old>[^,;!?]{{1,40}}?)(?: any ?more)?"),
    LazyPattern(
        rf"{_IT} not (?P<old>{_VALUE})(?: any ?more)?(?:,| but|, but)? (?:it'?s |it is )?"
        r"(?P<new>[\w.:/-]+(?: (?!now\b)[\w.:/-]+)?)(?: now)?(?:, we .{2,40})?"
    ),
)
_SLOTS: tuple[tuple[str, str, LazyPattern], ...] = tuple(
    (name, question, LazyPattern(functools.partial(lexicon.pattern, f"slots.{name.replace(' ', '_')}")))
    for name, question in (
        ("residence", "where I live"),
        ("name to be called by", "call me by my name"),
        ("language of answers", "answer in which language"),
    )
)
"""Of each of these a person has one at a time, in other languages: its name, a question that finds it, how it is said."""
