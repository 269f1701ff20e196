"""What a store does about secrets in what is written and shown: the setting ``secrets``. Pure.

=======  =================================================  ==========================
setting  a secret in what is written                        shown to readers
=======  =================================================  ==========================
warn     is stored; the result names its kind               as a mark
mask     is replaced by a mark before anything is stored    is not there
refuse   nothing is stored; the error names field and kind  as a mark, if it was there
off      is stored                                          as it is
=======  =================================================  ==========================

The search index holds marks in every case (`hybrid_memory.encoding.word_encoding`), so that no question can be used to guess a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Json, Memory
from hybrid_memory.requests import Insight, UpdateRequest, WriteRequest
from hybrid_memory.secret_detection.masking import kinds_in_json, kinds_of, masked, masked_json, masked_memory

_NAMES = ("source", "speaker", "session", "key")


class SecretMode(StrEnum):
    """What is done about a secret in what is written."""

    WARN = "warn"
    MASK = "mask"
    REFUSE = "refuse"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """Looks at what is written and what is shown, as a setting says."""

    mode: SecretMode = SecretMode.WARN

    def write(self, request: WriteRequest) -> tuple[WriteRequest, tuple[str, ...]]:
        """Return a write as it is to be stored, and the kinds of secrets that it held.

        Raises:
            InvalidInput: it holds one, and secrets are refused; the error names the field and the kind, never the secret.
        """
        if self.mode is SecretMode.OFF:
            return request, ()
        fields: dict[str, tuple[str, ...]] = {"content": kinds_of(request.content), "tags": kinds_of(*request.tags)}
        fields |= {name: kinds_of(text) for name in _NAMES if (text := getattr(request, name)) is not None}
        if request.metadata:
            fields["metadata"] = kinds_in_json(request.metadata)
        kinds = self._checked(fields)
        if not kinds or self.mode is not SecretMode.MASK:
            return request, kinds
        names: dict[str, Any] = {name: _masked_or_none(getattr(request, name)) for name in _NAMES}
        content, tags, metadata = masked(request.content), _masked_tags(request.tags), masked_json(request.metadata)
        return replace(request, content=content, tags=tags, metadata=metadata, **names), kinds

    def update(self, request: UpdateRequest) -> tuple[UpdateRequest, tuple[str, ...]]:
        """Return an update as it is to be stored, and the kinds of secrets that it held.

        Raises:
            InvalidInput: as in `write`.
        """
        if self.mode is SecretMode.OFF:
            return request, ()
        kinds = self._checked({"content": kinds_of(request.content or ""), "tags": kinds_of(*(request.tags or ()))})
        if not kinds or self.mode is not SecretMode.MASK:
            return request, kinds
        tags = None if request.tags is None else _masked_tags(request.tags)
        return replace(request, content=_masked_or_none(request.content), tags=tags), kinds

    def insights(self, insights: Sequence[Insight]) -> tuple[Insight, ...]:
        """Return insights as they are to be stored.

        Raises:
            InvalidInput: as in `write`.
        """
        if self.mode is SecretMode.OFF:
            return tuple(insights)
        kinds = self._checked({f"insights.{at}.text": kinds_of(one.text) for at, one in enumerate(insights)})
        if not kinds or self.mode is not SecretMode.MASK:
            return tuple(insights)
        return tuple(replace(one, text=masked(one.text)) for one in insights)

    def memory(self, memory: Memory) -> tuple[Memory, tuple[str, ...]]:
        """Return a memory that comes in from a file as it is to be stored, and the kinds of secrets that it held.

        Raises:
            InvalidInput: as in `write`.
        """
        if self.mode is SecretMode.OFF:
            return memory, ()
        shown = masked_memory(memory)
        if shown is memory:
            return memory, ()
        kinds = kinds_of(memory.content, *memory.tags, *(getattr(memory, name) or "" for name in _NAMES))
        kinds = tuple(dict.fromkeys((*kinds, *kinds_in_json(memory.metadata))))
        self._checked({"content": kinds})
        return (shown, kinds) if self.mode is SecretMode.MASK else (memory, kinds)

    def body(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return an entry of a conversation as it is to be stored.

        Raises:
            InvalidInput: as in `write`.
        """
        if self.mode is SecretMode.OFF:
            return body
        kinds = self._checked({"body": kinds_in_json(body)})
        found: Mapping[str, Json] = masked_json(body) if kinds and self.mode is SecretMode.MASK else body
        return found

    def kinds(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of secrets in some texts, none where nobody wants to know."""
        return () if self.mode is SecretMode.OFF else kinds_of(*texts)

    def shown(self, memory: Memory) -> Memory:
        """Return a memory as a reader may see it."""
        return memory if self.mode is SecretMode.OFF else masked_memory(memory)

    def shown_text(self, text: str) -> str:
        """Return a name or a text as a reader may see it."""
        return text if self.mode is SecretMode.OFF else masked(text)

    def shown_body(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return an entry of a conversation as a reader may see it."""
        found: Mapping[str, Json] = body if self.mode is SecretMode.OFF else masked_json(body)
        return found

    def _checked(self, fields: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Return the kinds of all fields, each once; refuse the first field that has any where that is the setting."""
        if self.mode is SecretMode.REFUSE:
            for field, kinds in fields.items():
                if kinds:
                    raise InvalidInput(field, f"looks as if it held a secret ({', '.join(kinds)}); leave it out")
        return tuple(dict.fromkeys(kind for kinds in fields.values() for kind in kinds))


def _masked_or_none(text: str | None) -> str | None:
    return None if text is None else masked(text)


def _masked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(masked, tags)))
