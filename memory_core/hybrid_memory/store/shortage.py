"""Recognises that a process may not have what it needs of the system, whichever library says so, and says it in one way.

Python, numpy and DuckDB raise different errors when memory or threads are short, and importing a library may fail for the same
reason. Each layer asks `shortage_of` where it turns unknown errors into its own.
"""

from __future__ import annotations

import errno
from contextlib import suppress

from hybrid_memory.errors import NotEnoughMemory

MEMORY = (
    "not enough memory: this process may not have as much as that takes; nothing was changed. Ask for less, free some, or raise its "
    "limit (ulimit -v, the container's memory)"
)
THREADS = (
    "not enough threads: the system lets this process start no more; nothing was changed. Raise its limits (ulimit -u, ulimit -v, the "
    "container's pids and memory)"
)
LEAST_ADDRESS_SPACE_MIB = 640
"""What a hub needs to open an empty store and to serve some clients (measured on Linux: 840 MiB are taken, 440 fail often)."""
_M_ARENA_MAX = -8  # of glibc's malloc.h
_NO_MEMORY = {errno.ENOMEM}
# In the texts of errors whose class says nothing; the texts of the loader of shared libraries come from the C library.
_MEMORY_MARKS = (
    "Cannot allocate memory",
    "cannot allocate memory",
    "failed to map segment from shared object",
    "cannot create shared object descriptor",
    "Unable to allocate",
    "std::bad_alloc",
)
_THREAD_MARKS = ("can't start new thread", "cannot start new thread", "thread constructor failed")


def check_address_space() -> None:
    """Check that a process which is about to serve clients may have the address space for that.

    Below the limit libraries do not only fail: some end the process, and others stay half imported. Not the size of the store counts
    here but code, and the pools that each thread of the C library takes.

    Raises:
        NotEnoughMemory: a limit (``ulimit -v``) forbids it.
    """
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, AttributeError, OSError, ValueError):
        return  # a system without such limits
    if limit == resource.RLIM_INFINITY:
        return
    if limit < LEAST_ADDRESS_SPACE_MIB * 2**20:
        raise NotEnoughMemory(
            f"not enough memory: this process may have {limit >> 20} MiB of address space (ulimit -v), and needs "
            f"{LEAST_ADDRESS_SPACE_MIB} MiB at least to serve. Raise the limit and start it again"
        )
    _share_pools()


def _share_pools() -> None:
    """Let threads share two pools of the C library: each pool takes 64 MiB of address space, and each thread would get one.

    With one pool a thread the first write failed under a limit of 768 MiB; with two it is done under 650 (measured on Linux).
    """
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def shortage_of(error: BaseException) -> NotEnoughMemory | None:
    """Return the library's error for one that says that memory or threads are short, None for any other.

    What it was raised from or during counts too: libraries often say only that they failed.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        text = _text_of(current)
        if text is not None:
            return NotEnoughMemory(text)
        current = current.__cause__ or current.__context__
    return None


def _text_of(error: BaseException) -> str | None:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _NO_MEMORY):
        return MEMORY
    if not isinstance(error, RuntimeError | ImportError | OSError | SystemError):
        return None
    said = str(error)
    if any(mark in said for mark in _THREAD_MARKS):
        return THREADS
    return MEMORY if any(mark in said for mark in _MEMORY_MARKS) else None
