"""What a memory tells about its user: name, health, preference, commitment, decision. Rules by words, without a model.

The brief (``reads.py``) is made from it. `aspects_of` reads the first sentences of a memory; each sentence has one aspect, a memory
those of its sentences. Words are known in English, German, French and Spanish, and some in Chinese and Japanese. A rule that misses
leaves a memory among the others; it is never lost. Pure.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.model import Kind
from hybrid_memory.retrieval.aspect_words import BEGINNING_LETTERS, marks, triggers
from hybrid_memory.retrieval.factuality import (
    denies_decision,
    denies_deed,
    denies_duty,
    denies_identity,
    is_opinion_of_other,
    is_supposed,
    without_quotes_of_others,
)

# Set by hand where no reason is named.
_READ_CHARACTERS = 800  # of a memory; what tells about its user is at its beginning
_READ_SENTENCES = 8
_SUBJECT_WORDS = 5  # of a sentence, among which its subject is looked for
_SHORT_NOTE_WORDS = 12  # a longer sentence that begins with a verb is no note of a task
_NEAR_SUBJECT = 2  # words before a duty, if its subject is a name
_NAME_CHARACTERS = 40


class Aspect(IntFlag):
    """What a memory tells; the last ones say about whom, and how."""

    NONE = 0
    IDENTITY = 1
    """Name, work, place, family, age, language."""
    HEALTH = 2
    PREFERENCE = 4
    TRAIT = 8
    """Other lasting knowledge: a habit, a skill, an insight."""
    COMMITMENT = 16
    """Something that is to be done, or an appointment."""
    DONE = 32
    """Something that was to be done is done."""
    DECISION = 64
    ABOUT_USER = 128
    ABOUT_FAMILY = 256
    NAME = 512
    """It says what the user is called."""
    REVERSAL = 1024
    """It takes something back: no longer, instead, go back to."""
    CHANGE = 2048
    """It says that something is other than it was."""
    LISTS = 4096
    """It names four things or more in a row, so that it is about them all."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: as it is there, its folded text, its folded words, and those words between single blanks.

    ``triggers`` are those of its `_triggers_of` that are one of any marks.
    """

    raw: str
    text: str
    words: tuple[str, ...]
    flat: str
    dense: bool
    asks: bool
    triggers: frozenset[str]

    @property
    def written(self) -> tuple[str, ...]:
        """The words as they were written; few rules need them."""
        return tuple(_WORD.findall(_without_elisions(self.raw.replace("’", "'"))))


def aspects_of(
    content: str,
    *,
    tags: Collection[str] = (),
    kind: Kind = Kind.OBSERVATION,
    speaker: str | None = None,
) -> Aspect:
    """Return what a memory tells about its user.

    ``speaker`` is who says "I": nobody and a word for the user stand for the user. An insight is always knowledge about the user. A
    summary of a session is classed by its tags alone, because it tells of everything. What a machine prints has no aspect.
    """
    return with_labels(aspects_of_words(content, speaker), content, tags, kind)


def aspects_of_words(content: str, speaker: str | None = None) -> Aspect:
    """Return what the words of a memory tell, whatever its tags and its kind; stored with each memory."""
    found = Aspect.NONE
    if _LOG_LINE.match(content) is None and _NOISE.search(content) is None:
        for sentence in sentences(without_quotes_of_others(content[:_READ_CHARACTERS])):
            found |= _of_sentence(sentence, speaker)
    return found


def with_labels(words: Aspect, content: str, tags: Collection[str], kind: Kind) -> Aspect:
    """Return what a memory tells, given what its words do."""
    tagged = _of_tags(tags) if tags else Aspect.NONE
    found = tagged if kind is Kind.SUMMARY else tagged | words
    if tagged and not found & (Aspect.ABOUT_USER | Aspect.ABOUT_FAMILY) and _is_of_nobody(content):
        found |= Aspect.ABOUT_USER
    if found & Aspect.DONE and tagged & Aspect.COMMITMENT:
        found &= ~Aspect.COMMITMENT
    if kind is Kind.INSIGHT:
        found |= Aspect.TRAIT | Aspect.ABOUT_USER
    return found


def sentences(content: str) -> Iterator[Sentence]:
    """Yield the first sentences of a text."""
    count = 0
    for match in _SENTENCE.finditer(content[:_READ_CHARACTERS]):
        raw = match.group()
        text = fold(raw)
        words = tuple(_WORD.findall(text))
        if words:
            yield Sentence(
                raw,
                text,
                words,
                flat=f" {' '.join(words)} ",
                dense=not text.isascii() and _DENSE.search(text) is not None,
                asks=raw.rstrip().endswith(("?", "？")),
                triggers=triggers().intersection(_triggers_of(words)),
            )
            count += 1
            if count == _READ_SENTENCES:
                return


def fold(text: str) -> str:
    """Return a text in small letters, without accents, with plain apostrophes, French elisions apart."""
    folded = text.casefold().replace("’", "'")
    if not folded.isascii():
        apart = unicodedata.normalize("NFKD", folded)
        folded = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    return _without_elisions(folded)


def _without_elisions(text: str) -> str:
    return _ELISION.sub(r"\1 ", text) if "'" in text else text


def _triggers_of(words: Sequence[str]) -> Iterator[str]:
    """Yield what a mark can be looked up by: the words, their first letters, and pairs of neighbours."""
    yield from words
    yield from (word[:BEGINNING_LETTERS] for word in words)
    yield from map(" ".join, itertools.pairwise(words))


def user_names(content: str) -> frozenset[str]:
    """Return the folded names by which a text says that the user is called; none without such a sentence."""
    found: set[str] = set()
    own = without_quotes_of_others(content[:_READ_CHARACTERS])
    for match in _CALLED.finditer(own):
        if _NOT_BEFORE.search(own, 0, match.start()):
            continue
        name = next(group for group in match.groups() if group is not None)
        found.add(fold(name[:_NAME_CHARACTERS]))
        found.update(fold(name).split()[:1])
    return frozenset(found)


def names_in(content: str) -> frozenset[str]:
    """Return the folded words that are written with a capital, the first of a sentence too."""
    return frozenset(fold(one) for one in _CAPITALIZED.findall(content[:_READ_CHARACTERS]))


def _of_tags(tags: Collection[str]) -> Aspect:
    found = Aspect.NONE
    for tag in tags:
        found |= _tags().get(fold(tag).strip("# ").replace("_", "-"), Aspect.NONE)
    return found


def _of_label(label: str) -> Aspect:
    return _of_tags((label,)) or _labels().get(label, Aspect.NONE)


def _is_of_nobody(content: str) -> bool:
    """Return True if the first word is no name before a verb, so that a tagged note is about the user."""
    first = next(sentences(content), None)
    return first is None or not _begins_with_name(first)


def _of_sentence(sentence: Sentence, speaker: str | None) -> Aspect:
    label = _LABEL.match(sentence.text) if ":" in sentence.text else None
    if label is not None and (labelled := _of_label(label[1])):
        return labelled | Aspect.ABOUT_USER | (Aspect.NAME if label[1] == "name" else Aspect.NONE)
    aspect, place, denied = _kind_of(sentence)
    if denied and not is_supposed(sentence.text) and not is_opinion_of_other(sentence.text):
        clauses = (_AND if denied & Aspect.IDENTITY else _BUT).split(sentence.raw)
        if len(clauses) > 1:
            return _of_clauses(clauses, speaker)
    if not aspect:
        return Aspect.NONE
    about = _subject(sentence, aspect, place, speaker)
    if aspect is Aspect.IDENTITY:
        if about is Aspect.ABOUT_FAMILY:
            about = Aspect.ABOUT_USER | Aspect.ABOUT_FAMILY
        elif not _kin().isdisjoint(sentence.words):
            about |= Aspect.ABOUT_FAMILY
        if about & Aspect.ABOUT_USER and user_names("".join(f"{word} " for word in sentence.written)):
            aspect |= Aspect.NAME
    if marks("reversals").within(sentence):
        aspect |= Aspect.REVERSAL
    return aspect | about


def _of_clauses(clauses: Sequence[str], speaker: str | None) -> Aspect:
    """Return what the clauses of a sentence tell, of which one is denied: "I don't have to pay, but I must call them"."""
    found = Aspect.NONE
    for clause in clauses:
        for sentence in sentences(clause):
            found |= _of_sentence(sentence, speaker)
    return found


def _kind_of(sentence: Sentence) -> tuple[Aspect, int, Aspect]:
    """Return what a sentence tells, by the first rule that holds, at which word that is said, and what it denies by rules before."""
    denied = Aspect.NONE
    for aspect, place_in, denies in _RULES:
        place = place_in(sentence)
        if place is None:
            continue
        if denies is None or not denies(sentence.text):
            return aspect, place, denied
        denied |= aspect
    return Aspect.NONE, 0, denied


def _reminder(sentence: Sentence) -> int | None:
    place = marks("reminders").first(sentence)
    is_done = place is not None and marks("finished").within(sentence) and not marks("not_yet").within(sentence)
    return None if is_done else place


def _question(sentence: Sentence) -> int | None:
    """A question tells nothing, unless it asks to be reminded."""
    return 0 if sentence.asks else None


def _decision(sentence: Sentence) -> int | None:
    place = marks("decisions").first(sentence)
    return None if place is None or marks("undecided").within(sentence) else place


def _unsettled(sentence: Sentence) -> int | None:
    undone = "yet" in sentence.words and _UNDONE.search(sentence.text) is not None
    return 0 if undone or marks("undecided").within(sentence) or marks("not_yet").within(sentence) else None


def _identity(sentence: Sentence) -> int | None:
    place = marks("identity").first(sentence)
    return None if place is None or _is_excepted(sentence, "identity") else place


def _preference(sentence: Sentence) -> int | None:
    place = marks("preferences").first(sentence)
    return None if place is None or _is_excepted(sentence, "preferences") else place


def _wish(sentence: Sentence) -> int | None:
    """A wish for a thing is a preference ("wants short answers"); for a deed it is none ("wants to buy a boat")."""
    if lexicon.words("aspects.wishes").isdisjoint(sentence.words):
        return None
    for place, word in enumerate(sentence.words[:-1]):
        following = sentence.words[place + 1]
        if (
            word in lexicon.words("aspects.wishes")
            and following not in lexicon.words("aspects.of_deeds")
            and not following.endswith(tuple(lexicon.words("aspects.infinitive_endings")))
        ):
            return place
    return None


def _intent(sentence: Sentence) -> int | None:
    """A wish for a deed is a commitment where it has an end: "wants to book flights before Easter"."""
    place = marks("intents").first(sentence)
    return place if place is not None and not lexicon.words("aspects.deadlines").isdisjoint(sentence.words) else None


def _named_relative(sentence: Sentence) -> int | None:
    """Return the place of a relative who is named: "Lena's wife Ines", "my sister Karin"."""
    if _kin().isdisjoint(sentence.words):
        return None
    for place, word in enumerate(sentence.words[: _SUBJECT_WORDS - 1]):
        # "Frau Keller" is nobody's wife.
        possessed = word != "frau" or sentence.words[place - 1] in lexicon.words("aspects.possessives")
        if word in _kin() and place and possessed and _is_name_at(sentence, place + 1):
            return place
    return None


def _profession(sentence: Sentence) -> int | None:
    return 0 if _tells_profession(sentence) or _calls(sentence) else None


def _appointment(sentence: Sentence) -> int | None:
    """An appointment has a day or an hour; without one it is talk about one."""
    place = marks("appointments").first(sentence)
    return place if place is not None and any(character.isdigit() for character in sentence.text) else None


def _duty(sentence: Sentence) -> int | None:
    place = marks("duties").first(sentence)
    if place is None or " you need to " in sentence.flat or sentence.words[place : place + 2] == ("due", "to"):
        return None
    return place if _is_personal(sentence, place) else None


def _task_note(sentence: Sentence) -> int | None:
    return 0 if _is_note_of_task(sentence) else None


def _deed(sentence: Sentence) -> int | None:
    place = marks("done_deeds").first(sentence)
    return place if place is not None and place <= _SUBJECT_WORDS else None


def _is_excepted(sentence: Sentence, name: str) -> bool:
    return any(f" {phrase} " in sentence.flat for phrase in lexicon.phrases(f"aspects.{name}.not_phrases"))


def _tells_profession(sentence: Sentence) -> bool:
    """Return True for "I'm a nurse", "Ich bin Schreinerin", "je suis infirmière", "Mira is an engineer", "Mira Okafor, engineer, ..."."""
    professions, being = marks("professions"), lexicon.words("aspects.being")
    if professions.triggers.isdisjoint(sentence.triggers):
        return False
    full_name = "," in sentence.text and _is_name_at(sentence, 0) and _is_name_at(sentence, 1)
    if full_name and any(one.startswith(professions.beginnings) for one in sentence.words[2:4]):
        return True
    for place, word in enumerate(sentence.words[:-1]):
        if word not in being or (word == "am" and "i" not in sentence.words[:place]):  # "am Montag beim Arzt"
            continue
        following = sentence.words[place + 1 : place + 5]
        if any(one.startswith(professions.beginnings) or one in professions.words for one in following):
            return True
    return False


def _calls(sentence: Sentence) -> bool:
    """Return True if a sentence says what somebody is called."""
    may_call = any(map(sentence.text.__contains__, _PARTS_OF_CALLED))
    return may_call and _CALLED.search(" ".join(sentence.written)) is not None


def _is_personal(sentence: Sentence, place: int) -> bool:
    """Return True if a duty is somebody's own, or has an end: a program "must" as well."""
    return (
        place == 0
        or (
            place <= _NEAR_SUBJECT
            and sentence.words[0] not in lexicon.words("aspects.articles")
            and sentence.written[0][:1].isupper()
        )
        or bool(_subject(sentence, Aspect.COMMITMENT, place, None))
        or _begins_with_name(sentence)
        or not lexicon.words("aspects.deadlines").isdisjoint(sentence.words)
        or sentence.dense
    )


def _is_note_of_task(sentence: Sentence) -> bool:
    words = sentence.words
    if not 1 < len(words) <= _SHORT_NOTE_WORDS or words[1] in lexicon.words("aspects.behind_nouns"):
        return False
    return words[0] in lexicon.words("aspects.task_verbs") or words[-1] in lexicon.words("aspects.infinitives")


def _subject(sentence: Sentence, aspect: Aspect, place: int, speaker: str | None) -> Aspect:
    """Return whom a sentence is about, of which ``aspect`` is said at its word ``place``: the user, their family, or nobody of them."""
    if _begins_with_relative(sentence):
        return Aspect.ABOUT_FAMILY
    return Aspect.ABOUT_USER if _is_about_user(sentence, aspect, place, speaker) else Aspect.NONE


def _is_about_user(sentence: Sentence, aspect: Aspect, place: int, speaker: str | None) -> bool:
    if _names_user(sentence):
        return True
    if sentence.dense:
        return not any(one in sentence.text for one in lexicon.words("aspects.others"))
    if not is_user_word(speaker) or (aspect is not Aspect.HEALTH and _is_name_at(sentence, place - 1)):
        return False
    # The subject is left out: "Prefers short answers", "No longer drinks coffee".
    elided = (
        place <= 1
        and (place == 0 or sentence.words[0] in lexicon.words("aspects.adverbs"))
        and not _begins_with_name(sentence)
    )
    return elided or not lexicon.words("aspects.first_person").isdisjoint(sentence.words)


def _begins_with_relative(sentence: Sentence) -> bool:
    """Return True for "my daughter Nora ..." and "the user's eldest daughter ..."."""
    words = sentence.words[:_SUBJECT_WORDS]
    return any(
        word in _kin() and not lexicon.words("aspects.possessives").isdisjoint(words[max(place - 2, 0) : place])
        for place, word in enumerate(words)
    )


def is_user_word(speaker: str | None) -> bool:
    """Return True if a speaker's name stands for the user: none, "user", "me" and the like."""
    return speaker is None or fold(speaker).strip() in lexicon.words("aspects.user") | lexicon.words("aspects.self")


def _names_user(sentence: Sentence) -> bool:
    if any(one in sentence.text for one in lexicon.words("aspects.user", "zh", "ja")):
        return True
    words, user, articles = sentence.words, lexicon.words("aspects.user"), lexicon.words("aspects.articles")
    for place, word in enumerate(words):
        if word in user:
            if word.endswith("'s"):
                return True
            following = words[place + 1] if place + 1 < len(words) else ""
            led = place == 0 or words[place - 1] in articles
            if led and following not in lexicon.words("aspects.user_compounds"):
                return True
    return False


def _begins_with_name(sentence: Sentence) -> bool:
    """Return True if the first word may be a name: a capital, no word of a rule, and a verb of the third person behind it."""
    if len(sentence.words) < 2 or not _is_name(sentence.written[0], sentence.words[0]):  # noqa: PLR2004 - name and verb
        return False
    first, second = sentence.words[0], sentence.words[1]
    known = first in lexicon.words("aspects.wishes") or any(
        first in known.words or first.startswith(known.beginnings or ("\0",))
        for known in (
            marks("health"),
            marks("preferences"),
            marks("identity"),
            marks("decisions"),
            marks("finished"),
            marks("done_deeds"),
            marks("habits"),
        )
    )
    return not known and (second in lexicon.words("aspects.being") or second.endswith(("s", "t", "ed", "e", "a", "o")))


def _is_name_at(sentence: Sentence, place: int) -> bool:
    return 0 <= place < len(sentence.written) and _is_name(sentence.written[place], sentence.words[place])


def _is_name(written: str, folded: str) -> bool:
    known = ("aspects.no_names", "aspects.user", "aspects.first_person", "aspects.adverbs")
    return written[:1].isupper() and not any(folded in lexicon.words(key) for key in known)


# --- patterns and words, folded as by `fold` --------------------------------------------------------------------------

_SENTENCE = LazyPattern(r"(?:[^.!?;\n。！？；]+|\.(?=\w))+[?？]?")
_WORD = LazyPattern(r"[^\W_]+(?:'[^\W_]+)*")
_ACCENTS = LazyPattern("[\u0300-\u036f]")
_ELISION = LazyPattern(r"\b([cdjlmnst]|qu)'(?=\w)", re.IGNORECASE)
_DENSE = LazyPattern("[\u3040-\u30ff\u3400-\u9fff]")
_CAPITALIZED = LazyPattern(r"\b[A-ZÀ-ÖØ-Þ][\w-]+")
_LABEL = LazyPattern(r"\s*(?:user |the user's |my )?([a-z -]{2,20}?)\s*:")
_NOT_BEFORE = LazyPattern(r"\bno\s+$", re.IGNORECASE)  # "no me llamo"
_UNDONE = LazyPattern(r"\b(?:haven't|hasn't|have not|has not|didn't) [^,]*\byet\b")
_AND = LazyPattern(lambda: rf",\s|,?\s{lexicon.any_of(lexicon.words('aspects.and'))}\s", re.IGNORECASE)
_BUT = LazyPattern(lambda: rf",?\s{lexicon.any_of(lexicon.words('aspects.but'))}\s", re.IGNORECASE)
_LOG_LINE = LazyPattern(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:INFO|DEBUG|TRACE|WARN(?:ING)?|ERROR|FATAL)\b|Traceback|```|diff --git|\$ |>>> )",
    re.IGNORECASE,
)
# The letters say soon that nothing begins at a place.
_NOISE = LazyPattern(
    r"\b(?=[bcdehlpst\d])(?:(?:tests?|checks?|builds?|pipeline|ci|lint(?:ing)?|compilation|deploy(?:ment)?)\b(?: \w+){0,2} "
    r"(?:pass(?:ed|es|ing)?|fail(?:ed|s|ing)?|succeeded|green|ok)\b"
    r"|exit(?:ed with)? (?:code|status)\b|\d+ passed\b|stack ?trace\b|HTTP/\d)",
    re.IGNORECASE,
)
_NAME = r"([^\W\d_][\w'-]*(?: [A-ZÀ-ÖØ-Þ][\w'-]+)?)"
_CALLED = LazyPattern(
    lambda: (
        rf"\b(?i:{lexicon.pattern('aspects.called', 'en', 'de', 'fr', 'es')})\s+(?=[A-ZÀ-ÖØ-Þ]){_NAME}"
        rf"|(?:{lexicon.pattern('aspects.called', 'zh')})([\u3400-\u9fff]{{2,4}})"
        r"|名前は([\u3040-\u30ff\u3400-\u9fff]{1,8}?)(?:です|と|。|$)"
    )
)
_PARTS_OF_CALLED = ("name", "nom", "call", "user", "ss", "appel", "llam", "叫", "名")
"""A folded text without all of them has no `_CALLED`; "ss" is that of "heiße" and "heißt"."""


@functools.cache
def _tags() -> Mapping[str, Aspect]:
    aspects = {
        "identity": Aspect.IDENTITY,
        "health": Aspect.HEALTH,
        "preference": Aspect.PREFERENCE,
        "commitment": Aspect.COMMITMENT,
        "done": Aspect.DONE,
        "decision": Aspect.DECISION,
    }
    found = {tag: aspect for name, aspect in aspects.items() for tag in sorted(lexicon.words(f"tags.{name}"))}
    return found | {"about me": Aspect.IDENTITY}


@functools.cache
def _labels() -> Mapping[str, Aspect]:
    """Return what comes before a colon, and is too common as a tag."""
    decided = dict.fromkeys(lexicon.words("tags.decided"), Aspect.DECISION)
    return {"user": Aspect.IDENTITY, "name": Aspect.IDENTITY} | decided


@functools.cache
def telling_tags() -> tuple[str, ...]:
    """Return tags that alone say what a memory tells, in the ways in which they are mostly written."""
    return tuple(
        form for tag in _tags() for form in (tag, tag.capitalize(), tag.upper(), f"#{tag}", tag.replace("-", "_"))
    )


@functools.cache
def _kin() -> frozenset[str]:
    return frozenset(map(fold, lexicon.words("people.kin")))


def _first(name: str) -> Callable[[Sentence], int | None]:
    return lambda sentence: marks(name).first(sentence)


_RULES: tuple[tuple[Aspect, Callable[[Sentence], int | None], Callable[[str], bool] | None], ...] = (
    (Aspect.COMMITMENT, _reminder, denies_duty),
    (Aspect.NONE, _question, None),
    (Aspect.HEALTH, _first("health"), None),
    (Aspect.DECISION, _decision, denies_decision),
    (Aspect.COMMITMENT, _unsettled, is_supposed),
    (Aspect.DONE, _first("finished"), denies_deed),
    (Aspect.IDENTITY, _identity, denies_identity),
    (Aspect.PREFERENCE, _preference, None),
    (Aspect.PREFERENCE, _wish, None),
    (Aspect.IDENTITY, _profession, denies_identity),
    (Aspect.COMMITMENT, _first("open_states"), denies_duty),
    (Aspect.COMMITMENT, _appointment, denies_duty),
    (Aspect.COMMITMENT, _duty, denies_duty),
    (Aspect.COMMITMENT, _intent, denies_duty),
    (Aspect.COMMITMENT, _task_note, denies_duty),
    (Aspect.DONE, _deed, denies_deed),
    (Aspect.IDENTITY, _named_relative, denies_identity),
    (Aspect.TRAIT, _first("habits"), None),
)
"""Tried in this order: what is said outright ("remind me", "allergic") before what words only suggest.

The last of a rule tells when its words are denied. A denied taste is one ("doesn't like"); of health rather too
much is shown than too little.
"""
