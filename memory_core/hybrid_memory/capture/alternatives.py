"""Things of which one is taken instead of another: tabs or spaces, npm or pnpm. Pure."""

from __future__ import annotations

import functools
import re

from hybrid_memory.language import lexicon


@functools.cache
def _table() -> tuple[re.Pattern[str], dict[str, tuple[str, bool]]]:
    found: dict[str, tuple[str, bool]] = {}
    # Those of the second entry may be used side by side: only who prefers one, or says that it changed, has no other.
    for key, exclusive in (("exclusive", True), ("side_by_side", False)):
        found |= {name: (group, exclusive) for name, group in lexicon.meanings(f"alternatives.{key}").items()}
    return re.compile(rf"({lexicon.any_of(found)})(?: v?\d[\d.]*)?(?![\w-])"), found


def alternative_at(low: str, place: int) -> tuple[str, int, bool] | None:
    """Return the group of the alternative that is at a place, where it ends, and whether it shuts the others out; None for none."""
    pattern, groups = _table()
    found = pattern.match(low, place)
    return None if found is None else (groups[found[1]][0], found.end(), groups[found[1]][1])
