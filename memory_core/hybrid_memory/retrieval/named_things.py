"""Things of which a memory says the word: who notes somebody's shoe size writes "shoe size", or one of a few words beside it. Pure data.

Most nouns of a question are answered by an instance that names them not: a job by "runs the Berlin office", a pet by "two cats", a
doctor by "her GP is Dr. Weber". Of such a noun nothing can be told by its absence. This is a closed list of the others, because how
near two words are does not tell the one kind from the other (docs/decisions/0026). Behind each group stand the words by which the
thing may be told without its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.languages import ENGLISH, word_set
from hybrid_memory.text import hash_in

if TYPE_CHECKING:
    from hybrid_memory.terms import TermHasher

_LARGEST_NUMBER = 2_100  # a larger one beside a subject is rare, and is mostly a date's or a price's part
_STORES = 4  # of so many at most, the things are kept in their terms
_PORTS = (3306, 4200, 5000, 5432, 6379, 8000, 8080, 8081, 8088, 8443, 8888, 9000, 9090, 9200)

_DATES = (
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov "
    "dec monday tuesday wednesday thursday friday saturday sunday day week month year date spring summer autumn winter christmas easter"
)
_DOCTORS = "dr doctor prof clinic practice surgery hospital specialist appointment checkup treat treats examine examines check checks"

_GROUPS: tuple[tuple[str, str, bool], ...] = (
    # words of the thing; words that may tell it; whether a number may tell it
    ("birthday birthdate anniversary christening graduation wedding funeral", (
        "born birth turn turned age married marry party " + _DATES
    ), True),
    ("deadline", (
        "due until submit submitted hand finish finished ready latest deliver launch release end ends close closes " + _DATES
    ), True),
    ("allergy allergies allergen intolerance", (
        "allergic hives rash intolerant react reacts avoid avoids eat eats peanut peanuts nut nuts lactose gluten "
        "pollen dust penicillin swell swells sneeze sneezes sick itch"
    ), False),
    ("dentist orthodontist", "tooth teeth dental braces filling crown molar root jaw cavity " + _DOCTORS, False),
    ("dermatologist", "skin mole rash acne " + _DOCTORS, False),
    ("optician optometrist", "eye eyes glasses lens lenses sight " + _DOCTORS, False),
    ("physiotherapist chiropractor", "back knee shoulder massage exercises therapy " + _DOCTORS, False),
    ("midwife", "birth baby pregnant pregnancy " + _DOCTORS, False),
    ("vet veterinarian", "animal shot shots vaccine vaccinated worm paw neutered " + _DOCTORS, False),
    ("hairdresser barber", "hair haircut cut cuts salon beard colour colours dye trim", False),
    ("babysitter nanny childminder", "sits looks mind minds kids children evening", False),
    ("landlord landlady", "rent rents rented flat let lets owns owner lease house", False),
    ("plumber electrician roofer locksmith", (
        "repair repairs repaired fix fixes fixed mend mended install installs installed lock pipe boiler heating wiring "
        "roof leak key"
    ), False),
    ("notary solicitor", "lawyer contract will deed law legal sign signed attorney court", False),
    ("accountant", "tax taxes books bookkeeping accounts returns finances", False),
    ("godmother godfather godparent godparents", "christened baptised baptism godchild godson goddaughter", False),
    ("piano violin guitar cello flute trumpet drum drums swimming riding driving ballet", (
        "lesson lessons teach teaches teacher taught play plays learn learns instrument music coach practise practises"
    ), False),
    ("shoe shoes boot collar ring glove", "size wear wears trainers sneakers sandals heels foot feet finger neck hand eu uk", True),
    ("blood", "group donor donate positive negative rhesus ab", False),
    ("passport visa", "number document travel id expires papers", False),
    ("plate registration numberplate", "licence license car drives number", False),
    ("locker", "key cabinet box number gym", True),
    ("iban", "bank account transfer pay pays money", False),
    ("serial", "number sn label model", False),
    ("tattoo tattoos", "ink inked arm needle", False),
    ("mascot", "costume animal logo symbol stuffed", False),
    ("sponsor sponsors", "pay pays paid fund funds funded money budget support supports finance finances financed donor", False),
    ("slogan motto", "says tagline claim line", False),
    ("port", (
        "listen listens listening serve serves served localhost bind binds socket endpoint url http https reachable "
        "address expose exposes exposed open opens"
    ), True),
    ("retry retries", "try tries attempt attempts limit again back give gives times", True),
    ("timeout", "second seconds minute minutes millisecond ms wait waits limit give gives", True),
    ("quota", "limit limits maximum max allow allowed gb mb", True),
    ("uptime downtime", "available availability sla percent nines", True),
    ("checksum hash", "sha sha1 sha256 sha512 md5 crc crc32 digest sum fingerprint", False),
    ("encoding charset", "utf utf8 utf16 latin ascii iso cp1252 windows unicode bom characters", False),
    ("coverage", "cover covers covered percent", True),
    ("characters bytes", "long length size kb mb letters", True),
    ("changelog", "changes history release notes", False),
    ("screenshot screenshots", "image picture photo png jpg screen shows attached capture captured", False),
    ("sprint", "iteration scheduled planned plan milestone week", False),
    ("severity", "critical major minor blocker trivial severe serious urgent high low medium priority bad", False),
    ("reporter", "reported report reports found filed opened raised noticed complained wrote", False),
    ("points", "story estimate estimated effort size big small", True),
    ("translator", "translated translate translates translation language version", False),
    ("illustrator", "drew drawn draws illustrated drawings pictures", False),
    ("ferry", "boat ship cross crosses crossing sail sails line port harbour stena viking", False),
    ("pharmacy chemist", "medicine pills drugs prescription apotheke drugstore", False),
    ("laundry laundromat launderette", "wash washed washing clothes dry machine dryer iron", False),
    ("guide", "tour tours show shows showed led leads walk walked book walks", False),
    ("campsite", "camp camped camping tent caravan pitch van", False),
    ("lighthouse", "light tower", False),
    ("playground", "swing slide swings kids", False),
    ("hamster tortoise parrot", "pet cage animal", False),
)  # fmt: skip


_MEASURED = (
    "euro euros dollar dollars pound pounds price cost costs budget fee rent salary version branch release line bus tram train platform "
    "room floor state table kilometre kilometres km kg gram grams percent people times " + _DATES
)
"""Words whose numbers tell no other thing."""


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A kind of thing, by the terms of other words that may tell it; ``numbered``: a number alone may tell it too."""

    cues: NDArray[np.int32]
    numbered: bool


class ThingTerms:
    """The things in the terms of a store: what is known of a noun, and what numbers may belong to."""

    def __init__(self, hasher: TermHasher) -> None:
        self._things: dict[int, NamedThing] = {}
        for hashes, cues, numbered in _hashed_groups():
            thing = NamedThing(np.unique(hasher.fold_all(cues)), numbered)
            self._things |= dict.fromkeys(hasher.fold_all(hashes).tolist(), thing)
        self.numbers = np.unique(hasher.fold_all(_hashed_numbers()))
        """The terms of numbers."""
        self.words_of_numbers = np.union1d(
            hasher.fold_all(_hashes_of(_MEASURED.split())), np.fromiter(self._things, np.int32)
        )
        """The terms of what numbers beside them belong to: dates, prices, and every other thing that is listed here."""

    def named(self, term: int) -> NamedThing | None:
        """Return what is known of a noun by its English term; None for all that an instance may answer."""
        return self._things.get(term)


@functools.lru_cache(maxsize=_STORES)
def thing_terms(hasher: TermHasher) -> ThingTerms:
    """Return the things in the terms of a store."""
    return ThingTerms(hasher)


@functools.cache
def _hashed_groups() -> Sequence[tuple[NDArray[np.uint64], NDArray[np.uint64], bool]]:
    return [(_hashes_of(word_set(nouns)), _hashes_of(cues.split()), numbered) for nouns, cues, numbered in _GROUPS]


@functools.cache
def _hashed_numbers() -> NDArray[np.uint64]:
    return _hashes_of(str(number) for number in (*range(_LARGEST_NUMBER + 1), *_PORTS))


def _hashes_of(words: Iterable[str]) -> NDArray[np.uint64]:
    return np.array([hash_in(ENGLISH, word) for word in words], np.uint64)
