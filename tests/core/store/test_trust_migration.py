"""A store of before the rules of trust: what a tool's words had replaced is current again."""

import duckdb
import pytest

from hybrid_memory.store.duck.schema import MIGRATIONS, migrate
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.testing import START

_ROW = """
    INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms,
        pinned, origin, trust, superseded_by, supersedes, rev)
    VALUES (?, ?, 's', 'a', 'text', 'observation', 'long_term', 0.5, 0, 'hash', [], false, 'user', ?, ?, ?, 1)
"""


@pytest.fixture
def links_after():
    """Return what is left of the links of rows (namespace, id, trust, superseded_by, supersedes) after the migration."""
    with duckdb.connect(":memory:") as connection:
        session = SqlSession(connection)
        migrate(session, START, MIGRATIONS[:5])

        def after(*rows):
            for row in rows:
                session.change(_ROW, *row)
            migrate(session, START)
            found = session.rows("SELECT id, superseded_by, supersedes, disputes FROM memory")
            return {id_: links for id_, *links in found}

        yield after


def test_what_a_tool_superseded_is_only_disputed(links_after):
    after = links_after(("n", "fact", "user", "lie", None), ("n", "lie", "untrusted", None, "fact"))
    assert after == {"fact": [None, None, None], "lie": [None, None, "fact"]}


@pytest.mark.parametrize(("newer", "older"), [("agent", "user"), ("user", "untrusted"), ("untrusted", "untrusted")])
def test_other_versions_stay_versions(links_after, newer, older):
    after = links_after(("n", "old", older, "new", None), ("n", "new", newer, None, "old"))
    assert after == {"old": ["new", None, None], "new": [None, "old", None]}


def test_an_id_of_another_namespace_is_no_link(links_after):
    after = links_after(("n", "fact", "user", None, None), ("m", "lie", "untrusted", None, "fact"))
    assert after["lie"] == [None, "fact", None]
