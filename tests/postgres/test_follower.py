"""What a hub hears of the others over a real server: by looking several times a second, and sooner by hints."""

import json
import threading

import pytest

from hybrid_memory_postgres import follower as following
from hybrid_memory_postgres import hub_rows
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.follower import ServerFollower
from hybrid_memory_postgres.hints import CHANNEL, digest_of, hint_of
from hybrid_memory_postgres.known_heads import KnownHeads
from hybrid_memory_postgres.pg_errors import LOST, ConnectionLost

pytestmark = pytest.mark.postgres

SECRET = 12345
PATIENCE_SECONDS = 60


class Hub:
    """One that follows, and remembers what it was told."""

    def __init__(self, database):
        self.connections = Connections(database.conninfo, size=2)
        self.connections.open()
        self.heads = KnownHeads()
        self.told = []
        self.held = {}
        self.database = database
        self.store = id_of_store(database)
        self.fails = 0
        self._news = threading.Condition()
        self.following = ServerFollower(
            self.connections, self.heads, self, secret=lambda: SECRET, store=lambda: self.store, renew=self._renew
        )

    def _renew(self):
        if self.fails:
            self.fails -= 1
            raise ConnectionLost(LOST)
        self.store = id_of_store(self.database)
        self._note(("renewed",))

    def on_change(self, namespace, head):
        self._note((namespace, head))

    def on_hint(self, namespace, position):
        self._note(("hint", namespace, position))

    def on_exchange(self):
        self._note(("exchange",))

    def on_embedder(self):
        self._note(("embedder",))

    def marks(self):
        return self.held

    def _note(self, news):
        with self._news:
            self.told.append(news)
            self._news.notify_all()

    def hears(self, *news):
        with self._news:
            return self._news.wait_for(lambda: news in self.told, PATIENCE_SECONDS)

    def knows(self, namespace):
        return wait_for(lambda: self.heads.get(namespace) is not None) and self.heads.get(namespace)

    def close(self):
        self.following.close()
        self.connections.close()


def id_of_store(database):
    return database.rows("SELECT id FROM store")[0][0]


def wait_for(condition):
    pause = threading.Event()
    for _ in range(PATIENCE_SECONDS * 100):
        if condition():
            return True
        pause.wait(0.01)
    return False


class Others:
    """What other hubs do to the database, by hand."""

    def __init__(self, database):
        self.database = database

    def write(self, namespace, position, link=""):
        self.database.rows(
            "INSERT INTO namespace (name, position, link) VALUES (%s, %s, %s)"
            " ON CONFLICT (name) DO UPDATE SET position = excluded.position, link = excluded.link",
            *(namespace, position, link),
        )

    def log(self, namespace, *links):
        """Fill the tables again with a namespace and its log."""
        self.database.rows("TRUNCATE namespace, log")
        self.database.rows(
            "INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, link)"
            " SELECT %s, place, 'insert', 'one', 1, 0, '', '', '', link FROM unnest(%s::text[]) WITH ORDINALITY AS of (link, place)",
            *(namespace, list(links)),
        )
        self.write(namespace, len(links), links[-1])

    def hint(self, namespace, position, secret=SECRET):
        self.notify(hint_of(secret, namespace, position))

    def notify(self, payload):
        self.database.rows("SELECT pg_notify(%s, %s)", CHANNEL, payload)


@pytest.fixture
def others(database):
    return Others(database)


@pytest.fixture
def make_hub(database):
    made = []

    def make():
        made.append(Hub(database))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def hub(make_hub):
    made = make_hub()
    made.following.start()
    assert wait_for(lambda: made.heads.get("any") is not None)
    return made


@pytest.fixture
def looks_once(monkeypatch):
    """After the first look nothing is looked at but for a hint."""
    monkeypatch.setattr(following, "POLL_SECONDS", 3600)
    monkeypatch.setattr("hybrid_memory_postgres.known_heads.CERTAIN_SECONDS", 3600)


def test_a_change_is_heard_of_though_nobody_tells(hub, others):
    others.write("a", 3)
    assert hub.hears("a", 3)
    assert hub.heads.get("a") == 3


def test_a_namespace_that_nobody_has_written_to_is_known_to_be_empty(hub):
    assert hub.knows("never") == 0


def test_a_hint_brings_the_news_before_the_next_look(looks_once, others, make_hub):
    others.write("a", 1)
    hub = make_hub()
    hub.following.start()
    assert hub.knows("a") == 1
    others.write("a", 2)
    others.hint("a", 2)
    assert hub.hears("a", 2)


def test_a_hint_of_a_namespace_that_is_new_has_all_looked_at(looks_once, hub, others):
    others.write("b", 1)
    others.hint("b", 1)
    assert hub.hears("b", 1)


def test_a_hint_that_comes_along_with_an_answer_is_not_missed(looks_once, others, make_hub):
    for name in "abcdef":
        others.write(name, 1)
    hub = make_hub()
    hub.following.start()
    assert hub.knows("f") == 1
    for name in "abcdef":
        others.write(name, 2)
        others.hint(name, 2)
    assert all(hub.hears(name, 2) for name in "abcdef")


def test_a_hint_of_what_is_followed_is_passed_on_without_a_look(looks_once, others, make_hub):
    others.write("a", 1)
    hub = make_hub()
    hub.held = {"a": 1}
    hub.following.start()
    assert hub.knows("a") == 1
    others.hint("a", 2)
    assert hub.hears("hint", "a", 2)
    assert hub.heads.get("a") == 1


@pytest.mark.parametrize("payload", ["", "rubbish", ":", "a:1", "x" * 24 + ":99999999999999999999999", "é" * 24 + ":1"])
def test_what_is_no_hint_changes_nothing(hub, others, payload):
    others.notify(payload)
    others.write("a", 1)
    assert hub.hears("a", 1)


def test_a_hint_is_not_believed(looks_once, others, make_hub):
    others.write("a", 1)
    hub = make_hub()
    hub.following.start()
    assert hub.knows("a") == 1
    others.hint("a", 1_000_000)
    others.write("b", 1)
    others.hint("b", 1)
    assert hub.hears("b", 1)
    assert hub.heads.get("a") == 1


def test_a_hint_names_no_namespace():
    assert "secret-plan" not in hint_of(SECRET, "secret-plan", 7)
    assert digest_of(SECRET, "secret-plan") != digest_of(SECRET + 1, "secret-plan")


def test_nobody_is_told_of_own_writes(hub, others):
    hub.heads.note("a", 5)
    others.write("a", 5)
    others.write("b", 1)
    assert hub.hears("b", 1)
    assert ("a", 5) not in hub.told


def test_at_the_beginning_nobody_is_told_of_what_was_there_before(make_hub, others):
    others.write("a", 5)
    hub = make_hub()
    hub.following.start()
    assert hub.knows("a") == 5
    assert hub.told == []


def test_what_came_in_between_asking_and_the_first_look_is_told(make_hub, others):
    hub = make_hub()
    hub.heads.note("a", 4)
    others.write("a", 5)
    hub.following.start()
    assert hub.hears("a", 5)


def test_the_first_change_of_a_namespace_that_was_found_empty_is_told(make_hub, others):
    hub = make_hub()
    hub.heads.note("a", 0)
    others.write("a", 1)
    hub.following.start()
    assert hub.hears("a", 1)


# --- losses -----------------------------------------------------------------------------------------------------------------


def test_a_connection_that_is_lost_is_made_again_and_what_was_missed_is_told(hub, others, database):
    database.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    others.write("a", 2)
    assert hub.hears("a", 2)


def test_without_the_server_nothing_is_certain(make_hub, database):
    hub = make_hub()
    hub.following.start()
    assert hub.knows("a") == 0
    database.rows("ALTER ROLE hub NOLOGIN")
    try:
        database.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert wait_for(lambda: hub.heads.get("a") is None)
        before = hub.following.behind_seconds()
        assert wait_for(lambda: hub.following.behind_seconds() > before)
    finally:
        database.rows("ALTER ROLE hub LOGIN")
    assert hub.knows("a") == 0


def test_closing_waits_for_no_look(looks_once, hub):
    hub.following.close()
    assert not hub.following._thread.is_alive()


# --- what no log tells --------------------------------------------------------------------------------------------------------


def test_the_erasure_of_a_whole_namespace_is_told_and_its_position_known(hub, others, database):
    others.write("a", 9)
    assert hub.hears("a", 9)
    database.rows("UPDATE store SET erasures = erasures + 1")
    others.write("a", 2)
    assert hub.hears("exchange")
    assert wait_for(lambda: hub.heads.get("a") == 2)


def test_a_server_that_lost_what_it_had_is_noticed(hub, others):
    others.write("a", 9)
    assert hub.hears("a", 9)
    others.write("a", 3)
    assert hub.hears("exchange")
    assert hub.knows("a") == 3


def test_another_state_under_the_same_name_is_noticed_though_its_positions_are_known(hub, others, database):
    # A dump that is put in the place of the database, and written to at once: no position tells.
    server = database.server
    others.write("a", 9)
    assert hub.hears("a", 9)
    older = server.create_database()
    Others(older).write("a", 9)
    server.drop_database(database.name)
    server.rename_database(older, database.name)
    assert hub.hears("exchange")
    assert hub.knows("a") == 9


def test_what_a_server_held_before_it_was_started_again_is_not_taken_for_what_it_holds(durable):
    # It may have lost its last transactions, as a standby that took over: their positions are given out again.
    hub = Hub(durable)
    hub.following.start()
    try:
        assert wait_for(lambda: hub.heads.get("any") is not None)
        Others(durable).write("a", 9)
        assert hub.hears("a", 9)
        durable.server.restart()
        assert hub.hears("exchange")
    finally:
        hub.close()


def test_a_connection_that_is_made_anew_to_the_same_server_keeps_what_is_known(hub, others, database):
    others.write("a", 9)
    assert hub.hears("a", 9)
    database.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hub'")
    others.write("a", 10)
    assert hub.hears("a", 10)
    assert ("exchange",) not in hub.told


def test_an_own_write_that_a_look_does_not_see_yet_is_no_loss(hub, others):
    # The look began before the commit: the next one sees it.
    others.write("b", 1)
    assert hub.hears("b", 1)
    for position in range(2, 30):
        hub.heads.note("b", position)
        others.write("b", position)
    others.write("c", 1)
    assert hub.hears("c", 1)
    assert ("exchange",) not in hub.told


def test_a_server_that_has_another_entry_at_the_same_place_is_noticed(hub, others):
    others.write("a", 3, "one")
    assert hub.hears("a", 3)
    others.write("a", 3, "another")
    assert hub.hears("exchange")


def test_an_older_copy_that_others_have_written_to_since_is_noticed(hub, others):
    others.write("a", 2, "two")
    assert hub.hears("a", 2)
    others.log("a", "one", "another", "three")
    assert hub.hears("exchange")
    assert hub.knows("a") == 3


def test_what_a_server_lost_while_the_connection_was_away_is_noticed(hub, others, database):
    others.log("a", "one", "two")
    assert hub.hears("a", 2)
    hub.heads.note("a", 3, "an own one that is lost")  # as with a standby that lacked it
    database.rows(
        "WITH more AS (INSERT INTO log SELECT namespace, place, change, id, rev, made_at, actor, action, digest, note, salt, 'another'"
        " FROM log, unnest(ARRAY[3, 4]) AS place WHERE position = 2)"
        " UPDATE namespace SET position = 4, link = 'another'"
    )
    database.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    assert hub.hears("exchange")


def test_tables_that_were_written_anew_with_the_same_log_are_no_loss(hub, others):
    others.log("a", "one", "two")
    assert hub.hears("a", 2)
    others.log("a", "one", "two", "three")
    assert hub.hears("a", 3)
    assert ("exchange",) not in hub.told


def test_another_store_in_the_same_database_is_noticed(hub, others, database):
    others.write("a", 1)
    assert hub.hears("a", 1)
    database.rows("UPDATE store SET id = 'another'")
    assert hub.hears("exchange")
    assert hub.told.index(("renewed",)) < hub.told.index(("exchange",))


def test_another_store_is_noticed_that_was_there_before_anybody_followed(make_hub, database):
    hub = make_hub()
    hub.store = "the one that was opened"
    hub.following.start()
    assert hub.hears("renewed")
    assert hub.hears("exchange")


def test_another_store_is_told_when_its_key_can_be_read_again(hub, database):
    hub.fails = 2
    database.rows("UPDATE store SET id = 'another'")
    assert hub.hears("exchange")
    assert hub.fails == 0


def test_another_embedder_is_told(hub, others, database):
    others.write("a", 1)
    assert hub.hears("a", 1)
    assert ("embedder",) not in hub.told
    database.rows("INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES (1, 'one', 8, 0)")
    assert hub.hears("embedder")


def test_another_embedder_is_told_of_though_it_came_before_the_first_look(make_hub, database, monkeypatch):
    hub = make_hub()
    begin = hub.following._thread.start
    add = "INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES (1, 'one', 8, 0)"
    monkeypatch.setattr(hub.following._thread, "start", lambda: (database.rows(add), begin()))
    hub.following.start()
    assert hub.hears("embedder")


# --- the hubs that are there ------------------------------------------------------------------------------------------------------


def living(hub):
    with hub.connections.reading(EVERYTHING) as session:
        return hub_rows.living(session)


def test_hubs_are_known_while_they_live(make_hub):
    first, second = make_hub(), make_hub()
    for one in (first, second):
        one.following.start()
    assert wait_for(lambda: len(living(first)) == 2)
    second.following.close()
    assert len(living(first)) == 1


def test_a_log_is_not_trimmed_past_a_hub_that_has_not_followed(monkeypatch, make_hub, others, database):
    monkeypatch.setattr(hub_rows, "BEAT_SECONDS", 0)
    others.write("a", 10)
    slow = make_hub()
    slow.held = {"a": 4}
    slow.following.start()
    assert wait_for(lambda: str(database.rows("SELECT marks FROM hub")).count(":") == 1)
    with slow.connections.transaction(EVERYTHING) as session:
        followed = hub_rows.followed(session, digest_of(SECRET, "a"))
        hub_rows.trim(session, "a", 8 if followed is None else min(8, followed))
    assert database.rows("SELECT trimmed_before FROM namespace") == [(5,)]


def test_a_hub_that_is_dead_or_holds_nothing_keeps_no_log(hub, others, database):
    others.write("a", 10)
    database.rows(
        "INSERT INTO hub (id, name, version, schema, started_at, seen_at, marks) VALUES ('dead', 'm', '1', 9, 0, 0, %s)",
        json.dumps({digest_of(SECRET, "a"): 4}),
    )
    with hub.connections.transaction(EVERYTHING) as session:
        followed = hub_rows.followed(session, digest_of(SECRET, "a"))
        hub_rows.trim(session, "a", 8 if followed is None else min(8, followed))
    assert database.rows("SELECT trimmed_before FROM namespace") == [(8,)]


def test_marks_name_no_namespace(monkeypatch, make_hub, database):
    monkeypatch.setattr(hub_rows, "BEAT_SECONDS", 0)
    hub = make_hub()
    hub.held = {"secret-plan": 4}
    hub.following.start()
    assert wait_for(lambda: ":" in str(database.rows("SELECT marks FROM hub")))
    assert "secret-plan" not in str(database.rows("SELECT * FROM hub"))
