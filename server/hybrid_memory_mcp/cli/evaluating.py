"""The command ``eval``: a person's own questions, asked of the store as it is and of copies with another embedder or scorer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from hybrid_memory.errors import InvalidInput
from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.text import excerpt
from hybrid_memory.validation import QUERY_LIMIT, check_text
from hybrid_memory_mcp.cli.embedders import installed_spec, name_of
from hybrid_memory_mcp.cli.memories import Namespace
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, call_operation, named_file
from hybrid_memory_mcp.cli.output import one_line_errors, print_json, print_rows, print_values, progress
from hybrid_memory_mcp.cli.project import place_here
from hybrid_memory_mcp.cli.told import there

EXPECTED = '{"question": "Where does Ada live?", "answer": ["Lisbon"]}, with [] as the answer where nothing is known'
_AS_IT_IS = "as it is"
_MEASURES = {
    "right_first": "right first",
    "right_in_five": "right in five",
    "nothing_found": "nothing found",
    "said_unknown": "said unknown",
    "characters": "characters",
    "tokens": "tokens",
}
_FIRST_WORDS = 60  # characters of the first hit
_BETWEEN = LazyPattern(r"[\s,]*")  # two values of a list

Variant = Mapping[str, Any]
"""The settings of a copy that differ from those of the store."""


def eval_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines, or a list: {"question": "...", "answer": ["word", ...]}, with [] where nothing is known.',
        ),
    ],
    *,
    home: Home = None,
    namespace: Namespace = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Ask a copy with this embedder too. May be given several times."),
    ] = None,
    scorer: Annotated[
        str | None, typer.Option(help="Ask a copy with this scorer too: fused, reference, lexical or dense.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="And what became of each question.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask your own questions as an assistant does, and see how many are answered rightly. It counts as no use.

    A hit is right if it holds all the words of the answer. With --embedder or --scorer a temporary copy of the store is asked too.
    """
    with one_line_errors():
        with named_file(file):
            questions = read_questions(file)
        variants = _variants(embedder or [], scorer)
        given: dict[str, Any] = {"questions": questions}
        if namespace is None:
            namespace = there(place_here(home), given, writes=False)
        with progress("asking") as on_progress:
            runs = {_AS_IT_IS: call_operation(home, "eval", given, namespace=namespace, on_progress=on_progress)}
        if variants:
            runs |= _of_copies(home, namespace, given, variants)
    if as_json:
        print_json({"questions": len(questions), "runs": [{"name": name} | run for name, run in runs.items()]})
        return
    if verbose:
        _print_questions(runs)
    _print_summaries(len(questions), runs)


def read_questions(file: Path) -> list[dict[str, Any]]:
    """Return the questions of a file, each with the words of its answer.

    Raises:
        InvalidInput: it cannot be read, or names the line that is wrong.
    """
    from hybrid_memory.admin.user_files import check_source, file_errors

    try:
        with file_errors():
            text = check_source(file).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("file", "is not text in UTF-8") from None
    found = [_question(line, value) for line, value in _values(text)]
    if not found:
        raise InvalidInput("file", f"holds no question; a line is {EXPECTED}")
    return found


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the JSON values of a list, or of lines, each with the number of its line."""
    if not text.lstrip().startswith("["):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _parsed(line, number)
        return
    values, at = _parsed(text, 1), text.index("[") + 1
    for value in values:
        start = _BETWEEN.match(text, at)
        at = start.end() if start else at
        yield text.count("\n", 0, at) + 1, value
        at = json.JSONDecoder().raw_decode(text, at)[1]


def _parsed(text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:  # a number of thousands of digits has no line
        raise _wrong(line - 1 + getattr(error, "lineno", 1), "is not JSON") from None
    except RecursionError:
        raise _wrong(line, "is nested too deeply") from None


def _question(line: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not {"question", "answer"} <= value.keys():
        raise _wrong(line, "is not an object with a question and an answer")
    question, answer = value["question"], value["answer"]
    given = [] if answer is None else [answer] if isinstance(answer, str) else answer
    if not isinstance(question, str):
        raise _wrong(line, "has a question that is not a string")
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise _wrong(line, "has an answer that is neither a string nor a list of strings")
    words = [word for one in given for word in one.split() or [one]]
    for field, text in (("a question", question), *(("an answer", word) for word in words)):
        try:
            check_text(field, text, limit=QUERY_LIMIT)
        except InvalidInput as error:
            raise _wrong(line, f"has {field} that {error.problem}") from None
    return {"question": question, "answer": words}


def _wrong(line: int, problem: str) -> InvalidInput:
    return InvalidInput("file", f"line {line} {problem}; expected is {EXPECTED}")


def _variants(embedders: Sequence[str], scorer: str | None) -> list[Variant]:
    """Return what differs in each copy that is to be asked.

    Raises:
        InvalidInput, EmbedderUnavailable: a name cannot be used.
    """
    from hybrid_memory.setting_sources import parse_setting

    scored: dict[str, Any] = {} if scorer is None else dict(parse_setting("scorer", scorer))
    found: list[Variant] = [{"embedder": installed_spec(one), **scored} for one in dict.fromkeys(embedders)]
    return found or ([scored] if scored else [])


def _of_copies(
    home: Path | None, namespace: str | None, given: Mapping[str, Any], variants: Sequence[Variant]
) -> dict[str, dict[str, Any]]:
    """Ask a copy of the store, with one variant after the other; it is gone afterwards, whatever happens."""
    from hybrid_memory.settings import DATABASE, client_settings, store_settings

    client = client_settings(home=home, namespace=namespace)
    # A copy is a file, also where the store is a database.
    settings = store_settings(client.folder()).model_copy(update={"store": None, "store_password_file": None})
    with TemporaryDirectory(prefix="hybrid-memory-eval-") as folder:
        call_operation(home, "backup", {"file": str(Path(folder) / DATABASE), "force": False})
        return {
            ", ".join(map(name_of, one.values())): _of_copy(
                Path(folder), client.namespace, given, settings.model_copy(update=dict(one)), embeds="embedder" in one
            )
            for one in variants
        }


def _of_copy(folder: Path, namespace: str, given: Mapping[str, Any], settings: Any, *, embeds: bool) -> dict[str, Any]:
    from hybrid_memory_mcp.admin.operations import OperationRequest, local_provider, run_operation

    with local_provider(folder, namespace, settings) as (provider, scope):
        request = OperationRequest(provider, folder, scope, given, lambda *_: None)
        if embeds:
            with progress("embedding a copy") as on_progress:
                run_operation("reembed", replace(request, arguments={}, on_progress=on_progress))
        with progress("asking") as on_progress:
            return run_operation("eval", replace(request, on_progress=on_progress))


def _print_questions(runs: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what became of each question, and in each run where there are several."""
    several = len(runs) > 1
    rows = [
        [_outcome(one), *([name] if several else []), one["question"], excerpt(one["first"] or "", _FIRST_WORDS)]
        for answers in zip(*(run["asked"] for run in runs.values()), strict=True)
        for name, one in zip(runs, answers, strict=True)
    ]
    print_rows(("right at", *(["asked of"] if several else []), "question", "first hit"), rows)


def _outcome(one: Mapping[str, Any]) -> str:
    """Return the place of the right hit, or what there is instead."""
    if one["rank"] is not None:
        return str(one["rank"])
    if not one["hits"]:
        return "nothing"
    return "unknown" if one["unknown"] else "wrong"


def _print_summaries(questions: int, runs: Mapping[str, Mapping[str, Any]]) -> None:
    first = next(iter(runs.values()))
    known, unknown = first["answerable"], first["unanswerable"]
    if len(runs) > 1:
        rows = [[name, *(run[measure] for measure in _MEASURES)] for name, run in runs.items()]
        title = f"{questions} questions: {known} with an answer, {unknown} about which nothing is known"
        heads = ("first", "in five", "nothing", "unknown", "characters", "tokens")
        print_rows(("asked of", *heads), rows, title=title)
        return
    counts = {"right_first": known, "right_in_five": known, "nothing_found": known, "said_unknown": unknown}
    values = {measure: _share(first[measure], of) for measure, of in counts.items()}
    shown = [(words, values.get(measure, f"{first[measure]} of an answer")) for measure, words in _MEASURES.items()]
    print_values([("questions", questions), *shown])


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)" if of else "-"
