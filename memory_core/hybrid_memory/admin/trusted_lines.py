"""What an import checks of each line even of a trusted export: that no value of it can spoil what the store does with it later.

The limits are far above what this program writes: who edits an export by hand may make it odd, but not unusable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hybrid_memory.errors import InvalidInput, StoreDamaged
from hybrid_memory.model import Json, Memory, Usage
from hybrid_memory.store.transfer import BufferItem, ConversationItem, EntryItem, MemoryItem, TransferItem
from hybrid_memory.tiers.buffers import decode_buffers
from hybrid_memory.validation import CONTENT_LIMIT, METADATA_LIMIT, NAME_LIMIT, TAG_LIMIT, depth_of

# Counters that go up by one; beyond this the next step could leave the 64 bits of a column.
MOST_COUNTED = 2**53
_MOST_LABELS = 10_000  # tags or parents of a memory
_MOST_BUFFER_CHARACTERS = 10_000_000
_MOST_DEPTH = 100  # of metadata, and of an entry of a conversation


def check_trusted_item(item: TransferItem) -> None:
    """Check that an item can be stored, read and changed as any other.

    Raises:
        InvalidInput: names the field that is out of range.
    """
    if isinstance(item, MemoryItem):
        _check_memory(item.memory)
        _check_usage(item.usage)
    elif isinstance(item, BufferItem):
        _check_names(session=item.buffer.session, agent=item.buffer.agent)
        _check_buffer(item.buffer.state)
    elif isinstance(item, ConversationItem):
        _check_names(name=item.name, kind=item.kind)
        _check_count("last", item.last)
    elif isinstance(item, EntryItem):
        _check_names(conversation=item.conversation, kind=item.kind)
        _check_count("number", item.number)
        _check_depth("body", item.body)


def refusal(item: TransferItem) -> str | None:
    """Return why an import would not take an item that a store exports, None where it does."""
    try:
        check_trusted_item(item)
    except InvalidInput as error:
        return str(error)
    return None


def _check_memory(memory: Memory) -> None:
    _check_names(
        namespace=memory.namespace,
        session=memory.session,
        agent=memory.agent,
        source=memory.source,
        speaker=memory.speaker,
        key=memory.key,
        content_hash=memory.content_hash,
    )
    _check_labels("tags", memory.tags, TAG_LIMIT)
    _check_labels("parents", memory.parents, NAME_LIMIT)
    if len(memory.content) > CONTENT_LIMIT:
        raise InvalidInput("content", f"is longer than {CONTENT_LIMIT:,} characters")
    if not (math.isfinite(memory.importance) and 0 <= memory.importance <= 1):
        raise InvalidInput("importance", "must be a number from 0 to 1")
    if not 1 <= memory.rev <= MOST_COUNTED:
        raise InvalidInput("rev", "is no revision that a store has")
    _check_depth("metadata", memory.metadata)
    if len(str(memory.metadata)) > 8 * METADATA_LIMIT:
        raise InvalidInput("metadata", f"is longer than {METADATA_LIMIT} characters of JSON")


def _check_usage(usage: Usage | None) -> None:
    if usage is not None:
        _check_count("access_count", usage.count)


def _check_buffer(state: str | None) -> None:
    if state is None:
        return
    if len(state) > _MOST_BUFFER_CHARACTERS:
        raise InvalidInput("state", "is longer than a session's buffers are")
    try:
        decode_buffers(state)
    except (StoreDamaged, RecursionError, OverflowError):
        raise InvalidInput("state", "holds no attention buffers") from None


def _check_names(**names: str | None) -> None:
    for field, name in names.items():
        if name is not None and len(name) > NAME_LIMIT:
            raise InvalidInput(field, f"is longer than {NAME_LIMIT} characters")


def _check_labels(field: str, labels: Sequence[str], limit: int) -> None:
    if len(labels) > _MOST_LABELS:
        raise InvalidInput(field, f"at most {_MOST_LABELS:,}")
    if any(len(label) > limit for label in labels):
        raise InvalidInput(field, f"one of them is longer than {limit} characters")


def _check_depth(field: str, value: Mapping[str, Json]) -> None:
    if depth_of(value, _MOST_DEPTH + 1) > _MOST_DEPTH:
        raise InvalidInput(field, f"is nested deeper than {_MOST_DEPTH} levels")


def _check_count(field: str, count: int) -> None:
    if not 0 <= count <= MOST_COUNTED:
        raise InvalidInput(field, "is no number that a store counts to")
