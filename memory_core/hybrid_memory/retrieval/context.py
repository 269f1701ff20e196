"""What a row's place in a conversation adds to its score: its session, the question before it, who speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval import ranking_signals
from hybrid_memory.retrieval.candidates import total

if TYPE_CHECKING:
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.memory_columns import MemoryColumns


def add_context(
    chosen: Candidates,
    strong: NDArray[np.bool_],
    rows: MemoryColumns,
    asks: NDArray[np.bool_],
    named: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Add the summands of context; return which rows are strong because they answer a question that is.

    Turns of a conversation need each other to be understood; notes, which have no speaker, stand for themselves.
    """
    own = total({name: part for name, part in chosen.parts.items() if name in ("lexical", "dense")})
    asking = asks[chosen.rows]
    speaker = rows.speaker.values[chosen.rows]
    spoken = speaker >= 0
    chosen.add("reply", ranking_signals.reply_context(own, chosen.before, chosen.after, asking, spoken))
    bonus = ranking_signals.session_bonus(own, rows.session.values[chosen.rows])
    chosen.add("session", np.where(spoken, bonus, np.float32(0)))
    if named.any():
        chosen.add("speaker", np.where(spoken & named[speaker], np.float32(ranking_signals.SPEAKER), np.float32(0)))
    answers: NDArray[np.bool_] = (chosen.before >= 0) & asking[chosen.before] & strong[chosen.before]
    return answers
