"""Make the text that the static table is fitted on: documentation prose, template sentences, word mixtures.

    python make_training_text.py OUT.json --vocab VOCAB [--docs FOLDER ...] [--scale 1.0] [--seed 7]

OUT.json   {"docs": [...], "templates": [...], "mixtures": [...]}
--vocab    the teacher's full vocab.txt (30,522 lines; pieces start with ##)
--docs     folders with Markdown or reStructuredText of permissively licensed projects; each folder is one
           project, of which at most 400 files are read
--scale    fraction of the counts used for the shipped table (1.0 gives about 101,000 texts)

Never feed benchmark text or users' text into this: the table must not be tuned on what measures it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

TEMPLATES = Path(__file__).with_name("training_templates.json")
SKIPPED_FILE = re.compile(r"licen|change|histor|locomo|/i18n/|_cn|zh", re.IGNORECASE)
ENGLISH = re.compile(r"\b(the|a|to|of|is|and|in|for|you|it|this|with|that|be|are|on|or|can)\b", re.IGNORECASE)
FILES_PER_PROJECT = 400


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


def documentation(folders: list[Path], limit: int, rng: random.Random) -> list[str]:
    """Return at most LIMIT distinct sentences out of the projects' documentation."""
    found: set[str] = set()
    for folder in folders:
        files = [
            p
            for p in sorted(folder.rglob("*"))
            if p.suffix in {".md", ".mdx", ".rst"}
            and p.is_file()
            and not SKIPPED_FILE.search(p.relative_to(folder).as_posix())
        ]
        for path in files[:FILES_PER_PROJECT]:
            found.update(sentences(path.read_text(encoding="utf-8", errors="ignore")))
    chosen = sorted(found)
    rng.shuffle(chosen)
    return chosen[:limit]


def from_templates(scale: float, rng: random.Random) -> list[str]:
    """Return distinct filled statements, questions and pairs of statements."""
    data = json.loads(TEMPLATES.read_text(encoding="utf-8"))

    def fill(kind: str) -> str:
        template = rng.choice(data[kind])
        return re.sub(r"\{(\w+)\}", lambda slot: rng.choice(data["slots"][slot[1]]), template)

    made = {fill("statements") for _ in range(int(26_000 * scale))}
    made |= {fill("questions") for _ in range(int(12_000 * scale))}
    made |= {fill("statements") + " " + fill("statements") for _ in range(int(9_000 * scale))}
    return sorted({text[0].upper() + text[1:] for text in made})


def mixtures(vocabulary: list[str], scale: float, rng: random.Random) -> list[str]:
    """Return short frames so that every whole word occurs about five times and every piece twice."""
    frames = json.loads(TEMPLATES.read_text(encoding="utf-8"))["word_frames"]
    words = [w for w in vocabulary if re.fullmatch(r"[a-z]{3,}", w)]
    pieces = [w for w in vocabulary if re.fullmatch(r"##[a-z]{2,}", w)]
    made = []
    for _ in range(max(1, round(5 * scale))):
        rng.shuffle(words)
        at = 0
        while at < len(words) - 8:
            frame = rng.choice(frames)
            size = frame.count("{}")
            made.append(frame.format(*words[at : at + size]))
            at += size
    made.extend(f"{rng.choice(words)}{piece[2:]} {rng.choice(words)}" for piece in pieces for _ in range(2))
    rng.shuffle(made)
    return made[: max(1, int(len(made) * min(1.0, scale * 5)))]


def main() -> None:
    """Write the text as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--docs", type=Path, nargs="*", default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    vocabulary = args.vocab.read_text(encoding="utf-8").splitlines()
    text = {
        "docs": documentation(args.docs, int(30_000 * args.scale), rng),
        "templates": from_templates(args.scale, rng),
        "mixtures": mixtures(vocabulary, args.scale, rng),
    }
    args.out.write_text(json.dumps(text), encoding="utf-8")
    print({name: len(texts) for name, texts in text.items()})


if __name__ == "__main__":
    main()
