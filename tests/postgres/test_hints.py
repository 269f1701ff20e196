"""Hints of changes: they come after the commit, name nothing, and whatever somebody else sends is no harm."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.store.making import put
from tests.postgres.server import ADMIN, Database

from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.hints import CHANNEL, digest_of, hint_of, read_hint
from hybrid_memory_postgres.store import PostgresStore

SECRETS = st.integers(0, 2**64 - 1)
NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)
POSITIONS = st.integers(1, 2**62)
WAIT_SECONDS = 60.0


@given(SECRETS, NAMES, POSITIONS)
def test_a_hint_is_read_as_it_was_made_and_holds_no_name(secret, name, position):
    hint = hint_of(secret, name, position)
    assert read_hint(hint) == (digest_of(secret, name), position)
    assert set(hint) <= set("0123456789abcdef:")


@given(st.text(max_size=60))
def test_what_is_no_hint_is_none(text):
    found = read_hint(text)
    assert found is None or text == f"{found[0]}:{text.partition(':')[2]}"


@given(SECRETS, SECRETS, NAMES)
def test_who_does_not_know_the_secret_cannot_guess_a_name(secret, other, name):
    assert (digest_of(secret, name) == digest_of(other, name)) == (secret == other)


@pytest.mark.postgres
def test_other_hubs_are_told_of_a_commit(database: Database):
    with psycopg.connect(database.conninfo_of(ADMIN), autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        store = PostgresStore.open(database.conninfo, FakeClock())
        put(store, "a", "b")
        secret = int(str(database.rows("SELECT term_key FROM store")[0][0]))
        (told,) = listener.notifies(timeout=WAIT_SECONDS, stop_after=1)
        assert read_hint(told.payload) == (digest_of(secret, "default"), 2)
        store.close()


@pytest.mark.postgres
def test_hints_go_on_after_their_connection_was_ended(database: Database):
    with psycopg.connect(database.conninfo_of(ADMIN), autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        store = PostgresStore.open(database.conninfo, FakeClock())
        put(store, "a")
        list(listener.notifies(timeout=WAIT_SECONDS, stop_after=1))
        own = listener.info.backend_pid
        for process in database.server.backends(database.name):
            if process != own:
                database.rows("SELECT pg_terminate_backend(%s)", process)
        found = []
        for at in range(10):  # one of them may be lost
            put(store, f"b{at}")
            if found := list(listener.notifies(timeout=1, stop_after=1)):
                break
        assert found
        store.close()
