"""The files of a DuckDB store: opened, locked, copied and exchanged as a whole."""
