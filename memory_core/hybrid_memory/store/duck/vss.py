"""An approximate index of vectors: HNSW of DuckDB's VSS extension in an in-memory database of its own.

It is insert-only: VSS 1.5 keeps most of what is deleted, ignores OFFSET, applies WHERE after the search, and can crash the
process when it is compacted. Nothing of that is used here; who asks checks what comes back against the truth.
"""

from __future__ import annotations

import importlib.util
import logging
from contextlib import suppress
from pathlib import Path
from string import Template

import duckdb
import numpy as np
from numpy.typing import NDArray

from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.pandas_lookup import without_pandas

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "allow_unsigned_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "threads": 1,
}
_NO_FILES = "SET enable_external_access=false"
_NO_SETTINGS = "SET lock_configuration=true"
_CREATE = Template("CREATE TABLE vector (place BIGINT NOT NULL, vec FLOAT[$dimensions] NOT NULL)")
_INSERT = Template("INSERT INTO vector SELECT place, array_value($columns) FROM added")
_BUILD = """
    CREATE INDEX near ON vector USING HNSW (vec)
    WITH (metric = 'ip', ef_construction = 128, ef_search = 1024, M = 16, M0 = 32)
"""
_NEAREST = Template("""
    SELECT place FROM vector ORDER BY array_negative_inner_product(vec, ?::VARCHAR::FLOAT[$dimensions]) LIMIT ?
""")
_EXPLAIN = Template("""
    EXPLAIN SELECT place FROM vector ORDER BY array_negative_inner_product(vec, ?::VARCHAR::FLOAT[$dimensions]) LIMIT ?
""")
_PACKAGE = "duckdb_extension_vss"

log = logging.getLogger(__name__)


class HnswIndex:
    """See `hybrid_memory.store.base.VectorIndex`. ``dimensions`` is the length of a vector, at least 1."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, dimensions: int) -> None:
        self._connection = connection
        self._reader = connection.cursor()
        self._columns = [f"c{number}" for number in range(dimensions)]
        self._text = "[" + ",".join(["%.9g"] * dimensions) + "]"
        with translated():
            connection.execute(self._statement(_CREATE))

    def add(self, places: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add vectors under numbers."""
        added = {name: np.ascontiguousarray(vectors[:, at]) for at, name in enumerate(self._columns)}
        # A registered mapping of arrays needs neither pandas nor pyarrow, and is allowed after the lock-down.
        with translated():
            self._connection.register("added", added | {"place": places.astype(np.int64)})
            try:
                self._connection.execute(self._statement(_INSERT))
            finally:
                self._connection.unregister("added")

    def build(self) -> None:
        """Make the graph of what was added; what is added later goes into it at once."""
        with translated():
            self._connection.execute(_BUILD)

    def nearest(self, vector: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the numbers of about the ``count`` vectors with the greatest product."""
        asked = [self._text % tuple(vector.tolist()), count]
        with translated(), without_pandas:
            found = self._reader.cursor().execute(self._statement(_NEAREST), asked).fetchnumpy()
        return np.asarray(found["place"], np.int64)

    def plan(self, count: int) -> str:
        """Return how the engine would search."""
        zeros = self._text % ((0.0,) * len(self._columns))
        with translated(), without_pandas:
            return str(self._reader.cursor().execute(self._statement(_EXPLAIN), [zeros, count]).fetchall())

    def _statement(self, template: Template) -> str:
        return template.substitute(dimensions=len(self._columns), columns=",".join(self._columns))

    def close(self) -> None:
        """Stop what is running and give the memory back."""
        with suppress(duckdb.Error):
            self._connection.interrupt()
        with suppress(duckdb.Error):
            self._reader.close()
            self._connection.close()


def open_hnsw(dimensions: int) -> HnswIndex | None:
    """Return an empty index; None, and a line in the log, where VSS cannot be loaded."""
    file = extension_file()
    if file is None:
        log.warning("the vector index (package duckdb-extension-vss) is not installed: search stays exact and slower")
        return None
    connection = None
    try:
        connection = duckdb.connect(":memory:", config=_CONFIG)
        connection.load_extension(str(file))
        connection.execute(_NO_FILES)
        connection.execute(_NO_SETTINGS)
    except duckdb.Error as error:
        if connection is not None:
            connection.close()
        log.warning("the vector index cannot be loaded (%s): search stays exact and slower", type(error).__name__)
        return None
    return HnswIndex(connection, dimensions)


def extension_file() -> Path | None:
    """Return the extension's file in its package, None where there is none for this version of DuckDB."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / "extensions" / f"v{duckdb.__version__}" / "vss.duckdb_extension"
    return file if file.is_file() else None
