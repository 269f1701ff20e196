"""A folder with a model that onnxruntime really runs: a table of two-dimensional word vectors, averaged by fastembed.

The graph is one Gather node, written as protobuf by hand (onnx.proto3's field numbers), so that no builder is needed.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue"]
VECTORS = np.array([[9, 9], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1]], np.float32)
_INT64, _FLOAT = 7, 1


def _number(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _field(number, value):
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    raw = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | 2) + _number(len(raw)) + raw


def _tensor_named(name, element, *axes):
    shape = b"".join(_field(1, _field(2, axis) if isinstance(axis, str) else _field(1, axis)) for axis in axes)
    return _field(1, name) + _field(2, _field(1, _field(1, element) + _field(2, shape)))


def write_tiny_model(folder: Path) -> Path:
    """Write graph, tokenizer and configuration into a folder and return it."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    table = b"".join(_field(1, size) for size in VECTORS.shape)
    table += _field(2, _FLOAT) + _field(8, "table") + _field(9, VECTORS.tobytes())
    node = _field(1, "table") + _field(1, "input_ids") + _field(2, "last_hidden_state") + _field(4, "Gather")
    graph = _field(1, node) + _field(2, "tiny") + _field(5, table)
    graph += _field(11, _tensor_named("input_ids", _INT64, "batch", "length"))
    graph += _field(12, _tensor_named("last_hidden_state", _FLOAT, "batch", "length", 2))
    model = _field(1, 8) + _field(7, graph) + _field(8, _field(2, 17))
    (folder / "model.onnx").write_bytes(model)
    rows = {piece: row for row, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordLevel(rows, unk_token=PIECES[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "config.json": {"hidden_size": 2, "pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 16, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]", "unk_token": "[UNK]"},
    }
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder
