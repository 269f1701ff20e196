"""What a person would want kept of what they typed to an assistant: rules by words, without a model. Pure; knows no client and no store.

    from hybrid_memory.capture import Turn, statements
    kept = statements([Turn("btw always use pnpm here", said_at)])

Who writes a statement to a memory sets: ``content`` its text, ``origin`` user, ``speaker`` None (without one "I" is the user),
``memory_type`` long_term, ``importance`` and ``tags`` its own, ``occurred_at`` when it was said, ``session`` and ``source`` the client's.
"""

from __future__ import annotations

from hybrid_memory.capture.model import Statement, StatementKind, Turn
from hybrid_memory.capture.oneself import is_about_oneself
from hybrid_memory.capture.statements import LIMIT, in_place_of, statements

__all__ = ["LIMIT", "Statement", "StatementKind", "Turn", "in_place_of", "is_about_oneself", "statements"]
