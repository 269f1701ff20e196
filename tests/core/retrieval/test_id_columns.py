"""IdSequence and digests as columns, against plain dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.ids import ID_CHARACTERS, LONGEST_ID
from hybrid_memory.model import MemoryId
from hybrid_memory.retrieval import id_columns
from hybrid_memory.retrieval.id_columns import DigestColumn, IdColumn
from hybrid_memory.store.column_batches import digest_of, digests_from_hex, digests_of, pack_ids

ID = st.one_of(
    st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=20, max_size=20),
    st.text(ID_CHARACTERS, min_size=1, max_size=LONGEST_ID),
)
IDS = st.lists(ID, unique=True, max_size=25)


def column_of(loaded, added=()):
    column = IdColumn()
    for at in range(0, len(loaded), 7):
        column.extend(pack_ids(loaded[at : at + 7]))
    for one in added:
        column.append(MemoryId(one))
    return column


@given(IDS, st.integers(0, 25), ID)
def test_every_id_leads_to_its_row_and_back(ids, loaded, other):
    column = column_of(ids[:loaded], ids[loaded:])
    assert [column.row(one) for one in ids] == list(range(len(ids)))
    assert [column.name(row) for row in range(len(ids))] == column.values.tolist() == ids
    assert column.rows(pack_ids(ids)).tolist() == list(range(len(ids)))
    if other not in ids:
        assert column.row(other) is None
        assert column.rows(pack_ids([other])).tolist() == [-1]


@given(IDS)
def test_rows_that_are_sorted_in_later_are_still_found(ids):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_columns, "_MAX_UNSORTED", 3)
        column = column_of(ids[:5], ids[5:])
    assert [column.row(one) for one in ids] == list(range(len(ids)))


def test_ids_are_a_sequence():
    ids = column_of(["a", "b", "c", "d"]).values
    assert (len(ids), ids[1], ids[-1], list(ids[1:3])) == (4, "b", "d", ["b", "c"])
    assert ids[np.array([3, 0])] == ["d", "a"]
    assert ids[np.array([True, False, False, True])].tolist() == ["a", "d"]
    assert ids[::-1].index("a") == 3
    assert "c" in ids
    assert "c" not in ids[:2]
    assert 3 not in ids
    assert ids != ["a"]
    with pytest.raises(ValueError, match="no such id"):
        ids[:2].index("c")
    with pytest.raises(ValueError, match="no such id"):
        ids.index("a", 1)


def test_the_ids_of_an_answer_stay_as_they_were():
    column = column_of(["a"])
    ids = column.values
    for number in range(200):
        column.append(MemoryId(f"later-{number}"))
    assert ids == ["a"]


HASH = st.one_of(
    st.sampled_from(["0" * 32, "f" * 32, "0123456789abcdef" * 2]), st.text("0123456789abcdef", max_size=33)
)


@given(st.lists(HASH, max_size=20), st.integers(0, 20), st.integers(0, 20), HASH)
def test_digests_lead_to_all_rows_of_a_hash(hashes, loaded, settled, other):
    digests = DigestColumn()
    digests.extend(digests_of(hashes[:loaded]))
    for number, one in enumerate(hashes[loaded:]):
        if number == settled:
            digests.rows(other)
        digests.append(one)
    for wanted in {*hashes, other}:
        assert digests.rows(wanted) == [row for row, one in enumerate(hashes) if one == wanted]


@given(st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), max_size=5))
def test_joined_hex_gives_the_same_digests(hashes):
    assert digests_from_hex("".join(hashes).encode()).tolist() == [list(digest_of(one)) for one in hashes]


@pytest.mark.parametrize("joined", [b"g" * 32, b"A" * 32, b"0" * 31])
def test_what_is_not_hex_is_not_taken_for_it(joined):
    assert digests_from_hex(joined) is None
