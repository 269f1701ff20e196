"""Spares DuckDB the search for pandas at every value of a statement; used wherever this package executes one.

DuckDB 1.5 asks for ``pandas.NaT`` and ``pandas.NA`` at each value that it binds. Where pandas is not installed, that is a search
through all of ``sys.path`` each time, more than half of the time of a write; where it is installed and nobody has imported it, the
first one imports it, half a second. This package never binds a value of pandas. So while a thread executes one of its
statements (`without_pandas`), an import of pandas in that thread ends at once with `ModuleNotFoundError`, which DuckDB takes
for "not installed" and does not remember.

Nothing else changes: in other threads, and in the same thread outside of our statements, ``import pandas`` finds what is
installed, now or later. A pandas that is imported already is found before this module is asked.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _PerThread(threading.local):
    """A context manager, one for all threads, that remembers for each thread whether it is inside; it does not nest."""

    inside = False

    def __enter__(self) -> None:
        self.inside = True

    def __exit__(self, *exception: object) -> None:
        self.inside = False


without_pandas = _PerThread()
"""``with without_pandas:`` around a call of DuckDB that binds values, and around nothing else."""


class _NoPandasInStatements:
    """A finder of the import system that comes before all others; see the module."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise `ModuleNotFoundError` for pandas inside a statement; leave everything else to the other finders."""
        del path, target
        if name == "pandas" and without_pandas.inside:
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
        return None


# It stays for the life of the process: outside of statements it does nothing.
sys.meta_path.insert(0, _NoPandasInStatements())
