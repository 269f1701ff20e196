"""The judge that the hub finds by its entry point: what it costs where it is switched off is one look at ``config.toml``."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hybrid_memory.config_file import read_config
from hybrid_memory.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.model import Scope
    from hybrid_memory_mcp.runtime.provider import ServiceProvider

_ONE_AT_A_TIME = threading.Lock()  # conversations that end together share the budget and its file


def judge(provider: ServiceProvider, home: Path, scope: Scope) -> None:
    """Judge a conversation that has ended, where the settings say so.

    Raises:
        InvalidInput: a setting is wrong; ``status`` says so too.
    """
    if not read_config(home).get("llm"):
        return
    from hybrid_memory_llm.judgement import Judgement
    from hybrid_memory_llm.settings import read_settings

    settings = read_settings(home)
    if settings is not None:
        with _ONE_AT_A_TIME:
            Judgement(settings, provider, home, scope).run()


def state(home: Path, now: datetime) -> str:
    """Return one line about the model, its tokens and its last judgement; empty where it is switched off."""
    from hybrid_memory_llm.meter import day_of, read_meter
    from hybrid_memory_llm.settings import read_settings

    try:
        settings = read_settings(home)
    except InvalidInput as error:
        return f"cannot be used: {error}"
    if settings is None:
        return ""
    meter = read_meter(home)
    used = f"{meter.used(day_of(now)):,} of {settings.tokens_a_day:,} tokens today, {meter.total:,} in all"
    return f"{settings.model} at {settings.host}, {used}" + (f"; last: {meter.last}" if meter.last else "")
