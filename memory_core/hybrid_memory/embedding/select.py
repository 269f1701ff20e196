"""From the text of a setting to an embedder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.errors import InvalidInput

if TYPE_CHECKING:
    from hybrid_memory.embedding.interface import Embedder

STATIC = "static"
_PREFIX = "fastembed:"


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
    name = spec.removeprefix(_PREFIX).strip()
    if not spec.startswith(_PREFIX) or not name:
        raise InvalidInput("embedder", 'is unknown; use "static" or "fastembed:" and the name or folder of a model')
    from hybrid_memory.embedding.fast import FastEmbedder

    folder = Path(name).expanduser()
    if name.startswith((".", "~")) or folder.is_absolute() or folder.is_dir():
        return FastEmbedder(f"local/{folder.name}", folder.absolute(), cache_dir)
    return FastEmbedder(name, None, cache_dir)
