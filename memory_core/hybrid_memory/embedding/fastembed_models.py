"""The models that fastembed knows: listed, looked up on this machine, downloaded. The only place that uses the network.

Alongside `hybrid_memory.embedding.fastembed_embedder` the only module that imports fastembed. Nothing but an explicit command of a person
calls `download`.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybrid_memory.embedding.fastembed_embedder import find_cached, is_folder_description
from hybrid_memory.embedding.registry import FASTEMBED, OWN, names_a_folder
from hybrid_memory.errors import EmbedderUnavailable, InvalidInput
from hybrid_memory.settings import model_folders

_PROGRESS_INTERVAL_SECONDS = 0.1  # smooth for the eye, and cheap
_BYTES_PER_GIGABYTE = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that fastembed can fetch. ``size`` is in bytes, about; ``here`` says that it is on this machine."""

    name: str
    dimensions: int
    size: int
    licence: str
    description: str
    here: bool
    source: str
    files: tuple[str, ...]

    @property
    def spec(self) -> str:
        """The setting that means this model."""
        return FASTEMBED + self.name


def known_models() -> tuple[Model, ...]:
    """Return the models that fastembed knows, the smallest first.

    Raises:
        EmbedderUnavailable: fastembed is not installed.
    """
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise EmbedderUnavailable("fastembed is not installed; install hybrid-memory-mcp with it") from error
    supported = (one for one in TextEmbedding.list_supported_models() if one["sources"].get("hf"))
    found = [_model(one) for one in supported if not is_folder_description(one["model"])]
    return tuple(sorted(found, key=lambda model: (model.size, model.name)))


def spec_named(wanted: str) -> str:
    """Return the setting for what a person named: one of our own, a model with or without ``fastembed:``, or a folder.

    Raises:
        InvalidInput: nothing has that name.
    """
    if wanted in OWN:
        return wanted
    name = wanted.removeprefix(FASTEMBED).strip()
    if name and names_a_folder(name):
        folder = Path(name).expanduser().absolute()
        if not folder.is_dir():
            raise InvalidInput("model", "is a folder that does not exist")
        return FASTEMBED + str(folder)
    model = find_model(name)
    if model is not None:
        return model.spec
    near = _nearest_names(name)
    meant = f"; did you mean {' or '.join(near)}?" if near else ";"
    raise InvalidInput("model", f"{name} is unknown{meant} `embedder list` names all; a folder with a model works too")


def _nearest_names(name: str) -> list[str]:
    """Return which names may have been meant, the nearest first; one of our own, which need no download, before all others."""
    own = difflib.get_close_matches(name.lower(), OWN, n=1, cutoff=0.6)
    others = difflib.get_close_matches(name, [one.name for one in known_models()], n=3, cutoff=0.4)
    return [*own, *others][:3]


def find_model(name: str) -> Model | None:
    """Return the model of a name, in any case, with or without ``fastembed:``."""
    wanted = name.removeprefix(FASTEMBED).lower()
    return next((model for model in known_models() if model.name.lower() == wanted), None)


def download(model: Model, on_progress: Callable[[int], None]) -> None:
    """Fetch a model into the first of the `model_folders`; ``on_progress`` is called now and then with the bytes that are there.

    What an interrupted download left is used by the next one.

    Raises:
        EmbedderUnavailable: there is no connection, or the source refuses.
    """
    folder = model_folders()[0]
    failures: list[BaseException] = []
    thread = threading.Thread(target=_fetch, args=(model, folder, failures), name="download", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_PROGRESS_INTERVAL_SECONDS)
        on_progress(_bytes_in(folder / _folder_name(model)))
    if failures:
        raise EmbedderUnavailable(
            f"the model {model.name} could not be downloaded ({type(failures[0]).__name__}); nothing was changed. Look "
            "whether this machine reaches huggingface.co and has room, or name a folder that holds the model"
        ) from None


def _fetch(model: Model, folder: Path, failures: list[BaseException]) -> None:
    from fastembed.common.model_management import ModelManagement
    from huggingface_hub.utils.tqdm import disable_progress_bars
    from loguru import logger

    logger.disable("fastembed")  # it would print local paths
    disable_progress_bars()
    try:
        # Not `TextEmbedding(...)`: that waits 39 seconds, in three tries, when there is no network.
        ModelManagement.download_files_from_huggingface(
            model.source, cache_dir=str(folder), extra_patterns=list(model.files)
        )
    except BaseException as error:  # noqa: BLE001 - the waiting thread tells it
        failures.append(error)


def _model(entry: dict[str, Any]) -> Model:
    files: Sequence[str] = (entry["model_file"], *entry.get("additional_files", ()))
    source = entry["sources"]["hf"]
    return Model(
        name=entry["model"],
        dimensions=int(entry["dim"]),
        size=int(float(entry["size_in_GB"]) * _BYTES_PER_GIGABYTE),
        licence=entry.get("license") or "unknown",
        description=entry.get("description") or "",
        here=find_cached(source, entry["model_file"]) is not None,
        source=source,
        files=tuple(files),
    )


def _folder_name(model: Model) -> str:
    from huggingface_hub.file_download import repo_folder_name

    return repo_folder_name(repo_id=model.source, repo_type="model")


def _bytes_in(folder: Path) -> int:
    total = 0
    for file in (folder / "blobs").glob("*"):
        try:
            total += file.stat().st_size
        except OSError:
            continue  # it was renamed at its end
    return total
