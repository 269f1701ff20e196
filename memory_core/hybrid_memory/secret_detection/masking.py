"""Marks in the place of secrets: in a text, in a JSON value, in the fields of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybrid_memory.model import Json, Memory
from hybrid_memory.secret_detection.detection import find_secrets
from hybrid_memory.secret_detection.findings import SecretFound
from hybrid_memory.secret_detection.named_values import named_secret

_LONGEST_MEMBER = 1024  # characters of a value that is looked at together with its name: a key or a password, no text
_SHORTEST_NAME = 8  # characters of a name in which a secret could stand: usual ones ("user", "s1") are passed over
_NAME_FIELDS = ("source", "speaker", "key", "session")


def mark(kind: str) -> str:
    """Return what is in the place of a secret; it is no secret itself."""
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


def kinds_of(*texts: str) -> tuple[str, ...]:
    """Return the kinds of the secrets that some texts hold, each once, in their order."""
    return tuple(dict.fromkeys(one.kind for text in texts for one in find_secrets(text)))


def masked_json(value: Any) -> Any:
    """Return a JSON value with its texts masked, names included.

    A text under a name is looked at together with that: ``{"password": "swordfish"}`` tells as much as ``password=swordfish``.
    """
    return _JsonMasking().value(value)


def kinds_in_json(value: Any) -> tuple[str, ...]:
    """Return the kinds of the secrets that a JSON value holds, each once."""
    masking = _JsonMasking()
    masking.value(value)
    return tuple(dict.fromkeys(masking.kinds))


def masked_memory(memory: Memory) -> Memory:
    """Return a memory as it is shown: its words, and what else a writer gave, without secrets. The same object where there are none."""
    content = masked(memory.content)
    changes: dict[str, Any] = {} if content is memory.content else {"content": content}
    for field in _NAME_FIELDS:
        text: str | None = getattr(memory, field)
        if text is not None and len(text) >= _SHORTEST_NAME and (shown := masked(text)) is not text:
            changes[field] = shown
    if memory.tags and (tags := tuple(map(masked, memory.tags))) != memory.tags:
        changes["tags"] = tags
    if memory.metadata:
        masking = _JsonMasking()
        metadata: Mapping[str, Json] = masking.value(memory.metadata)
        if masking.kinds:
            changes["metadata"] = metadata
    return replace(memory, **changes) if changes else memory


class _JsonMasking:
    """Masks a JSON value and notes the ``kinds`` of what it found."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._text(str(name)): self._member(str(name), inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value]
        return value

    def _text(self, text: str, lead: str = "") -> str:
        """Return a text behind some words, masked; what is found in those words alone does not count."""
        found = [one for one in find_secrets(lead + text) if one.start >= len(lead)]
        self.kinds += [one.kind for one in found]
        return masked(lead + text, found)[len(lead) :] if found else text

    def _member(self, name: str, value: Any) -> Any:
        if isinstance(value, (str, int)) and not isinstance(value, bool) and (kind := named_secret(name, str(value))):
            self.kinds.append(kind)
            return mark(kind)
        if not isinstance(value, str):
            return self.value(value)
        shown = self._text(value)
        if shown is not value or " " in value or len(value) > _LONGEST_MEMBER:
            return shown
        return self._text(value, name + "=")
