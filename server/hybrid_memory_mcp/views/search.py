"""Search as a model sees it: the very answer of `read_memories` for the same arguments, and why it is what it is.

What is in the answer and what does not come from one search (`MemoryService.read_with_reasons`), which counts as no recall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mcp.types import TextContent
from pydantic import ValidationError

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.requests import Hit, ReadRequest, ReadResult
from hybrid_memory.retrieval.commitments import asks_for_open_items
from hybrid_memory.retrieval.word_marks import word_marks
from hybrid_memory.service.search_reasons import LeftOut, Reason, SearchReasons
from hybrid_memory_mcp.mcp_api.errors import argument_problems
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.mcp_api.schemas import ReadArguments, names_taken
from hybrid_memory_mcp.mcp_api.tool_results import as_json, read_result
from hybrid_memory_mcp.views.search_words import as_written, score_terms, understood_in_words, why_found
from hybrid_memory_mcp.views.session_titles import session_titles
from hybrid_memory_mcp.views.view import ViewRequest, told

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

QUERY_LIMIT = 2_000  # characters of a question that the page sends; longer ones are no questions
_FILTERS = {
    "type": "memory_type",
    "session": "session",
    "speaker": "speaker",
    "since": "since",
    "until": "until",
    "as_of": "as_of",
    "trust": "min_trust",
}
"""The filters of `read_memories` by the names that they have in the address."""
_NUMBERS = {"limit": "limit", "budget": "token_budget"}
_CHOICES = 50  # names that are offered for a filter

BUDGET = "budget"
_SAYS: Mapping[str, str] = {
    BUDGET: "Does not fit into the answer's {budget} tokens; it comes on the next page.",
    Reason.EARLIER: "Was on an earlier page.",
    Reason.LIMIT: "Matches, but an answer holds {limit} memories; it comes on the next page.",
    Reason.UNKNOWN: "Nothing seems to be known about this, so only the nearest are shown.",
    Reason.SHARE: "Comes from a tool or an import, which get only some of the first places.",
    Reason.CUT_OFF: "Has much less to do with the question than those shown.",
    Reason.WEAK: "Neither its words nor its meaning have much to do with the question.",
    Reason.LATER: "Was learned after the moment that you ask about.",
    Reason.FORGOTTEN: "Was forgotten: assistants do not get it until it is restored.",
    Reason.REPLACED: "Was replaced by a newer version, which is shown in its place.",
    Reason.EXPIRED: "Was true until a time that has passed.",
}
_TITLES: Mapping[str, str] = {
    BUDGET: "No room in the answer",
    Reason.EARLIER: "On an earlier page",
    Reason.LIMIT: "Further down",
    Reason.UNKNOWN: "Similar, but probably no answer",
    Reason.SHARE: "From tools and imports, waiting",
    Reason.CUT_OFF: "Much weaker",
    Reason.WEAK: "Hardly related",
    Reason.LATER: "Not known yet at that time",
    Reason.FORGOTTEN: "Forgotten",
    Reason.REPLACED: "Replaced by newer versions",
    Reason.EXPIRED: "No longer true",
}
_IN_ORDER = (
    Reason.EARLIER,
    Reason.SHARE,
    Reason.REPLACED,
    Reason.FORGOTTEN,
    Reason.EXPIRED,
    Reason.LATER,
    Reason.UNKNOWN,
    Reason.LIMIT,
    Reason.CUT_OFF,
    Reason.WEAK,
)
_NOT_OPEN = "The question asks what is still to do, and this is not, or is done."


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return what a question finds, as a model is answered, and why.

    Parameters: ``q``, the filters ``type``, ``tags`` (separated by commas), ``session``, ``speaker``, ``since``, ``until``, ``as_of`` and
    ``trust``, further ``limit``, ``budget`` (tokens) and ``cursor``. Without ``q`` nothing is searched. ``moments`` are the times that the
    filters were taken for.

    Raises:
        InvalidInput: names the parameter that is wrong.
    """
    began = perf_counter()
    query = request.text("q")
    if len(query) > QUERY_LIMIT:
        raise InvalidInput("q", f"has at most {QUERY_LIMIT:,} characters")
    call = _call(request, query)
    known = {
        "query": query,
        "call": call,
        "call_text": f"read_memories {as_json(call)}" if query else "",
        "filters": {name: value for name in ("tags", *_FILTERS, *_NUMBERS) if (value := request.text(name))},
        "choices": _choices(service, request),
    }
    if not query:
        return known | {"moments": {}, "hits": [], "left_out": [], "answer": None, "understood": None, "notes": []}
    given = _arguments(call)
    try:
        asked = given.to_request(CallTime(request.zone, service.now()))
    except InvalidInput as error:
        raise InvalidInput(_own_name(error.field), error.problem) from None
    found, reasons = service.read_with_reasons(request.scope, asked)
    search = _Search(service, request, asked, given.budget, found, reasons)
    where = asked.where
    moments = {"since": where.since, "until": where.until, "as_of": where.as_of}
    known |= {"moments": {name: moment.isoformat() for name, moment in moments.items() if moment is not None}}
    return known | search.told() | {"took_ms": round(1000 * (perf_counter() - began), 1)}


def _call(request: ViewRequest, query: str) -> dict[str, Any]:
    """Return the arguments of `read_memories` that ask the same."""
    where: dict[str, Any] = {to: value for name, to in _FILTERS.items() if (value := request.text(name))}
    tags = [one.strip() for one in request.text("tags").split(",") if one.strip()]
    where |= {"tags": tags} if tags else {}
    call: dict[str, Any] = {"query": query} if query else {}
    call |= {
        to: int(value) if value.isdecimal() else value for name, to in _NUMBERS.items() if (value := request.text(name))
    }
    call |= {"where": where} if where else {}
    return call | ({"cursor": cursor} if (cursor := request.text("cursor")) else {})


def _arguments(call: Mapping[str, Any]) -> ReadArguments:
    """Return checked arguments.

    Raises:
        InvalidInput: says what is wrong, by the names that the parameters have in the address.
    """
    try:
        return ReadArguments.model_validate(call)
    except ValidationError as error:
        first = argument_problems(error, "read_memories", names_taken(ReadArguments)).splitlines()[0]
        name, _, problem = first.partition(": ")
        raise InvalidInput(_own_name(name), problem) from None


def _own_name(name: str) -> str:
    """Return the name that an argument of `read_memories` has in the address."""
    last = name.rpartition(".")[2]
    return next((own for own, to in (*_FILTERS.items(), *_NUMBERS.items()) if to == last), last)


def _choices(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return known names for the filters; ``session_titles`` says what a person calls each conversation."""
    known = {
        name: service.suggest(request.scope, kind, "", _CHOICES)
        for name, kind in (("tags", "tag"), ("session", "session"), ("speaker", "speaker"))
    }
    return known | {"session_titles": session_titles(service, request, known["session"])}


@dataclass(frozen=True)
class _Search:
    """What was found, while it is put into words."""

    service: MemoryService
    request: ViewRequest
    asked: ReadRequest
    budget: int
    found: ReadResult
    reasons: SearchReasons

    def told(self) -> dict[str, Any]:
        """Return what is on the page."""
        # The same search, as the tool answers it: it is asked for no explanation.
        plain = replace(self.found, hits=tuple(replace(hit, terms={}) for hit in self.found.hits))
        answer = read_result(plain, self.budget, self.request.scope, self.request.zone, question=self.asked.query)
        page = answer.structured_content or {}
        text = "\n".join(one.text for one in answer.content if isinstance(one, TextContent))
        entries = {one["id"]: one for one in page["memories"]}
        memories = self._memories()
        shown = [hit for hit in self.found.hits if hit.memory.id in entries]
        rest = [hit for hit in self.found.hits if hit.memory.id not in entries]
        best = max((hit.score or 0.0 for hit in self.found.hits), default=0.0)
        return {
            "answer": {
                "text": text,
                "structured": page,
                "tokens": {
                    "text": estimate_tokens(text),
                    "structured": estimate_tokens(as_json(page)),
                    "budget": self.budget,
                },
                "shown": len(shown),
                "matched": self.found.total,
                "unknown": self.found.unknown and not self.found.offset,
                "cursor": page["cursor"],
            },
            "hits": [
                self._hit(place, hit, entries[hit.memory.id], memories, best)
                for place, hit in enumerate(shown, self.found.offset + 1)
            ],
            "left_out": self._left_out(rest, memories, best),
            "understood": understood_in_words(self.reasons.understanding, self.asked.query),
            "notes": self._notes(page),
        }

    def _memories(self) -> dict[MemoryId, Memory]:
        """Return the memories that are told, as the person asked to see them."""
        read = [hit.memory for hit in self.found.hits] + [one.memory for one in self.reasons.left_out]
        known = {memory.id: memory for memory in read}
        return self._whole(known) if self.request.reveal else known

    def _whole(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        wanted = list(ids)
        return self.service.revealed(self.request.scope, wanted) if wanted else {}

    def _hit(
        self, place: int, hit: Hit, entry: Mapping[str, Any], memories: Mapping[MemoryId, Memory], best: float
    ) -> dict[str, Any]:
        return self._explained(hit.memory.id, hit.score or 0.0, hit.terms, memories, best, weak=hit.weak) | {
            "place": place,
            "weak": hit.weak,
            "cut": bool(entry.get("cut")),
            "tokens": estimate_tokens(as_json(entry)),
            "newer": hit.newer,
            "repeats": list(hit.repeats),
            "copies": list(hit.copies),
            "disputed_by": list(hit.disputed_by),
            "contradicted_by": hit.contradicted_by,
            "disputes": hit.disputes,
            "evidence_forgotten": hit.evidence_forgotten,
            "recalled": self.found.recalled == hit.memory.id,
        }

    def _explained(
        self,
        memory_id: MemoryId,
        score: float,
        terms: Mapping[str, float],
        memories: Mapping[MemoryId, Memory],
        best: float,
        *,
        weak: bool = False,
    ) -> dict[str, Any]:
        """Return a memory with its score in words and the places of the question's words in its text."""
        memory = told(self.service, self.request, memories[memory_id])
        text = memory["content"]
        found = word_marks(text, self.reasons.understanding.words, self.service.store.hasher)
        words = [
            {
                "word": as_written(one.word, self.asked.query),
                "said": text[one.begin : one.end],
                "begin": one.begin,
                "end": one.end,
            }
            for one in found
        ]
        in_words = score_terms(terms, score, best, words=words)
        cosine = self.reasons.cosines.get(memory_id)
        return {
            "memory": memory,
            "score": round(score, 4),
            "share": round(max(min(score / best, 1.0), 0.0), 3) if best > 0 else 0.0,
            "terms": in_words,
            "why": why_found(in_words, words, weak=weak),
            "words": words,
            "likeness": None if cosine is None else round(cosine, 3),
        }

    def _left_out(self, rest: Sequence[Hit], memories: Mapping[MemoryId, Memory], best: float) -> list[dict[str, Any]]:
        """Return what matches and is not in the answer, by its reason; first what only had no room."""
        for_room = [
            self._explained(hit.memory.id, hit.score or 0.0, hit.terms, memories, best)
            | {"place": self.found.offset + at, "newer": hit.newer}
            for at, hit in enumerate(self.found.hits, 1)
            if hit in rest
        ]
        groups = [self._group(BUDGET, for_room, len(for_room))] if for_room else []
        by_reason: dict[Reason, list[LeftOut]] = {}
        for one in self.reasons.left_out:
            by_reason.setdefault(one.reason, []).append(one)
        for reason in _IN_ORDER:
            some = [self._explained(one.memory.id, one.score, one.terms, memories, best) | {"place": one.place, "newer": one.newer}
                for one in by_reason.get(reason, ())]  # fmt: skip
            if some:
                groups.append(self._group(reason, some, max(self.reasons.counts.get(reason, 0), len(some))))
        return groups

    def _group(self, reason: str, some: list[dict[str, Any]], count: int) -> dict[str, Any]:
        says = _SAYS[reason].format(budget=f"{self.budget:,}", limit=self.asked.page_size)
        if reason is Reason.WEAK and asks_for_open_items(self.asked.query):
            says = _NOT_OPEN
        return {"reason": str(reason), "title": _TITLES[reason], "says": says, "count": count, "memories": some}

    def _notes(self, page: Mapping[str, Any]) -> list[str]:
        """Return what a model reads next to the memories, in a person's words."""
        notes = []
        if self.found.unknown and not self.found.offset:
            notes.append("The answer says that probably nothing is known about this, and shows what is nearest.")
        if self.found.hits and all(hit.weak for hit in self.found.hits):
            notes.append("Everything shown is weak: it hardly has to do with the question.")
        if self.found.offline_seconds is not None:
            notes.append(
                f"The database cannot be reached: this is what was known {self.found.offline_seconds:.0f} seconds ago."
            )
        if self.found.words_alone:
            notes.append("Searched by words alone: the embedding model is not ready, so meaning counts for nothing.")
        elif self.found.pending:
            notes.append(
                f"{self.found.pending} of these were found by words alone; their vectors are still being made."
            )
        if self.found.held_back:
            notes.append(f"{self.found.held_back} from tools or imports are held back; they come on the next page.")
        if not page["memories"] and self.found.hits:
            notes.append(f"The budget is too small for a memory: {page.get('note', '')}.")
        return notes
