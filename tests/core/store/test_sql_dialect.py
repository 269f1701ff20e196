"""Statements of `store/sql` are written once, in the SQL of PostgreSQL, and mean the same in DuckDB."""

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybrid_memory.store.duck.sql_session import SqlSession

TEXTS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), max_size=6)
NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6)


@pytest.fixture(scope="module")
def session():
    with duckdb.connect() as connection:
        yield SqlSession(connection)


@given(TEXTS, TEXTS)
@example(['a"b', "c,d", "[e]", "\\"], ['a"b', "[e]"])
def test_a_text_is_found_where_a_list_holds_it(session, there, wanted):
    rows = session.rows("SELECT id FROM unnest($1::text[]) AS t (id) WHERE id = ANY ($2::text[])", there, wanted)
    assert [id_ for (id_,) in rows] == [one for one in there if one in wanted]


@given(NUMBERS, NUMBERS)
def test_a_number_is_found_where_a_list_holds_it(session, there, wanted):
    rows = session.rows("SELECT n FROM unnest($1::bigint[]) AS t (n) WHERE n = ANY ($2::bigint[])", there, wanted)
    assert [number for (number,) in rows] == [one for one in there if one in wanted]


@given(
    st.lists(st.tuples(st.text(st.characters(codec="ascii"), max_size=3), st.none() | st.integers(0, 9)), max_size=5)
)
def test_lists_of_equal_length_are_the_columns_of_rows(session, rows):
    columns = [one for one, _ in rows], [two for _, two in rows]
    assert session.rows("SELECT unnest($1::text[]), unnest($2::bigint[])", *columns) == rows


def test_rows_are_ordered_by_their_place(session):
    session.change("CREATE OR REPLACE TABLE written (id VARCHAR)")
    for id_ in ("b", "c", "a"):
        session.send("INSERT INTO written VALUES ($1)", id_)
    rows = session.rows("SELECT id FROM written WHERE id = ANY ($1::text[]) ORDER BY place DESC", ["a", "b", "c"])
    assert [id_ for (id_,) in rows] == ["a", "c", "b"]


def test_a_list_elsewhere_is_the_engines_own(session):
    assert session.rows("SELECT $1::INTEGER[]", [3, 1]) == [([3, 1],)]
