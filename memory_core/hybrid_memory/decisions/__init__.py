"""The decisions of a write: pure functions from what is stored and what is asked to what changes."""
