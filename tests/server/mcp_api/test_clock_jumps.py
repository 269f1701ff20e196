"""A clock that was a year ahead for one write of a running server: the next calls have its present time, and the status tells."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from tests.server.services import call

from hybrid_memory.testing import START

pytestmark = pytest.mark.anyio
YEAR = 365


@pytest.fixture
async def jumped(client, service):
    """A client of a server that took one write with its clock a year ahead."""
    await call(client, "write_memory", content="Ada plays the cello")
    service.clock.advance(days=YEAR)
    await call(client, "write_memory", content="The plumber comes on Monday")
    service.clock.advance(days=-YEAR)
    return client


async def test_tomorrow_is_the_clocks(jumped, service):
    written = await call(jumped, "write_memory", content="The ticket is valid", expires_at="tomorrow")
    kept = service.memories[written["id"]]
    assert kept.created_at == START
    assert START < kept.expires_at < START + timedelta(days=2)


async def test_what_is_valid_for_three_days_is_found_until_they_are_over(jumped, service):
    written = await call(jumped, "write_memory", content="The ticket is valid", expires_at="in 3 days")
    found = await call(jumped, "read_memories", query="ticket")
    assert found["memories"][0]["id"] == written["id"]
    service.clock.advance(days=4)
    found = await call(jumped, "read_memories", query="ticket")
    assert written["id"] not in [one["id"] for one in found["memories"]]


async def test_the_status_tells_while_it_serves(jumped):
    (status,) = (await jumped.read_resource("memory://status")).contents
    assert any("1 memory has a time in the future" in notice for notice in json.loads(status.text)["notices"])
