"""Measurements of the real server; docs/benchmarks.md says what they gave."""
