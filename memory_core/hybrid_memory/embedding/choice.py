"""Which embedder a store gets: the one that is asked for, else the one that it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybrid_memory.embedding.select import FASTEMBED, STATIC, make_embedder
from hybrid_memory.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.interface import Embedder
    from hybrid_memory.settings import StoreSettings

_LOCAL = FASTEMBED + "local/"
_NAMELESS = (
    "the store's vectors were made by a model in a folder that no setting names; set the embedder to that folder"
)


def check_spec(spec: str) -> None:
    """Look whether a setting names an embedder; nothing is loaded.

    Raises:
        InvalidInput: it does not.
    """
    make_embedder(spec)


def chosen(settings: StoreSettings, pinned: str | None) -> tuple[Embedder, Embedder | None]:
    """Return the wanted embedder and, where the store's vectors are another's, that one if it can be told.

    An embedder that nobody set is no wish: the store stays with the one it has. So a client without the setting does not
    undo what another one's setting did.
    """
    if pinned is None:
        return lasting(settings.embedder), None
    own = spec_of(pinned) or settings.former_embedder
    if "embedder" in settings.model_fields_set:
        former = None if own in (None, settings.embedder) else lasting(own)
        return lasting(settings.embedder), former
    return (Nameless() if own is None else lasting(own)), None


def spec_of(identity: str) -> str | None:
    """Return the setting that leads to an embedder of this identity; None for a model from a folder, which it does not name."""
    if identity.startswith(STATIC):
        return STATIC
    if identity.startswith(_LOCAL) or not identity.startswith(FASTEMBED):
        return None
    return identity.rpartition("@")[0] or identity


def lasting(spec: str) -> Embedder:
    """Return the embedder of a setting; one that takes time to load is loaded beside the calls."""
    embedder = make_embedder(spec)
    if spec == STATIC:
        return embedder
    from hybrid_memory.embedding.loading import LoadedAside

    return LoadedAside(embedder, spec)


class Nameless:
    """Stands for the embedder of a store whose model came from a folder that no setting names."""

    identity = FASTEMBED + "local"

    @property
    def dimensions(self) -> int:
        """Nobody knows.

        Raises:
            EmbedderUnavailable: always.
        """
        raise EmbedderUnavailable(_NAMELESS)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Nobody can.

        Raises:
            EmbedderUnavailable: always.
        """
        del texts
        raise EmbedderUnavailable(_NAMELESS)
