"""Reading ``config.toml``: whatever is in its place, the answer is its values or a sentence, at once."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.private_files import NotPlainFileError, read_plain_file

CONFIG = "config.toml"
_LARGEST_BYTES = 256 * 1024  # all settings with a page of comments each have a tenth of that

_SHOWN_CHARACTERS = 200  # of what the parser says, which can quote a key


def read_config(home: Path) -> dict[str, Any]:
    """Return the values of a store's file; none where there is no file.

    Raises:
        InvalidInput: it is no plain file, too long, cannot be read, or is not TOML.
    """
    text = read_config_text(home)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(CONFIG, f"is not valid TOML: {str(error)[:_SHOWN_CHARACTERS]}") from None
    except RecursionError:
        raise InvalidInput(CONFIG, "is not valid TOML: it is nested too deep") from None
    except (ValueError, OverflowError):
        raise InvalidInput(CONFIG, "is not valid TOML: it holds a number or a date that is out of range") from None


def read_config_text(home: Path) -> str:
    """Return the text of a store's file, without a byte order mark; empty where there is no file.

    Raises:
        InvalidInput: it is no plain file, too long, or cannot be read.
    """
    try:
        found = read_plain_file(home / CONFIG, _LARGEST_BYTES + 1)
    except FileNotFoundError:
        return ""
    except NotPlainFileError:
        raise InvalidInput(CONFIG, "is no plain file; put one in its place, or remove it") from None
    except NotADirectoryError:
        return ""  # what is wrong with the folder is said by anyone who opens it
    except (OSError, ValueError):
        raise InvalidInput(CONFIG, "cannot be read") from None
    if len(found) > _LARGEST_BYTES:
        raise InvalidInput(CONFIG, f"is longer than {_LARGEST_BYTES // 1024} KiB; no store has so many settings")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(CONFIG, "cannot be read: it is not text in UTF-8") from None
