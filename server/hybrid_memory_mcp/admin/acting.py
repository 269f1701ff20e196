"""What a person does to memories, by the names that the page and the terminal have for it: `act` takes JSON and answers JSON.

| verb | takes |
| --- | --- |
| `edit` | `id`, `text`; or `tags`, `importance`, `until` |
| `pin`, `unpin`, `forget`, `restore` | `ids` |
| `merge` | `ids`, `text` |
| `split` | `id`, `parts` (a list, or one text with a statement on each line) |
| `judge` | `ids`, `verdict` (true, untrue, ended), `until` for what ended |
| `adopt` | `ids`: memories of the person, which become the project's |
| `confirm`, `untrue`, `ended` | `judge` with that verdict |
| `undo` | `undo`, the id that an answer gave |

Ids may be given by their beginnings. Times are ISO 8601, or words such as "last Friday".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId, Scope, Verdict
from hybrid_memory.requests import REDO, UNDO, ActResult, JudgeRequest, MergeRequest, SplitRequest, UpdateRequest
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.memory_json import memory_as_json

if TYPE_CHECKING:
    from hybrid_memory.service.acts import Acts
    from hybrid_memory.service.memory_service import MemoryService

PERSON_ON_PAGE = "person (page)"
"""Who acts on the page, in the audit log."""

_MOST_SHOWN = 200  # memories of one answer; what was done to more is counted


@dataclass(frozen=True, slots=True)
class _Given:
    """The arguments of an act, each as it is meant."""

    values: Mapping[str, Any]
    service: MemoryService
    scope: Scope
    zone: tzinfo | None

    def ids(self) -> tuple[MemoryId, ...]:
        """Return the ids that are meant, whole, each once.

        Raises:
            InvalidInput: there are none, or one of them begins several.
            NotFound: one begins none.
        """
        given = self.values.get("ids") or self.values.get("id") or ()
        texts = given.replace(",", " ").split() if isinstance(given, str) else [str(one) for one in _list("ids", given)]
        if not texts:
            raise InvalidInput("ids", "name at least one memory")
        return tuple(dict.fromkeys(self.service.whole_ids(self.scope, texts)))

    def id(self) -> MemoryId:
        """Return the id of the one memory that is meant.

        Raises:
            InvalidInput: several are named.
        """
        ids = self.ids()
        if len(ids) > 1:
            raise InvalidInput("id", "name one memory")
        return ids[0]

    def text(self, name: str) -> str | None:
        """Return an argument that is text, None where it is not given."""
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value or None
        raise InvalidInput(name, "must be text")

    def needed(self, name: str) -> str:
        """Return an argument that is text and must be given."""
        found = self.text(name)
        if found is None or not found.strip():
            raise InvalidInput(name, "say it in words")
        return found.strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """Return an argument that is a list of texts, or one text with one of them on each line."""
        value = self.values.get(name) or ()
        texts = value.splitlines() if isinstance(value, str) else [str(one) for one in _list(name, value)]
        return tuple(one.strip() for one in texts if one.strip())

    def tags(self) -> tuple[str, ...] | None:
        """Return the tags that are given, with commas between them where they are one text."""
        value = self.values.get("tags")
        if value is None:
            return None
        return (
            tuple(one.strip() for one in value.split(",") if one.strip()) if isinstance(value, str) else _texts(value)
        )

    def number(self, name: str) -> float | None:
        """Return an argument that is a number."""
        value = self.values.get(name)
        if value in (None, ""):
            return None
        try:
            return float(str(value))
        except ValueError:
            raise InvalidInput(name, "must be a number") from None

    def moment(self, name: str, meaning: Any) -> datetime | None:
        """Return an argument that is a time."""
        return CallTime(self.zone, self.service.now()).moment(name, self.text(name), meaning)


_Act: TypeAlias = Callable[["Acts", _Given], ActResult]


def act(
    service: MemoryService,
    scope: Scope,
    verb: str,
    given: Mapping[str, Any],
    *,
    reveal: bool = False,
    zone: tzinfo | None = None,
) -> dict[str, Any]:
    """Do something to memories, and tell what it was.

    The answer: ``done`` in words, ``verb``, ``undo`` (an id, None where nothing changed), ``memories`` as they stand now, and the ids
    ``before`` (replaced by these), ``unchanged``, ``revived`` (current again), ``held`` (stay forgotten, and by what); ``secrets``.

    Raises:
        InvalidInput: there is no such verb, or an argument is wrong; `ChangedSince` where something cannot be undone any more.
        NotFound: a memory does not exist here, or an act is not kept any more.
    """
    if verb not in _VERBS:
        raise InvalidInput("verb", f"is one of {', '.join(_VERBS)}")
    result = _VERBS[verb](service.acts, _Given(given, service, scope, zone))
    ids = result.ids or (
        result.before if verb == UNDO else ()
    )  # what an undo has taken away, where it brings nothing back
    found = service.revealed(scope, ids[:_MOST_SHOWN])
    now = service.now()
    shown = [found[one] for one in ids if one in found]
    return {
        "done": _in_words(verb, given, result),
        "verb": verb,
        "undo": result.undo,
        "memories": [memory_as_json(one if reveal else service.secrets.shown(one), now) for one in shown],
        "count": len(result.ids),
        "before": list(result.before),
        "unchanged": list(result.unchanged),
        "revived": list(result.revived),
        "held": [{"id": one, "by": by} for one, by in result.held.items()],
        "secrets": list(result.secrets),
    }


def _edit(acts: Acts, given: _Given) -> ActResult:
    request = UpdateRequest(
        id=given.id(),
        content=given.needed("text") if given.values.get("text") is not None else None,
        importance=given.number("importance"),
        tags=given.tags(),
        expires_at=given.moment("until", "end"),
    )
    return acts.edit(given.scope, request)


def _judge(verdict: Verdict | None = None) -> _Act:
    def judge(acts: Acts, given: _Given) -> ActResult:
        said = verdict
        if said is None:
            try:
                said = Verdict(str(given.values.get("verdict")))
            except ValueError:
                raise InvalidInput("verdict", f"is one of {', '.join(Verdict)}") from None
        until = given.moment("until", "moment") if said is Verdict.ENDED else None
        return acts.judge(given.scope, JudgeRequest(given.ids(), said, until))

    return judge


_VERBS: Mapping[str, _Act] = {
    "edit": _edit,
    "pin": lambda acts, given: acts.pin(given.scope, given.ids()),
    "unpin": lambda acts, given: acts.pin(given.scope, given.ids(), pinned=False),
    "forget": lambda acts, given: acts.forget(given.scope, given.ids()),
    "restore": lambda acts, given: acts.restore(given.scope, given.ids()),
    "merge": lambda acts, given: acts.merge(given.scope, MergeRequest(given.ids(), given.needed("text"))),
    "split": lambda acts, given: acts.split(given.scope, SplitRequest(given.id(), given.texts("parts"))),
    "judge": _judge(),
    "confirm": _judge(Verdict.TRUE),
    "untrue": _judge(Verdict.UNTRUE),
    "ended": _judge(Verdict.ENDED),
    "adopt": lambda acts, given: acts.adopt(given.scope, given.ids()),
    "undo": lambda acts, given: acts.undo(given.scope, given.needed("undo")),
}
VERBS: tuple[str, ...] = tuple(_VERBS)


def _in_words(verb: str, given: Mapping[str, Any], result: ActResult) -> str:
    """Return what was done, as a sentence."""
    if verb == UNDO:
        return "Done again" if result.action == REDO else "Undone"
    if result.undo is None:
        return "Nothing to change" + (": it stays forgotten, another one has its place" if result.held else "")
    name = str(given.get("verdict")) if verb == "judge" else _VERDICTS.get(verb, verb)
    if verb == "merge":
        return f"{len(result.before)} memories are one now"
    if verb == "split":
        return f"One memory is {len(result.ids)} now"
    what = "1 memory" if len(result.ids) == 1 else f"{len(result.ids):,} memories"
    return _DONE[name].format(what) + (" Some stay as they were." if result.held else "")


_VERDICTS = {"confirm": "true", "untrue": "untrue", "ended": "ended"}
_DONE = {
    "edit": "{} corrected",
    "pin": "{} pinned",
    "unpin": "{} no longer pinned",
    "forget": "{} forgotten",
    "restore": "{} brought back",
    "true": "{} confirmed as true",
    "untrue": "{} set aside as untrue",
    "ended": "{} ended",
    "adopt": "{} moved into this project",
}


def _list(field: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidInput(field, "must be a list, or one text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in _list("tags", value))
