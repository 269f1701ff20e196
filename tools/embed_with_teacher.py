"""Embed the vocabulary and the training text with the teacher (the ONNX MiniLM), for fit_static_table.py.

    python embed_with_teacher.py MODEL_DIR TEXT.json OUT.npz [--threads 1]

MODEL_DIR  as written by build_minilm_onnx.py (int8 was used for the shipped table)
TEXT.json  as written by make_training_text.py
OUT.npz    vocab (V x 384, each token alone between [CLS] and [SEP]), teacher (N x 384, float16, unit length),
           rows and starts (token ids of each text, ragged), kind (0 sentences, 1 wordnet, 2 families, 3 notes, 4 mixtures),
           pairs (family, number of the question's text, number of the statement's text)
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

CLS, SEP, TRUNCATE_AT = 101, 102, 96


def embed(session: onnxruntime.InferenceSession, ids: list[list[int]], batch: int) -> np.ndarray:
    """Return mean-pooled vectors of unit length; batches are sorted by length, which doubles the throughput."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    out = np.zeros((len(ids), 384), np.float16)
    began = time.monotonic()
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        width = max(len(ids[i]) for i in chosen)
        tokens = np.zeros((len(chosen), width), np.int64)
        mask = np.zeros_like(tokens)
        for row, i in enumerate(chosen):
            tokens[row, : len(ids[i])] = ids[i]
            mask[row, : len(ids[i])] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        hidden = session.run(None, feed)[0]
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        out[chosen] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        if (start // batch) % 500 == 0:
            print(f"{start} of {len(order)}, {time.monotonic() - began:.0f} s", flush=True)
    return out


def run(model: Path, text: Path, out: Path, threads: int = 1) -> None:
    """Embed the vocabulary and all texts of a file, and write them."""
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TRUNCATE_AT)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(model / "model.onnx"), options, providers=["CPUExecutionProvider"])
    made = json.loads(text.read_text(encoding="utf-8"))
    texts = [t for of_kind in made["texts"].values() for t in of_kind]
    place = {t: at for at, t in enumerate(texts)}
    ids = [e.ids for e in tokenizer.encode_batch(texts)]
    inner = [i[1:-1] for i in ids]
    np.savez(
        out,
        vocab=embed(session, [[CLS, i, SEP] for i in range(tokenizer.get_vocab_size())], 128),
        teacher=embed(session, ids, 64),
        rows=np.concatenate([np.array(i, np.int32) for i in inner]),
        starts=np.cumsum([0] + [len(i) for i in inner]),
        kind=np.repeat(np.arange(len(made["texts"]), dtype=np.int8), [len(t) for t in made["texts"].values()]),
        pairs=np.array([(family, place[q], place[s]) for family, q, s in made["pairs"]], np.int32),
    )
    print(f"{out}: {len(texts)} texts")


def main() -> None:
    """Embed vocabulary and text as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    run(args.model_dir, args.text, args.out, args.threads)


if __name__ == "__main__":
    main()
