"""The memory of one store: what can be asked of it, and how each is done.

`memory_service` has one public method for each; the other modules do the work.
"""
