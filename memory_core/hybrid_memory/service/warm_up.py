"""What the first call of a client would otherwise wait for, done ahead; and what is cleared away when a hub comes to a namespace."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from hybrid_memory.capture.oneself import is_about_oneself
from hybrid_memory.encoding.word_encoding import encode_words
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.service import reads

if TYPE_CHECKING:
    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.model import Scope
    from hybrid_memory.service.background import LateVectors
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.service.conversations import Conversations
    from hybrid_memory.service.reading_journal import ReadingJournal

# Passes most of the rules for words, names, days and aspects, whose patterns are compiled at their first use.
_WARMING = "Ada's dentist said on 3 March that she must not eat nuts; remind Bo of BUG-12 next Friday. Ich muss morgen noch zahlen."
_ABOUT_ONESELF = "I live in Porto"
_KEEP_RESULTS = timedelta(days=1)  # of requests, for a relay that never came back to acknowledge them
_SWEEP_SECONDS = 3600.0  # between two looks for conversations that ended without saying so


class WarmUp:
    """Warms one service up for the namespaces that somebody comes to; each once."""

    def __init__(
        self,
        commits: Commits,
        encoder: TextEncoder,
        journal: ReadingJournal,
        late_vectors: LateVectors,
        conversations: Conversations,
    ) -> None:
        self._commits = commits
        self._encoder = encoder
        self._journal = journal
        self._late_vectors = late_vectors
        self._conversations = conversations
        self._warmed: dict[tuple[str, ...], Scope] = {}
        self._swept_at = monotonic()

    def warm(self, scope: Scope) -> None:
        """Load what the first call would otherwise wait for, and end sessions that ended without saying so."""
        store, time = self._commits.store, self._commits.time
        index = self._commits.indexes.get(scope.namespace)
        self._encoder.load_model()
        if scope.namespaces in self._warmed:
            return
        self._warmed[scope.namespaces] = scope
        # Without a vector: what nothing was written to must not be pinned to an embedder.
        encode_words(_WARMING, None, time.now(), hasher=store.hasher)
        parse_question(_WARMING, time.now(), store.hasher)
        time.notice_jump(time.now())
        if not time.jumped:
            store.forget_results(time.now() - _KEEP_RESULTS)
            self._journal.flush(time.now())
        index.warm(partial(store.get, scope.namespace))
        while self._late_vectors.give(scope.namespace):
            pass
        if scope.personal is not None:
            is_about_oneself(_ABOUT_ONESELF)
            self._warm_joint(scope)
        self._conversations.sweep(scope)

    def sweep_when_due(self) -> None:
        """End now and then what ended without saying so: a hub that stays has no start at which that is done."""
        if monotonic() - self._swept_at >= _SWEEP_SECONDS:
            self._swept_at = monotonic()
            for scope in list(self._warmed.values()):
                self._conversations.sweep_again(scope)

    def forget(self) -> None:
        """Warm up again for the next client."""
        self._warmed.clear()

    def _warm_joint(self, scope: Scope) -> None:
        """Load what is read together, and give the person's memories their vectors if some wait."""
        joint = self._commits.indexes.get_all(scope.namespaces)
        joint.warm(reads.fetch_of(self._commits.store, scope))
        if joint.without_vector(self._commits.time.now(), 1):
            for namespace in scope.namespaces[1:]:
                while self._late_vectors.give(namespace):
                    pass
