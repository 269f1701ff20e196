"""A store of LangGraph over this memory: items under keys in namespaces, whose ``search`` is the memory's own ranking.

Every item is a memory: its text is searched, its other values are metadata. Where an item has one text, as ``{"text": "..."}`` has, and a
person corrects the memory, ``get`` returns the corrected text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from hybrid_memory.errors import HybridMemoryError, InvalidInput, error_code
from hybrid_memory.model import ITEM_SESSIONS
from hybrid_memory.validation import NAME_LIMIT
from hybrid_memory_adapters.hub_store import HubStore

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
    from langgraph.store.memory import InMemoryStore
except ImportError:
    raise ImportError("the store needs LangGraph: pip install langgraph") from None

SESSION = ITEM_SESSIONS[1]  # the collection of the items
_LEVEL = "namespace.{}"  # in the metadata: each label of the namespace, so that a search can ask for the first ones
_KEY, _VALUE, _FIELD, _UNINDEXED = "key", "value", "text_field", "unindexed"
_ALL = 1 << 31

Index = Literal[False] | list[str] | None


class MemoryStore(BaseStore):
    """A `BaseStore`; give it to ``compile(store=...)`` or ``create_agent(store=...)``.

    ``home`` is the folder, that of your assistants when not given; ``namespace`` the wall around all items. ``fields`` are the paths whose
    text is searched, as in an ``IndexConfig``; without them it is all text of a value.
    """

    def __init__(
        self, home: str | Path | None = None, *, namespace: str | None = None, fields: list[str] | None = None
    ) -> None:
        self._store = HubStore(home, namespace)
        self._fields = fields

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations: first those that read, then the last of each key that writes, as `InMemoryStore` does."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in given]
        for op in {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations as `batch` does, in a thread."""
        return await anyio.to_thread.run_sync(self.batch, list(ops))

    def _read(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            found = self._store.ask("item", session=SESSION, key=_name(op.namespace, op.key))["item"]
            return None if found is None else Item(**_fields_of(found))
        if isinstance(op, ListNamespacesOp):
            namespaces = {_namespace_of(one["metadata"]) for one in self._store.items(SESSION)}
            return _reference((namespace, "", {}) for namespace in namespaces).batch([op])[0]
        return self._search(op)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found: list[SearchItem] = []
        wanted = op.offset + op.limit
        if op.query and op.query.strip():
            arguments = {"session": SESSION, "query": op.query, "metadata": _levels(op.namespace_prefix)}
            # All of them: those without an index come too, by their name, and are passed over.
            ranked = self._store.ask("search_items", limit=_ALL, **arguments)["items"]
            found = [SearchItem(**_fields_of(one), score=one["score"]) for one in ranked if not _is_unindexed(one)]
        if op.filter or len(found) < wanted:
            ranks = {(one.namespace, one.key) for one in found}
            others = [SearchItem(**_fields_of(one)) for one in self._store.items(SESSION) if one["key"]]
            found += [one for one in others if _is_below(op, one) and (one.namespace, one.key) not in ranks]
        if op.filter:
            found = [one for one in found if _passes(one, op.filter)]
        return found[op.offset : wanted]

    def _put(self, op: PutOp) -> None:
        name = _name(op.namespace, op.key)
        if op.value is None:
            self._store.ask("forget_items", session=SESSION, keys=[name])
            return
        value = dict(op.value)
        place = _levels(op.namespace) | {_KEY: op.key} | ({_UNINDEXED: True} if op.index is False else {})
        content, metadata = _as_memory(value, self._fields if op.index is None else op.index, name)
        try:
            self._store.ask("put_item", session=SESSION, key=name, content=content, metadata=metadata | place)
        except HybridMemoryError as error:
            if error_code(error) != error_code(InvalidInput("", "")):
                raise
            # More than metadata hold, or characters that a statement may not have: all of it as text.
            whole = json.dumps(value, ensure_ascii=False)
            self._store.ask("put_item", session=SESSION, key=name, content=whole, metadata=place)


def _as_memory(value: Mapping[str, Any], index: Index, name: str) -> tuple[str, dict[str, Any]]:
    """Return the text of an item that is searched, and the rest of it as metadata."""
    if index is False:
        return name, {_VALUE: value}
    paths = index or [one for one, inner in value.items() if isinstance(inner, str)]
    if len(paths) == 1 and isinstance(value.get(paths[0]), str) and value[paths[0]].strip():
        rest = {one: inner for one, inner in value.items() if one != paths[0]}
        return value[paths[0]], {_VALUE: rest, _FIELD: paths[0]}
    texts = _lines(value) if index is None else _at_paths(value, index)
    return "\n".join(texts).strip() or name, {_VALUE: value}


def _at_paths(value: Mapping[str, Any], paths: Sequence[str]) -> list[str]:
    return [text for path in paths for text in get_text_at_path(value, tokenize_path(path))]


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield what a value says, a line for each text or number in it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _lines(inner, f"{name} {key}".strip())
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _lines(inner, name)
    elif value is not None:
        yield f"{name}: {value}"


def _fields_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Item`."""
    metadata, content = told["metadata"], told["content"]
    if _VALUE not in metadata:
        value = _from_json(content)
    else:
        value = metadata[_VALUE] | ({metadata[_FIELD]: content} if _FIELD in metadata else {})
    return {
        "namespace": _namespace_of(metadata),
        "key": metadata.get(_KEY, told["key"]),
        "value": value,
        "created_at": told["created_at"],
        "updated_at": told["updated_at"],
    }


def _from_json(content: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:  # a person wrote it again
        found = None
    return found if isinstance(found, dict) else {"text": content}


def _reference(items: Iterable[tuple[tuple[str, ...], str, Mapping[str, Any]]]) -> InMemoryStore:
    """Return LangGraph's own store with some items: what its filters and conditions mean is for it to say."""
    store = InMemoryStore()
    store.batch([PutOp(namespace, key, value) for namespace, key, value in items])
    return store


def _passes(item: Item, conditions: dict[str, Any]) -> bool:
    try:
        return bool(_reference([(item.namespace, item.key, item.value)]).search((), filter=conditions))
    except TypeError:  # the item has nothing to compare, which in LangGraph's PostgreSQL store is no match
        return False


def _levels(namespace: Sequence[str]) -> dict[str, Any]:
    return {_LEVEL.format(at): label for at, label in enumerate(namespace)}


def _namespace_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    names = takewhile(lambda name: name in metadata, (_LEVEL.format(at) for at in range(len(metadata))))
    return tuple(metadata[name] for name in names)


def _is_below(op: SearchOp, item: Item) -> bool:
    return bool(item.namespace[: len(op.namespace_prefix)] == tuple(op.namespace_prefix))


def _is_unindexed(told: Mapping[str, Any]) -> bool:
    return _UNINDEXED in told["metadata"]


def _name(namespace: Sequence[str], key: str) -> str:
    """Return the key of a memory: no label has a period, so the first two of them end the namespace."""
    name = f"{'.'.join(namespace)}..{key}"
    return name if len(name) <= NAME_LIMIT else blake2b(name.encode(), digest_size=32).hexdigest()
