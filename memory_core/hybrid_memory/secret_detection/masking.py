"""Marks in the place of secrets: in a text, in a JSON value, in the fields of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybrid_memory.model import Json, Memory
from hybrid_memory.secret_detection.detection import find_secrets
from hybrid_memory.secret_detection.findings import SecretFound


def mark(kind: str) -> str:
    """Return what stands in the place of a secret; it is no secret itself."""
    return f"[secret: {kind}]"


def masked(text: str, found: Sequence[SecretFound] | None = None) -> str:
    """Return a text with a mark in the place of each secret, the text itself where there is none.

    ``found`` are the secrets of the text where they are known already.
    """
    found = find_secrets(text) if found is None else found
    if not found:
        return text
    parts, reached = [], 0
    for one in found:
        parts += [text[reached : one.start], mark(one.kind)]
        reached = one.end
    return "".join([*parts, text[reached:]])


def masked_json(value: Any) -> Any:
    """Return a JSON value with its texts masked, names included; a value under a name is looked at together with its name.

    ``{"password": "swordfish"}`` tells as much as ``password=swordfish`` does.
    """
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {masked(str(name)): _masked_member(str(name), inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked_json(one) for one in value]
    return value


def _masked_member(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        if isinstance(value, int) and not isinstance(value, bool) and masked(f"{name}: {value}") != f"{name}: {value}":
            return mark(find_secrets(f"{name}: {value}")[-1].kind)
        return masked_json(value)
    shown = masked(value)
    if shown != value or " " in value or len(value) > _LONGEST_MEMBER:
        return shown
    lead = f"{name}="
    found = [one for one in find_secrets(lead + value) if one.start >= len(lead)]
    return masked(lead + value, found)[len(lead) :]


_LONGEST_MEMBER = 1024  # characters of a value that is looked at together with its name: a key or a password, no text


def masked_memory(memory: Memory) -> Memory:
    """Return a memory as it is shown: its words, and what else a writer gave, without secrets. The same object where there are none."""
    content = masked(memory.content)
    changes: dict[str, Any] = {} if content is memory.content else {"content": content}
    for field in ("source", "speaker", "key", "session"):
        text: str | None = getattr(memory, field)
        if text is not None and len(text) > _SHORTEST_NAME and (shown := masked(text)) is not text:
            changes[field] = shown
    if memory.tags and (tags := tuple(map(masked, memory.tags))) != memory.tags:
        changes["tags"] = tags
    if memory.metadata:
        metadata: Mapping[str, Json] = masked_json(memory.metadata)
        if metadata != memory.metadata:
            changes["metadata"] = metadata
    return replace(memory, **changes) if changes else memory


_SHORTEST_NAME = 8  # characters of a name in which a secret could stand: usual ones ("user", "s1") are passed over


def kinds_of(*texts: str) -> tuple[str, ...]:
    """Return the kinds of the secrets that some texts hold, each once, in their order."""
    return tuple(dict.fromkeys(one.kind for text in texts for one in find_secrets(text)))
