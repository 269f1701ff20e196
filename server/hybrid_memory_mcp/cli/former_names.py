"""Commands by the names they had before 0.1.0. They work for one release; then this file and its call in `command_group` go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FORMER: Mapping[str, str] = {
    "search": "inspect search",
    "timeline": "inspect timeline",
    "tiers": "inspect tiers",
    "restore-memory": "forget --restore",
    "history": "show --history",
    "judge": "correct",
    "reembed": "embedder use",
    "migrate": "postgres migrate",
    "store": "postgres",
}
"""The new words for each old name."""

_VERDICTS = ("true", "untrue", "ended")


def current_words(name: str, rest: Sequence[str]) -> list[str]:
    """Return the command line that does today what an old one did."""
    words = list(rest)
    if name == "judge":  # its first argument is an option now
        at = next((at for at, one in enumerate(words) if one in _VERDICTS), None)
        if at is not None:
            words[at] = f"--{words[at]}"
    if name == "reembed":  # its option is an argument now
        words = [one.removeprefix("--to=") for one in words if one != "--to"]
    return [*FORMER[name].split(), *words]
