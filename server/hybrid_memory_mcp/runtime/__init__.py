"""What serving stands on: who opens the memory, in which threads its work is done, and what is done beside calls."""
