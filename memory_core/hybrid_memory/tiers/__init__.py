"""The pure rules by which memories move through sensory, short-term and long-term memory, and their importance."""
