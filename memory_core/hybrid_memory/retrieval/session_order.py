"""Who follows whom in a session, by the time of writing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import ABSENT, GrowableArray


class SessionOrder:
    """The chain of each session's rows by time and then by row, kept while rows come, move and go."""

    def __init__(self) -> None:
        self._before = GrowableArray(np.int32)
        self._after = GrowableArray(np.int32)
        self._last: dict[int, int] = {}

    @property
    def before(self) -> NDArray[np.int32]:
        """For each row the one before it in its session, `ABSENT` where it is the first."""
        return self._before.values

    @property
    def after(self) -> NDArray[np.int32]:
        """For each row the one after it in its session, `ABSENT` where it is the last."""
        return self._after.values

    def load(self, sessions: NDArray[np.int32], created_at: NDArray[np.int64]) -> None:
        """Make the chains of all rows anew."""
        order = np.argsort(sessions, kind="stable").astype(np.int32)
        earlier, later = order[:-1], order[1:]
        together = sessions[earlier] == sessions[later]
        if np.any(together & (created_at[earlier] > created_at[later])):
            order = np.lexsort((created_at, sessions)).astype(np.int32)
            earlier, later = order[:-1], order[1:]
        before, after = np.full((2, len(sessions)), ABSENT, np.int32)
        before[later[together]] = earlier[together]
        after[earlier[together]] = later[together]
        self._before, self._after = GrowableArray(np.int32), GrowableArray(np.int32)
        self._before.extend(before)
        self._after.extend(after)
        ends = order[np.append(~together, np.ones(min(len(order), 1), np.bool_))]
        self._last = dict(zip(sessions[ends].tolist(), ends.tolist(), strict=True))

    def add(self, row: int, session: int, created_at: NDArray[np.int64]) -> None:
        """Put a row into the chain of its session; new rows come in order, without gaps."""
        if row == len(self._before):
            self._before.append(ABSENT)
            self._after.append(ABSENT)
        before, after = self._last.get(session, ABSENT), ABSENT
        moment = (int(created_at[row]), row)
        while before >= 0 and (int(created_at[before]), before) > moment:
            before, after = int(self.before[before]), before
        self._link(before, row)
        self._link(row, after)
        if after < 0:
            self._last[session] = row

    def remove(self, row: int, session: int) -> None:
        """Take a row out of the chain of its session."""
        before, after = int(self.before[row]), int(self.after[row])
        self._link(before, after)
        self.before[row] = self.after[row] = ABSENT
        if after >= 0:
            return
        if before >= 0:
            self._last[session] = before
        else:
            del self._last[session]

    def _link(self, before: int, after: int) -> None:
        if before >= 0:
            self.after[before] = after
        if after >= 0:
            self.before[after] = before
