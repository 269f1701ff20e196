"""What a recording says about itself: counters, filters and rankings that must agree with each other.

Our texts have no counters and our filters do not take over the last write, so the replay alone would not see these altered.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.conformance.compare import Mismatch

LARGEST_RANKING = 100
_K = 4
_LEAKING = ("importance", "last_accessed_at")


class Recording:
    """Follows the documents of a case through its steps."""

    def __init__(self) -> None:
        self._documents: set[str] = set()
        self._last: dict[int, tuple[object, dict[str, Any]]] = {}

    def check(self, step: dict[str, Any], ranked: Collection[Any], where: str) -> None:
        """Raise Mismatch where a step of a long-term or hybrid memory contradicts itself or earlier steps."""
        for row in step.get("long_term_written", []):
            counter = f"[{row['metadata']['buffer_idx']}] "
            if not row["document"].startswith(counter):
                raise Mismatch(f"{where}.long_term_written: {row['document']!r} does not begin with {counter!r}")
        if "error" in step:
            return
        if "ranking" not in step:
            if 0 < len(ranked) <= LARGEST_RANKING:
                raise Mismatch(f"{where}.ranking: {len(ranked)} were ranked, and none was recorded")
            return
        ranking = step["ranking"]
        unknown = [one["document"] for one in ranking if one["document"] not in self._documents]
        if unknown:
            raise Mismatch(f"{where}.ranking: {unknown} were never written")
        best = [one["document"] for one in ranking if not one["skipped"]][:_K]
        if [one["text"] for one in step["result"][: len(best)]] != best:
            raise Mismatch(f"{where}.result: is not the best {_K} of the ranking, {best}")

    def filters(self, clean: list[Any] | None, asking: object, recorded: Any) -> Any:
        """Return what the reference asked with: our filters and what its last write left in them."""
        if id(asking) not in self._last:
            return clean
        row = self._last[id(asking)][1]
        leaked = [[name, "==", row[name]] for name in _LEAKING]
        plain = [one for one in clean or [] if one[0] != "session_id"]
        session = [one for one in clean or [] if one[0] == "session_id"]
        twice = isinstance(recorded, list) and len(recorded) == len(plain + leaked) + 2 * len(session)
        return [*plain, *leaked, *session, *(session if twice else [])]

    def note(self, step: dict[str, Any], written: list[dict[str, Any]], writer: object) -> None:
        """Remember what a step wrote."""
        self._documents |= {row["document"] for row in step.get("long_term_written", [])}
        if written:
            self._last[id(writer)] = (writer, written[-1]["metadata"])
