"""Make the text that the static table is fitted on: sentences, filled families, WordNet, word mixtures.

    python make_training_text.py OUT.json --vocab VOCAB --wordnet DICT [--text FOLDER ...] [--seed 7]

OUT.json   {"texts": {"sentences": [...], "wordnet": [...], "families": [...], "notes": [...], "mixtures": [...]},
           "pairs": [[family, question, statement], ...]}; pairs that belong to no family have -1
--vocab    the teacher's full vocab.txt (30,522 lines; pieces start with ##)
--wordnet  folder with WordNet's data.noun and so on
--text     folders with documents (Markdown, reStructuredText, plain) or data files (JSON, CSV, TSV) whose licences
           permit it; each folder is one project

Never feed benchmark text or users' text into this: the table must not be tuned on what measures it.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import training_families
import wordnet

FILES_PER_PROJECT, MOST_BYTES = 400, 8_000_000
MOST_OF_DOCUMENTS, MOST_OF_DATA = 9_000, 70_000
DOCUMENTS = frozenset((".md", ".mdx", ".rst", ".txt"))
DATA = frozenset((".json", ".jsonl", ".csv", ".tsv"))
SKIPPED_FILE = re.compile(
    r"licen|change|histor|locomo|longmem|/i18n/|_cn|zh|ontology|wiki|translat|/instructions/",
    re.IGNORECASE,
)
ENGLISH = re.compile(
    r"\b(the|a|an|to|of|is|and|in|for|you|it|this|with|that|be|are|on|or|can|i|my|me|was|have|has|do|at|her|his|he|she"
    r"|they|what|how)\b",
    re.IGNORECASE,
)
FRAMES = (
    "{} and {}", "the {} of the {}", "I {} the {} {}", "{} {} {}", "we talked about {} and {}", "{} was {} by {}",
    "a {} {} with {}", "what is the {} of {}?", "{} {} in {} {}", "{}, {}, {} and {}", "{} {} {} {} {} {}",
)  # fmt: skip


def sentences(text: str) -> Iterator[str]:
    """Yield plain English sentences of 4 to 50 words; code, tags and link targets are removed first."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n", text):
        flat = re.sub(r"\s+", " ", re.sub(r"^[#>*\-\d.\s|]+", "", paragraph)).strip()
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", flat):
            letters = sum(c.isalpha() or c == " " for c in sentence)
            if (
                4 <= len(sentence.split()) <= 50
                and sentence.isascii()
                and letters / len(sentence) > 0.85
                and len(ENGLISH.findall(sentence)) >= 2
                and "locomo" not in sentence.lower()
            ):
                yield sentence.strip("*_` ")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _contents(path: Path) -> Iterator[str]:
    """Yield the running text of a file: all of a document, every string of a data file."""
    text = path.read_text(encoding="utf-8", errors="ignore")
    try:
        if path.suffix == ".json":
            yield from _strings(json.loads(text))
        elif path.suffix == ".jsonl":
            yield from (string for line in text.splitlines() for string in _strings(json.loads(line)))
        elif path.suffix in DATA:
            rows = csv.reader(io.StringIO(text), delimiter="\t" if path.suffix == ".tsv" else ",")
            yield from (cell for row in rows for cell in row)
        else:
            yield text
    except (ValueError, csv.Error) as error:
        print(f"{path.name} is left out: {error}")


def of_project(folder: Path, rng: random.Random) -> list[str]:
    """Return distinct sentences of one project, at most so many of its documents and of its data."""
    chosen: list[str] = []
    for kinds, most in ((DOCUMENTS, MOST_OF_DOCUMENTS), (DATA, MOST_OF_DATA)):
        files = [
            path
            for path in sorted(folder.rglob("*"))
            if path.suffix in kinds
            and path.is_file()
            and path.stat().st_size <= MOST_BYTES
            and not SKIPPED_FILE.search(path.relative_to(folder).as_posix())
        ]
        rng.shuffle(files)
        found = sorted(
            {s for path in files[:FILES_PER_PROJECT] for content in _contents(path) for s in sentences(content)}
        )
        rng.shuffle(found)
        chosen += found[:most]
    print(f"{folder.name}: {len(chosen)} sentences", flush=True)
    return chosen


def mixtures(vocabulary: list[str], rounds: int, rng: random.Random) -> list[str]:
    """Return short frames so that every whole word occurs ROUNDS times and every piece of a word twice."""
    words = [w for w in vocabulary if re.fullmatch(r"[a-z]{3,}", w)]
    pieces = [w for w in vocabulary if re.fullmatch(r"##[a-z]{2,}", w)]
    made = []
    for _ in range(rounds):
        rng.shuffle(words)
        at = 0
        while at < len(words) - 8:
            frame = rng.choice(FRAMES)
            size = frame.count("{}")
            made.append(frame.format(*words[at : at + size]))
            at += size
    made.extend(f"{rng.choice(words)}{piece[2:]} {rng.choice(words)}" for piece in pieces for _ in range(2))
    return made


def notes(sources: list[list[str]], count: int, rng: random.Random) -> list[str]:
    """Return notes as an assistant keeps them: one to three sentences, some with a date, an amount or a reference."""
    slots, _ = training_families.read()

    def word(slot: str) -> str:
        return rng.choice(slots[slot])[0]

    makers = (
        lambda: f"{word('name')}: ",
        lambda: f"{rng.randint(1, 28)} {word('month')}: ",
        lambda: f"{word('name')} said: ",
        lambda: f"{word('company')}, {word('city')}: ",
        lambda: f" ({word('day')}, {word('time')})",
        lambda: f" (ref {rng.choice('ABCDEFGHKLMNPRST')}{rng.choice('ABCDEFGHKLMNPRST')}-{rng.randint(100, 99999)})",
        lambda: f", {rng.randint(2, 9000)} {word('currency')}",
        lambda: f", agreed with {word('name')} and {word('name')}",
        lambda: f"; {word('name')} ({word('job')}) knows",
        lambda: f", until {word('month')} {word('year')}",
    )
    made = []
    for _ in range(count):
        parts = [rng.choice(rng.choice(sources)).rstrip(". ") for _ in range(rng.choice((1, 2, 2, 3)))]
        if rng.random() < 0.5 or len(parts) == 1:
            extra = rng.choice(makers)()
            at = rng.randrange(len(parts))
            parts[at] = extra + parts[at] if extra.endswith(" ") else parts[at] + extra
        made.append(rng.choice((". ", ". ", "; ", " - ")).join(part[0].upper() + part[1:] for part in parts) + ".")
    return made


def varied(
    filled: list[training_families.Pair], short: list[str], words: wordnet.Thesaurus, rng: random.Random
) -> list[training_families.Pair]:
    """Return further pairs: with synonyms put in, alongside another sentence, and sentences with their rewordings."""
    made: list[training_families.Pair] = []
    for family, question, statement in rng.sample(filled, min(len(filled), 40_000)):
        asked = words.swap(question, rng.choice((1, 2)), rng) if rng.random() < 0.7 else question
        told = words.swap(statement, 1, rng) if rng.random() < 0.6 else statement
        if asked and told:
            made.append((family, asked, told))
    for family, question, statement in rng.sample(filled, min(len(filled), 40_000)):
        other = rng.choice(filled)[2] if rng.random() < 0.6 or not short else rng.choice(short)
        both = f"{statement}. {other}" if rng.random() < 0.6 else f"{other.rstrip('.')}. {statement}"
        made.append((family, question, both))
    for sentence in rng.sample(short, min(len(short), 40_000)):
        other_words = words.swap(sentence, rng.choice((1, 2, 3)), rng)
        if other_words:
            made.append((-1, other_words, sentence))
    return made


def make(vocab: Path, dictionary: Path, folders: list[Path], seed: int) -> dict[str, object]:
    """Return texts by kind, none of them twice, and pairs of texts."""
    rng = random.Random(seed)
    vocabulary = vocab.read_text(encoding="utf-8").splitlines()
    entries = wordnet.read(dictionary)
    found = sorted({sentence for folder in folders for sentence in of_project(folder, rng)})
    defined, meanings = wordnet.definitions(entries, rng)
    filled = training_families.pairs(wordnet.slots(entries, set(vocabulary)), rng)
    short = [sentence for sentence in found if len(sentence.split()) < 22]
    pairs = filled + varied(filled, short, wordnet.Thesaurus(dictionary, entries, set(vocabulary)), rng)
    pairs += [(-1, *pair) for pair in meanings]
    kinds = {
        "sentences": found,
        "wordnet": defined,
        "families": [text for pair in pairs for text in pair[1:]],
        "notes": notes([short or defined, defined, [statement for _, _, statement in filled]], 100_000, rng),
        "mixtures": mixtures(vocabulary, 4, rng),
    }
    seen: set[str] = set()
    texts: dict[str, list[str]] = {}
    for kind, candidates in kinds.items():
        texts[kind] = sorted(set(candidates) - seen)
        seen.update(texts[kind])
    print({kind: len(t) for kind, t in texts.items()}, "pairs:", len(pairs))
    return {"texts": texts, "pairs": pairs}


def main() -> None:
    """Write the text as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, required=True)
    parser.add_argument("--text", type=Path, nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    made = make(args.vocab, args.wordnet, args.text, args.seed)
    args.out.write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
