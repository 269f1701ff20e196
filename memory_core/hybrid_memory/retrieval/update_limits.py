"""What forbids that a later memory stands in for an earlier one, however alike they are: another thing, not so, not in force.

"Tina's husband now works at Audi" is no later word on "Tina works at Bosch", nor is "the yearly fee was raised" one on the monthly
fee, and "the rent was not changed" changes nothing. The odds of ``update_detection.py`` know how many words two memories share; this
looks at those that they do not share. `other_thing` and `not_in_force` forbid any change of the order, `told_of_another` only the claim
that one is newer. Pure; silence where a sentence is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.time_expressions.lexer import word_set
from hybrid_memory.retrieval.update_words import CALENDAR, CHANGE, NUMBER, OF_OWNER, Statement, bare_word, stems_of
from hybrid_memory.text import STOP_WORDS

LONGEST_STATEMENT = 30  # words; what is longer is a message, whose sentences have many subjects
LONG_BEFORE_DAYS = 31  # a day that lies further before an earlier memory tells of what came before that memory

_SHORTEST_PAST = 4  # letters of a word in -ed that is no past: "red", "need"
_EPOCH = date(1970, 1, 1).toordinal()


def other_thing(asked: Statement, earlier: Statement, later: Statement) -> bool:
    """Return True if the later memory has another word where the earlier one has one that was asked for, or one more.

    So "the deadline for the grant" where the earlier one and the question have "for the tax return"; "Tina's husband" and "the birthday
    party" where the earlier one has Tina and the birthday. Without a word in its place a missing one is only not repeated.
    """
    if len(earlier.tokens) > LONGEST_STATEMENT or len(later.tokens) > LONGEST_STATEMENT:
        return False
    old, new = parts_of(earlier.text), parts_of(later.text)
    if not (old.has_end and new.has_end):
        return _other_period(earlier, later)
    missing = {word for word in (*old.subject, *old.qualifiers) if _has(asked, word) and not _has(later, word)}
    other = {word for word in (*new.subject, *new.qualifiers) if not _has(asked, word) and not _has(earlier, word)}
    if not any(_has(asked, word) for word in new.subject):  # the value comes first: "Ida now leads the team"
        other -= {word for name in later.other_names for word in name.split()}
    lacks = missing - _replaceable(asked, earlier, later)
    if _other_period(earlier, later) or (lacks and (other or _RELATED.intersection(lacks, old.possessed))):
        return True
    if not old.subject or not _all_in(old.subject, new.subject):
        return False
    inside = _from_first(old.subject, new.subject)
    added = {word for word in inside if not _has(asked, word) and not _has(earlier, word)}
    names_more = bool(old.verb and old.verb == new.verb) or _is_longer_noun(asked, old, new)
    return bool(added & _RELATED or (added and names_more)) or _says_twice(new) != _says_twice(old)


def _from_first(some: Sequence[str], words: Sequence[str]) -> Sequence[str]:
    """Return the words from the one before the first of some on: what stands further before only opens a sentence."""
    first = next((at for at, word in enumerate(words) if _all_in((word,), some)), 0)
    return words[max(first - 1, 0) :]


def _is_longer_noun(asked: Statement, old: Parts, new: Parts) -> bool:
    """Return True if the last word of a subject is asked for and one more noun follows it in the other: "birthday party"."""
    last = old.subject[-1]
    return any(
        before == last and _has(asked, last) and not _has(asked, word)
        for before, word in zip(new.subject, new.subject[1:], strict=False)
    )


def told_of_another(earlier: Statement, later: Statement) -> bool:
    """Return True if one of two statements names its subject by a word that the other one lacks, or qualifies its value by one.

    The subject is what stands before the verb. A qualification is what follows "in", "for", "of" and the like after the value.
    """
    if _says_twice(parts_of(earlier.text)) != _says_twice(parts_of(later.text)):
        return True
    denied = later.denies(earlier)
    for one, other in ((earlier, later), (later, earlier)):
        parts = parts_of(one.text)
        if any(not _has(other, word) for word in _subject(one, parts)):
            return True
        if not denied and any(not _has(other, word) for word in parts.qualifiers):
            return True
    return False


def not_so(asked: Statement, later: Statement) -> bool:
    """Return True if whatever a memory says of the question's words is denied, supposed, asked, or of something former."""
    if _ASKS.fullmatch(later.text.strip()):
        return True
    said = [one for one in sentences(later.text) if asked_words(asked) & {bare_word(token) for token in _words(one)}]
    return bool(said) and all(_NOT_SO.search(one) or _is_former(asked, one) for one in said)


def only_announced(later: Statement, days: Sequence[int], asked_day: int) -> bool:
    """Return True if a memory tells of what will be and names no day that has come."""
    return _ANNOUNCED.search(later.text) is not None and not (days and min(days) <= asked_day)


def not_in_force(later: Statement, days: Sequence[int], *, written: int, earlier_day: int, asked_day: int) -> bool:
    """Return True if a memory is about a time that has not come on ``asked_day``, or was long past on ``earlier_day``.

    ``days`` are those that it speaks of, ``written`` is its own. Days since 1970-01-01. A day
    that is the value itself ("moved to 7 March") says nothing.
    """
    starts = _STARTS.search(later.text) is not None
    if starts and days and min(days) > asked_day:
        return True
    coming = _NEXT.search(later.text)
    if coming and (starts or _ANNOUNCED.search(later.text)) and asked_day < written + _DAYS_OF[coming[1].casefold()]:
        return True
    started = [int(found[1]) for found in _STARTS.finditer(later.text) if found[1]]
    if started and min(started) > _year_of(asked_day):
        return True
    years = [int(found[1]) for found in _PAST_YEAR.finditer(later.text)]
    if years and max(years) < _year_of(earlier_day):
        return True
    return starts and bool(days) and max(days) < earlier_day - LONG_BEFORE_DAYS


def asked_words(asked: Statement) -> frozenset[str]:
    """Return the words and numbers of a question that say what it is about."""
    return frozenset(word for word in asked.words if _counts(word))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a title's dot ends none."""
    return [one for one in _SENTENCE_END.split(text) if one.strip()]


@dataclass(frozen=True, slots=True)
class Parts:
    """The words of a text's first sentence that say what it is about.

    ``subject``: those before its verb, in order, without words of change and of time; ``verb``: the first
    one that says more than "is" or "has"; ``possessed``: those of them that follow a possessive; ``rest``: those behind the verb;
    ``qualifiers``: nouns behind "in", "for", "of" and the like that follow its value; ``has_end``: whether a verb or a colon was found.
    """

    subject: tuple[str, ...]
    verb: str
    possessed: tuple[str, ...]
    rest: tuple[str, ...]
    qualifiers: tuple[str, ...]
    has_end: bool


@lru_cache(4096)
def parts_of(text: str) -> Parts:
    """Return the parts of a text's first sentence."""
    first = _HERALD.sub("", next(iter(sentences(text)), ""), count=1)
    tokens = _words(first)
    plain = [
        bare_word(token) if _counts(bare_word(token)) and not _is_time(tokens, at) else ""
        for at, token in enumerate(tokens)
    ]
    opens_with_verb = bool(tokens) and _is_change(
        bare_word(tokens[0])
    )  # "Moved the meeting to ...": the subject is not said
    for at, token in enumerate(tokens if not opens_with_verb else ()):
        verb, colon = _is_verb(tokens, at), first[token.end() : token.end() + 1] == ":"
        if verb or colon:
            end = at + (not verb)
            owned = [plain[place] for place in range(1, end) if OF_OWNER.search(tokens[place - 1][0])]
            return Parts(
                subject=tuple(filter(None, plain[:end])),
                verb=_verb_of(tokens[at:]) if verb else "",
                possessed=tuple(filter(None, owned)),
                rest=tuple(filter(None, plain[at + 1 :])),
                qualifiers=_qualifiers(tokens[at + 1 :]),
                has_end=True,
            )
    return Parts(tuple(filter(None, plain)), "", (), (), (), has_end=False)


def _is_verb(tokens: Sequence[re.Match[str]], at: int) -> bool:
    word = bare_word(tokens[at])
    if at == 0 or _is_time(tokens, at):
        return False
    if word in _PLAIN_VERBS:
        return bare_word(tokens[at - 1]) in _PRONOUNS
    return word in _VERBS or _is_change(word)


def _verb_of(tokens: Sequence[re.Match[str]]) -> str:
    """Return the first verb of some words but "is", "has" and what goes with them, if it is near."""
    words = [bare_word(token) for token in tokens[:3]]
    return next((word for word in words if word in _VERBS - _LIGHT_VERBS), "")


def _is_change(word: str) -> bool:
    return word in _CHANGE_VERBS or (word.endswith("ed") and len(word) > _SHORTEST_PAST)


def _qualifiers(tokens: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """Return the first noun behind each preposition of some words, but for one that opens the value."""
    found: list[str] = []
    open_value = True
    waiting = False
    for at, token in enumerate(tokens):
        word = bare_word(token)
        if word in _PREPOSITIONS:
            waiting = not open_value
            continue
        if word in _BEFORE_VALUE or word in _VERBS or word in _CHANGE_VERBS or CHANGE.fullmatch(word):
            continue
        if waiting and word not in STOP_WORDS:
            if _counts(word) and not _is_time(tokens, at) and word not in _ADVERBIAL and not word[0].isdigit():
                found.append(word)
            waiting = False
        if word not in STOP_WORDS:
            open_value = False
    return tuple(found)


def _subject(told: Statement, parts: Parts) -> tuple[str, ...]:
    """Return the words of the subject; where the value comes first, as in "Ida is the owner of the key", those behind the verb."""
    asked_first = not parts.has_end or any(word in told.expected for word in parts.subject)
    return parts.subject if asked_first else parts.rest


def _all_in(some: Sequence[str], words: Sequence[str]) -> bool:
    """Return True if some words stand among others, in whatever form."""
    stems = frozenset(stem for word in words for stem in stems_of(word))
    return all(word in words or not stems.isdisjoint(stems_of(word)) for word in some)


def _says_twice(parts: Parts) -> frozenset[str]:
    """Return what a subject names twice: "Ben's boss's boss"."""
    return frozenset(word for word in parts.subject if parts.subject.count(word) > 1)


def _replaceable(asked: Statement, earlier: Statement, later: Statement) -> frozenset[str]:
    """Return the words of a question that the later memory need not have."""
    words = [bare_word(token) for token in asked.tokens]
    free: set[str] = set()
    for at, word in enumerate(words[:-1]):
        if word in _ASKS_FOR_KIND and _counts(words[at + 1]):
            free.add(words[at + 1])
    if words and words[0] in _AUXILIARIES:
        free |= {word for word in words if not _in_subject(earlier, word)}
    if later.tells_change and any(word in _AUXILIARIES for word in words):
        free |= {word for word in words if word in _VERBS or word in _PLAIN_VERBS}
    return frozenset(free)


def _in_subject(told: Statement, word: str) -> bool:
    stems = frozenset(stems_of(word))
    return any(word == other or not stems.isdisjoint(stems_of(other)) for other in parts_of(told.text).subject)


def _has(told: Statement, word: str) -> bool:
    if word in told.words:
        return True
    stems = stems_of(word)
    if word.isalnum():
        return not told.stems.isdisjoint(stems)
    return bool(stems) and told.stems.issuperset(stems)  # "sister-in-law" is not "sister"


def _counts(word: str) -> bool:
    return word not in STOP_WORDS and word not in _EMPTY and CHANGE.fullmatch(word) is None


def _is_time(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Return True for a month, a weekday, a year, and the number beside a month."""
    word = bare_word(tokens[at])
    if word in CALENDAR or _WHOLE_YEAR.fullmatch(word):
        return True
    beside = [bare_word(tokens[near]) for near in (at - 1, at + 1) if 0 <= near < len(tokens)]
    if word == "may":
        return any(other[0].isdigit() or other in _BEFORE_MONTH for other in beside)
    return NUMBER.fullmatch(word) is not None and any(other in CALENDAR or other == "may" for other in beside)


def _is_former(asked: Statement, sentence: str) -> bool:
    """Return True if what a sentence has of the question it calls former, and nothing of it present."""
    tokens = _words(sentence)
    wanted = asked_words(asked)
    former = [at for at, token in enumerate(tokens) if bare_word(token) in _FORMER]
    called = {bare_word(tokens[at + 1]) for at in former if at + 1 < len(tokens)} & wanted
    return any(sum(bare_word(token) == word for token in tokens) == 1 for word in called)


def _other_period(earlier: Statement, later: Statement) -> bool:
    """Return True for a month against a year: "30 euros a month", "320 euros a year"."""
    periods = [
        {_PERIODS[word] for one in _PERIOD.finditer(told.text) if (word := one[1].casefold()) in _PERIODS}
        for told in (earlier, later)
    ]
    return all(periods) and periods[0] != periods[1]


def _year_of(day: int) -> int:
    return date.fromordinal(day + _EPOCH).year


def _words(text: str) -> list[re.Match[str]]:
    return list(Statement(text, frozenset()).tokens)


_SENTENCE_END = LazyPattern(r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bProf)(?<!\b[A-Z])[.!?;](?=\s)\s+|\n+")
_HERALD = LazyPattern(
    r"^\W*(?:update|correction|news?|note|new since today|i had that wrong|korrektur|neu|correction|corrección)\s*[:,–—-]\s*",
    re.IGNORECASE,
)
_PLAIN_VERBS = word_set(
    "go live work cost leave start begin end open need use run stand drive eat like prefer play pay earn weigh take meet drink speak "
    "listen rent stay depart arrive require keep hold teach learn study read train ride call write send serve"
)
_VERBS = word_set(
    "now no jetzt nun maintenant ahora désormais "
    "is are am was were be been has have had does do did will shall can must may goes lives works costs leaves starts begins ends opens "
    "needs uses runs stands sits sleeps wears drives eats likes loves prefers wants plays pays earns weighs takes meets sees visits "
    "drinks speaks listens rents owns stays belongs departs arrives expires supports requires got gets ate comes lies hangs keeps holds "
    "teaches learns studies reads trains rides calls writes sends serves "
    "ist sind bin war waren hat haben hatte wohnt arbeitet heißt kostet fährt geht beginnt endet liegt steht braucht nutzt spielt "
    "est sont était habite travaille coûte s'appelle commence finit part utilise "
    "es son está están era tiene tienen vive trabaja cuesta empieza termina sale usa"
)
_LIGHT_VERBS = word_set(
    "now no jetzt nun maintenant ahora désormais is are am was were be been has have had does do did will shall can must may got gets "
    "ist sind bin war waren hat haben hatte est sont était es son está están era tiene tienen"
)
_RELATED = word_set(
    "husband wife partner brother sister son daughter mother father mom mum dad parents child children baby grandmother grandfather aunt "
    "uncle cousin nephew niece friend boyfriend girlfriend neighbour neighbor boss colleague team dog cat bruder schwester mann frau sohn "
    "tochter mutter vater hund katze freund freundin frère soeur sœur mari femme fils fille mère père hermano hermana marido "
    "mujer hijo hija"
)
_PRONOUNS = word_set("i we you they ich wir je nous yo nosotros")
_CHANGE_VERBS = word_set(
    "moved moves switched switches changed changes replaced raised lowered reduced increased extended shortened renewed postponed "
    "rescheduled cancelled canceled dropped slipped updated upgraded became becomes left joined stopped quit closed fell rose went "
    "renamed reassigned"
)
_AUXILIARIES = word_set("is are am was were does do did has have can will must may ist sind hat est es está")
_ASKS_FOR_KIND = word_set("which what welche welcher welches quel quelle qué cuál")
_PREPOSITIONS = word_set(
    "in at for of on with from within inside near under für bei im am auf von mit aus dans à pour de du en con para"
)
_BEFORE_VALUE = word_set("now to no longer from not been being a an the")
_BEFORE_MONTH = word_set("in of since until from last next this")
_ADVERBIAL = word_set("now good last end total moment sure time call that it them instead once weekday weekdays")
_EMPTY = word_set(
    "who what which where when how why whose whom much many long does do did will shall can must may name called current currently "
    "today still tell me please right present latest as of since from on update correction also again only just new actual really "
    "wer was welche welcher welches wo wann wie wieviel ist sind hat heißt aktuell derzeit der die das den dem des ein eine von für "
    "qui que quel quelle où quand comment est le la les un une du des de l "
    "quién qué cuál dónde cuándo cómo es el los las una del"
)
_FORMER = word_set(
    "old former previous ex late erstwhile earlier ehemalige ehemaliger ehemaliges alte alter altes frühere früherer"
)
_NOT_SO = LazyPattern(
    r"\b(?:(?:not|never|n['’]t|hasn['’]t|wasn['’]t|weren['’]t|isn['’]t|didn['’]t|won['’]t|doesn['’]t|nicht|nie|pas|no se)"
    r"(?: (?:yet|be|been|have|get|going|to|actually|really)){0,3} (?:chang|mov|switch|replac|rais|lower|reduc|increas|extend|postpon"
    r"|resched|cancel|updat|upgrad|renam|geändert|verschoben|erhöht|changé|augmenté|cambi)\w*"
    r"|(?:not|isn['’]t|n['’]t) true|untrue|false|rumou?rs?|almost|nearly|may (?:be|have|get|rise|move|change)|should (?:be|have)"
    r"|unchanged|if|unless|whether|in case|would|could|might|maybe|perhaps|supposed(?:ly)?|rumou?red|considers?|considering|proposed"
    r"|suggests?|suggested|wants to|wanted to|hopes? to|plans? to|thinking (?:of|about)|wonders?|wondered"
    r"|falls|wenn|ob|vielleicht|würde|könnte|peut-être|serait|pourrait|quizás?|podría)\b",
    re.IGNORECASE,
)
_DAY_AND_MONTH = r"(?:(?: the)? \d{1,2}(?:st|nd|rd|th|\.)?(?: of)?)?(?: [^\W\d_]+,?)?(?: \d{1,2},)?"
_ASKS = LazyPattern(
    r"(?:is|are|am|was|were|do|does|did|has|have|had|will|would|can|could|should|who|what|when|where|which|why|how|ist|sind|war|hat|wird)\b"
    r"[^.!?]*\?",
    re.IGNORECASE,
)
_ANNOUNCED = LazyPattern(r"\b(?:will|going to|wird|werden|sera|seront|será|serán)\b", re.IGNORECASE)
_NEXT = LazyPattern(r"\bnext (week|month|year)\b", re.IGNORECASE)
_DAYS_OF = {"week": 7, "month": 31, "year": 366}
_STARTS = LazyPattern(
    r"(?:\b(?:from(?! .{1,30}\b(?:to|until|till)\b)|as of|as from|starting|starts on|effective|beginning"
    r"|since|ab|seit|dès|à partir d[eu]|desde|a partir de[l]?)\b|^\W*(?:on|in|am|im|le|el|en)\b)"
    + _DAY_AND_MONTH
    + r"(?: ((?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_PAST_YEAR = LazyPattern(
    r"\b(?:in|since|until|seit|bis|en|from|as of)" + _DAY_AND_MONTH + r" ((?:19|20)\d\d)\b", re.IGNORECASE
)
_WHOLE_YEAR = LazyPattern(r"(?:19|20)\d\d")
_PERIODS = {
    word: name
    for name, words in (
        ("hour", "hour stunde heure hora"),
        ("day", "day tag jour día"),
        ("week", "week woche semaine semana"),
        ("month", "month monat mois mes"),
        ("year", "year jahr an année año"),
    )
    for word in words.split()
}
_PERIOD = LazyPattern(
    r"\d[^\s.;,]*(?: [^\s.;,]+)?(?: (?:an?|per|each|every|pro|im|par|al|por) | ?/ ?)([^\W\d_]+)\b", re.IGNORECASE
)
