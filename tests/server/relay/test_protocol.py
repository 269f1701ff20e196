"""The frames between relay and hub."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.protocol import BrokenFrame, FrameReader, pack, pack_fields, read_fields

KINDS = st.sampled_from(
    [protocol.LINE, protocol.RESUBSCRIBE, protocol.ANSWER, protocol.NO_ANSWER, protocol.REMEMBER_LINE]
)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", max_size=40).filter(lambda name: name != "-")
FRAMES = st.lists(st.tuples(KINDS, st.binary(max_size=60), st.integers(0, 10**15), NAMES), max_size=8)
# What a command line or an environment can hold: any bytes but zero, of which those that are no UTF-8 come as surrogates.
TEXTS = st.binary(max_size=20).map(lambda raw: raw.replace(b"\0", b"").decode("utf-8", "surrogateescape"))


def told(frame):
    return frame.kind, frame.payload, frame.number, frame.name


@given(FRAMES, st.integers(1, 50))
def test_frames_are_the_same_however_the_bytes_arrive(sent, size):
    whole = b"".join(pack(*one) for one in sent)
    reader = FrameReader()
    found = [told(one) for at in range(0, len(whole), size) for one in reader.feed(whole[at : at + size])]
    assert found == sent


@given(FRAMES)
def test_a_reader_goes_on_after_the_frame_that_was_taken_last(sent):
    reader = FrameReader()
    found, chunk = [], b"".join(pack(*one) for one in sent)
    for _ in sent:
        found.append(told(next(reader.feed(chunk))))
        chunk = b""
    assert found == sent


def test_a_frame_of_megabytes_passes_whole():
    payload = bytes(range(256)) * 40_000
    whole, reader = pack(protocol.ANSWER, payload, 7), FrameReader()
    (found,) = [one for at in range(0, len(whole), 65_536) for one in reader.feed(whole[at : at + 65_536])]
    assert (found.payload == payload, found.number) == (True, 7)


BROKEN = [
    b"\n",
    b"M 1 -\n",
    b"M 1 - 0 0\n",
    b"MM 1 - 0\n",
    b"M x - 0\n",
    b"M -1 - 0\n",
    b"M 1 - -1\n",
    b"M 1 - %d\n" % (protocol.MAX_PAYLOAD_BYTES + 1),
    b"M 1 n\xc3\xa4me 0\n",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    b"GET / HTTP/1.1\r\n",
    b"x" * protocol.MAX_HEADER_BYTES,
]


@each("bytes_", BROKEN)
def test_what_is_no_frame_is_said_to_be_none(bytes_):
    with pytest.raises(BrokenFrame):
        list(FrameReader().feed(bytes_))


def test_a_header_that_is_still_coming_is_waited_for():
    assert list(FrameReader().feed(b"x" * (protocol.MAX_HEADER_BYTES - 1))) == []


@given(st.binary(max_size=400))
def test_bytes_of_any_kind_are_frames_or_broken_and_nothing_else(bytes_):
    try:
        for frame in FrameReader().feed(bytes_):
            assert len(frame.kind) == 1
    except BrokenFrame:
        pass


@given(st.lists(st.tuples(st.sampled_from(["argument", "variable", "folder"]), TEXTS), min_size=1, max_size=8))
def test_fields_come_back_as_they_were_with_names_that_come_twice_and_bytes_that_are_no_text(fields):
    assert read_fields(pack_fields(fields)) == fields
