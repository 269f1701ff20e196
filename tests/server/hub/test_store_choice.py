"""A client that means another store than its folder's hub serves hears so, and never gets the wrong memory."""

import sys

import pytest
from tests.server.hubs import FakeRelay, ThreadedHub
from tests.tables import each

from hybrid_memory_mcp.admin.hub_client import call_hub
from hybrid_memory_mcp.hub.store_choice import choice_of
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.chosen_store import chosen_store, without_secret
from hybrid_memory_mcp.relay.connecting import connect

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets"), pytest.mark.daily]

ADDRESS = "postgresql://hub@db.example/team"
SECRET = "tulip-9313"  # noqa: S105 - of nobody
DATABASE = [f"HYBRID_MEMORY_STORE={ADDRESS}"]


@pytest.fixture
def hub_of_database(home, service):
    """A hub that serves a database, as far as its clients can tell."""
    with ThreadedHub(home, service) as hub:
        hub.resources.store = choice_of(home, {"HYBRID_MEMORY_STORE": ADDRESS})
        yield hub


def first_frame(hub, **about):
    client = hub.connect(**about)
    frame = client.receive_frame()
    client.close()
    return frame


def test_a_client_that_means_the_same_database_is_served(hub_of_database):
    assert first_frame(hub_of_database, variables=DATABASE).kind == protocol.WELCOME


def test_the_same_database_in_other_words_is_the_same(hub_of_database):
    found = first_frame(
        hub_of_database,
        variables=["HYBRID_MEMORY_STORE=postgres:///team", "PGUSER=hub", "PGHOST=db.example", "PGPORT=5432"],
    )
    assert found.kind == protocol.WELCOME


def test_a_folders_settings_may_name_it(hub_of_database, home):
    (home / "config.toml").write_text(f'store = "{ADDRESS}"\n')
    assert first_frame(hub_of_database).kind == protocol.WELCOME


def test_a_client_without_the_variable_is_told_which_store_is_served(hub_of_database):
    with hub_of_database.connected(variables=DATABASE):
        refused = first_frame(hub_of_database)
    assert refused.kind == protocol.REFUSED
    assert "db.example" in refused.payload.decode()
    assert "HYBRID_MEMORY_STORE" in refused.payload.decode()


def test_a_client_that_means_a_database_does_not_get_the_file(hub):
    with hub.connected():
        refused = first_frame(hub, variables=DATABASE)
    assert refused.kind == protocol.REFUSED
    assert "db.example" in refused.payload.decode()


def test_who_has_just_changed_the_setting_hears_to_close_the_clients_of_before(hub, home):
    with hub.connected():
        (home / "config.toml").write_text(f'store = "{ADDRESS}"\n')
        refused = first_frame(hub)
    assert "was changed just now, close these" in refused.payload.decode()


def test_a_hub_that_nobody_else_needs_makes_room(home, service):
    with ThreadedHub(home, service) as hub:
        assert first_frame(hub, variables=DATABASE) is None
        hub.wait()
    assert connect(str(home)) is None


def test_two_who_come_at_once_to_a_hub_that_nobody_needs_are_not_in_each_others_way(home, service):
    with ThreadedHub(home, service) as hub:
        connections = [connect(str(home)) for _ in range(2)]  # both are there before the first has said what it wants
        heard = []
        for connection in connections:
            with connection:
                try:
                    heard.append(FakeRelay(connection, variables=DATABASE).receive_frame())
                except BrokenPipeError:  # the first has made the hub leave already: a relay tries again then
                    heard.append(None)
        assert heard == [None, None]
        hub.wait()


@pytest.mark.slow
def test_a_command_that_means_another_store_does_its_work_alone(home, service, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_STORE", ADDRESS)
    with ThreadedHub(home, service):
        assert call_hub(home, "default", "status", {}, lambda *_: None) is None


@each(
    "address",
    [
        f"postgresql://hub:{SECRET}@db.example/team",
        f"postgresql://hub:{SECRET}/x@db.example/team",
        f"postgresql://hub@db.example/team?password={SECRET}",
        f"postgresql://hub@db.example/team?sslmode=require&PASSWORD={SECRET}",
        f"postgresql://hub@db.example/team?p%61ssword={SECRET}",
        f"postgresql://db.example/team?sslpassword={SECRET}&user=hub",
        SECRET,
    ],
)
def test_no_password_goes_to_the_hub(address):
    assert SECRET not in "".join(chosen_store({"HYBRID_MEMORY_STORE": address}))


def test_without_its_password_an_address_names_the_same_store(home):
    address = f"postgresql://hub:{SECRET}@db.example:5433/team?options=-csearch_path%3Done"
    whole = choice_of(home, {"HYBRID_MEMORY_STORE": address})
    assert choice_of(home, {"HYBRID_MEMORY_STORE": without_secret(address)}) == whole


def test_who_was_told_nothing_says_nothing():
    assert chosen_store({"PGHOST": "db.example", "HYBRID_MEMORY_STORE": ""}) == []


def test_addresses_that_cannot_be_used_are_one_choice_so_that_the_calls_can_say_why(home):
    assert {choice_of(home, {"HYBRID_MEMORY_STORE": text}).digest for text in ("nonsense", "postgresql://a:b")} == {"?"}
