"""One conversation before a model: one question, one answer, and its decisions as acts that can be undone.

Whatever goes wrong, nothing is changed, and what was decided without a model holds; the meter notes what it was.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory_llm.answer import Answer, AnswerError, Decisions, decisions_of
from hybrid_memory_llm.endpoint import ANSWER_TOKENS, EndpointError, Reply, ask
from hybrid_memory_llm.meter import day_of, read_meter, write_meter
from hybrid_memory_llm.question import question_of

if TYPE_CHECKING:
    from hybrid_memory.model import Scope
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_llm.question import Question
    from hybrid_memory_llm.settings import LlmSettings
    from hybrid_memory_mcp.runtime.provider import ServiceProvider

_PROMPT = Path(__file__).with_name("prompt.md")
_SCHEMA = Answer.model_json_schema()


class Judgement:
    """One conversation, which ``scope`` names, before the model of some settings."""

    def __init__(self, settings: LlmSettings, provider: ServiceProvider, home: Path, scope: Scope) -> None:
        self._settings, self._provider, self._home = settings, provider, home
        self._scope = replace(scope, actor=f"model {settings.model}")

    def run(self) -> None:
        """Ask about what the conversation left, do what the answer decides, and note what that cost and did.

        Raises:
            HybridMemoryError: the store cannot be read.
            OSError: the meter cannot be written; nothing was sent then.
        """
        meter, conversation = read_meter(self._home), self._conversation()
        after = meter.judged.get(conversation, "")
        question = self._provider.run(lambda service: question_of(service, self._scope, after))
        if question is None:
            return
        prompt, day = _PROMPT.read_text(encoding="utf-8"), day_of(question.asked_at)
        most = ANSWER_TOKENS + sum(map(estimate_tokens, (prompt, question.text, json.dumps(_SCHEMA))))
        key = os.environ.get(self._settings.key_variable or "", "")  # noqa: TID251 - the one place where the key may be
        problem = (
            "what it may use on one day is used up" if meter.used(day) + most > self._settings.tokens_a_day else ""
        )
        if self._settings.key_variable and not key:
            problem = "the variable that key_variable names is not set where the memory's server runs"
        if problem:
            write_meter(self._home, meter.model_copy(update={"last": f"{problem}; nothing was sent"}))
            return
        # Counted before it is sent: what is killed meanwhile may have cost as much.
        meter = meter.charged(day, most).with_judged(conversation, question.newest)
        write_meter(self._home, meter.model_copy(update={"last": "it has not answered yet; nothing was changed"}))
        used, last = self._asked(key, prompt, question, most)
        write_meter(self._home, meter.charged(day, used - most).model_copy(update={"last": last}))

    def _asked(self, key: str, prompt: str, question: Question, most: int) -> tuple[int, str]:
        """Ask, do what the answer decides, and return the tokens that this took and what it did, in words."""
        try:
            reply: Reply = ask(self._settings, key, prompt, question.text, _SCHEMA)
        except EndpointError as error:
            return most if error.may_cost else 0, f"{error}; nothing was changed"
        used = reply.tokens or most
        try:
            decided = decisions_of(reply.text, question, f"judged by {self._scope.actor}")
            return used, self._provider.run(lambda service: _stored(service, self._scope, decided))
        except AnswerError:
            return used, "its answer was not as it has to be; nothing was changed"
        except HybridMemoryError:
            return used, "not all of its answer could be stored"

    def _conversation(self) -> str:
        named = "\0".join((*self._scope.namespaces, self._scope.session))
        return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def _stored(service: MemoryService, scope: Scope, decided: Decisions) -> str:
    """Store what was decided, and return in words what that was."""
    settlement = decided.settlement
    done = service.acts.settle(scope, settlement) if settlement.ids else None
    insights = service.store_insights(scope, decided.insights, as_act=True) if decided.insights else ()
    changed = 0 if done is None else len(done.ids)
    replaced = 0 if done is None else len(done.before)
    return f"changed {changed} memories, replaced {replaced} and concluded {len(insights)} things"
