"""Hostile files, settings, calls and bodies: each is a refusal or harmless, and the store goes on as before.

A fault is found near its cause: the store is looked at whole after every few cases, and a failure names their seeds. What was found
once has a test of its own in the quick tier, alongside what it mends.
"""

import json
import shutil
from contextlib import suppress
from dataclasses import dataclass

import duckdb
import pytest
from tests.server.http.conftest import Raw
from tests.stress.cases import seeds
from tests.stress.hostile import FACT, Hostile

from hybrid_memory.admin import backup, health_check
from hybrid_memory.admin.export_import import ImportPolicy, export_store, import_file
from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.model import Origin, Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings, store_settings
from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory_mcp.http.access_tokens import Tokens
from hybrid_memory_mcp.http.app import build_http_app
from hybrid_memory_mcp.http.bodies import Body, check_body
from hybrid_memory_mcp.http.settings import HttpSettings
from hybrid_memory_mcp.mcp_api.jsonrpc import read_line, write_message
from hybrid_memory_mcp.relay.protocol import LineSplitter
from hybrid_memory_mcp.runtime.provider import ServiceProvider

SCOPE = Scope(session="mine")
LONG = [pytest.mark.stress, pytest.mark.timeout(1800)]
FEW = pytest.param(30, id="a few")
CASES_BETWEEN_LOOKS = 10
LONGEST_SENTENCE = 500  # of a refusal: it quotes nothing


@dataclass
class Home:
    """A store with a fact of the user's, and what it must still be after anything hostile."""

    folder: object
    service: MemoryService = None
    fact: str = ""
    looks: int = 0

    def open(self):
        self.service = MemoryService.open(self.folder, settings=StoreSettings(embedder="static"))
        return self

    def fill(self):
        self.fact = self.service.write(SCOPE, WriteRequest(content=FACT, origin=Origin.USER)).id
        self.service.write(SCOPE, WriteRequest(content="The user drinks tea.", origin=Origin.USER))
        return self

    def look(self):
        """Read, write, export and check; the user's fact is as it was."""
        self.looks += 1
        service = self.service
        service.write(SCOPE, WriteRequest(content=f"canary {self.looks}"))
        for namespace in [*service.store.namespaces()][:20]:
            scope = Scope(namespace=namespace, session="other")
            for query in ("", "Where is the violin?", "tea"):
                service.read(scope, ReadRequest(query=query, limit=50))
        fact = service.read(SCOPE, ReadRequest(ids=(self.fact,))).hits[0].memory
        assert (fact.content, fact.trust, fact.forgotten_at, fact.superseded_by) == (FACT, "user", None, None)
        found = [hit.memory.id for hit in service.read(SCOPE, ReadRequest(query="Where is the violin?", limit=50)).hits]
        assert self.fact in found
        export_store(service.store, self.folder.parent / "export.jsonl", on_progress=lambda *_: None)
        report = health_check.check_open(service.store)
        assert report.sound, report.findings

    def reopen(self):
        self.service.close()
        self.open()


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "home").open().fill()
    yield made
    made.service.close()


def play(home, count, seed, act, *, looks=CASES_BETWEEN_LOOKS):
    """Do ``count`` hostile things; after every few, look at the store, and now and then open it again."""
    done = []
    for number in range(count):
        name = f"{seed}-{number}"
        done.append(name)
        try:
            act(Hostile(name, (home.fact, "m-unknown")))
            if number % looks == looks - 1:
                home.look()
                done.clear()
            if number % (20 * looks) == 20 * looks - 1:
                home.reopen()
        except Exception as error:
            raise AssertionError(
                f"HYBRID_STRESS_SEED={seed}, one of {done}: {type(error).__name__}: {str(error)[:300]}"
            ) from error
    home.reopen()
    home.look()


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("count", [FEW, pytest.param(1000, id="five thousand lines", marks=LONG)])
def test_files_to_import(home, tmp_path, count, seed):
    place = tmp_path / "hostile.jsonl"

    def act(hostile):
        data, trusted = hostile.import_file()
        # Who vouches for a file may change everything of his own, so that his fact is not looked for under its id.
        place.write_bytes(data.replace(home.fact.encode(), b"m-another-id") if trusted else data)
        policy = ImportPolicy(now=SystemClock().now(), trusted=trusted)
        embed = home.service.encode_texts
        try:
            import_file(home.service.store, place, policy, embed=embed, actor="t", on_progress=lambda *_: None)
        except HybridMemoryError as error:
            said.append(str(error))

    said = []
    play(home, count, seed, act)
    assert max(map(len, said)) < LONGEST_SENTENCE


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("count", [pytest.param(200, id="a few"), pytest.param(2000, id="two thousand", marks=LONG)])
def test_settings(home, count, seed):
    file = home.folder / "config.toml"
    opened = 0

    def act(hostile):
        nonlocal opened
        file.write_bytes(hostile.config())
        try:
            settings = store_settings(home.folder)
        except HybridMemoryError as error:
            said.append(str(error))
            return
        finally:
            file.unlink()
        opened += 1
        if opened % 20 == 1:  # what is taken has to be good for a store
            other = home.folder.parent / f"other-{opened}"
            try:
                with_it = MemoryService.open(other, settings=settings)
            except HybridMemoryError:
                return
            with_it.write(SCOPE, WriteRequest(content=FACT))
            assert with_it.read(SCOPE, ReadRequest(query="Where is the violin?")).hits
            with_it.close()
            shutil.rmtree(other)

    said = []
    play(home, count, seed, act, looks=1000)
    assert max(map(len, said)) < LONGEST_SENTENCE


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("count", [pytest.param(300, id="a few"), pytest.param(4000, id="four thousand", marks=LONG)])
def test_lines_and_bodies(count, seed):
    for number in range(count):
        data = Hostile(f"{seed}-{number}", ("06gzh21e6ndjkvr6d7pw",)).body()
        body = check_body(data, 100)
        if isinstance(body, Body):
            assert body.message is not None
        for line in LineSplitter().feed(data + b"\n"):
            read = read_line(line)
            if hasattr(read, "error"):
                json.loads(write_message(read))


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("count", [FEW, pytest.param(2000, id="two thousand", marks=LONG)])
async def test_calls_of_tools(home, count, seed):
    from mcp.client import Client
    from tests.server.services import make_server

    provider = ServiceProvider(lambda: home.service)
    async with Client(make_server(provider), mode="legacy") as client:
        for number in range(count):
            hostile = Hostile(f"{seed}-{number}", (home.fact,))
            tool, given = hostile.call()
            given = json.loads(json.dumps(given), parse_constant=lambda _: None)
            given = json.loads(json.dumps(given).encode("utf-8", "replace"))
            answer = await client.call_tool(tool, _without_surrogates(given))
            said = answer.content[0].text if answer.content else ""
            assert "failed inside" not in said, (seed, number, tool, given)
            if number % CASES_BETWEEN_LOOKS == 0:
                home.look()
    home.look()


def _without_surrogates(value):
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return value


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("count", [pytest.param(500, id="five hundred", marks=LONG)])
def test_rows_of_a_backup(home, tmp_path, count, seed):
    home.service.close()
    shutil.copytree(home.folder, tmp_path / "sound")
    spoiled = tmp_path / "spoiled.duckdb"
    taken = 0
    for number in range(count):
        name = f"{seed}-{number}"
        shutil.copy(tmp_path / "sound" / "memory.duckdb", spoiled)
        statement, values = Hostile(name).statement()
        with duckdb.connect(str(spoiled)) as connection, suppress(duckdb.Error):
            connection.execute(statement, values)
        shutil.rmtree(home.folder)
        shutil.copytree(tmp_path / "sound", home.folder)
        try:
            taken += is_restored(home, spoiled)
        except Exception as error:
            raise AssertionError(
                f"HYBRID_STRESS_SEED={seed}, {name}: {statement} {str(values)[:80]}: {error!r}"
            ) from error
        finally:
            home.service.close()
    assert taken
    home.open()


def is_restored(home, spoiled):
    """Restore a spoiled backup, and use what it gave; False if it was refused, and the store is as before."""
    try:
        backup.restore(home.folder, spoiled, SystemClock().now())
    except HybridMemoryError:
        home.open().look()
        return False
    service = home.open().service
    service.write(SCOPE, WriteRequest(content="written after"))
    for query in ("", "Where is the violin?"):
        service.read(SCOPE, ReadRequest(query=query))
    export_store(service.store, home.folder.parent / "export.jsonl", on_progress=lambda *_: None)
    health_check.check_open(service.store)
    return True


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("count", [FEW, pytest.param(4000, id="four thousand", marks=LONG)])
async def test_requests_over_http(home, tmp_path, count, seed, caplog):
    provider = ServiceProvider(lambda: home.service)
    tokens = Tokens(tmp_path, FakeClock(), FakeRandomSource(3))
    token = tokens.create("laptop", namespace="default", agent="default")
    statuses = set()
    app = build_http_app(provider, HttpSettings(state_key=b"k" * 32), tokens, FakeRandomSource(5))
    async with app.running():
        client = Raw(app, token)
        session = await client.initialize()
        for number in range(count):
            hostile = Hostile(f"{seed}-{number}", (home.fact,))
            method, headers, parts = hostile.request()
            if number % 2:
                headers = {"mcp_session_id": session} | headers
            # A stream of news has no end.
            if method == "GET":
                headers["accept"] = "text/plain"
            try:
                answer = await client.ask(method, parts, **headers)
            except Exception as error:
                raise AssertionError(f"HYBRID_STRESS_SEED={seed}, {number}: {method} {headers} {parts}") from error
            assert answer.status != 500, (seed, number, method, headers, parts, caplog.text)
            assert b"failed inside" not in answer.body, (seed, number, method, headers, parts)
            statuses.add(answer.status)
            if answer.status == 200 and method == "DELETE":
                session = await client.initialize()
            if number % (10 * CASES_BETWEEN_LOOKS) == 0:
                home.look()
        assert (await Raw(app, token).modern("tools/list")).status == 200
    assert {200, 400, 401} <= statuses
    home.look()
