"""What the model has cost, and what became of the last conversation: a small file in the store's folder, without words of anybody."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from hybrid_memory.private_files import read_plain_file, replace_private

FILE = "llm.json"
_MOST_BYTES = 256 * 1024
_MOST_CONVERSATIONS = 500


class Meter(BaseModel):
    """Tokens ``today``, which is a ``day``, and in ``total``; what the ``last`` judgement did.

    ``judged`` has for each conversation the newest memory that was judged.
    """

    day: str = ""
    today: int = Field(0, ge=0)
    total: int = Field(0, ge=0)
    last: str = ""
    judged: dict[str, str] = {}

    def used(self, day: str) -> int:
        """Return how many tokens were used on a day."""
        return self.today if self.day == day else 0

    def charged(self, day: str, tokens: int) -> Meter:
        """Return the meter after so many tokens more; fewer than none give back what was not used."""
        used, total = max(self.used(day) + tokens, 0), max(self.total + tokens, 0)
        return self.model_copy(update={"day": day, "today": used, "total": total})

    def with_judged(self, conversation: str, newest: str) -> Meter:
        """Return the meter that knows up to where a conversation was judged; the oldest conversations are forgotten."""
        known = {name: one for name, one in self.judged.items() if name != conversation} | {conversation: newest}
        return self.model_copy(update={"judged": dict(list(known.items())[-_MOST_CONVERSATIONS:])})


def day_of(now: datetime) -> str:
    """Return the day by which tokens are counted."""
    return now.astimezone(UTC).date().isoformat()


def read_meter(home: Path) -> Meter:
    """Return the meter of the store in ``home``; one at zero where there is none, or it is damaged."""
    try:
        return Meter.model_validate_json(read_plain_file(home / FILE, _MOST_BYTES))
    except (OSError, ValidationError):
        return Meter()


def write_meter(home: Path, meter: Meter) -> None:
    """Store a meter.

    Raises:
        OSError: it cannot be written.
    """
    replace_private(home / FILE, meter.model_dump_json().encode())
