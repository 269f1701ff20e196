"""Terms, names and days of memories that an earlier version has encoded, made anew batch by batch.

`MemoryService.open` does as many as take a moment; `background` does the rest while searches go on by what there is, and then has
the search indexes read anew. Each batch is a transaction, so one that is killed is continued by the next opening.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.word_encoding import ENCODING, encode_words

if TYPE_CHECKING:
    from hybrid_memory.store.base import Store

AT_OPENING = 2_000  # memories made anew before an opening is over: half a second
_BATCH = 500  # memories a transaction, which other writers wait for


def reencode(store: Store, limit: int = _BATCH) -> int:
    """Encode the words of some memories anew, of older ones first; returns of how many, fewer than ``limit`` only at the end.

    Raises:
        StoreError: the store cannot be read or written; what was done before is kept.
    """
    done = 0
    while done < limit:
        wanted = min(_BATCH, limit - done)
        batch = store.reencoding.outdated(ENCODING, wanted)
        encoded = [
            (one, encode_words(one.content, one.speaker, one.when, one.key, hasher=store.hasher)) for one in batch
        ]
        store.reencoding.replace(encoded)
        done += len(batch)
        if len(batch) < wanted:
            break
    return done
