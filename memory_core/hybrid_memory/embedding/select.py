"""From the text of a setting to an embedder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.errors import InvalidInput

if TYPE_CHECKING:
    from hybrid_memory.embedding.interface import Embedder

STATIC = "static"
FASTEMBED = "fastembed:"


def make_embedder(spec: str = STATIC, *, cache_dir: Path | None = None) -> Embedder:
    """Return the embedder that ``spec`` names; its files are opened at the first vector.

    ``static`` is the built-in one; ``fastembed:<model>`` a model that fastembed knows, from ``cache_dir`` (None: its own
    cache); ``fastembed:<folder>`` the model in a folder, recognised by being one or by beginning like a path.

    Raises:
        InvalidInput: ``spec`` is none of these.
    """
    if spec == STATIC:
        from hybrid_memory.embedding.static import StaticEmbedder

        return StaticEmbedder()
    name = spec.removeprefix(FASTEMBED).strip()
    if not spec.startswith(FASTEMBED) or not name:
        raise InvalidInput("embedder", 'is unknown; use "static" or "fastembed:" and the name or folder of a model')
    from hybrid_memory.embedding.fast import FastEmbedder

    folder = Path(name).expanduser()
    if names_a_folder(name):
        return FastEmbedder(f"local/{folder.name}", folder.absolute(), cache_dir)
    return FastEmbedder(name, None, cache_dir)


def names_a_folder(name: str) -> bool:
    """Say whether a name is that of a folder: it is one, or begins like a path."""
    folder = Path(name).expanduser()
    return name.startswith((".", "~")) or folder.is_absolute() or folder.is_dir()
