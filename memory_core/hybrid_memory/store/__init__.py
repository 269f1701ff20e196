"""Where memories are stored: the interface of a store (`base`), one over DuckDB (`duck`), and one in memory (`memory`)."""
