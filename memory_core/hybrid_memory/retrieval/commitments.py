"""Which commitments are still open (what was done closes one, a day gone by ends one), and which questions ask for them.

Used for the brief and for "What is still to do?" (``reads.py``). Rules by words; pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.text import STOP_WORDS, words
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
    return Account(
        objects=_objects_in(folded),
        first_clause=_objects_in(clause),
        deeds=frozenset(_DEED_OF[one] for one in _WORD.findall(folded) if one in _DEED_OF),
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
    found = {word[:_STEM] for word in _WORD.findall(folded) if word not in _DEED_OF and word not in _NO_OBJECTS}
    # Scripts without spaces give pairs of characters.
    dense = frozenset(words(folded)) if _DENSE.search(folded) else frozenset()
    return frozenset(one for one in found if len(one) > 1 and not one.isdigit()) | dense


@lru_cache(maxsize=1)
def _asking_words() -> frozenset[str]:
    return frozenset(words(_ASKING)) | frozenset(_ASKING.split())


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SILENT = """
    come came gone went arrived been here there
         remind reminder remember forget need needs must should todo finish promise promised will still open soon
    please user today     tomorrow yesterday week month monday tuesday wednesday thursday friday saturday sunday
    january february march april june july     august september october november december finally already before
    until next last end take took taken care now yet ask     erinnere erinner mich daran dass vergessen muss noch
    soll bitte den die das der des dem ein eine einen einem einer zu fur ich wir mit von     beim vom an am bis auf
    ist sind hat haben wurde werden nicht und oder nachsten nachste ende montag dienstag mittwoch donnerstag freitag
    samstag     sonntag januar februar marz mai juni juli oktober dezember     rappelle rappeler moi oublie oublier
    pas faut dois doit encore le la les un une des du de au aux pour ai est sont ete avec et avant fin mois     chez
    dans sur lundi mardi mercredi jeudi vendredi samedi dimanche ce cette qu que il elle on nous reste faire
    recuerdame recordar tengo tiene hay que olvidar olvides ya el los las una unos para por con he ha del al lunes
    martes miercoles jueves     viernes sabado domingo se su mi antes proximo     franken francs franc euro euros
    dollar dollars pounds pfund chf eur usd
"""
_DEEDS = """
    pay paid unpaid pays bezahlen bezahlt zahlen gezahlt unbezahlt payer paye payee payes impayee pagar pagado pague
    pagada;
    call called calling phone phoned ring rang anrufen angerufen anzurufen appeler appele telephone llamar llamado
    llame;
    send sent mail mailed email emailed post posted schicken geschickt verschicken verschickt senden gesendet envoyer
    envoye envoyee enviar enviado enviada envie;
    buy bought order ordered get got kaufen gekauft bestellen bestellt besorgen besorgt acheter achete achetee commander
    commande commandee comprar comprado compre pedir pedido;
    book booked reserve reserved buchen gebucht reserviert reserver reservee reservar reservado;
    renew renewed verlangern verlangert erneuern erneuert renouveler renouvele renovar renovado;
    fix fixed repair repaired mend mended reparieren repariert reparer repare reparar reparado;
    write wrote written draft drafted schreiben geschrieben ecrire ecrit ecrite escribir escrito;
    return returned bring brought back zuruckbringen zuruckgebracht rendre rendu devolver devuelto;
    sign signed unterschreiben unterschrieben signer signe firmar firmado;
    submit submitted file filed hand handed einreichen eingereicht abgeben abgegeben deposer depose entregar entregado;
    deliver delivered liefern geliefert livrer livre livree;
    collect collected pick picked abholen abgeholt recuperer recupere recoger recogido;
    cancel cancelled canceled absagen abgesagt kundigen gekundigt annuler annule cancelar cancelado;
    check checked review reviewed prufen gepruft verifier verifie revisar revisado;
    print printed drucken gedruckt imprimer imprime imprimir impreso;
    clean cleaned putzen geputzt nettoyer nettoye limpiar limpiado;
    tell told inform informed answer answered reply replied antworten geantwortet beantworten beantwortet repondre
    repondu responder respondido;
    done finished completed made do make erledigen erledigt machen gemacht fertig fait faite fini finie termine hecho
    hecha hacer terminado;
"""
_APPOINTMENT = LazyPattern(r"\b(?:appointment|meeting|termin|rendez[- ]vous|cita|reunion|besprechung)\b")
_OPEN_QUESTION = LazyPattern(
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
_CLAUSE_END = LazyPattern(r"[,;:.!?]\s|[,;:.!?]$|[。，；]")
_WORD = LazyPattern(r"[^\W_]+")
_DENSE = LazyPattern("[\u3040-\u30ff\u3400-\u9fff]")
_FIGURE = LazyPattern(r"\d+")
_MONTH_NAMES = "jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|janv|fev|avr|juin|juil|aou|ene|abr|ago|dic"
_DAY_FIGURE = LazyPattern(rf"(?:{_MONTH_NAMES})[a-z]*\.? (\d+)|(\d+)\.? (?:de )?(?:{_MONTH_NAMES})|(\d+)[:.]\d\d")
_IS_FINISHED = LazyPattern(
    r"\b(?:done|finished|completed|erledigt|fertig|fini|fait|faite|termine|terminee|hecho|hecha|listo|lista|terminado)\b|完成|办好|做完|完了|済"
)
# In small letters, but with accents: they tell a participle ("payé") from other forms.
_DONE = LazyPattern(
    r"\b(?!(?:ask|need|want|mention|remind|plan|promis|talk|propos|suggest|request|wonder|hop|worri|lik|lov)ed\b)\w{2,}ed\b|\b(?:done|sent|bought|paid|written|wrote|gone|come|came|made|found|met|got|took|taken|brought|gave|given|rang|sewn|built|put"
    r"|signed|spoke|spoken|went|told|here)\b|\b(?:in the post|on (?:its|the) way|in der post|unterwegs|ist da|sind da)\b"
    r"|\b\w*ge\w{2,}(?:t|en)\b|\b(?:be|ver|er|ent|zer)\w{2,}(?:t|en)\b|\b(?:erledigt|fertig|repariert|abgesagt)\b"
    r"|\b\w+ées?\b|\b\w+és?\b|\b(?:fait|faite|fini|finie|écrit|pris|mis|reçu|reçue|vendu|rendu)\b"
    r"|\b\w+(?:ado|ada|ido|ida)s?\b|\b\w+ó\b|\b(?:hecho|hecha|listo|lista|escrito|puesto)\b"
    r"|了|已|完成|した|ました|済|終"
)
_NO_OBJECTS = STOP_WORDS | frozenset(_SILENT.split())
_DEED_OF = {word: deed.split()[0] for deed in _DEEDS.split(";") for word in deed.split()}
