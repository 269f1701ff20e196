"""What the functions of this folder need of an engine's session.

Statements are constants in the common part of both dialects, with ``$1`` placeholders. A list is handed over as a list, for
``$1::text[]`` or ``$1::bigint[]``; `store.duck.sql_session` turns these and the column ``place`` into what DuckDB has for them.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

Row: TypeAlias = tuple[Any, ...]


class Session(Protocol):
    """Runs statements in a transaction; every error that leaves is one of the library's."""

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """Return all rows of a query."""
        ...

    def row(self, statement: str, *values: Any) -> Row | None:
        """Return the first row of a query, None without rows."""
        ...

    def change(self, statement: str, *values: Any) -> int:
        """Run an INSERT, UPDATE or DELETE; returns how many rows it touched."""
        ...

    def send(self, statement: str, *values: Any) -> None:
        """Run a statement of which nothing is wanted back; an engine may report its error later."""
        ...
