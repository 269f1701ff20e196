"""Keeping: the interface of a store, one over DuckDB (`duck`), and one in memory."""
