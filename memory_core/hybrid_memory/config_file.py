"""Writes ``config.toml`` of a store; what people wrote there, comments included, stays as it is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import CONFIG


def change_config(home: Path, changes: Mapping[str, str | None]) -> None:
    """Set top-level values, or remove those that are None; the file is replaced whole, or not at all.

    Raises:
        InvalidInput: the file is not TOML, or cannot be read or written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file = home / CONFIG
    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8")) if file.exists() else tomlkit.document()
        for name, value in changes.items():
            if value is not None:
                document[name] = value
            elif name in document:
                del document[name]
        replace_file(file, tomlkit.dumps(document))
    except TOMLKitError:
        raise InvalidInput(CONFIG, "is not valid TOML; nothing was changed") from None
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(CONFIG, "cannot be read or written; nothing was changed") from None


def replace_file(file: Path, text: str) -> None:
    """Replace a file whole, or not at all; it is for its owner alone.

    Raises:
        OSError: the folder cannot be written.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(fresh).replace(file)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
