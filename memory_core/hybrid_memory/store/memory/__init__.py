"""The store in the memory of a process: the rooms of `MemoryStore`."""
