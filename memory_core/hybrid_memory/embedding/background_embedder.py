"""An embedder whose model is loaded in a thread of its own, so that no call waits long for it; made by ``registry.py``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from hybrid_memory.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.embedder import Embedder

LOAD_WAIT_SECONDS = 1.0  # from the beginning of a loading callers wait for its end; a small model is there by then
AHEAD_SECONDS = (
    5.0  # as long for who comes ahead of the uses: the default model takes one or two to be unpacked for the first time
)
RETRY_AFTER_SECONDS = 30.0  # after a failure: the answer would be the same for a while, and trying costs time


class BackgroundEmbedder:
    """Stands for an embedder whose model takes time to load, or is not there yet.

    The first use begins to load it in the background. A use waits at most until ``load_wait`` seconds after that beginning, and
    then goes on without a vector; who comes ahead of the uses calls `load_ahead`. A model that is missing is looked for again at
    a use ``retry_after`` seconds later, so it is found without a restart.
    """

    def __init__(
        self,
        embedder: Embedder,
        name: str,
        *,
        load_wait: float = LOAD_WAIT_SECONDS,
        retry_after: float = RETRY_AFTER_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._embedder = embedder
        self._name = name
        self._load_wait = load_wait
        self._retry_after = retry_after
        self._clock = clock
        self._lock = threading.Lock()
        self._loading: threading.Thread | None = None
        self._began = self._failed_at = 0.0
        self._failure: str | None = None
        self._ready = False

    @property
    def identity(self) -> str:
        """The embedder's identity; its name alone while it is not loaded."""
        return self._embedder.identity if self._ready else self._name

    @property
    def dimensions(self) -> int:
        """The length of a vector.

        Raises:
            EmbedderUnavailable: the model is still being loaded, or cannot be.
        """
        self._wait()
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimensions) float32 unit rows.

        Raises:
            EmbedderUnavailable: the model is still being loaded, or cannot be, or does not run.
        """
        self._wait()
        return self._embedder.embed(texts)

    def loaded(self) -> Embedder:
        """Return the embedder itself when it is loaded, however long that takes.

        Raises:
            EmbedderUnavailable: it cannot be loaded.
        """
        _ = self._embedder.dimensions
        return self._embedder

    def load_ahead(self) -> None:
        """Load the model, for somebody who has time: waits until it is there, `AHEAD_SECONDS` at most.

        Raises:
            EmbedderUnavailable: the model is still being loaded, or cannot be.
        """
        self._wait(AHEAD_SECONDS)

    def _wait(self, seconds: float | None = None) -> None:
        if self._ready:
            return
        with self._lock:
            loading = self._loading or self._begin()
            left = self._began + (self._load_wait if seconds is None else seconds) - self._clock()
        if left > 0:
            loading.join(left)
        if self._ready:
            return
        if self._failure is not None:
            raise EmbedderUnavailable(self._failure)
        raise EmbedderUnavailable("the embedding model is still being loaded")

    def _begin(self) -> threading.Thread:
        now = self._clock()
        if self._failure is not None and now < self._failed_at + self._retry_after:
            raise EmbedderUnavailable(self._failure)
        self._failure = None
        self._began = now
        self._loading = threading.Thread(target=self._load, name="embedder", daemon=True)
        self._loading.start()
        return self._loading

    def _load(self) -> None:
        failure: str | None = None
        try:
            _ = self._embedder.dimensions
        except EmbedderUnavailable as error:
            failure = str(error)
        except BaseException as error:  # noqa: BLE001 - the thread ends here; the caller is told by `_failure`
            failure = f"the embedding model cannot be loaded ({type(error).__name__})"
        with self._lock:
            self._failure, self._failed_at = failure, self._clock()
            self._ready = failure is None
            self._loading = None
