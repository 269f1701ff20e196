"""Want of memory or threads is recognised whoever says so, told as such, and never taken for damage."""

import errno
import resource

import duckdb
import numpy as np
import pytest
from tests.tables import each

from hybrid_memory.errors import NotEnoughMemory
from hybrid_memory.store import shortage
from hybrid_memory.store.duck.duckdb_errors import translate, translated, translated_opening
from hybrid_memory.store.shortage import LEAST_ADDRESS_SPACE_MIB, check_address_space, shortage_of


def failed_inside(error):
    try:
        try:
            raise error
        except type(error):
            raise ValueError("a library says only that it failed")  # noqa: B904 - as libraries do
    except ValueError as outer:
        return outer


@each(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libopenblas.so: failed to map segment from shared object"),
        ImportError("x.so: cannot allocate memory in static TLS block"),
        RuntimeError("std::bad_alloc"),
        np._core._exceptions._ArrayMemoryError((2**40,), np.dtype("f4")),
        failed_inside(MemoryError()),
    ],
)
def test_want_of_memory_is_named(error):
    assert str(shortage_of(error)) == shortage.MEMORY


def test_want_of_threads_is_named():
    assert str(shortage_of(RuntimeError("can't start new thread"))) == shortage.THREADS


@pytest.mark.parametrize(
    "error", [RuntimeError("another"), OSError(errno.ENOENT, "no"), ValueError("can't start new thread")]
)
def test_other_errors_are_none_of_it(error):
    assert shortage_of(error) is None


@each(
    "error",
    [
        MemoryError(),
        duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate data"),
        duckdb.FatalException(
            "FATAL Error: Failed to create checkpoint because of error: Failed to allocate block of 262144 bytes"
        ),
        duckdb.InternalException("INTERNAL Error: bad allocation"),
        duckdb.IOException("Failure while replaying WAL file: could not allocate block of size 256.0 KiB"),
    ],
)
def test_the_engines_want_of_memory_is_no_damage(error):
    assert isinstance(translate(error), NotEnoughMemory)
    with pytest.raises(NotEnoughMemory), translated_opening():
        raise error
    with pytest.raises(NotEnoughMemory), translated():
        raise error


def test_a_sound_store_is_not_called_damaged_for_want_of_memory(tmp_path):
    from tests.core.store.making import put

    from hybrid_memory.store.duck.store import DuckStore
    from hybrid_memory.testing import FakeClock

    place = tmp_path / "memory.duckdb"
    store = DuckStore.open(place, FakeClock())
    put(store, "a")
    store.close()
    with pytest.raises(NotEnoughMemory, match="give this process more memory"):
        DuckStore.open(place, FakeClock(), memory_limit="1KB")
    again = DuckStore.open(place, FakeClock())
    assert again.info().memories == 1
    again.close()


@pytest.mark.parametrize("mebibytes", [150, 400, LEAST_ADDRESS_SPACE_MIB - 1])
def test_a_limit_of_address_space_is_told_before_anything_fails(monkeypatch, mebibytes):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (mebibytes << 20, resource.RLIM_INFINITY))
    with pytest.raises(NotEnoughMemory, match=f"may have {mebibytes} MiB of address space"):
        check_address_space()


@pytest.mark.parametrize("limit", [LEAST_ADDRESS_SPACE_MIB << 20, resource.RLIM_INFINITY])
def test_with_enough_nothing_is_said_and_under_a_limit_threads_share_their_pools(monkeypatch, limit):
    shared = []
    monkeypatch.setattr(shortage, "_share_pools", lambda: shared.append(1))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))
    check_address_space()
    assert bool(shared) == (limit != resource.RLIM_INFINITY)
