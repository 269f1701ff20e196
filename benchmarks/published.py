"""Public sets asked by the code of `hybrid-memory-mcp eval`, and the same questions asked of plain methods and of other servers.

    uv run python -m benchmarks.published FILE... [--peers FOLDER] [--lists OUT.jsonl] [--embedder universal|static|minilm]

Each FILE (``.json``, ``.json.gz``) is a set in one of the forms of `benchmarks.sets`, made from its public original, which is not part of
this project: LoCoMo (github.com/snap-research/locomo), BEAM (github.com/mohammadtavakoli78/BEAM), PrefEval
(github.com/amazon-science/PrefEval), MADial-Bench (github.com/hejunqing/MADial-Bench). Each turn, message, preference or event is a memory,
each conversation a store.

An answer is right if it shows a memory of the question's evidence, so this measures search, not a model's words. BM25 and the cosine of
all-MiniLM-L6-v2 answer with their best eight memories, as many as this server shows at most; a peer with all that its tool returns.
FOLDER holds the peers as `benchmarks.outside` has them; those that need a model's download take no part. Adversarial questions of
LoCoMo are left out. ``--lists`` writes the ids that each way showed for each question, best first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from rich.console import Console
from rich.progress import track

from benchmarks import measures, plain_bm25, waiting
from benchmarks.outside.targets import Store, Target, installed
from benchmarks.retrieval import Library
from benchmarks.sets import Collection, Question, collections_of
from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.language.text import dense_text
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.requests import DEFAULT_PAGE
from hybrid_memory.settings import StoreSettings
from hybrid_memory_mcp.admin.eval_operation import ask, summary_of
from hybrid_memory_mcp.mcp_api.tools import CallContext

Asked: TypeAlias = dict[str, Any]
"""The answer to a question, as `eval_operation.ask` gives it, with the ids of the set."""
Way: TypeAlias = Callable[[Collection], list[Asked]]

PEERS = ("server-memory", "basic-memory")  # those that search without a model
_MARK = re.compile(r"mk[0-9a-f]{16}")


def of_this_memory(collection: Collection, embedder: str) -> list[Asked]:
    """Store a collection, each memory at its time, and ask as `eval` does."""
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        library = Library(Path(folder), StoreSettings(embedder=embedder), collection)
        with library.opened("fused") as service:
            for item in collection.items:
                library.write(service, item)
            service.load_model(library.scope)
            waiting.complete(service, library.scope)
            call = CallContext(library.scope, UTC, by_person=True)
            found = []
            for question in _questions(collection):
                library.set_time(question.now)
                one = {"question": question.text, "evidence": library.ids_of(question.gold)}
                asked = ask(service, call, one)
                shown = list(chain.from_iterable(map(library.items_named, asked["ids"])))
                found.append({**asked, "evidence": question.gold, "ids": shown})
            return found


def by_bm25(collection: Collection) -> list[Asked]:
    """Ask a textbook's BM25."""
    texts = _texts(collection)
    return [
        _shown(collection, question, plain_bm25.ranked(question.text, texts)[:DEFAULT_PAGE])
        for question in _questions(collection)
    ]


def by_cosine(collection: Collection, embedder: str) -> list[Asked]:
    """Ask the vectors of an embedder alone."""
    model = make_embedder(embedder)
    vectors = model.embed(_texts(collection))
    questions = _questions(collection)
    scores = model.embed([question.text for question in questions]) @ vectors.T
    return [
        _shown(collection, question, (-row).argsort(kind="stable")[:DEFAULT_PAGE].tolist())
        for question, row in zip(questions, scores, strict=True)
    ]


def by_peer(collection: Collection, target: Target, program: Path) -> list[Asked]:
    """Store a collection in another server, and ask that with its own tool of search.

    Raises:
        ServerGone: the server does not answer.
    """
    marks = {f"mk{number:016x}": item.id for number, item in enumerate(collection.items)}
    with Store(target, program) as store:
        server = store.spawn()
        server.initialize()
        for mark, text in zip(marks, _texts(collection), strict=True):
            server.call(*target.write(mark, text))
        found = []
        for question in _questions(collection):
            result = server.call(*target.read(question.text)).result
            text = "\n".join(part.get("text", "") for part in result.get("content", ()))
            found.append(_asked(question, [marks[mark] for mark in dict.fromkeys(_MARK.findall(text))], text))
        server.close()
    return found


def _questions(collection: Collection) -> list[Question]:
    return [question for question in collection.questions if question.category != measures.ADVERSARIAL]


def _texts(collection: Collection) -> list[str]:
    return [dense_text(item.text, item.speaker) for item in collection.items]


def _shown(collection: Collection, question: Question, places: Sequence[int]) -> Asked:
    items = [collection.items[place] for place in places]
    return _asked(question, [item.id for item in items], "\n".join(item.text for item in items))


def _asked(question: Question, ids: Sequence[str], text: str) -> Asked:
    return {
        "question": question.text,
        "evidence": question.gold,
        "rank": next((place for place, one in enumerate(ids, 1) if one in question.gold), None),
        "hits": len(ids),
        "ids": list(ids),
        "unknown": False,
        "characters": len(text),
        "tokens": estimate_tokens(text),
    }


def read_set(file: Path) -> tuple[Collection, ...]:
    """Return the collections of a file, which may be packed."""
    data = file.read_bytes()
    return collections_of(json.loads(gzip.decompress(data) if file.suffix == ".gz" else data))


def ways(embedder: str, peers: Path | None) -> dict[str, Way]:
    """Return what is compared, by name."""
    found: dict[str, Way] = {
        "plain BM25": by_bm25,
        "cosine of MiniLM": partial(by_cosine, embedder="minilm"),
        "this memory": partial(of_this_memory, embedder=embedder),
    }
    if peers:
        others = [one for one in installed(peers, PEERS) if one[0].name in PEERS]
        found |= {target.name: partial(by_peer, target=target, program=program) for target, program in others}
    return found


def lines_of_lists(way: str, name: str, answers: Mapping[str, Sequence[Asked]]) -> Iterator[str]:
    """Yield a line of JSON a question: which ids were shown, and which would be right; no texts."""
    for collection, asked in answers.items():
        for number, one in enumerate(asked):
            line = {"set": name, "in": collection, "question": number, "by": way, "ids": one["ids"]}
            yield json.dumps(line | {"evidence": list(one["evidence"])}) + "\n"


def table_of(summaries: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown of what each way gave for each set."""
    names = list(dict.fromkeys(name for found in summaries.values() for name in found))
    yield f"| right first / in five / nothing found, % | {' | '.join(names)} | characters |"
    yield "| --- " * (len(names) + 2) + "|"
    for way, found in summaries.items():
        cells = [_cell(found[name]) for name in names]
        characters = round(fmean(one["characters"] for one in found.values()))
        yield f"| {way} | {' | '.join(cells)} | {characters:,} |"


def _cell(summary: Mapping[str, Any]) -> str:
    counts = (summary[measure] for measure in ("right_first", "right_in_five", "nothing_found"))
    return " / ".join(f"{100 * count / summary['answerable']:.1f}" for count in counts)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--lists", type=Path)
    parser.add_argument("--embedder", default="universal")
    arguments = parser.parse_args()
    summaries: dict[str, dict[str, Mapping[str, Any]]] = {}
    lists: list[str] = []
    sets = {file.name.partition(".")[0].removesuffix("-dev"): read_set(file) for file in arguments.files}
    for way, answers in ways(arguments.embedder, arguments.peers).items():
        for name, collections in sets.items():
            tracked = track(collections, f"{name}, {way}", console=Console(stderr=True))
            found = {collection.id: answers(collection) for collection in tracked}
            summaries.setdefault(way, {})[name] = summary_of(list(chain.from_iterable(found.values())))
            lists += lines_of_lists(way, name, found)
    print("\n".join(table_of(summaries)))
    if arguments.lists:
        arguments.lists.write_text("".join(lists), encoding="utf-8")


if __name__ == "__main__":
    main()
