"""Arrays and joined texts as PostgreSQL sends them."""

import itertools
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory_postgres.wire_arrays import column_of, runs_of

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)


def sent(values: list[int], size: str, oid: int) -> bytes:
    """Return an array in PostgreSQL's binary form: its header, then each element behind its length."""
    header = struct.pack(">iiiii", 1, 0, oid, len(values), 1)
    return header + b"".join(struct.pack(f">i{size}", struct.calcsize(size), one) for one in values)


@given(st.lists(INT64, min_size=1))
def test_a_column_has_the_numbers_that_were_sent(values):
    assert column_of(sent(values, "q", 20), ">i8").tolist() == values


@given(st.lists(INT32, min_size=1))
def test_short_numbers_come_as_they_were_sent(values):
    assert column_of(sent(values, "i", 23), ">i4").tolist() == values


def test_no_rows_are_an_empty_column():
    assert column_of(None, ">i8").tolist() == column_of(struct.pack(">iii", 0, 0, 20), ">i8").tolist() == []


@given(st.lists(st.lists(INT32)))
def test_joined_lists_come_apart_again(lists):
    joined = b"".join(struct.pack(f"<{len(one)}i", *one) for one in lists) or None
    numbers, offsets = runs_of(joined, np.array([4 * len(one) for one in lists], np.int64))
    assert [numbers[start:end].tolist() for start, end in itertools.pairwise(offsets)] == lists
