"""The words of a memory are found in every hub, whoever redacted, mended or restored what is in the database meanwhile."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import UTC

import pytest
from tests.core.admin.sample_stores import opened
from tests.postgres.test_hubs_follow import BOTH, PATIENCE_SECONDS, Hub

from hybrid_memory.admin.backup import create_backup
from hybrid_memory.admin.redact import redact
from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.clock import SystemClock
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.testing import START

pytestmark = pytest.mark.postgres

TRIES = 500
SPOKEN = "Ada keeps the tulip bulbs in the shed"


@pytest.fixture
def hubs(database):
    made = [Hub(database, seed) for seed in range(2)]
    yield made
    for one in made:
        one.service.close()


def holding(hub, word):
    """Return how many memories a hub would look at for a word."""
    service = hub.service
    index = service._index_cache.get(BOTH.namespace)
    _, held = index.words_held(
        parse_question(word, service._time.now().astimezone(UTC), index.hasher), service._time.now()
    )
    return max(held.values(), default=0)


def comes_to_hold(hub, word, wanted):
    """Let a hub follow, and do its late work, until it would look at so many memories for a word."""
    pause = threading.Event()
    for _ in range(TRIES):
        hub.service.run_background_step()
        if holding(hub, word) == wanted:
            return True
        pause.wait(0.01)
    return False


def settled(hubs):
    """Let hubs do all their late work."""
    for hub in hubs:
        hub.all()
        while hub.service.run_background_step():
            pass


def test_what_one_redacted_the_others_find_by_the_words_that_are_left(hubs, tmp_path):
    here, there = hubs
    id_ = here.tell(SPOKEN)
    assert there.finds(SPOKEN)
    settled(hubs)
    redact(here.store.eraser(tmp_path), BOTH.namespace, [id_], SystemClock().now(), actor="tester", words="tulip")
    assert comes_to_hold(there, "tulip", 0)
    assert comes_to_hold(there, "bulbs", 1)


@pytest.fixture
def backup_of_another_store(tmp_path):
    with closing(opened(tmp_path / "another")) as store:
        return create_backup(store, tmp_path / "another", START, keep=1).file


def test_what_is_written_while_another_stores_backup_is_put_back_is_found_by_its_words(
    hubs, database, tmp_path, backup_of_another_store
):
    here, there = hubs
    for hub in hubs:
        hub.tell("Bo keeps goats")
    settled(hubs)
    writing = threading.Thread(target=here.tell, args=(SPOKEN,))

    def write_behind(step):
        if step == "replaced":
            writing.start()
            wait_until_somebody_waits(database)

    there.store.restorer(tmp_path).restore(
        backup_of_another_store, SystemClock().now(), refusal=refusal, on_step=write_behind
    )
    writing.join(PATIENCE_SECONDS)
    assert [comes_to_hold(hub, "bulbs", 1) for hub in hubs] == [True, True]


def wait_until_somebody_waits(database):
    pause = threading.Event()
    for _ in range(TRIES):
        if database.rows(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        ):
            return
        pause.wait(0.01)
    raise AssertionError("nobody waits")


def test_what_one_mended_the_others_find_by_the_words_that_are_there(hubs, database, tmp_path):
    here, there = hubs
    here.tell(SPOKEN)
    assert there.finds(SPOKEN)
    settled(hubs)
    database.rows("UPDATE memory SET content = 'Ada keeps the onions in the shed'")
    here.store.repair(tmp_path, refusal)
    assert comes_to_hold(there, "onions", 1)
    assert comes_to_hold(there, "tulip", 0)
