"""Which commitments are still open (what was done closes one, a day gone by ends one), and which questions ask for them.

Used for the brief and for "What is still to do?" (``reads.py``). Rules by words; pure.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

from hybrid_memory.model import Memory, Tier
from hybrid_memory.retrieval.aspects import Aspect, fold, names_in
from hybrid_memory.retrieval.time_expressions import parse_time_expressions
from hybrid_memory.text import words

# Set by hand where no reason is named.
_SHARED = 2 / 3  # of a commitment's own words that what closes it must repeat
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
    day = _last_day(memory.content, memory.created_at)
    if memory.occurred_at is not None and memory.occurred_at > memory.created_at:
        day = max(day or memory.occurred_at, memory.occurred_at)
    if day is None:
        return False
    grace = _APPOINTMENT_OVER if _APPOINTMENT.search(fold(memory.content)) else _OVERDUE
    return day + grace < now


def closes(done: str, commitment: str) -> bool:
    """Return True if a text that says that something is done means a commitment.

    It repeats most of the words that tell what is to be done, or tells nothing else; a different name in each of the two
    speaks against it. What kind of deed it was ("call", "booked") does not count.
    """
    ours, theirs = _object_words(commitment), _object_words(done)
    shared = ours & theirs
    if not shared:
        return False
    if _names_differ(done, commitment):
        return False
    return len(shared) >= _SHARED * len(ours) or theirs <= ours


def asks_for_open_items(query: str) -> bool:
    """Return True if a question asks what is still to be done."""
    return _OPEN_QUESTION.search(fold(query)) is not None


def topic_words(query: str) -> frozenset[str]:
    """Return the words of a question for open items that say which ones are meant; none where all are."""
    return frozenset(words(query)) - _asking_words()


@lru_cache(maxsize=4096)
def _last_day(content: str, created_at: datetime) -> datetime | None:
    """Return the end of the last day that a text names, if that lay ahead when it was written."""
    ends = [window.until for window in parse_time_expressions(content, created_at).windows if window.until is not None]
    last = max(ends, default=None)
    return last if last is not None and last > created_at else None


@lru_cache(maxsize=4096)
def _object_words(text: str) -> frozenset[str]:
    return frozenset(words(text)) - _deed_words()


def _names_differ(first: str, second: str) -> bool:
    """Return True if each of two texts has a name that the other has not. Words that begin a text are no names."""
    one, other = (frozenset(words(" ".join(names_in(text.strip()[1:])))) - _deed_words() for text in (first, second))
    return bool(one - _object_words(second)) and bool(other - _object_words(first))


@lru_cache(maxsize=1)
def _deed_words() -> frozenset[str]:
    return frozenset(words(_DEEDS)) | frozenset(_DEEDS.split())


@lru_cache(maxsize=1)
def _asking_words() -> frozenset[str]:
    return frozenset(words(_ASKING)) | frozenset(_ASKING.split())


_APPOINTMENT = re.compile(r"\b(?:appointment|meeting|termin|rendez[- ]vous|cita|reunion|besprechung)\b")
_OPEN_QUESTION = re.compile(
    r"\bto[- ]?dos?\b|\bstill (?:open|left|to (?:be )?do|to be done|need|have to|pending|outstanding|missing)\b"
    r"|\bis (?:left|open|pending|outstanding)\b|\b(?:left|remains) to (?:be )?do|\bleft to do\b"
    r"|\bopen (?:tasks|items|points|commitments|issues|questions)\b|\bpending\b|\boutstanding\b"
    r"|\bwhat (?:do|must|should) (?:i|we) (?:still |have to |need to )*(?:do|finish|take care)\b"
    r"|\bdo (?:i|we) (?:still )?(?:have|need) to do\b|\bon my (?:list|plate)\b|\bunfinished\b"
    r"|\bnot (?:yet )?done\b|\b(?:promised|forgot(?:ten)?) to do\b|\bwhat (?:have|did) (?:i|we) promised?\b"
    r"|\bnoch (?:offen|zu (?:tun|erledigen|machen)|erledigen|ausstehend|machen|tun)\b"
    r"|\bsteht (?:noch )?(?:an|aus|offen)\b|\boffene? (?:punkte|aufgaben|sachen|todos)\b"
    r"|\bwas muss ich\b|\bwas mussen wir\b|\bwas ist (?:noch )?offen\b|\bzu erledigen\b"
    r"|\bunerledigt|\breste[- ]t[- ]il\b|\breste a\b|\ba faire\b|\bdois[- ]je (?:encore )?faire\b"
    r"|\bje dois (?:encore )?faire\b|\ben attente\b|\btaches (?:ouvertes|en cours)\b|\bpas encore fait"
    r"|\bpendientes?\b|\bpor hacer\b|\bqueda(?:n)? (?:por|algo)\b|\b(?:me|nos) (?:queda|falta)n?\b"
    r"|\btengo que hacer\b|\btenemos que hacer\b|\bfalta (?:por )?hacer\b|\bsin terminar\b|还有什么|還有什麼|还要做|待办|没做完"
    r"|未完成|還沒做|やること|残って|まだ.{0,8}(?:ない|こと)|しなければ"
)
_ASKING = """
        what which is are still to do done be left open pending outstanding items tasks points commitments todo todos
        to-do list remaining need needs have must should i we me my our user finish yet unfinished remains there any
        anything things everything promised now today next week this was ist noch offen zu tun erledigen steht an aus
        offene offenen punkte aufgaben muss ich wir alles mussen müssen machen sachen unerledigt gibt es que qu est ce
        quoi quelles quels sont reste il a faire encore dois je nous tâches taches en attente ouvertes rester qué que
        queda quedan por hacer pendiente pendientes tengo tenemos falta faltan me nos hay cosas tareas cuáles cuales
        son todavía todavia aún las los el la de del le les des du der die das den
    """
_DEEDS = """
        remind reminder remember forget need needs must should todo to-do do done finished finish complete completed
        call called phone phoned ring rang buy bought send sent write wrote written book booked pay paid ask asked
        make made get got fix fixed ship shipped order ordered renew renewed return returned submit submitted deliver
        delivered pick picked collect collected repair repaired schedule scheduled cancel cancelled canceled prepare
        prepared review reviewed merge merged close closed resolve resolved update updated check checked email mail
        promised promise will still open soon please user today tomorrow yesterday week monday tuesday wednesday
        thursday friday saturday sunday finally already before by until next last give gave bring brought take took
        taken care erinnere erinner mich daran dass vergessen muss noch soll bitte erledigt fertig anrufen angerufen
        kaufen gekauft schicken geschickt buchen gebucht bezahlen bezahlt bestellen bestellt verlängern verlängert
        abholen abgeholt besorgen besorgt reparieren repariert fragen gefragt schreiben geschrieben den die das der
        ein eine einen dem zu für ich wir mit von beim vom an am bis ist hat haben wurde nicht und rappelle rappeler
        moi oublie oublier pas faut dois doit appeler appelé acheter acheté envoyer envoyé réserver réservé payer payé
        commander commandé fait faite réparer réparé récupérer récupéré le la les un une des du de au aux pour ai est
        été avec et recuérdame recordar llamar llamé llamado comprar compré comprado enviar envié enviado pagar pagué
        pagado reservar reservé reservado hecho hecha tengo tiene hay que olvidar olvides pedir pedido recoger
        recogido ya el los las una unos para por con he ha del al y
    """
