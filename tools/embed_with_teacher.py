"""Embed the vocabulary and the training text with the teacher (the ONNX MiniLM), for fit_static_table.py.

    python embed_with_teacher.py MODEL_DIR TEXT.json OUT.npz [--threads 1] [--limit N]

MODEL_DIR  as written by build_minilm_onnx.py (int8 was used for the shipped table)
OUT.npz    vocab (V x 384, each token alone between [CLS] and [SEP]), teacher (N x 384, mean pooled, not
           normalised), rows and starts (token ids of each text, ragged), group (0 docs, 1 templates, 2 mixtures)
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

CLS, SEP, TRUNCATE_AT = 101, 102, 96


def embed(session: onnxruntime.InferenceSession, ids: list[list[int]], batch: int) -> np.ndarray:
    """Return mean-pooled vectors; batches are sorted by length, which doubles the throughput."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    out = np.zeros((len(ids), 384), np.float32)
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
        out[chosen] = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        if (start // batch) % 200 == 0:
            print(f"{start} of {len(order)}, {time.monotonic() - began:.0f} s", flush=True)
    return out


def main() -> None:
    """Embed vocabulary and text as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, help="take at most this many texts of each group (for a trial)")
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(args.model_dir / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TRUNCATE_AT)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(
        str(args.model_dir / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    groups = json.loads(args.text.read_text(encoding="utf-8"))
    texts, group = [], []
    for number, name in enumerate(("docs", "templates", "mixtures")):
        chosen = groups[name]
        if args.limit and len(chosen) > args.limit:
            chosen = random.Random(1).sample(chosen, args.limit)
        texts += chosen
        group += [number] * len(chosen)
    ids = [e.ids for e in tokenizer.encode_batch(texts)]
    inner = [i[1:-1] for i in ids]
    np.savez(
        args.out,
        vocab=embed(session, [[CLS, i, SEP] for i in range(tokenizer.get_vocab_size())], 128),
        teacher=embed(session, ids, 64),
        rows=np.concatenate([np.array(i, np.int32) for i in inner]),
        starts=np.cumsum([0] + [len(i) for i in inner]),
        group=np.array(group, np.int8),
    )
    print(f"{args.out}: {len(texts)} texts")


if __name__ == "__main__":
    main()
