import threading

import pytest

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import ConcurrentModification
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.leases import Leases

pytestmark = pytest.mark.postgres
LONG = 600.0


@pytest.fixture
def hubs(connect):
    """Two hubs over one database."""
    made = [Leases(connect(), "first"), Leases(connect(), "second")]
    yield made
    for one in made:
        one.close()


def let_it_end(database):
    database.rows("UPDATE lease SET ends_at = 0 RETURNING name")


def ask_again(leases, name="late work"):
    leases._refused_until.pop(name, None)
    return leases.take(name, LONG)


def test_one_hub_at_a_time_has_a_lease(hubs):
    first, second = hubs
    assert first.take("late work", LONG) is not None
    assert second.take("late work", LONG) is None


def test_who_has_a_lease_takes_it_again(hubs):
    first, _ = hubs
    assert first.take("late work", LONG) is first.take("late work", LONG)


def test_different_leases_are_different_hubs_to_have(hubs):
    first, second = hubs
    assert first.take("words", LONG) is not None
    assert second.take("vectors", LONG) is not None


def test_what_is_given_back_another_hub_has_at_once(hubs):
    first, second = hubs
    first.take("late work", LONG).release()
    assert second.take("late work", LONG) is not None


def test_a_hub_that_closes_gives_its_leases_back(hubs):
    first, second = hubs
    first.take("late work", LONG)
    first.close()
    assert second.take("late work", LONG) is not None


def test_the_lease_of_a_dead_hub_passes_on_when_it_ends(hubs, database):
    first, second = hubs
    first.take("late work", LONG)
    assert second.take("late work", LONG) is None
    let_it_end(database)
    assert ask_again(second) is not None


def test_the_fence_grows_with_each_holder(hubs, database):
    first, second = hubs
    former = first.take("late work", LONG)
    let_it_end(database)
    assert ask_again(second).fence > former.fence


def test_a_lease_is_renewed_while_its_holder_lives(hubs, database):
    first, second = hubs
    lease = first.take("late work", 0.6)
    begun = database.rows("SELECT ends_at FROM lease")
    for _ in range(200):
        if database.rows("SELECT ends_at FROM lease") > begun:
            break
        threading.Event().wait(0.02)
    assert database.rows("SELECT ends_at FROM lease") > begun
    assert lease.is_held
    assert second.take("late work", LONG) is None


def test_what_a_former_holder_would_change_is_refused(hubs, database, connect):
    first, second = hubs
    former = first.take("late work", LONG)
    let_it_end(database)
    ask_again(second)
    with pytest.raises(ConcurrentModification), connect().transaction(EVERYTHING) as session:
        first.guard(session, "late work")
    assert not former.is_held
    with pytest.raises(ConcurrentModification), connect().transaction(EVERYTHING) as session:
        first.guard(session, "late work")  # not once alone: what failed so is tried again


def test_what_the_holder_changes_is_not(hubs, connect):
    first, _ = hubs
    first.take("late work", LONG)
    with connect().transaction(EVERYTHING) as session:
        first.guard(session, "late work")


def test_who_never_took_a_lease_is_not_asked_for_it(hubs, connect):
    with connect().transaction(EVERYTHING) as session:
        hubs[0].guard(session, "late work")


def test_a_store_gives_leases_and_gives_them_back_when_it_closes(database):
    from hybrid_memory_postgres.store import PostgresStore

    one, other = (PostgresStore.open(database.conninfo, SystemClock()) for _ in range(2))
    assert one.lease("late work", LONG) is not None
    assert other.lease("late work", LONG) is None
    one.close()
    other.leases._refused_until.clear()
    assert other.lease("late work", LONG) is not None
    other.close()
