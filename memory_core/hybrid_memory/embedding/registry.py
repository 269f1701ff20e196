"""Which embedder a store gets: from the text of a setting, or from the identity that a store holds, to an `Embedder`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.errors import EmbedderUnavailable, InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.settings import StoreSettings

UNIVERSAL = "universal"
STATIC = "static"
MINILM = "minilm"
MULTILINGUAL = "multilingual"
FASTEMBED = "fastembed:"
OWN = (UNIVERSAL, STATIC, MULTILINGUAL, MINILM)  # all settings that are no model of fastembed
FORMER_DEFAULTS = (STATIC, MULTILINGUAL)  # what an earlier version gave to a store for which nobody chose
_LOCAL_PREFIX = FASTEMBED + "local/"
_UNKNOWN = "the store's vectors were made by a model in a folder that no setting names; set the embedder to that folder"


def make_embedder(spec: str, *, cache_dir: Path | None = None) -> Embedder:
    """Return the embedder that ``spec`` names; its files are opened at the first vector.

    ``universal`` is the default; ``static`` and ``multilingual`` are the small built-in tables; ``minilm`` the model that the
    extra of this name installs; ``fastembed:<model>`` one that fastembed knows, from ``cache_dir`` (None: its own cache);
    ``fastembed:<folder>`` the model in a folder, recognised by being one or by beginning like a path.

    Raises:
        InvalidInput: ``spec`` is none of these.
    """
    if spec == UNIVERSAL:
        from hybrid_memory.embedding.universal import UniversalEmbedder

        return UniversalEmbedder()
    if spec == STATIC:
        from hybrid_memory.embedding.static import StaticEmbedder

        return StaticEmbedder()
    if spec == MULTILINGUAL:
        from hybrid_memory.embedding.multilingual import MultilingualEmbedder

        return MultilingualEmbedder()
    if spec == MINILM:
        from hybrid_memory.embedding.minilm import MinilmEmbedder

        return MinilmEmbedder()
    name = spec.removeprefix(FASTEMBED).strip()
    if not spec.startswith(FASTEMBED) or not name:
        raise InvalidInput(
            "embedder",
            'is unknown; use "universal", "static", "multilingual", "minilm" or "fastembed:" and the name or folder of a model',
        )
    from hybrid_memory.embedding.fastembed_embedder import FastEmbedder

    folder = Path(name).expanduser()
    if names_a_folder(name):
        return FastEmbedder(f"local/{folder.name}", folder.absolute(), cache_dir)
    return FastEmbedder(name, None, cache_dir)


def names_a_folder(name: str) -> bool:
    """Return True if a name is that of a folder: it is one, or begins like a path."""
    folder = Path(name).expanduser()
    return name.startswith((".", "~")) or folder.is_absolute() or folder.is_dir()


def check_spec(spec: str) -> None:
    """Check that a setting names an embedder; nothing is loaded.

    Raises:
        InvalidInput: it does not.
    """
    make_embedder(spec)


def choose_embedders(settings: StoreSettings, pinned: str | None) -> tuple[Embedder, Embedder | None]:
    """Return the wanted embedder and, where the store's vectors are another's, that one if it can be named.

    Without a setting the store stays with the embedder it has, so that a client without the setting does not undo what another
    client's setting did. Only one that an earlier version chose by itself gives way to the present default.
    """
    if pinned is None:
        return embedder_for(settings.embedder), None
    if "embedder" in settings.model_fields_set or setting_for(pinned) in FORMER_DEFAULTS:
        pinned_spec = setting_for(pinned) or settings.former_embedder
        former = None if pinned_spec in (None, settings.embedder) else embedder_for(pinned_spec)
        return embedder_for(settings.embedder), former
    return embedder_of(pinned, settings), None


def reason_of(settings: StoreSettings, pinned: str | None) -> str:
    """Say why a store has its embedder; ``pinned`` is the embedder's identity."""
    if "embedder" in settings.model_fields_set:
        return "a setting names the embedder"
    if pinned is None:
        return "a new store begins with it"
    spec = setting_for(pinned)
    if spec == settings.embedder:
        return "the default"
    if spec in FORMER_DEFAULTS:
        return f"the default of an earlier version, to be replaced by {settings.embedder}"
    return "the store's own, since no setting names one"


def embedder_of(identity: str, settings: StoreSettings) -> Embedder:
    """Return the embedder whose vectors a store has; one that never works where no setting names it."""
    spec = setting_for(identity) or settings.former_embedder
    return UnknownEmbedder() if spec is None else embedder_for(spec)


def setting_for(identity: str) -> str | None:
    """Return the setting that leads to an embedder of this identity; None for a model from a folder, which it does not name."""
    for spec in OWN:
        if identity.startswith(spec):
            return spec
    if identity.startswith(_LOCAL_PREFIX) or not identity.startswith(FASTEMBED):
        return None
    spec = identity.rpartition("@")[0] or identity
    # A store's file, which may be a planted one, chooses no folder that a model is loaded from: only a setting does.
    return None if names_a_folder(spec.removeprefix(FASTEMBED)) else spec


def is_multilingual(identity: str) -> bool:
    """Return True if an embedder knows the words of many languages, as far as its name tells; the others know English."""
    return identity.startswith(UNIVERSAL) or MULTILINGUAL in identity.lower()


def embedder_for(spec: str) -> Embedder:
    """Return the embedder of a setting; one that takes time to load is loaded alongside the calls."""
    embedder = make_embedder(spec)
    if spec in (STATIC, MULTILINGUAL):
        return embedder
    from hybrid_memory.embedding.background_embedder import BackgroundEmbedder

    if (
        spec == UNIVERSAL
    ):  # loaded in the time of a call, so none need wait for it: what is written gets its vector soon after
        return BackgroundEmbedder(embedder, spec, load_wait=0)
    return BackgroundEmbedder(embedder, spec)


class UnknownEmbedder:
    """Stands for the embedder of a store whose model came from a folder that no setting names."""

    identity = FASTEMBED + "local"

    @property
    def dimensions(self) -> int:
        """The length of a vector, which is unknown without the model.

        Raises:
            EmbedderUnavailable: always.
        """
        raise EmbedderUnavailable(_UNKNOWN)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed nothing, because there is no model.

        Raises:
            EmbedderUnavailable: always.
        """
        del texts
        raise EmbedderUnavailable(_UNKNOWN)
