"""A head over the limit, and one that another program could read differently, is refused before anything of it is believed."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_mcp.runtime.http_heads import head_problem

LINE = b"POST /mcp HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
LIMIT = 16 * 1024


def head(*lines):
    return LINE + HOST + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def of_length(count):
    return head(b"X: " + b"x" * (count - len(head(b"X: "))))


@pytest.mark.parametrize(("count", "status"), [(LIMIT, None), (LIMIT + 1, 431), (2 * LIMIT, 431)])
def test_the_limit_holds_exactly(count, status):
    assert len(of_length(count)) == count
    assert head_problem(of_length(count), LIMIT) == status


def test_a_head_that_does_not_end_is_refused_at_the_limit():
    assert head_problem(of_length(3 * LIMIT)[:LIMIT], LIMIT) is None
    assert head_problem(of_length(3 * LIMIT)[: LIMIT + 1], LIMIT) == 431


def test_a_long_body_behind_a_short_head_is_no_long_head():
    assert head_problem(head(b"Content-Length: 99999") + b"x" * 99_999, LIMIT) is None


HARMLESS = [
    head(),
    head(b"Content-Length: 5"),
    head(b"Transfer-Encoding: chunked"),
    head(b"transfer-encoding:CHUNKED"),
    b"\r\n" + head(),
    LINE,
    b"",
]


@each("received", HARMLESS)
def test_usual_heads_are_taken(received):
    assert head_problem(received, LIMIT) is None


REFUSED = {
    "length beside encoding": head(b"Content-Length: 5", b"Transfer-Encoding: chunked"),
    "encoding beside length": head(b"Transfer-Encoding: chunked", b"Content-Length: 5"),
    "two lengths": head(b"Content-Length: 5", b"Content-Length: 6"),
    "the same length twice": head(b"Content-Length: 5", b"content-length: 5"),
    "a list of lengths": head(b"Content-Length: 5, 5"),
    "a negative length": head(b"Content-Length: -5"),
    "a signed length": head(b"Content-Length: +5"),
    "a length of many digits": head(b"Content-Length: " + b"9" * 5000),
    "another encoding": head(b"Transfer-Encoding: gzip, chunked"),
    "two encodings": head(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    "encoding in disguise": head(b"Transfer-Encoding: \x0bchunked"),
    "a folded line": head(b"X: a", b" Content-Length: 5"),
    "a line folded with a tab": head(b"X: a", b"\tb"),
    "a blank before the colon": head(b"Content-Length : 5"),
    "a line without a colon": head(b"Content-Length 5"),
    "bare line feeds": head(b"X: a").replace(b"\r\n", b"\n"),
    "one bare line feed": head(b"X: a\nContent-Length: 5"),
    "a bare carriage return": head(b"X: a\rContent-Length: 5"),
}


@each("name", REFUSED)
def test_what_two_programs_could_read_differently_is_refused(name):
    assert head_problem(REFUSED[name], LIMIT) == 400


@given(st.binary(max_size=200), st.integers(1, 100))
def test_any_bytes_are_looked_at_without_failing(received, limit):
    assert head_problem(received, limit) in (None, 400, 431)


async def answer_of(path, sent):
    async with await anyio.connect_unix(path) as stream:
        await stream.send(sent)
        with anyio.fail_after(60):
            return (await stream.receive()).split(b"\r\n")[0]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sent", "status"), [(of_length(3 * LIMIT), b"431"), (REFUSED["two lengths"], b"400"), (head(), b"401")]
)
async def test_over_a_socket_the_refusal_is_an_answer(build, at_socket, sent, status):
    async with at_socket(build()) as connect:
        assert status in await answer_of(connect.place, sent.replace(b"Host: localhost\r", b"Host: localhost:8765\r"))
