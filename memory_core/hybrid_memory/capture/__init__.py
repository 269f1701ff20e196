"""What a person would want kept of what they typed to an assistant: rules by words, without a model. Pure; knows no client and no store.

    from hybrid_memory.capture.model import Turn
    from hybrid_memory.capture.statements import statements
    kept = statements([Turn("btw always use pnpm here", said_at)])

Who writes a statement to a memory sets: ``content`` its text, ``origin`` user, ``speaker`` None (without one "I" is the user),
``memory_type`` long_term, ``importance`` and ``tags`` its own, ``occurred_at`` when it was said, ``session`` and ``source`` the client's.
"""
