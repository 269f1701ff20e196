"""What a client runs at the events of a conversation, so that it is remembered without being asked.

``definitions.py`` is what is in a client's files; the rest is ``hybrid-memory-mcp hook EVENT --client NAME``, which those run.
"""
