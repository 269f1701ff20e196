"""The command ``eval``: a person's own questions, asked of the store as it is and of copies with another embedder or scorer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.text import excerpt
from hybrid_memory.validation import QUERY_LIMIT, check_text
from hybrid_memory_mcp.cli.embedders import installed_spec, name_of
from hybrid_memory_mcp.cli.memories import Namespace
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, call_operation, named_file
from hybrid_memory_mcp.cli.output import one_line_errors, print_json, print_rows, print_values, progress
from hybrid_memory_mcp.cli.project import place_here
from hybrid_memory_mcp.cli.told import there

EXPECTED = '{"question": "Where does Ada live?", "answer": ["Lisbon"]}, with [] as the answer where nothing is known'
_MEASURES = ("right_first", "right_in_five", "nothing_found", "said_unknown", "characters", "tokens")
_FIRST_WORDS = 60  # characters of the first hit
_BETWEEN = LazyPattern(r"[\s,]*")  # two values of a list


def eval_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines, or a list: {"question": "...", "answer": ["word", ...]}, with [] where nothing is known. '
            'Instead of the answer, "evidence": ["id", ...] names the right memories.',
        ),
    ],
    *,
    home: Home = None,
    namespace: Namespace = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Also ask a copy with this embedder. May be given several times."),
    ] = None,
    scorer: Annotated[
        str | None, typer.Option(help="Also ask a copy with this scorer: fused, reference, lexical or dense.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show each question too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask your own questions and count the right answers. They are asked as an assistant asks, and do not count as using a memory.

    A memory is right if it holds all words of the answer, or is one of the evidence. --embedder and --scorer also ask a temporary copy.
    """
    with one_line_errors():
        with named_file(file):
            questions = read_questions(file)
        variants = _variants(embedder or [], scorer)
        given: dict[str, Any] = {"questions": questions}
        if namespace is None:
            namespace = there(place_here(home), given, writes=False)
        with progress("asking") as on_progress:
            runs = {"as it is": call_operation(home, "eval", given, namespace=namespace, on_progress=on_progress)}
        if variants:
            runs |= dict(_of_copies(home, namespace, given, variants))
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
    told = "evidence" if isinstance(value, dict) and "evidence" in value else "answer"
    if not isinstance(value, dict) or not {"question", told} <= value.keys():
        raise _wrong(line, "is not an object with a question and an answer or evidence")
    question, answer = value["question"], value[told]
    given = [] if answer is None else [answer] if isinstance(answer, str) else answer
    if not isinstance(question, str):
        raise _wrong(line, "has a question that is not a string")
    name = "evidence" if told == "evidence" else "an answer"
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise _wrong(line, f"has {name} that is neither a string nor a list of strings")
    words = [word for one in given for word in one.split() or [one]]
    for field, text in (("a question", question), *((name, word) for word in words)):
        try:
            check_text(field, text, limit=QUERY_LIMIT)
        except InvalidInput as error:
            raise _wrong(line, f"has {field} that {error.problem}") from None
    return {"question": question, told: words}


def _wrong(line: int, problem: str) -> InvalidInput:
    return InvalidInput("file", f"line {line} {problem}; expected is {EXPECTED}")


def _variants(embedders: Sequence[str], scorer: str | None) -> list[dict[str, Any]]:
    """Return which settings differ from the store's in each copy that is to be asked.

    Raises:
        InvalidInput, EmbedderUnavailable: a name cannot be used.
    """
    from hybrid_memory.setting_sources import parse_setting

    scored = {} if scorer is None else parse_setting("scorer", scorer)
    specs = [installed_spec(one) for one in embedders]
    return [{"embedder": spec, **scored} for spec in specs] or ([{**scored}] if scored else [])


def _of_copies(
    home: Path | None, namespace: str | None, given: Mapping[str, Any], variants: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ask a copy of the store with one variant after the other, which gives names and what each gave; the copy is gone afterwards."""
    from hybrid_memory.settings import DATABASE, client_settings, store_settings
    from hybrid_memory_mcp.admin.operations import OperationRequest, local_provider, run_operation

    client = client_settings(home=home, namespace=namespace)
    # A copy is a file, also where the store is a database.
    settings = store_settings(client.folder()).model_copy(update={"store": None, "store_password_file": None})
    with TemporaryDirectory(prefix="hybrid-memory-eval-") as name:
        folder = Path(name)
        call_operation(home, "backup", {"file": str(folder / DATABASE), "force": False})
        for one in variants:
            its_own = settings.model_copy(update=dict(one))
            with local_provider(folder, client.namespace, its_own) as (provider, scope):
                if "embedder" in one:
                    with progress("embedding a copy") as tell:
                        run_operation("reembed", OperationRequest(provider, folder, scope, {}, tell))
                with progress("asking") as tell:
                    run = run_operation("eval", OperationRequest(provider, folder, scope, given, tell))
            yield ", ".join(map(name_of, one.values())), run


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
        print_rows(("asked of", "first", "in five", "nothing", "unknown", "characters", "tokens"), rows, title=title)
        return
    *counts, characters, tokens = (first[measure] for measure in _MEASURES)
    told = [_share(count, of) for count, of in zip(counts, (known, known, known, unknown), strict=True)]
    told += [f"{characters} of an answer", f"{tokens} of an answer"]
    names = [measure.replace("_", " ") for measure in _MEASURES]
    print_values([("questions", questions), *zip(names, told, strict=True)])


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)" if of else "-"
