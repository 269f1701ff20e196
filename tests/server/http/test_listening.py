"""What happens below the application: clients that are slow, many, or do not speak HTTP."""

from __future__ import annotations

import anyio
import pytest

pytestmark = pytest.mark.anyio

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost:8765\r\n"


async def answer_to(connect, *parts):
    """Send bytes, and return everything that comes until the server closes the connection."""
    with anyio.fail_after(60):
        async with await anyio.connect_unix(connect.place) as stream:
            for part in parts:
                await stream.send(part)
            return await everything(stream)


async def everything(stream):
    found = b""
    try:
        async for part in stream:
            found += part
    except anyio.BrokenResourceError:
        pass
    return found


async def test_a_head_that_does_not_come_is_not_waited_for_for_ever(build, at_socket):
    async with at_socket(build(head_timeout_seconds=0.05)) as connect:
        assert await answer_to(connect) == b""
        assert await answer_to(connect, GET) == b""


async def drip(stream):
    """Send a head that never ends."""
    await stream.send(GET)
    while True:
        await stream.send(b"X-Drop: 1\r\n")
        with anyio.move_on_after(0.01):
            await stream.receive()


async def test_a_head_that_comes_drop_by_drop_is_cut_off(build, at_socket):
    async with (
        at_socket(build(head_timeout_seconds=0.05)) as connect,
        await anyio.connect_unix(connect.place) as stream,
    ):
        with anyio.fail_after(60), pytest.raises((anyio.BrokenResourceError, anyio.EndOfStream)):
            await drip(stream)


async def test_a_head_over_the_limit_is_refused(build, at_socket):
    async with at_socket(build(max_head_bytes=1000)) as connect:
        found = await answer_to(connect, GET + b"X-Long: " + b"x" * 2000)
    assert found.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"{}\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost:8765\r\nHost: evil.example\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost:8765\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost:8765\r\nContent-Length: -1\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused(build, at_socket, nonsense):
    async with at_socket(build()) as connect:
        assert (await answer_to(connect, nonsense)).startswith(b"HTTP/1.1 400 ")
        assert (await answer_to(connect, GET + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 204 ")


async def test_a_request_without_a_host_is_refused(build, at_socket):
    async with at_socket(build()) as connect:
        assert b" 421 " in await answer_to(connect, b"GET /healthz HTTP/1.0\r\n\r\n")


async def test_too_many_connections_are_told_so(build, at_socket):
    async with at_socket(build(connections=2)) as connect, await anyio.connect_unix(connect.place) as first:
        await first.send(GET)
        async with await anyio.connect_unix(connect.place) as second:
            await second.send(GET + b"\r\n")
            with anyio.fail_after(60):
                assert (await second.receive()).startswith(b"HTTP/1.1 503 ")


async def test_nothing_tells_what_serves(build, at_socket):
    async with at_socket(build()) as connect:
        found = await answer_to(connect, GET + b"Connection: close\r\n\r\n")
    assert b"server:" not in found.lower()


async def test_no_body_is_read_of_who_shows_no_token(build, at_socket):
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost:8765\r\nContent-Length: 10000000\r\n\r\n"
    async with at_socket(build()) as connect:
        found = await answer_to(connect, head)
    assert found.startswith(b"HTTP/1.1 401 ")
    assert b"connection: close" in found.lower()
