import copy
import json
import re
from functools import partial
from inspect import Parameter, signature
from pathlib import Path

import anyio
import pytest
from tests.conformance.case_format import FIXED, SCHEMA
from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.differences import DIFFERENCES, applied
from tests.conformance.drivers import DRIVERS
from tests.conformance.replay import replay

from hybrid_memory.store.memory.store import MemoryStore

# The product is not what is tested here, but the comparison that test_reference_traces.py relies on.
pytestmark = pytest.mark.tools

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "data" / "reference-traces"
CASES = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.json"))]
CORE = [case for case in CASES if case["kind"] == "core"]

DESCRIPTIONS = {"title", "notes", "source"}
"""For people only. A case with fewer or repeated steps is another case, and a quirk's mark chooses what is expected."""

SETTINGS_WITHOUT_EFFECT = {
    "buffer_size",
    "sensory_buffer",
    "short_term_buffer",
    "threshold_to_short_term",
    "enhance_similarity_threshold",
    "enhance_threshold",
    "importance_weight",
    "decay_rate",
    "k",
    "top_k",
    "tags",
    "rule",
    "_default_importance",
    "just under",
    "just over",
}
"""Settings that have an effect in some cases only: a larger buffer that is never full changes nothing."""

INPUTS_WITHOUT_EFFECT = {
    ("SensoryMemory", "read", "observation"): "everything held is returned, whatever is asked",
    ("ShortTermMemory", "read", "observation"): "everything held is returned, whatever is asked",
    ("LLMImportanceScorer", "parse_number", "text"): "many answers hold the same number",
    ("DefaultGptsMessageMemory", "append", "sender"): "not every message is asked for by its sender",
    ("DefaultGptsMessageMemory", "append", "receiver"): "not every message is asked for by its receiver",
    ("DefaultGptsMessageMemory", "append", "goal"): "not every message is asked for by its goal",
    ("DefaultGptsMessageMemory", "append", "conv_id"): "one conversation is never asked for",
    ("DefaultGptsMessageMemory", "append", "content"): "one conversation is never asked for",
    ("DefaultGptsMessageMemory", "get_between_agents", "agents"): "nothing is found for the goal in any case",
    ("DefaultGptsMessageMemory", "get_between_agents", "goal"): "nothing is found for the agents in any case",
    ("DefaultGptsMessageMemory", "get_between_agents", "conv_id"): "nothing is found in any case",
    ("DefaultGptsPlansMemory", "get_by_conv_id_and_num", "nums"): "a number said twice asks for nothing new",
    ("TimeWeightedEmbeddingRetriever", "load_document", "current_time"): "old times decide only by their order",
    ("TimeWeightedEmbeddingRetriever", "retrieve", "query"): "asked for vectors only",
}


ORDERED = {"result", "ranking", "comparisons", "long_term_written", "random_draws", "filters"}
COUNTER = re.compile(r"\A\[\d+\] ")


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
        return
    yield path, value
    if isinstance(value, list):
        for at, inner in enumerate(value):
            yield from leaves(inner, (*path, at))


def alterations(path, value):
    if isinstance(value, list):
        yield [*value, *(value[:1] or ["~"])]
        if value and path[0] != "embeddings":
            yield value[1:]
        if path[-1] in ORDERED and value != value[::-1]:
            yield value[::-1]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield f"~{value}"
        if COUNTER.match(value) and path[2] != "input":
            yield COUNTER.sub("[9] ", value)
    elif value is None:
        yield from ("~", 0.25)
    else:
        yield value + (1 if isinstance(value, int) else 0.001 if path[0] == "steps" else 0.37)


def altered(case, path, value):
    """Return the case with one other value; all that does not lead there is shared."""
    if not path:
        return value
    twin = copy.copy(case)
    twin[path[0]] = altered(case[path[0]], path[1:], value)
    return twin


def names_an_unsaid_writer(case, path):
    """Return True for metadata that is nowhere else in the case: of a writer that neither settings nor inputs describe."""
    if "long_term_written" not in path or path[-2] != "metadata":
        return False
    value = case
    for key in path:
        value = value[key]
    return isinstance(value, str) and json.dumps(case).count(json.dumps(value)) == 1


def can_matter(case, path):
    if path[0] in DESCRIPTIONS or path == ("steps",) or path[-1] == "quirk":
        return False
    if path == ("config", "extractor") or names_an_unsaid_writer(case, path):
        return False  # only the extractor's first line counts; the replay learns from the row itself who wrote it
    if path[0] == "config":
        return path[1] in FIXED.get(case["component"], {}) or not SETTINGS_WITHOUT_EFFECT & set(path)
    if path[0] == "steps" and len(path) > 3 and path[2] == "input":
        step = case["steps"][path[1]]
        if path[3] == "importance" and step["input"].get("op") == "retrieval":
            return False  # what is recalled is never held
        return "error" not in step and (case["component"], step["op"], path[3]) not in INPUTS_WITHOUT_EFFECT
    return True


def options_of(recorded):
    """Return how `replay` is told of our side of a difference."""
    ours = DIFFERENCES.get(recorded["id"])
    return {} if ours is None else {"ours": ours.settings, "differing": ours.differing(recorded)}


async def holds(case, name, **options):
    stores = []

    def opened(clock):
        if not stores:
            stores.append(MemoryStore(clock))
        return stores[0]

    try:
        await replay(case, opened, name=name, **options)
    except (Mismatch, Unknown):
        return False
    return True


async def unnoticed(case):
    assert await holds(case, case["id"])
    return [
        (path, value)
        for path, leaf in leaves(case)
        if can_matter(case, path)
        for value in alterations(path, leaf)
        if await holds(altered(case, path, value), case["id"])
    ]


@pytest.mark.parametrize("recorded", CORE, ids=[case["id"] for case in CORE])
def test_a_case_with_one_altered_value_fails(recorded):
    case = applied(recorded, DIFFERENCES[recorded["id"]]) if recorded["id"] in DIFFERENCES else recorded
    assert anyio.run(unnoticed, case) == []


def test_a_row_that_another_object_wrote_is_not_taken_for_the_readers_own():
    case = next(case for case in CASES if case["id"] == "longterm-18-custom-metadata")
    tenant = ("steps", 1, "long_term_written", 0, "metadata", "tenant")
    assert not anyio.run(holds, altered(case, tenant, "t1"), case["id"])


@pytest.mark.parametrize("recorded", CORE, ids=[case["id"] for case in CORE])
def test_a_case_without_a_recorded_part_fails(recorded):
    case = applied(recorded, DIFFERENCES[recorded["id"]]) if recorded["id"] in DIFFERENCES else recorded
    kept = []
    for at, step in enumerate(case["steps"]):
        for part in set(step) - {"quirk"}:
            shorter = altered(case, ("steps", at), {key: value for key, value in step.items() if key != part})
            if anyio.run(holds, shorter, case["id"]):
                kept.append((at, part))
    assert kept == []


def with_nulls(case):
    """Return the case with null for every input that it leaves out and the operation knows."""
    steps = []
    for step in case["steps"]:
        parameters = signature(getattr(DRIVERS[case["component"]], f"do_{step['op']}")).parameters.values()
        optional = {one.name: None for one in parameters if one.default is not Parameter.empty}
        if step["op"] == "reopen":
            optional["session_id"] = None
        steps.append({**step, "input": {**optional, **step["input"]}})
    return {**case, "steps": steps}


@pytest.mark.parametrize("recorded", CASES, ids=[case["id"] for case in CASES])
def test_a_case_that_says_null_for_what_was_not_given_holds(recorded):
    case = applied(recorded, DIFFERENCES[recorded["id"]]) if recorded["id"] in DIFFERENCES else recorded
    assert anyio.run(partial(holds, **options_of(recorded)), with_nulls(case), None)


def test_a_fragment_without_importance_may_say_null():
    case = next(case for case in CASES if case["id"] == "sensory-10-batch")
    fragments = [{"importance": None, **one} for one in case["steps"][0]["input"]["fragments"]]
    assert anyio.run(holds, with_step("sensory-10-batch", input={"fragments": fragments}), None)


@pytest.mark.parametrize("setting", ["session", "session_id"])
@pytest.mark.parametrize("opened_in", [{}, {"session_id": "monday"}])
def test_null_for_a_session_is_a_reader_without_one(setting, opened_in):
    case = session_case(opened_in, {setting: None})
    assert anyio.run(holds, case, None)


def test_a_reader_without_a_session_finds_what_another_session_wrote_and_one_with_a_session_does_not():
    case = session_case({"session_id": "monday"}, {"session_id": "tuesday"})
    assert not anyio.run(holds, case, None)


@pytest.mark.parametrize("setting", ["metadata", "_default_importance", "reflection_threshold", "now"])
def test_null_for_a_setting_of_a_new_object_is_its_default(setting):
    assert anyio.run(holds, session_case({}, {setting: None}), None)
    assert anyio.run(holds, session_case({setting: None}, {}), None)


def test_null_for_a_weight_is_its_default():
    case = session_case({}, {})
    read = {"observation": "query", "alpha": None, "beta": None, "gamma": None}
    assert anyio.run(holds, altered(case, ("steps", 2, "input"), read), None)


def session_case(config, reopen):
    """Return a case of our own: one object writes, another is opened and reads without asking for a session."""
    session = {"session_id": config["session_id"]} if config.get("session_id") else {}
    metadata = {"memory_type": "long_term", "buffer_idx": 0, "importance": 1.0, "last_accessed_at": 1768046400.0}
    state = {"long_term_count": 1, "aggregate_importance": 0.0, "memory_stream_len": 0}
    ranked = {"document": "[0] tea", "relevance": 1.0, "recency": 1.0, "importance": 1.0, "score": 3.0}
    return {
        "schema": SCHEMA,
        "id": "sessions",
        "component": "LongTermMemory",
        "kind": "core",
        "config": config,
        "embeddings": {"tea": [1.0, 0.0], "query": [1.0, 0.0]},
        "steps": [
            {
                "op": "write",
                "input": {"text": "tea", "importance": 1.0, "last_accessed_time": "2026-01-10T12:00:00"},
                "result": None,
                "long_term_written": [{"document": "[0] tea", "metadata": {**metadata, **session}}],
                "state": {"long_term_count": 1, "aggregate_importance": 1.0, "memory_stream_len": 1},
            },
            {"op": "reopen", "input": reopen, "result": None, "state": state},
            {
                "op": "read",
                "input": {"observation": "query"},
                "result": [{"text": "[0] tea", "importance": 1.0}],
                "searches": [
                    {
                        "query": "query",
                        "topk": 200,
                        "score_threshold": 0,
                        "filters": [["memory_type", "==", "long_term"]],
                        "candidate_count": 1,
                    }
                ],
                "ranking": [{**ranked, "skipped": False}],
                "state": state,
            },
        ],
    }


def with_step(case_id, **changes):
    case = next(case for case in CASES if case["id"] == case_id)
    return altered(case, ("steps", 0), {**case["steps"][0], **changes})


def refused(case):
    with pytest.raises((Unknown, Mismatch)) as told:
        anyio.run(partial(replay, case, MemoryStore))
    return str(told.value)


def test_an_unknown_operation_is_named():
    assert "'ponder'" in refused(with_step("sensory-02-flush-all", op="ponder"))


def test_an_unknown_key_of_a_step_is_named():
    assert "'mood'" in refused(with_step("sensory-02-flush-all", mood=1))


def test_an_unknown_key_of_an_input_is_named():
    assert "'mood'" in refused(with_step("sensory-02-flush-all", input={"text": "a", "mood": 1}))


def test_an_unknown_key_of_a_fragment_is_named():
    assert "'mood'" in refused(with_step("sensory-10-batch", input={"fragments": [{"text": "a", "mood": 1}]}))


def test_an_unknown_key_of_a_state_is_named():
    state = {"long_term_count": 0, "aggregate_importance": 0.0, "memory_stream_len": 0, "mood": 1}
    assert "'mood'" in refused(with_step("longterm-15-empty", state=state))


def test_an_unknown_setting_is_named():
    case = CORE[0]
    assert "'mood'" in refused({**case, "config": {**case["config"], "mood": 1}})


def test_a_setting_that_cannot_be_used_is_refused():
    case = next(case for case in CASES if case["id"] == "sensory-02-flush-all")
    assert "buffer_size" in refused(altered(case, ("config", "buffer_size"), -1))
