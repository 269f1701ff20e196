import subprocess
import sys

import pytest

from hybrid_memory.store.duck.pandas_lookup import without_pandas

# A process of its own: DuckDB remembers for good what it once found, and the tests have an empty pandas.
_PROGRAM = """
import sys, tempfile
from pathlib import Path

from hybrid_memory import MemoryService, Scope, WriteRequest

searches = []

class Watching:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            searches.append(name)

with tempfile.TemporaryDirectory() as folder:
    memory = MemoryService.open(Path(folder))
    sys.meta_path.insert(1, Watching())  # behind the one of the library
    memory.write(Scope(session="a"), WriteRequest(content="Ada likes tea."))
    assert searches == [], searches
    assert "pandas" not in sys.modules
    import pandas
    assert pandas.WHO == "the one that is installed"
    memory.write(Scope(session="a"), WriteRequest(content="Ada dislikes coffee."))
    memory.close()
"""


@pytest.mark.slow
def test_a_write_neither_searches_for_pandas_nor_imports_it_and_the_program_can(tmp_path):
    (tmp_path / "pandas.py").write_text('WHO = "the one that is installed"\nclass NaT: pass\nclass NA: pass\n')
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_inside_a_statement_pandas_is_not_found(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with without_pandas, pytest.raises(ModuleNotFoundError) as error:
        __import__("pandas")
    assert error.value.name == "pandas"


def test_inside_a_statement_a_pandas_that_was_imported_before_is_found(monkeypatch):
    known = object()
    monkeypatch.setitem(sys.modules, "pandas", known)
    with without_pandas:
        assert __import__("pandas") is known
