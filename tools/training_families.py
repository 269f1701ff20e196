"""Fill the families of statements and questions (training_families.txt) with words.

python training_families.py     prints the size and a few pairs; those with WordNet's words are left out
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from wordnet import Word

Pair = tuple[int, str, str]
"""Number of the family, question, statement."""

FAMILIES = Path(__file__).with_name("training_families.txt")
ALTERNATIVES = re.compile(r"\(([^()]*)\)")
SLOT = re.compile(r"\{([a-z]+)(\d?)(\^?)\}")
FILLED, FILLED_FROM_WORDNET = 200, 800


@dataclass(frozen=True, slots=True)
class Family:
    """Ways to state a fact and ways to ask for it."""

    statements: list[str]
    questions: list[str]


def read(path: Path = FAMILIES) -> tuple[dict[str, list[Word]], list[Family]]:
    """Return the file's slots and families."""
    slots: dict[str, list[Word]] = {}
    families: list[Family] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if "=>" in line:
            statements, questions = line.split("=>")
            families.append(Family(_forms(statements), _forms(questions)))
        else:
            name, _, words = line.partition(":")
            slots[name] = [(word.strip(), []) for word in words.split(",")]
    return slots, families


def _forms(side: str) -> list[str]:
    return [form.strip() for form in side.split("|")]


class Filler:
    """Draws the words for one statement and its question; a slot keeps its word."""

    def __init__(self, slots: dict[str, list[Word]], rng: random.Random) -> None:
        self._slots, self._rng = slots, rng
        self._drawn: dict[str, Word] = {}

    def fill(self, form: str) -> str:
        """Return the form as a text."""
        text = ALTERNATIVES.sub(lambda found: self._rng.choice(found[1].split("/")), form)
        text = re.sub(r"\s+", " ", SLOT.sub(self._word, text)).strip()
        return text[0].upper() + text[1:]

    def _word(self, slot: re.Match[str]) -> str:
        key = slot[1] + slot[2]
        while key not in self._drawn:
            word = self._rng.choice(self._slots[slot[1]])
            if word not in self._drawn.values():
                self._drawn[key] = word
        word, general = self._drawn[key]
        return self._rng.choice(general) if slot[3] else word


def pairs(more_slots: dict[str, list[Word]], rng: random.Random) -> list[Pair]:
    """Return pairs of every family whose slots are known, without repetitions."""
    slots, families = read()
    slots |= more_slots
    made: dict[Pair, None] = {}
    for number, family in enumerate(families):
        forms = " ".join(family.statements + family.questions)
        if any(name not in slots for name, _, _ in SLOT.findall(forms)):
            continue
        for _ in range(FILLED_FROM_WORDNET if "^" in forms else FILLED):
            filler = Filler(slots, rng)
            statement = filler.fill(rng.choice(family.statements))
            made[number, filler.fill(rng.choice(family.questions)), statement] = None
    return list(made)


if __name__ == "__main__":
    filled = pairs({}, random.Random(1))
    print(len(filled), "pairs", *random.Random(2).sample(filled, 20), sep="\n")
