"""What a memory tells about its user: name, health, preference, commitment, decision. Rules by words, without a model.

The brief (``reads.py``) is made from it. `aspects_of` reads the first sentences of a memory; each sentence has one aspect, a memory
those of its sentences. Words are known in English, German, French and Spanish, and some in Chinese and Japanese. A rule that misses
leaves a memory among the others; it is never lost. Pure.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag

from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.model import Kind
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
_READ_CHARACTERS = 800  # of a memory; what tells about its user stands at its beginning
_READ_SENTENCES = 8
_SUBJECT_WORDS = 5  # of a sentence, among which its subject is looked for
_SHORT_NOTE_WORDS = 12  # a longer sentence that begins with a verb is no note of a task
_NEAR_SUBJECT = 2  # words before a duty, if its subject is a name
_NAME_CHARACTERS = 40
_BEGINNING_LETTERS = 4  # by which beginnings of words are looked up; none is shorter


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


@dataclass(frozen=True, slots=True)
class _Words:
    """Marks of an aspect: whole words, beginnings of words, phrases between blanks, and character strings of dense scripts.

    Most sentences have none of its ``triggers`` (`_triggers_of`), and then no word, beginning or phrase.
    """

    words: frozenset[str]
    beginnings: tuple[str, ...]
    phrases: tuple[str, ...]
    characters: tuple[str, ...]
    triggers: frozenset[str]

    def first(self, sentence: Sentence) -> int | None:
        """Return the place of the first word that is a mark, 0 for a phrase or characters, None without any."""
        if not self.triggers.isdisjoint(sentence.triggers):
            place = self._first_word(sentence.words)
            place = self._phrase(sentence.flat) if place is None else place
            if place is not None:
                return place
        if sentence.dense and any(one in sentence.text for one in self.characters):
            return 0
        return None

    def _first_word(self, words: Sequence[str]) -> int | None:
        for place, word in enumerate(words):
            if word in self.words or (self.beginnings and word.startswith(self.beginnings)):
                return place
        return None

    def _phrase(self, flat: str) -> int | None:
        for phrase in self.phrases:
            at = flat.find(phrase)
            if at >= 0:
                return flat.count(" ", 0, at)
        return None

    def within(self, sentence: Sentence) -> bool:
        """Return True if a mark stands in the sentence."""
        return self.first(sentence) is not None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: as it stands there, its folded text, its folded words, and those words between single blanks.

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
                triggers=_TRIGGERS.intersection(_triggers_of(words)),
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
    yield from (word[:_BEGINNING_LETTERS] for word in words)
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
        found |= _TAGS.get(fold(tag).strip("# ").replace("_", "-"), Aspect.NONE)
    return found


def _of_label(label: str) -> Aspect:
    return _of_tags((label,)) or _LABELS.get(label, Aspect.NONE)


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
        elif not _RELATIVES.isdisjoint(sentence.words):
            about |= Aspect.ABOUT_FAMILY
        if about & Aspect.ABOUT_USER and user_names("".join(f"{word} " for word in sentence.written)):
            aspect |= Aspect.NAME
    if _REVERSALS.within(sentence):
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
    place = _REMINDERS.first(sentence)
    is_done = place is not None and _FINISHED.within(sentence) and not _NOT_YET.within(sentence)
    return None if is_done else place


def _question(sentence: Sentence) -> int | None:
    """A question tells nothing, unless it asks to be reminded."""
    return 0 if sentence.asks else None


def _decision(sentence: Sentence) -> int | None:
    place = _DECISIONS.first(sentence)
    return None if place is None or _UNDECIDED.within(sentence) else place


def _unsettled(sentence: Sentence) -> int | None:
    undone = "yet" in sentence.words and _UNDONE.search(sentence.text) is not None
    return 0 if undone or _UNDECIDED.within(sentence) or _NOT_YET.within(sentence) else None


def _identity(sentence: Sentence) -> int | None:
    place = _IDENTITY.first(sentence)
    return None if place is None or _is_excepted(sentence, _NO_IDENTITY) else place


def _preference(sentence: Sentence) -> int | None:
    place = _PREFERENCES.first(sentence)
    return None if place is None or _is_excepted(sentence, _NO_PREFERENCE) else place


def _wish(sentence: Sentence) -> int | None:
    """A wish for a thing is a preference ("wants short answers"); for a deed it is none ("wants to buy a boat")."""
    if _WISHES.isdisjoint(sentence.words):
        return None
    for place, word in enumerate(sentence.words[:-1]):
        following = sentence.words[place + 1]
        if word in _WISHES and following not in _OF_DEEDS and not following.endswith(_INFINITIVE_ENDINGS):
            return place
    return None


def _intent(sentence: Sentence) -> int | None:
    """A wish for a deed is a commitment where it has an end: "wants to book flights before Easter"."""
    place = _INTENTS.first(sentence)
    return place if place is not None and not _DEADLINES.isdisjoint(sentence.words) else None


def _named_relative(sentence: Sentence) -> int | None:
    """Return the place of a relative who is named: "Lena's wife Ines", "my sister Karin"."""
    for place, word in enumerate(sentence.words[: _SUBJECT_WORDS - 1]):
        # "Frau Keller" is nobody's wife.
        possessed = word != "frau" or sentence.words[place - 1] in _POSSESSIVES
        if word in _RELATIVES and place and possessed and _is_name_at(sentence, place + 1):
            return place
    return None


def _profession(sentence: Sentence) -> int | None:
    return 0 if _tells_profession(sentence) or _calls(sentence) else None


def _appointment(sentence: Sentence) -> int | None:
    """An appointment has a day or an hour; without one it is talk about one."""
    place = _APPOINTMENTS.first(sentence)
    return place if place is not None and any(character.isdigit() for character in sentence.text) else None


def _duty(sentence: Sentence) -> int | None:
    place = _DUTIES.first(sentence)
    if place is None or " you need to " in sentence.flat or sentence.words[place : place + 2] == ("due", "to"):
        return None
    return place if _is_personal(sentence, place) else None


def _task_note(sentence: Sentence) -> int | None:
    return 0 if _is_note_of_task(sentence) else None


def _deed(sentence: Sentence) -> int | None:
    place = _DONE_DEEDS.first(sentence)
    return place if place is not None and place <= _SUBJECT_WORDS else None


def _is_excepted(sentence: Sentence, phrases: Sequence[str]) -> bool:
    return any(phrase in sentence.flat for phrase in phrases)


def _tells_profession(sentence: Sentence) -> bool:
    """Return True for "I'm a nurse", "Ich bin Schreinerin", "je suis infirmière", "Mira is an engineer", "Mira Okafor, engineer, ..."."""
    if _PROFESSIONS.triggers.isdisjoint(sentence.triggers):
        return False
    full_name = "," in sentence.text and _is_name_at(sentence, 0) and _is_name_at(sentence, 1)
    if full_name and any(one.startswith(_PROFESSIONS.beginnings) for one in sentence.words[2:4]):
        return True
    for place, word in enumerate(sentence.words[:-1]):
        if word not in _BEING or (word == "am" and "i" not in sentence.words[:place]):  # "am Montag beim Arzt"
            continue
        following = sentence.words[place + 1 : place + 5]
        if any(one.startswith(_PROFESSIONS.beginnings) or one in _PROFESSIONS.words for one in following):
            return True
    return False


def _calls(sentence: Sentence) -> bool:
    """Return True if a sentence says what somebody is called."""
    may_call = any(part in sentence.text for part in _PARTS_OF_CALLED)
    return may_call and _CALLED.search(" ".join(sentence.written)) is not None


def _is_personal(sentence: Sentence, place: int) -> bool:
    """Return True if a duty is somebody's own, or has an end: a program "must" as well."""
    return (
        place == 0
        or (place <= _NEAR_SUBJECT and sentence.words[0] not in _ARTICLES and sentence.written[0][:1].isupper())
        or bool(_subject(sentence, Aspect.COMMITMENT, place, None))
        or _begins_with_name(sentence)
        or not _DEADLINES.isdisjoint(sentence.words)
        or sentence.dense
    )


def _is_note_of_task(sentence: Sentence) -> bool:
    words = sentence.words
    if not 1 < len(words) <= _SHORT_NOTE_WORDS or words[1] in _BEHIND_NOUNS:
        return False
    return words[0] in _TASK_VERBS or words[-1] in _GERMAN_INFINITIVES


def _subject(sentence: Sentence, aspect: Aspect, place: int, speaker: str | None) -> Aspect:
    """Return whom a sentence is about, of which ``aspect`` is said at its word ``place``: the user, their family, or nobody of them."""
    if _begins_with_relative(sentence):
        return Aspect.ABOUT_FAMILY
    return Aspect.ABOUT_USER if _is_about_user(sentence, aspect, place, speaker) else Aspect.NONE


def _is_about_user(sentence: Sentence, aspect: Aspect, place: int, speaker: str | None) -> bool:
    if _names_user(sentence):
        return True
    if sentence.dense:
        return not any(one in sentence.text for one in _OTHERS_IN_CJK)
    if not is_user_word(speaker) or (aspect is not Aspect.HEALTH and _is_name_at(sentence, place - 1)):
        return False
    # The subject is left out: "Prefers short answers", "No longer drinks coffee".
    elided = place <= 1 and (place == 0 or sentence.words[0] in _ADVERBS) and not _begins_with_name(sentence)
    return elided or not _FIRST_PERSON.isdisjoint(sentence.words)


def _begins_with_relative(sentence: Sentence) -> bool:
    """Return True for "my daughter Nora ..." and "the user's eldest daughter ..."."""
    words = sentence.words[:_SUBJECT_WORDS]
    return any(
        word in _RELATIVES and not _POSSESSIVES.isdisjoint(words[max(place - 2, 0) : place])
        for place, word in enumerate(words)
    )


def is_user_word(speaker: str | None) -> bool:
    """Return True if a speaker's name stands for the user: none, "user", "me" and the like."""
    return speaker is None or fold(speaker).strip() in _USER_WORDS | _SELF


def _names_user(sentence: Sentence) -> bool:
    if any(one in sentence.text for one in _USER_IN_CJK):
        return True
    words = sentence.words
    for place, word in enumerate(words):
        if word in _USER_WORDS:
            if word.endswith("'s"):
                return True
            following = words[place + 1] if place + 1 < len(words) else ""
            led = place == 0 or words[place - 1] in _ARTICLES
            if led and following not in _USER_COMPOUNDS:
                return True
    return False


def _begins_with_name(sentence: Sentence) -> bool:
    """Return True if the first word may be a name: a capital, no word of a rule, and a verb of the third person behind it."""
    if len(sentence.words) < 2 or not _is_name(sentence.written[0], sentence.words[0]):  # noqa: PLR2004 - name and verb
        return False
    first, second = sentence.words[0], sentence.words[1]
    known = first in _WISHES or any(
        first in marks.words or first.startswith(marks.beginnings or ("\0",))
        for marks in (_HEALTH, _PREFERENCES, _IDENTITY, _DECISIONS, _FINISHED, _DONE_DEEDS, _HABITS)
    )
    return not known and (second in _BEING or second.endswith(("s", "t", "ed", "e", "a", "o")))


def _is_name_at(sentence: Sentence, place: int) -> bool:
    return 0 <= place < len(sentence.written) and _is_name(sentence.written[place], sentence.words[place])


def _is_name(written: str, folded: str) -> bool:
    known = _NO_NAMES, _USER_WORDS, _FIRST_PERSON, _ADVERBS
    return written[:1].isupper() and not any(folded in words for words in known)


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
_AND = LazyPattern(r",\s|,?\s(?:but|and|aber|sondern|und|mais|et|pero|sino|y|e)\s", re.IGNORECASE)
_BUT = LazyPattern(r",?\s(?:but|aber|sondern|mais|pero|sino)\s", re.IGNORECASE)
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
    r"(?:\b(?i:my name is|my name's|name is|user is called|user is named|user is|user's name is|"
    r"i am called|i'm called|please call me|call me|"
    r"mein name ist|ich heisse|ich heiße|name des nutzers ist|der nutzer heißt|die nutzerin heißt|"
    r"je m ?'?appelle|mon nom est|mon prenom est|mon prénom est|l ?'?utilisatrice s ?'?appelle|l ?'?utilisateur s ?'?appelle|"
    r"me llamo|mi nombre es|(?:el usuario|la usuaria) se llama)\s+)"
    r"(?-i:(?=[A-ZÀ-ÖØ-Þ]))" + _NAME + r"|(?:我叫|我的名字是|用户叫|用户的名字是)([\u3400-\u9fff]{2,4})"
    r"|名前は([\u3040-\u30ff\u3400-\u9fff]{1,8}?)(?:です|と|。|$)"
)
_PARTS_OF_CALLED = ("name", "nom", "call", "user", "ss", "appel", "llam", "叫", "名")
"""A folded text without all of them has no `_CALLED`; "ss" is that of "heiße" and "heißt"."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _marks(words: str = "", beginnings: str = "", phrases: str = "", characters: str = "") -> _Words:
    """Make marks of words between blanks, phrases between commas, and character strings between blanks."""
    between = [phrase.strip() for phrase in phrases.replace("\n", " ").split(",") if phrase.strip()]
    triggers = {
        *words.split(),
        *(beginning[:_BEGINNING_LETTERS] for beginning in beginnings.split()),
        *(" ".join(phrase.split()[:2]) for phrase in between),
    }
    return _Words(
        frozenset(words.split()),
        tuple(beginnings.split()),
        tuple(f" {phrase} " for phrase in between),
        tuple(characters.split()),
        frozenset(triggers),
    )


_HEALTH = _marks(
    words="""
        blutverdunner heuschnupfen asthma asma adhd autistic autism dyslexic enceinte insulin insulina insuline epipen
        wheelchair
    """,
    beginnings="""
        allergi allergy alergi intoleran unvertraglich diabet asthmat asmat epilep coeliac celiac celiaq coeliaq
        zoliak anaphyla migraine migran pregnan schwanger embarazad laktose lactose medikament medicament medication
        hypertens bluthochdruck herzschrittmacher
    """,
    phrases="""
        cannot eat, can't eat, must not eat, not allowed to eat, cannot take, can't take, blood thinners, hearing aid,
        bad back, bad knee, must not lift, hay fever, vertragt kein, vertragt keine, vertragt keinen, vertrage kein,
        vertrage keine, ne supporte pas, ne peut pas manger, no puede comer, no tolera, no puede tomar,
        blood pressure, blood type, heart condition, tension arterielle, presion arterial
    """,
    characters="花粉症 过敏 過敏 糖尿病 哮喘 喘息 ぜんそく アレルギー 怀孕 懷孕 妊娠 高血压 高血圧",
)
_DECISIONS = _marks(
    words="""
        vereinbart einigten decided decision chose opted beschlossen entschieden entschied entscheidung festgelegt
        geeinigt decidimos decidi decidio acordamos acordado elegimos elegi choisi convenu adopted
    """,
    beginnings="decide-",
    phrases="""
        we'll take, we will take, we're going with, it was decided, agreed to, voted for, voted to, final choice,
        es bleibt bei, es bleibt beim, bleibt es bei, wir bleiben bei, on prendra, on prend, on garde, est decide,
        c est decide, ont decide, nos quedamos con, quedamos en, avons decide, we will use, we use,
        we went with, went with, going with, go with, revised, settled on, agreed on, agreed to use, agreed that,
        we agreed, we picked, switched to, switched back to, we switched, moved from, migrated to, decided against,
        wir nehmen, wir nutzen, wir verwenden, on a decide, nous avons decide, j ai decide, a decide, ai decide,
        avons opte, on utilise, hemos decidido, he decidido, ha decidido, vamos a usar, usaremos, se decidio,
        nous utilisons
    """,
    characters="选择 决定 決定 決めた 決めました 决议 選ぶことにした することにした ことにしました",
)
_UNDECIDED = _marks(
    phrases="""
        not decided, undecided, not yet decided, haven't decided, hasn't decided, can't decide,
        noch nicht entschieden, noch nicht beschlossen, pas encore decide, aun no decid, to be decided, must decide,
        need to decide, needs to decide, have to decide, decide whether, decision pending
    """,
    words="undecided",
    characters="还没决定 未定 まだ決",
)
_REMINDERS = _marks(
    words="todo recuerdame rappelle-moi",
    phrases="""
        to do, to-do, remind me, remind us, remind the user, reminder to, don't forget, do not forget,
        don't let me forget, remember to, must not forget, mustn't forget, shouldn't forget,
        should not forget, erinnere mich, erinner mich, erinnere uns, nicht vergessen,
        denk daran, denk dran, rappelle moi, rappelez moi, n oublie pas, n oubliez pas, ne pas oublier, pense a,
        penser a, no olvides, no olvidar, recordarme, no te olvides, action item, zu erledigen, a faire, por hacer,
        noch zu tun
    """,
    characters="提醒我 别忘 別忘 不要忘 记得 記得 待办 待辦 思い出させて 忘れないで 忘れずに リマインド やること",
)
_OPEN_STATES = _marks(
    words="""
        fallig promised promise owes owe pending outstanding deadline versprochen verspreche aussteht ausstehend
        promis pendiente pendientes prometio prometi prometido
    """,
    phrases="""
        next step, next steps, waiting on, is due, are due, ist fallig, sind fallig, a rendre, a payer, a rappeler,
        to return, don't let, has promised, hat versprochen, a promis, still open, due on, due by, follow up,
        waiting for, action required, noch offen, steht noch aus, steht aus, en attente, quedan por, queda por,
        reste a
    """,
)
_APPOINTMENTS = _marks(words="appointment termin rendez-vous cita", phrases="rendez vous")
_DUTIES = _marks(
    phrases="""
        got to, ich soll, wir sollen,
        still has to, still have to, still needs to, need to, needs to, have to, has to, must, i'll, i will, we will,
        we'll, ought to, should, still to, due, plans to, planning to, plan to, intends to, will send, will call,
        will bring, muss noch, mussen noch, ich muss, wir mussen, muss, soll noch, sollte noch, offen, steht noch,
        will noch, wollen noch, mochte noch, habe vor, je dois, on doit, nous devons, doit, dois, il faut, faut,
        tengo que, tiene que, tenemos que, hay que, debo, debemos, debe, falta, faltan
    """,
    characters="需要 必须 必須 要去 还要 還要 答应 しなければ しないと 必要がある 予定 約束 までに",
)
_NOT_YET = _marks(
    phrases="""
        not done, not yet, not finished, isn't done, isn't finished, hasn't been, haven't been, not paid,
        still unpaid, noch nicht, nicht erledigt, nicht fertig, pas encore, pas fini, pas termine, todavia no, aun no,
        sin terminar, sin pagar
    """,
    characters="未完成 还没 還沒 まだ終わっ まだし",
)
_FINISHED = _marks(
    words="""
        done finished completed erledigt fertig abgeschlossen erledigen-ist termine terminee hecho hecha terminado
        terminada listo lista resolved solved cancelled canceled abgesagt annule anulado cancelado settled
    """,
    phrases="""
        taken care of, no longer needed, no longer necessary, not needed any more, wrapped up, c est fait, est fait,
        est faite, ya esta, hat sich erledigt, ist erledigt, a ete fait
    """,
    characters="完成了 已完成 做完 办好 辦好 搞定 好了 完了 済み 済んだ 済ませ 終わった 終わりました 終えた",
)
_DONE_DEEDS = _marks(
    words="""
        called phoned rang bought sent paid booked fixed shipped submitted delivered closed merged ordered renewed
        returned emailed mailed picked collected repaired replied signed filed uploaded published posted handed
        cleaned invited confirmed informed told angerufen gekauft geschickt gesendet bezahlt gebucht repariert
        bestellt verlangert abgeholt eingereicht geliefert abgegeben unterschrieben verschickt beantwortet besorgt
        erneuert appele achete envoye paye reserve repare commande renouvele recupere signe livre depose llamado llame
        comprado compre enviado envie pagado pague reservado reparado pedido renovado recogido firmado entregado
    """,
    characters="已经 買った 買いました 電話した 電話しました 送った 送りました 払った 払いました 打了 买了 寄了 付了",
)
_IDENTITY = _marks(
    words="""
        surname nickname birthday geburtstag anniversaire cumpleanos beruf wohnhaft pronouns verheiratet geschieden
        married divorced casado casada timezone hometown
    """,
    phrases="""
        grew up, studies law, studies medicine, studies at, my flat, my house, i run a, runs a, owns a,
        twin brother, twin sister, lives near, live near, lives at, lebt seit, wohnt seit, wohnt bei, zwei tochter,
        zwei sohne, drei tochter, drei sohne, habite depuis, habitent, vit depuis, travaille dans, trabaja para,
        vive desde, deux filles, deux fils, eine tochter, einen sohn, une fille et, un fils et, my name, name is,
        user's name, i am called, i'm called, is called, is named, call me, first name, last name, live in, lives in,
        living in, lived in, based in, i am from, i'm from, is from, comes from, come from, born in, born on,
        moved to, years old, work as, works as, working as, work at, works at, work for, works for, i work in,
        works in, job is, profession is, is employed, employed at, i study, is studying, time zone, native language,
        mother tongue, native speaker, speaks, i speak, has two children, two children, three children, has a son,
        has a daughter, has two, has three, is married, ich heisse, mein name, heisst, ich wohne, wohnt in, wohne in,
        lebe in, lebt in, wir wohnen, wir leben, ich komme aus, kommt aus, geboren, jahre alt, arbeite als,
        arbeitet als, arbeite bei, arbeitet bei, von beruf, muttersprache, spreche, spricht, zwei kinder, drei kinder,
        habe kinder, m appelle, s appelle, mon nom, mon prenom, j habite, habite a, habite en, nous habitons, je vis,
        vit a, ne a, nee a, nee en, ne en, marie avec, mariee, travaille comme, travaille chez, je travaille,
        langue maternelle, je parle, parle, deux enfants, trois enfants, me llamo, se llama, mi nombre, vivo en,
        vive en, vivimos en, naci en, nacio en, trabajo como, trabaja como, trabajo en, trabaja en, trabajo de,
        lengua materna, hablo, habla, dos hijos, tres hijos, dos hijas, anos de edad, tiene anos
    """,
    characters="""
        我叫 我的名字 我住 住在 我来自 我來自 职业 職業 工作是 我是一 结婚 結婚 生日 女儿叫 儿子叫 用户叫 用户是
        私の名前 名前は と申します 住んで 出身 働いて 誕生日 娘の名 息子の名
    """,
)
_NO_IDENTITY = (
    " moved to production ",
    " moved to the ",
    " moved to a ",
    " was moved to ",
    " is moved to ",
    " name is taken ",
    " branch name ",
    " file name ",
    " speaks for ",
)
_PREFERENCES = _marks(
    words="""
        tutoyer duzt duzen siezen geduzt gesiezt prefer prefers preferred prefering preference preferences favourite
        favorite favourites favorites dislikes dislike hates hate loves enjoys likes adores vegetarian vegan
        vegetarier vegetarierin veganer veganerin vegetariano vegetariana vegano vegana vegetarien vegetarienne vegane
        kosher halal pescatarian teetotal lieblings gernsten mag hasst hasse aime adore deteste favori preferee
        encanta odia odio preferido preferida favorito favorita
    """,
    beginnings="bevorzug lieblings prefier prefere vorliebe",
    phrases="""
        asks for, insists on, does not want, doesn't want, do not want, would like to be, wants to be called,
        british spelling, american spelling, metric units, keep the tone, call the user, in answers, in antworten,
        kurz antworten, bitte kurz, mochte kein, mochte keine, mochte keinen, wunscht, wunscht sich, will kein,
        will keine, ne veut pas, ne veut plus, no quiere, le molesta, le molestan, dans les reponses,
        en las respuestas, merci de, i like, i love, i enjoy, we like, user like, don't like, doesn't like,
        do not like, does not like, can't stand, cannot stand, would rather, rather than, no longer drinks,
        no longer eats, no longer likes, no longer uses, no longer wants, no longer drink, no longer eat,
        no longer like, no longer use, no longer want, doesn't drink, doesn't eat, don't drink, don't eat,
        does not eat, does not drink, never eats, never drinks, from now on answer, from now on use,
        from now on write, from now on reply, from now on call, always answer, always reply, always use, always write,
        never use, never answer, never write, please always, please never, wants answers, wants replies, wants short,
        answer in, answers in, reply in, replies in, respond in, write in, be brief, keep answers, keep it short,
        drinks only, only drinks, only eats, gave up, lieber, am liebsten, gerne, trinkt kein, trinkt keine,
        trinkt keinen, isst kein, isst keine, trinke kein, trinke keine, trinke keinen, esse kein, esse keine,
        nicht mehr, immer auf, bitte immer, bitte nie, nur noch, antworten auf, j aime, n aime pas, n aime plus,
        ne mange pas, ne boit pas, ne boit plus, ne mange plus, ne bois plus, ne bois pas, ne mange, plutot que,
        reponses en, repondre en, reponds en, reponds toujours, toujours repondre, me gusta, me gustan, le gusta,
        le gustan, nos gusta, ya no bebe, ya no come, ya no toma, ya no bebo, ya no como, ya no tomo, ya no usa,
        ya no quiere, no come, no bebe, no toma, no como, no bebo, no tomo, responde siempre, responder en,
        respuestas en
    """,
    characters="""
        喜欢 喜歡 偏好 讨厌 討厭 不吃 不喝 宁愿 最爱 更愿意 不再喝 不再吃 好き 嫌い 苦手 好む 好み 食べない 飲まない 飲みません 食べません
    """,
)
_NO_PREFERENCE = (
    " would like to ",
    " i'd like to ",
    " looks like ",
    " sounds like ",
    " feels like ",
    " nicht mehr lange ",
    " like to book ",
)
_HABITS = _marks(
    words="""
        usually always never typically often plays collects normalerweise meistens immer spielt d'habitude
        habituellement toujours joue normalmente siempre suele juega
    """,
    phrases="""
        wants to learn, hopes to, dreams of, every morning, every day, every evening, every week, used to,
        is learning, jeden morgen, jeden tag, jede woche, chaque matin, chaque semaine, cada manana, cada semana,
        tous les matins
    """,
    characters="每天 每周 毎日 毎朝 毎週",
)
_REVERSALS = _marks(
    words="instead stattdessen reverted abandoned revised",
    phrases="""
        no longer, not any more, anymore, any more, go back to, going back to, back to, switched to, switched back,
        switch to, instead of, changed our mind, changed my mind, changed her mind, changed his mind, after all,
        decided against, gave up, stopped, nicht mehr, doch wieder, zuruck zu, statt, ne plus, n aime plus,
        ne boit plus, ne mange plus, ne bois plus, revenir a, retour a, au lieu de, ya no, volver a, volvemos a,
        en lugar de, en vez de, dejo de, doch lieber, replaces, replaced
    """,
    characters="不再 改用 改成 改为 戻す 戻し やめた やめました 代わりに",
)
_TASK_VERBS = _set_of("""
        call phone buy send book pay order fix renew check prepare return cancel invite finish review submit email
        mail ask pick collect clean repair schedule arrange reply sign file upload publish deliver organise organize
        register appeler acheter envoyer payer reserver commander renouveler preparer finir rappeler recuperer reparer
        ecrire livrer demander llamar comprar enviar pagar reservar pedir renovar preparar terminar recoger reparar
        escribir entregar preguntar mandar
    """)
_BEHIND_NOUNS = _set_of("for of is was has in on at from and works lives with was were are del de la")
_GERMAN_INFINITIVES = _set_of("""
        anrufen kaufen schicken buchen bezahlen bestellen verlangern abholen besorgen reparieren fragen schreiben
        erledigen vorbereiten absagen einladen liefern abgeben einreichen unterschreiben zahlen senden mitbringen
        verschicken fertigstellen
    """)
_WISHES = _set_of("wants veut voudrait quiere")
_OF_DEEDS = _set_of("to que qu")
_INFINITIVE_ENDINGS = ("er", "ir", "ar", "re")
_INTENTS = _marks(phrases="wants to, want to, would like to, mochte, voudrait, veut, quiere")
_DEADLINES = _set_of("""
    by until before till bis vor avant antes friday monday tomorrow freitag montag morgen demain manana
""")
_BEING = _set_of("am is i'm was are bin ist bist suis est soy es he's she's")
_PROFESSIONS = _marks(
    words="""
        chef cook pilot vet writer author artist ceo cto founder retired freelancer freelance surgeon midwife judge
    """,
    beginnings="""
        engineer developer programmer dispatcher chauffeur driver mechanic gardener cellist violinist pianist singer
        verkauf vendeu secretaire sekretar disponent transportist cuisini gartner jardini teacher nurse doctor
        lawyer designer architect accountant carpenter electrician plumber musician photograph journalist student
        professor scientist researcher analyst consultant manager director librarian pharmacist translator dentist
        therapist psycholog biolog chemist physicist baker farmer potter weaver blacksmith goldsmith bookbinder
        luthier tailor lehrer krankenschwester krankenpfleger arzt arztin ingenieur entwickler schreiner tischler
        topfer weber schmied goldschmied backer buchbinder schneider anwalt kunstler handwerker musiker architekt
        infirmier medecin professeur developpeur menuisier potier potiere tisserand boulanger avocat artisan relieur
        couturi etudiant enfermer medic profesor ingenier desarrollador carpinter alfarer ceramista tejedor panader
        abogad artesan encuadernador estudiante maestr
    """,
)
_POSSESSIVES = _set_of("""
        my our user's mein meine meinen meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra nuestros users
        utilisateur utilisatrice
    """)
_RELATIVES = _set_of("""
        wife husband spouse partner girlfriend boyfriend fiance fiancee daughter daughters son sons child children kid
        kids baby mother father mum mom dad parents brother sister siblings grandmother grandfather grandma grandpa
        aunt uncle cousin niece nephew dog cat frau mann ehefrau ehemann partnerin freundin freund tochter sohn kind
        kinder mutter vater eltern bruder schwester oma opa tante onkel hund katze femme mari epouse conjoint compagne
        compagnon fille fils enfant enfants mere pere parents frere soeur grand-mere chien chat mujer esposa esposo
        marido pareja hija hijo hijos hijas madre padre padres hermano hermana abuela abuelo perro gato
    """)
_FIRST_PERSON = _set_of("""
        i i'm i've i'd i'll my mine we we're we've we'll our ours ich mein meine meinen meinem meiner mir mich wir uns
        unser unsere je j mon ma mes moi nous notre nos yo mi mis nosotros nosotras nuestro nuestra soy vivo trabajo
        prefiero tengo odio bebo necesito debo decidimos acordamos usamos elegimos hemos llamo gusta tenemos vivimos
        hablo naci decidi
    """)
_USER_WORDS = _set_of(
    "user user's nutzer nutzerin nutzers benutzer benutzerin utilisateur utilisatrice usuario usuaria human"
)
_SELF = _set_of("me i myself ich moi yo owner 我 私 用户 ユーザー")
_ARTICLES = _set_of("the der die dem den des l la el al le un una our my this")
_USER_COMPOUNDS = _set_of("""
        table tables interface story stories id ids account accounts data guide service model input group groups
        management list record records session sessions name names agent experience testing tests manual
    """)
_USER_IN_CJK = ("用户", "用戶", "ユーザー")
_OTHERS_IN_CJK = ("他", "她", "彼", "さん", "先生", "同事", "同学")
_ADVERBS = _set_of("""
        no always never still also usually really strongly currently now generally does doesn't has is not no-longer
        ya no le ne immer nie nur please bitte very highly severely lightly mildly
    """)
_NO_NAMES = _set_of("""
        i i'm i've i'd i'll we the a an my our his her their he she it they this that these and but also please always
        never no not ich wir der die das er sie es mein meine je j il elle on nous le la les un une mon ma el los las
        yo ella mi today yesterday tomorrow now since heute gestern jetzt aujourd hui hoy ayer ahora team everyone
        everybody
    """)
_TRIGGERS = frozenset(
    trigger for marks in tuple(globals().values()) if isinstance(marks, _Words) for trigger in marks.triggers
)
"""Those of all marks; most sentences have none."""
_TAGS: Mapping[str, Aspect] = {
    tag: aspect
    for aspect, names in (
        (
            Aspect.IDENTITY,
            """
        identity profile name about-me about me user-profile bio family familie famille familia role job work-role
        location home personal-info person address timezone birthday occupation profession beruf metier profesion
    """,
        ),
        (
            Aspect.HEALTH,
            """
        health allergy allergies medical medication diet gesundheit allergie allergien sante salud alergia alergias
    """,
        ),
        (
            Aspect.PREFERENCE,
            """
        preference preferences prefs pref style preferences-user likes dislikes vorliebe vorlieben praferenz
        preferencia preferencias
    """,
        ),
        (
            Aspect.COMMITMENT,
            """
        todo to-do task tasks commitment commitments reminder open open-task action-item promise follow-up aufgabe
        aufgaben tache taches tarea tareas pendiente
    """,
        ),
        (Aspect.DONE, "done closed completed finished erledigt fait hecho"),
        (Aspect.DECISION, "decision decisions adr entscheidung beschluss decision-record"),
    )
    for tag in names.split()
} | {"about me": Aspect.IDENTITY}

_LABELS: Mapping[str, Aspect] = {"user": Aspect.IDENTITY, "name": Aspect.IDENTITY} | dict.fromkeys(
    ("settled", "agreed", "decided", "festgelegt", "beschlossen", "convenu", "acordado"), Aspect.DECISION
)
"""What stands before a colon, and is too common as a tag."""

TELLING_TAGS: tuple[str, ...] = tuple(
    form for tag in _TAGS for form in (tag, tag.capitalize(), tag.upper(), f"#{tag}", tag.replace("-", "_"))
)
"""Tags that alone say what a memory tells, in the ways in which they are mostly written."""

_RULES: tuple[tuple[Aspect, Callable[[Sentence], int | None], Callable[[str], bool] | None], ...] = (
    (Aspect.COMMITMENT, _reminder, denies_duty),
    (Aspect.NONE, _question, None),
    (Aspect.HEALTH, _HEALTH.first, None),
    (Aspect.DECISION, _decision, denies_decision),
    (Aspect.COMMITMENT, _unsettled, is_supposed),
    (Aspect.DONE, _FINISHED.first, denies_deed),
    (Aspect.IDENTITY, _identity, denies_identity),
    (Aspect.PREFERENCE, _preference, None),
    (Aspect.PREFERENCE, _wish, None),
    (Aspect.IDENTITY, _profession, denies_identity),
    (Aspect.COMMITMENT, _OPEN_STATES.first, denies_duty),
    (Aspect.COMMITMENT, _appointment, denies_duty),
    (Aspect.COMMITMENT, _duty, denies_duty),
    (Aspect.COMMITMENT, _intent, denies_duty),
    (Aspect.COMMITMENT, _task_note, denies_duty),
    (Aspect.DONE, _deed, denies_deed),
    (Aspect.IDENTITY, _named_relative, denies_identity),
    (Aspect.TRAIT, _HABITS.first, None),
)
"""Tried in this order: what is said outright ("remind me", "allergic") before what words only suggest.

The last of a rule tells when its words are denied. A denied taste is one ("doesn't like"); of health rather too
much is shown than too little.
"""
