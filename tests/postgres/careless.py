"""A hub with the worst of bugs: its statements have lost their ``WHERE namespace``."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hybrid_memory_postgres.sql_session import PgSession

_FILTERS = (
    re.compile(r"((?:\w+\.)?namespace) = (\$\d+)(?=\W|$)"),
    re.compile(r"((?:\w+\.)?namespace) = (ANY ?\(\$\d+::text\[\]\))"),
    re.compile(r"((?:\w+\.)?namespace) = (one\.name)"),  # one of an array of namespaces
)
_HEAD_FILTER = re.compile(r"(name) = (\$\d+)")


def without_filter(statement: str) -> str:
    """Return a statement in which no namespace is asked for; its parameters stay."""
    if statement.lstrip().startswith("INSERT"):
        return statement
    for one in _FILTERS:
        statement = one.sub(r"(\1 = \2 OR true)", statement)
    is_of_heads = re.search(r"(FROM|UPDATE) namespace\b", statement)
    return _HEAD_FILTER.sub(r"(\1 = \2 OR true)", statement) if is_of_heads else statement


def make_careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the filter out of all statements from now on."""
    execute = PgSession._execute

    def careless(self: PgSession, statement: str, values: Any) -> Any:
        return execute(self, without_filter(statement), values)

    monkeypatch.setattr(PgSession, "_execute", careless)
