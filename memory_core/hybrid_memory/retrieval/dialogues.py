"""Which sessions are dialogues: those in which two speakers or more are heard.

A turn of a dialogue needs the turns around it to be understood. A note of which only is told who said it stands for itself, as
notes without a speaker do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import ABSENT, GrowableArray, Mask

_NOBODY = np.iinfo(np.int32).max


class Dialogues:
    """The lowest and the highest number of a speaker in each session, which differ where there are two."""

    def __init__(self) -> None:
        self._lowest: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._highest: GrowableArray[np.int32] = GrowableArray(np.int32)

    def note(self, session: int, speaker: int) -> None:
        """Note that a speaker, `ABSENT` for none, is heard in a session."""
        self._make_room(session)
        if speaker >= 0:
            self._lowest.values[session] = min(self._lowest.values[session], speaker)
            self._highest.values[session] = max(self._highest.values[session], speaker)

    def load(self, sessions: NDArray[np.int32], speakers: NDArray[np.int32]) -> None:
        """Note the speakers of many rows."""
        self._make_room(int(sessions.max(initial=ABSENT)))
        heard = speakers >= 0
        np.minimum.at(self._lowest.values, sessions[heard], speakers[heard])
        np.maximum.at(self._highest.values, sessions[heard], speakers[heard])

    def turns(self, sessions: NDArray[np.int32], speakers: NDArray[np.int32]) -> Mask:
        """Return which rows of these sessions and speakers are turns of a dialogue."""
        found: Mask = (speakers >= 0) & (self._lowest.values[sessions] < self._highest.values[sessions])
        return found

    def _make_room(self, session: int) -> None:
        missing = session + 1 - len(self._lowest)
        if missing > 0:
            self._lowest.fill(missing, _NOBODY)
            self._highest.fill(missing, ABSENT)
