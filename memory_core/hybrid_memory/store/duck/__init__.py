"""The store over one DuckDB file; the only package that imports duckdb."""
