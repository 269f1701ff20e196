"""Waiting for a model that a service loads in the background, without keeping a core busy meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def once_loaded(look: Callable[[], Found | None]) -> Found:
    """Look, again each time that the loading of a model has ended, and return what is found, however long the machine takes."""
    while (found := look()) is None:
        for thread in threading.enumerate():
            if thread.name == "embedder":
                thread.join()
    return found
