"""A real hub and a real client while the database is away: what the client is told, and that all goes on when it is back."""

import sys
from time import monotonic

import anyio
import pytest
from tests.postgres.proxy import Proxy
from tests.server.hubs import short_folder
from tests.stress.processes import client_of, hub_of

pytestmark = [pytest.mark.postgres, pytest.mark.anyio, pytest.mark.daily]
AWAY = "the database cannot be reached"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def proxy(database):
    made = Proxy(database)
    yield made
    made.close()


@pytest.fixture
def home():
    with short_folder() as path:
        yield path


def client(home, proxy, **variables):
    user = home.parent / "user"
    user.mkdir(parents=True, exist_ok=True)
    named = {"HYBRID_MEMORY_STORE": proxy.address, "HYBRID_MEMORY_STORE_WAIT_SECONDS": "1", "HOME": str(user)}
    return client_of(home, "--embedder", "static", **(named | variables))


def go_away(proxy):
    proxy.refuse()
    proxy.cut_all()


async def told(client, tool, **arguments):
    """Return whether a call failed, and all that its answer says."""
    with anyio.fail_after(60):
        result = await client.call_tool(tool, arguments)
    return result.is_error, "\n".join(part.text for part in result.content if part.type == "text")


async def until_it_works(client, tool, **arguments):
    limit = monotonic() + 60
    while True:
        failed, text = await told(client, tool, **arguments)
        if not failed:
            return text
        assert AWAY in text or "unknown" in text, text
        assert monotonic() < limit, text


async def test_a_call_waits_then_says_what_is_wrong_and_the_next_works_when_it_is_over(proxy, home):
    async with client(home, proxy) as one:
        assert not (await told(one, "write_memory", content="Ada keeps bees"))[0]
        hub = hub_of(home)
        go_away(proxy)
        for tool, arguments in (("write_memory", {"content": "Bo keeps ducks"}), ("read_memories", {"query": "bees"})):
            failed, text = await told(one, tool, **arguments)
            assert failed
            assert AWAY in text
            assert str(proxy.folder) not in text
        proxy.go_on()
        assert "Ada keeps bees" in await until_it_works(one, "read_memories", query="who keeps bees?")
        await until_it_works(one, "write_memory", content="Cy keeps goats")
        assert hub_of(home) == hub


async def test_an_outage_fills_no_log_and_the_log_names_no_host(proxy, home):
    async with client(home, proxy) as one:
        await told(one, "write_memory", content="Ada keeps bees")
        go_away(proxy)
        await told(one, "read_memories", query="bees")
        proxy.go_on()
        await until_it_works(one, "read_memories", query="who keeps bees?")
    said = (home / "logs" / "hub.log").read_text()
    assert "psycopg" not in said
    assert str(proxy.folder) not in said


async def test_a_hub_that_starts_without_its_database_says_so_and_serves_when_it_is_there(proxy, home):
    proxy.refuse()
    async with client(home, proxy) as one:
        failed, text = await told(one, "read_memories", query="bees")
        assert failed
        assert AWAY in text
        proxy.go_on()
        await until_it_works(one, "write_memory", content="Ada keeps bees")
        assert "Ada keeps bees" in await until_it_works(one, "read_memories", query="who keeps bees?")


async def test_with_offline_reads_a_client_reads_on_and_is_told_how_old_it_is(proxy, home):
    async with client(home, proxy, HYBRID_MEMORY_OFFLINE_READS_SECONDS="60") as one:
        await told(one, "write_memory", content="Ada keeps bees")
        await told(one, "read_memories", query="who keeps bees?")
        go_away(proxy)
        limit = monotonic() + 60
        while True:
            failed, text = await told(one, "read_memories", query="who keeps bees?")
            assert not failed, text
            assert "Ada keeps bees" in text
            if "this is what was known" in text:
                break
            assert monotonic() < limit
        failed, text = await told(one, "write_memory", content="Bo keeps ducks")
        assert failed
        assert AWAY in text
        proxy.go_on()
        await until_it_works(one, "write_memory", content="Cy keeps goats")
        text = await until_it_works(one, "read_memories", query="who keeps goats?")
        assert "Cy keeps goats" in text


async def test_a_client_that_comes_while_the_database_is_away_reads_offline_too(proxy, home):
    offline = {"HYBRID_MEMORY_OFFLINE_READS_SECONDS": "60"}
    async with client(home, proxy, **offline) as one:
        await told(one, "write_memory", content="Ada keeps bees")
        await told(one, "read_memories", query="who keeps bees?")
        go_away(proxy)
        async with client(home, proxy, **offline) as second:
            failed, text = await told(second, "read_memories", query="who keeps bees?")
            assert not failed, text
            assert "Ada keeps bees" in text


async def test_a_command_of_a_folder_without_a_file_hears_that_its_hub_serves_a_database(proxy, home):
    async with client(home, proxy) as one:
        await told(one, "write_memory", content="Ada keeps bees")
        command = [sys.executable, "-m", "hybrid_memory_mcp", "list", "--home", str(home)]
        done = await anyio.run_process(command, check=False)
        said = done.stderr.decode()
        assert (done.returncode, "there is no memory" in said) == (1, False)
        assert "the hub of its folder serves postgresql://" in said
