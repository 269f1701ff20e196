"""The interface of every embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product is their likeness. Safe to call from several threads."""

    @property
    def identity(self) -> str:
        """Name and hash of everything that decides the vectors: equal identities give comparable vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector.

        Raises:
            EmbedderUnavailable: the model must be loaded to know, and cannot be.
        """
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimensions) float32 rows of length 1; a text without anything known gives a zero row.

        Raises:
            EmbedderUnavailable: the model cannot be loaded.
        """
        ...
