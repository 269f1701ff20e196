"""What a redaction takes out of memories, whichever store they are in. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hybrid_memory.language.text import content_hash
from hybrid_memory.secret_detection.detection import find_secrets
from hybrid_memory.secret_detection.masking import mark, masked_memory
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Memory
    from hybrid_memory.store.transfer import RedactionPlan

_LEAST_SHARED = 8  # characters of a secret that is looked for everywhere: a shorter one is in many words by chance


def secrets_in(memories: Collection[Memory], words: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the secrets in some memories, each with its kind, and the kinds; ``words`` count as one where they stand there."""
    values: dict[str, str] = {}
    for memory in memories:
        for text in _texts_of(memory):
            values |= {text[one.start : one.end]: one.kind for one in find_secrets(text)}
    if words is not None and any(words in text for memory in memories for text in _texts_of(memory)):
        values[words] = "redacted"
    kinds = tuple(dict.fromkeys(values.values()))
    if not kinds and any(masked_memory(memory) is not memory for memory in memories):
        kinds = ("secret",)  # under a name in metadata, where it is none by itself
    return values, kinds


def redacted(memories: Iterable[Memory], plan: RedactionPlan) -> list[Memory]:
    """Return those memories that lose something, as they are afterwards, with their new revision."""
    values = dict(plan.values)
    shared = shared_values(values)
    changed = []
    for memory in memories:
        known = values if memory.id in plan.ids else shared
        after = _without(masked_memory(memory) if memory.id in plan.ids else memory, known)
        if after != memory:
            changed.append(replace(after, content_hash=content_hash(after.content), rev=memory.rev + 1))
    return changed


def redaction_log(changed: Sequence[Memory], head: int, at: datetime, actor: str) -> list[LogEntry]:
    """Return what the log says of redacted memories, behind the position ``head``."""
    return [
        LogEntry(
            position=position,
            change=ChangeType.UPDATE,
            id=memory.id,
            rev=memory.rev,
            at=at,
            actor=actor,
            action="redact",
            digest=memory.content_hash,
            note="a secret was taken out",
        )
        for position, memory in enumerate(changed, head + 1)
    ]


def shared_values(values: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets that are looked for in other memories too."""
    return {value: kind for value, kind in values.items() if len(value) >= _LEAST_SHARED}


def inside_json(value: str) -> str:
    """Return how a text is inside of JSON text."""
    return to_json(value)[1:-1]


def _texts_of(memory: Memory) -> list[str]:
    names = (memory.source, memory.speaker, memory.key)
    return [memory.content, *memory.tags, *filter(None, names), *_texts_in(dict(memory.metadata))]


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for name, inner in value.items() for text in (name, *_texts_in(inner))]
    if isinstance(value, list):
        return [text for inner in value for text in _texts_in(inner)]
    return [value] if isinstance(value, str) else []


def _without(memory: Memory, values: Mapping[str, str]) -> Memory:
    """Return a memory with marks in the place of some values."""

    def cleaned(text: str) -> str:
        for value, kind in values.items():
            text = text.replace(value, mark(kind))
        return text

    return replace(
        memory,
        content=cleaned(memory.content),
        tags=tuple(map(cleaned, memory.tags)),
        metadata=cleaned_json(dict(memory.metadata), values),
        source=None if memory.source is None else cleaned(memory.source),
        speaker=None if memory.speaker is None else cleaned(memory.speaker),
        key=None if memory.key is None else cleaned(memory.key),
    )


def cleaned_json(value: Any, values: Mapping[str, str]) -> Any:
    """Return a JSON value with marks in the place of some texts."""
    if isinstance(value, dict):
        return {cleaned_json(name, values): cleaned_json(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [cleaned_json(inner, values) for inner in value]
    if isinstance(value, str):
        for secret, kind in values.items():
            value = value.replace(secret, mark(kind))
    return value
