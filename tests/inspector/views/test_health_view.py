"""The view of how the memory is: what protects it, who has it, and what a person should do."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

import pytest

from hybrid_memory.admin.backup import create_backup
from hybrid_memory.model import Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeClock
from hybrid_memory_inspector.views.health import load
from hybrid_memory_mcp.views import now
from hybrid_memory_mcp.views.view import ViewRequest

SCOPE = Scope(session="s")


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def kept(home):
    service = MemoryService.open(home, clock=FakeClock())
    service.write(SCOPE, WriteRequest(content="Ada lives in Porto."))
    yield service
    service.close()


def health(service, home, clients=list, **parameters):
    return load(service, ViewRequest(scope=SCOPE, parameters=parameters, home=home, clients=clients))


def says(shown, words):
    return next(one for one in shown["checks"] if words in one["says"])


def test_a_store_in_memory_has_a_page(service, machine, tmp_path):
    shown = health(service, tmp_path)
    assert json.dumps(shown)
    assert (shown["engine"], shown["backups"]["count"], shown["sizes"]) == ("memory", 0, [])


def test_a_store_without_a_backup_says_how_to_make_one(kept, home, machine):
    line = says(health(kept, home), "no backup")
    assert (line["state"], line["command"]) == ("warn", "hybrid-memory-mcp backup")


def test_a_fresh_backup_is_good_and_an_old_one_is_not(kept, home, machine, monkeypatch):
    create_backup(kept.store, home, kept.now(), keep=3)
    shown = health(kept, home)
    at = shown["backups"]["files"][0]["at"]
    for days, state in ((3, "good"), (40, "warn")):
        moment = datetime.fromisoformat(at) + timedelta(days=days)
        monkeypatch.setattr(kept, "now", lambda moment=moment: moment)
        assert says(health(kept, home), "backup")["state"] == state


def test_what_the_store_takes_on_the_disk_is_told_by_what_it_is(kept, home, machine):
    create_backup(kept.store, home, kept.now(), keep=3)
    sizes = {one["what"]: one["bytes"] for one in health(kept, home)["sizes"]}
    assert sizes["the memories"] > 0 < sizes["backups"]


def test_who_is_connected_is_told(kept, home, machine):
    clients = [{"client": "kite", "pid": 7, "namespace": "default"}]
    assert health(kept, home, clients=lambda: clients)["clients"] == clients


def test_an_assistant_without_the_memory_is_offered_it(kept, home, machine):
    (machine / ".cursor").mkdir()
    shown = health(kept, home)
    assert [(one["title"], one["state"]) for one in shown["assistants"]] == [("Cursor", "absent")]
    assert says(shown, "Cursor")["command"] == "hybrid-memory-mcp install"


def test_an_assistant_with_the_memory_is_named(kept, home, machine):
    (machine / ".cursor").mkdir()
    entry = {"mcpServers": {"memory": {"command": "uvx", "args": ["hybrid-memory-mcp"]}}}
    (machine / ".cursor" / "mcp.json").write_text(json.dumps(entry), encoding="utf-8")
    shown = health(kept, home)
    assert shown["assistants"][0]["state"] == "installed"
    assert says(shown, "Cursor has the memory")["state"] == "good"


@pytest.mark.slow
def test_every_row_is_read_when_that_is_asked_for_and_not_before(kept, home, machine):
    assert health(kept, home)["doctor"] is None
    doctor = health(kept, home, check="1")["doctor"]
    assert (doctor["sound"], doctor["rows"] > 0, doctor["findings"]) == (True, True, [])


def test_the_worst_stands_first(kept, home, machine):
    order = [one["state"] for one in health(kept, home)["checks"]]
    assert order == sorted(order, key=("bad", "warn", "note", "good").index)


def test_what_is_doubtful_is_a_warning_that_leads_to_review(kept, home, machine):
    kept.write(SCOPE, WriteRequest(content="Ada lives in Rome.", origin=Origin.TOOL))
    line = says(health(kept, home), "1 memory is doubtful")
    assert (line["state"], line["view"]) == ("warn", "/review")


def test_now_names_all_that_health_warns_of(kept, home, machine):
    kept.write(SCOPE, WriteRequest(content="Ada lives in Rome.", origin=Origin.TOOL))
    needs = now.load(kept, ViewRequest(scope=SCOPE, home=home))["needs"]
    assert [(one["kind"], one["command"]) for one in needs] == [
        ("untrusted", ""),
        ("health", "hybrid-memory-mcp backup"),
    ]


def test_a_single_assistant_without_the_memory_is_said_in_the_singular(kept, home, machine):
    (machine / ".cursor").mkdir()
    line = says(health(kept, home), "Cursor")
    assert (line["says"], line["state"]) == ("Cursor does not have the memory.", "note")  # perhaps on purpose


def test_the_embedding_model_is_called_without_the_digits_of_its_table(kept, home, machine):
    embedder = health(kept, home)["embedder"]
    assert re.fullmatch(rf"{embedder['title']}:[0-9a-f]{{16}}", embedder["name"])
