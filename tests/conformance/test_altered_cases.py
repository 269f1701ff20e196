import copy
import json
from pathlib import Path

import pytest
from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.differences import DIFFERENCES, applied
from tests.conformance.replay import replay

from hybrid_memory.store.memory import MemoryStore

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
    ("DefaultGptsPlansMemory", "batch_save", "nums"): "a plan saved twice is one plan",
    ("DefaultGptsPlansMemory", "get_by_conv_id_and_num", "nums"): "a number said twice asks for nothing new",
    ("TimeWeightedEmbeddingRetriever", "load_document", "current_time"): "old times decide only by their order",
    ("TimeWeightedEmbeddingRetriever", "retrieve", "query"): "asked for vectors only",
}


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
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield f"~{value}"
    elif value is None:
        yield from ("~", 0.25)
    else:
        yield value + (1 if isinstance(value, int) else 0.37)


def altered(case, path, value):
    twin = copy.deepcopy(case)
    place = twin
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return twin


def can_matter(case, path):
    if path[0] in DESCRIPTIONS or path == ("steps",) or path[-1] == "quirk":
        return False
    if path == ("config", "extractor"):
        return False  # with the reference's settings only the first line counts
    if path[0] == "config":
        return not SETTINGS_WITHOUT_EFFECT & set(path)
    if path[0] == "steps" and len(path) > 3 and path[2] == "input":
        step = case["steps"][path[1]]
        if path[3] == "importance" and step["input"].get("op") == "retrieval":
            return False  # what is recalled is never held
        return "error" not in step and (case["component"], step["op"], path[3]) not in INPUTS_WITHOUT_EFFECT
    return True


def holds(case, name):
    stores = []

    def opened(clock):
        if not stores:
            stores.append(MemoryStore(clock))
        return stores[0]

    try:
        replay(case, opened, name=name)
    except (Mismatch, Unknown):
        return False
    return True


@pytest.mark.parametrize("recorded", CORE, ids=[case["id"] for case in CORE])
def test_a_case_with_one_altered_value_fails(recorded):
    case = applied(recorded, DIFFERENCES[recorded["id"]]) if recorded["id"] in DIFFERENCES else recorded
    assert holds(case, case["id"])
    unnoticed = [
        (path, value)
        for path, leaf in leaves(case)
        if can_matter(case, path)
        for value in alterations(path, leaf)
        if holds(altered(case, path, value), case["id"])
    ]
    assert unnoticed == []
