"""What every client does, as data: the steps in their order, and what each must give.

An argument may name an id that an earlier step kept, as ``{dentist}``. What a step says is looked for in what a model would be shown of its
answer, in the text or in the structured part, whatever the client hands on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RECENT = "memory://most_recent_memories"
TOOLS = ("forget_memories", "read_memories", "reflect", "update_memory", "write_memory")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: a call of a tool, unless ``does`` names something else.

    ``keeps`` is the name under which the first id of the answer is kept. ``refused`` says that the tool refuses it: an error that the model
    is shown, with the words of ``says``.
    """

    name: str
    does: str = "call"
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    keeps: str = ""
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    refused: bool = False
    only_subscribers: bool = False


def _write(name: str, content: str, **more: Any) -> Step:
    return Step(name=name, tool="write_memory", arguments={"content": content, **more}, keeps=name)


NO_VALUES = {
    "memory_type": None,
    "importance": None,
    "tags": None,
    "metadata": None,
    "source": None,
    "speaker": None,
    "origin": None,
    "session": None,
    "occurred_at": None,
    "key": None,
    "expires_at": None,
    "supersedes": None,
    "pinned": None,
}
EMPTY_VALUES = {
    "tags": [],
    "source": "",
    "speaker": "",
    "session": "",
    "occurred_at": "",
    "key": "",
    "expires_at": "",
    "supersedes": "",
}

SCENARIO: tuple[Step, ...] = (
    Step(name="tools", does="tools", says=TOOLS),
    _write("dentist", "Ada's dentist is Dr Brandt.", importance=0.8, tags=["health"]),
    _write("lesson", "Ada learns Portuguese with her teacher Rui in Lisbon.", occurred_at="last Friday"),
    _write("homework", "Rui wants Ada's Portuguese homework by Thursday evening.", metadata={"project": "lessons"}),
    _write("exam", "Ada's Portuguese exam with Rui takes place in June in Lisbon."),
    _write("hobby", "Ada sings Portuguese songs with Rui on Sundays in Lisbon."),
    Step(name="restart", does="restart"),
    Step(
        name="recall after the restart",
        tool="read_memories",
        arguments={"query": "Who is Ada's dentist?"},
        says=("Dr Brandt", "{dentist}"),
    ),
    Step(name="a new connection", does="reconnect"),
    Step(name="brief", tool="read_memories", says=("Dr Brandt", "Portuguese")),
    Step(
        name="filter",
        tool="read_memories",
        arguments={"query": "Portuguese homework", "limit": 3, "where": {"metadata": {"project": "lessons"}}},
        says=("Thursday",),
        never_says=("songs",),
    ),
    Step(
        name="correct",
        tool="update_memory",
        arguments={"id": "{dentist}", "content": "Ada's dentist is Dr Okafor."},
        keeps="corrected",
    ),
    Step(name="pin", tool="update_memory", arguments={"id": "{corrected}", "pinned": True}, says=("{corrected}",)),
    Step(
        name="recall what was corrected",
        tool="read_memories",
        arguments={"query": "Who is Ada's dentist?"},
        says=("Dr Okafor",),
        never_says=("Dr Brandt",),
    ),
    Step(name="reflect, first call", tool="reflect", arguments={"focus": "Portuguese"}, says=("{lesson}", "insights")),
    Step(
        name="reflect, second call",
        tool="reflect",
        arguments={"insights": [{"text": "Rui is Ada's link to Lisbon.", "evidence": ["{lesson}", "{exam}"]}]},
        keeps="insight",
    ),
    Step(
        name="recall the insight",
        tool="read_memories",
        arguments={"ids": ["{insight}"]},
        says=("link to Lisbon", "{lesson}"),
    ),
    Step(name="subscribe", does="subscribe", only_subscribers=True),
    _write("parcel", "The parcel with the keyboard is at the neighbour's."),
    Step(name="hear of a change", does="heard", says=(RECENT,), only_subscribers=True),
    Step(name="forget", tool="forget_memories", arguments={"ids": ["{parcel}"]}, says=("forgotten",)),
    Step(
        name="recall what is forgotten",
        tool="read_memories",
        arguments={"query": "Where is the parcel with the keyboard?"},
        never_says=("neighbour's",),
    ),
    Step(name="restore", tool="forget_memories", arguments={"ids": ["{parcel}"], "restore": True}, says=("restored",)),
    Step(
        name="recall what was restored",
        tool="read_memories",
        arguments={"query": "Where is the parcel with the keyboard?"},
        says=("neighbour's",),
    ),
    Step(
        name="bad argument",
        tool="write_memory",
        arguments={"content": "Ada is tall.", "importance": 7},
        says=("importance",),
        refused=True,
    ),
    Step(name="missing argument", tool="write_memory", arguments={"importance": 0.5}, says=("content",), refused=True),
    Step(
        name="unknown id",
        tool="update_memory",
        arguments={"id": "00000000000000000000", "pinned": True},
        says=("no such memory",),
        refused=True,
    ),
    Step(
        name="null values",
        tool="write_memory",
        arguments={"content": "Ada's bicycle is green.", **NO_VALUES},
        keeps="bicycle",
    ),
    Step(
        name="null filters",
        tool="read_memories",
        arguments={"query": "What colour is Ada's bicycle?", "where": None, "ids": None, "cursor": None, "limit": None},
        says=("green",),
    ),
    Step(
        name="empty values",
        tool="write_memory",
        arguments={"content": "Ada's umbrella is yellow.", **EMPTY_VALUES},
        keeps="umbrella",
    ),
    Step(
        name="empty filters",
        tool="read_memories",
        arguments={"query": "What colour is Ada's umbrella?", "where": {}, "ids": [], "cursor": ""},
        says=("yellow",),
    ),
    Step(
        name="reflect with empty insights",
        tool="reflect",
        arguments={"focus": "Portuguese", "insights": []},
        says=("insights",),
    ),
)
