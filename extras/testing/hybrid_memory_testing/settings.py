"""What a memory under test is like: the product's defaults but for the embedder, and nothing of the machine that the test runs on."""

from __future__ import annotations

import os
from typing import Any

from pydantic import ValidationError

from hybrid_memory.settings import StoreSettings

OFF = "HYBRID_MEMORY_TEST_OFF"
"""The variable that switches the memories of all tests off: those that pass all the same do not test the memory."""

_NO = frozenset(("", "0", "false", "no", "off"))


class SettingsOfTest(StoreSettings):
    """Settings of a store that come from the test alone: the variables of a developer's own memory change nothing."""

    reads_variables = False


def settings_of_test(given: dict[str, Any]) -> StoreSettings:
    """Return the settings of a store.

    Raises:
        ValueError: names the setting that is wrong.
    """
    try:
        return SettingsOfTest(**{"embedder": "static"} | given)  # there at once, and the same in each run
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        raise ValueError(f"settings: {name}: {first['msg']}") from None


def is_switched_off() -> bool:
    """Return whether the memories of this run are switched off."""
    return os.environ.get(OFF, "").strip().lower() not in _NO  # noqa: TID251 - a switch of a whole run of tests
