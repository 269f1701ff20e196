"""The time as a service tells it: a clock that went back by a little is not believed, one that jumped far ahead is noticed.

Every transaction of any hub moves it on: what was ended then is over, whatever this machine's clock says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.clock import LONGEST_GAP, never_back

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.clock import Clock


class ServiceTime:
    """What time it is for one service. ``last_write`` is when its store was last written to, None for never.

    ``jumped`` says that the clock was so far ahead of what was known that nothing may be swept away in this process.
    """

    def __init__(self, clock: Clock, last_write: datetime | None) -> None:
        self._clock = clock
        self._last_known = last_write
        # Another hub's clock may be a little ahead of this one's.
        self._latest_write = clock.now() if last_write is None else never_back(clock.now(), last_write)
        self.jumped = False

    def now(self) -> datetime:
        """Return the time; not before the last write's where the clock went back by a little, so that what ended then is over."""
        return never_back(self._clock.now(), self._latest_write)

    def note(self, at: datetime) -> None:
        """Note the moment of a transaction, of this hub or of another."""
        self.notice_jump(at)
        self._latest_write = never_back(at, self._latest_write)

    def notice_jump(self, moment: datetime) -> None:
        """Note if the clock is so far ahead of what was last known that nothing may be swept away in this process."""
        if self._last_known is not None and moment - self._last_known > LONGEST_GAP:
            self.jumped = True
        self._last_known = moment
