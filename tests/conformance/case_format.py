"""What a case may hold: an unknown key, a value of the wrong kind or a setting the reference cannot have is refused by name."""

from __future__ import annotations

from typing import Any

from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.drivers import DRIVERS

SCHEMA = "dbgpt-memory-golden/1"
KINDS = ("core", "quirk")
CASE_KEYS = {"schema", "id", "component", "kind", "title", "notes", "source", "config", "embeddings", "steps"}
LISTS = {"random_draws", "comparisons", "long_term_written", "searches", "ranking", "faded"}
STEP_KEYS = {"op", "input", "result", "error", "state", "quirk", *LISTS}
FRAGMENT_KEYS = {"text", "importance"}
_SHORT_TERM = {"enhance_similarity_threshold", "enhance_threshold", "scorer", "extractor"}
CONFIG_KEYS = {
    "SensoryMemory": {"buffer_size", "importance_weight", "threshold_to_short_term", "scorer"},
    "ShortTermMemory": {"buffer_size", "scorer", "extractor"},
    "EnhancedShortTermMemory": {"buffer_size", *_SHORT_TERM},
    "LongTermMemory": {
        "_default_importance",
        "bulk",
        "decay_rate",
        "fetch",
        "k",
        "metadata",
        "now",
        "reflection_threshold",
        "score_threshold",
        "session",
        "session_id",
        "storage",
        "top_k",
    },
    "HybridMemory": {
        "_default_importance",
        "importance_weight",
        "now",
        "sensory_buffer",
        "session",
        "session_id",
        "short_term",
        "short_term_buffer",
        *_SHORT_TERM,
    },
    "TimeWeightedEmbeddingRetriever": {"decay_rate", "default_salience", "k", "other_score_keys", "storage", "top_k"},
    "AgentMemory": {"memory", "buffer_size"},
    "LLMImportanceScorer": {"rule"},
    "LLMInsightExtractor": {"rule"},
}
FIXED = {"LongTermMemory": {"k": 4, "fetch": 200, "decay_rate": 0.01, "score_threshold": 0, "top_k": 100}}
"""Settings that the reference has no way to change; a case can only state them."""

WHOLE = {"buffer_size", "sensory_buffer", "short_term_buffer", "enhance_threshold", "k", "fetch", "top_k"}
NUMBERS = {
    "decay_rate",
    "enhance_similarity_threshold",
    "importance_weight",
    "score_threshold",
    "threshold_to_short_term",
}
TEXTS = {
    "text",
    "observation",
    "query",
    "op",
    "now",
    "current_time",
    "last_accessed_time",
    "conv_id",
    "content",
    "sender",
    "receiver",
    "goal",
    "agent",
    "agent_role",
    "state",
    "result",
    "second",
}
_STRUCTURED = "StructuredAgentMemoryFragment"


def check_form(case: dict[str, Any], name: str | None) -> None:
    """Raise Unknown, or Mismatch for a setting that the reference cannot have, with the name of what is wrong."""
    if case.get("schema") != SCHEMA or case.get("kind") not in KINDS:
        raise Unknown(f"schema {case.get('schema')!r}, kind {case.get('kind')!r} are not known")
    if name is not None and case.get("id") != name:
        raise Unknown(f"the case calls itself {case.get('id')!r} in a file named {name!r}")
    component = case.get("component")
    if component not in DRIVERS:
        raise Unknown(f"component {component!r} is not known")
    _only(set(case) - CASE_KEYS, "case")
    _check_config(component, _of(dict, case.get("config"), "config"))
    for text, vector in _of(dict, case.get("embeddings", {}), "embeddings").items():
        _numbers(vector, f"embeddings.{text}")
    if not _of(list, case.get("steps"), "steps"):
        raise Unknown("steps: there are none")
    for at, step in enumerate(case["steps"]):
        _check_step(component, _of(dict, step, f"step {at}"), f"step {at}")


def _check_config(component: str, config: dict[str, Any]) -> None:
    _only(set(config) - CONFIG_KEYS.get(component, set()), "config")
    for name, value in _given(config).items():
        if name in WHOLE:
            _whole(value, f"config.{name}")
        if name in NUMBERS:
            _number(value, f"config.{name}")
    for name, value in FIXED.get(component, {}).items():
        if _given(config).get(name, value) != value:
            raise Mismatch(f"config.{name}: the reference always has {value}, so {config[name]} was never recorded")


def _check_step(component: str, step: dict[str, Any], where: str) -> None:
    _only(set(step) - STEP_KEYS, where)
    if not {"op", "input"} <= set(step) or ("result" in step) == ("error" in step):
        raise Unknown(f"{where} must have op, input, and either result or error")
    for name in LISTS & set(step):
        _of(list, step[name], f"{where}.{name}")
    _numbers(step.get("random_draws", []), f"{where}.random_draws")
    if "error" in step and set(_of(dict, step["error"], f"{where}.error")) != {"type", "message"}:
        raise Unknown(f"{where}.error: must have type and message")
    given = _of(dict, step["input"], f"{where}.input")
    for name, value in _given(given).items():
        if name in TEXTS and component != _STRUCTURED:
            _of(str, value, f"{where}.input.{name}")
        if name in ("num", "n", "retry_times"):
            _whole(value, f"{where}.input.{name}")
        if name == "importance":
            _number(value, f"{where}.input.{name}")
    for at, fragment in enumerate(_of(list, given.get("fragments") or [], f"{where}.input.fragments")):
        _check_fragment(fragment, f"{where}.input.fragments[{at}]")


def _check_fragment(fragment: Any, where: str) -> None:
    _only(set(_of(dict, fragment, where)) - FRAGMENT_KEYS, where)
    _of(str, fragment.get("text"), f"{where}.text")
    if fragment.get("importance") is not None:
        _number(fragment["importance"], f"{where}.importance")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return what was given: null says of an input, as of a setting, that it was not."""
    return {name: value for name, value in values.items() if value is not None}


def _only(unknown: set[str], where: str) -> None:
    if unknown:
        raise Unknown(f"{where}: nobody knows what {sorted(unknown)} means")


def _of(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        raise Unknown(f"{where}: {value!r} is not a {kind.__name__}")
    return value


def _number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unknown(f"{where}: {value!r} is not a number")


def _whole(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown(f"{where}: {value!r} is not a whole number")


def _numbers(values: Any, where: str) -> None:
    for value in _of(list, values, where):
        _number(value, where)
