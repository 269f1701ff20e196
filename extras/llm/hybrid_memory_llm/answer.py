"""What a model may answer, and what of that is done. An answer holds by the schema and names only what was shown, or none of it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from hybrid_memory.capture.model import StatementKind
from hybrid_memory.capture.statements import TAGS_OF_KIND
from hybrid_memory.requests import Insight, SettledChange, Settlement

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory_llm.question import Question

_MOST = 40
MOST_INSIGHTS = 3
_Name = Annotated[str, StringConstraints(max_length=10)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Kept(_Part):
    """Something said in passing that is worth keeping, and of what kind it is."""

    id: _Name
    kind: StatementKind


class Changed(_Part):
    """A statement, and the earlier one that it makes untrue."""

    id: _Name
    earlier: _Name
    how: Literal["replaces", "contradicts"]


class Together(_Part):
    """What several statements mean together."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    sources: list[_Name] = Field(min_length=2, max_length=8)


class Answer(_Part):
    """The whole answer."""

    keep: list[Kept] = Field([], max_length=_MOST)
    changes: list[Changed] = Field([], max_length=_MOST)
    insights: list[Together] = Field([], max_length=MOST_INSIGHTS)


class AnswerError(Exception):
    """An answer is not as it has to be."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is to be done."""

    settlement: Settlement
    insights: tuple[Insight, ...]


def decisions_of(text: str, question: Question, source: str) -> Decisions:
    """Return what an answer decides; ``source`` says who does. An episode that changes something is kept as a correction.

    Raises:
        AnswerError: it is not by the schema, or names something that was not shown to be decided about.
    """
    try:
        answer = Answer.model_validate_json(text[text.find("{") : text.rfind("}") + 1])
    except ValidationError:
        raise AnswerError from None
    shown = {**question.said, **question.earlier}
    kept = {}
    changes = []
    for change in answer.changes:
        if change.earlier not in question.near.get(change.id, ()):
            raise AnswerError
        later = question.said[change.id]
        changes.append(SettledChange(later.id, shown[change.earlier].id, change.how == "replaces"))
        if later.is_episode:
            kept[later.id] = TAGS_OF_KIND.get(StatementKind.CORRECTION, ())
    for one in answer.keep:
        if not _named(one.id, question.said).is_episode:
            raise AnswerError
        kept[question.said[one.id].id] = TAGS_OF_KIND.get(one.kind, ())
    insights = tuple(
        Insight(
            text=one.text, evidence=tuple(dict.fromkeys(_named(name, shown).id for name in one.sources)), source=source
        )
        for one in answer.insights
    )
    return Decisions(Settlement(kept=kept, changes=tuple(changes)), insights)


def _named(name: str, shown: dict[str, Memory]) -> Memory:
    if name not in shown:
        raise AnswerError
    return shown[name]
