"""What only the DuckDB store promises: it is locked down, its errors are translated, its statements are constant."""

import ast
import inspect
import re
import threading
import traceback
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.store.making import always, memory, put
from tests.tables import each

import hybrid_memory.store.duck as package
from hybrid_memory.errors import (
    ConcurrentModification,
    ConstraintViolation,
    EngineUnavailable,
    OutcomeUnknown,
    SchemaTooNew,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.duckdb_errors import BY_CLASS, translate
from hybrid_memory.store.duck.files import database_copy
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.writing import Insert, RequestKey

DUCK = Path(inspect.getfile(package)).parent
SOURCES = sorted([*DUCK.rglob("*.py"), *(DUCK.parent / "sql").glob("*.py")])


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "COPY memory TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.duckdb'",
        "EXPORT DATABASE '/tmp/stolen'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access=true",
        "SET lock_configuration=false",
        "SET memory_limit='100GB'",
        "RESET memory_limit",
        "CREATE SECRET s (TYPE s3)",
        "SELECT getenv('HOME')",
    ],
)
def test_an_open_store_is_locked_down(duck, statement):
    with pytest.raises(duckdb.Error):
        duck._engine._connection.cursor().execute(statement)


def test_variables_of_the_program_are_no_tables(duck):
    zz = [1]
    with pytest.raises(duckdb.CatalogException):
        duck._engine._connection.cursor().execute("SELECT * FROM zz")
    assert zz == [1]


def error_classes():
    found = [kind for _, kind in inspect.getmembers(duckdb, inspect.isclass) if issubclass(kind, Exception)]
    assert len(found) > 25
    return found


@each("kind", error_classes())
def test_every_error_class_of_duckdb_is_translated(kind):
    assert kind in [known for known, _ in BY_CLASS]
    for committing in (False, True):
        made = translate(kind("SELECT secret FROM '/home/x'"), committing=committing)
        assert type(made) is not StoreError
        assert "secret" not in str(made)
        assert "/home" not in str(made)


def test_a_class_is_looked_up_before_its_bases():
    kinds = [kind for kind, _ in BY_CLASS]
    assert not [(a, b) for at, a in enumerate(kinds) for b in kinds[at + 1 :] if issubclass(b, a)]


@each(
    "kind, text, expected",
    [
        (duckdb.TransactionException, "Failed to commit: Could not write file: No space left on device", StoreFull),
        (duckdb.TransactionException, "Conflict on update!", ConcurrentModification),
        (duckdb.IOException, "Could not write file: File too large", StoreFull),
        (duckdb.IOException, "Corrupt database file: computed checksum 1 does not match", StoreDamaged),
        (duckdb.IOException, "Failure while replaying WAL file: Corrupt WAL file", StoreDamaged),
        (duckdb.IOException, "Could not read enough bytes from file", StoreDamaged),
        (duckdb.IOException, 'The file "x" exists, but it is not a valid DuckDB database file!', StoreDamaged),
        (duckdb.IOException, "Trying to read a database file with version number 69, but", SchemaTooNew),
        (duckdb.IOException, 'Cannot open file "x": Permission denied', StoreReadOnly),
        (duckdb.IOException, "Cannot open file: Read-only file system", StoreReadOnly),
        (duckdb.ConnectionException, "Connection already closed!", StoreClosed),
        (duckdb.ConstraintException, "Duplicate key", ConstraintViolation),
        (duckdb.FatalException, "database has been invalidated", EngineUnavailable),
    ],
)
def test_the_text_of_an_error_decides_where_its_class_says_too_little(kind, text, expected):
    assert type(translate(kind(text))) is expected


def test_the_holder_of_duckdbs_own_lock_is_named():
    text = 'Could not set lock on file "x (PID 1)": Conflicting lock is held in /bin/python (PID 4321). See also'
    made = translate(duckdb.IOException(text))
    assert isinstance(made, StoreLocked)
    assert made.pid == 4321


def test_what_the_engine_said_does_not_travel_with_the_error(duck):
    put(duck, "secret-id")
    with pytest.raises(ConstraintViolation) as caught:
        put(duck, "secret-id")
    told = "".join(traceback.format_exception(caught.value))
    assert caught.value.__notes__ == ["raised as ConstraintException"]
    assert "Duplicate key" not in told


def test_a_commit_of_unknown_outcome_is_called_so():
    assert isinstance(translate(duckdb.IOException("fsync failed"), committing=True), OutcomeUnknown)
    assert isinstance(translate(duckdb.TransactionException("Failed to commit"), committing=True), EngineUnavailable)


@pytest.mark.parametrize("when", ["changes", "commit"])
def test_a_failed_write_is_undone_and_the_next_one_works(duck, monkeypatch, when):
    put(duck, "a")

    def fail(*_args, **_kwargs):
        raise EngineUnavailable("broken")

    with monkeypatch.context() as patched:
        patched.setattr(SqlSession, "change" if when == "changes" else "commit", fail)
        with pytest.raises(EngineUnavailable):
            duck.write("default", RequestKey("r", 1), always(inserts=(Insert(memory("b")),)))
    assert (duck.head("default"), duck.get("default", [MemoryId("b")])) == (1, {})
    written = duck.write("default", RequestKey("r", 1), always(inserts=(Insert(memory("b")),)))
    assert (written.replayed, written.position) == (False, 2)


def test_every_change_in_turn_may_fail_and_nothing_is_left_half_done(duck, monkeypatch):
    put(duck, "a")
    real = SqlSession.change
    for fail_at in range(1, 4):
        calls = iter(range(1, 100))

        def change(self, *args, calls=calls, fail_at=fail_at):
            if next(calls) == fail_at:
                raise EngineUnavailable("broken")
            return real(self, *args)

        with monkeypatch.context() as patched:
            patched.setattr(SqlSession, "change", change)
            with pytest.raises(EngineUnavailable):
                duck.write("default", RequestKey("r", 1), always(inserts=(Insert(memory("b")),)))
        assert (duck.head("default"), duck.info().memories, duck.result("default", RequestKey("r", 1))) == (1, 1, None)


def test_close_waits_for_a_running_write(duck):
    inside, go_on = threading.Event(), threading.Event()

    def decide(view):
        inside.set()
        assert go_on.wait(60)
        return always(inserts=(Insert(memory("a")),))(view)

    outcome = []
    writer = threading.Thread(target=lambda: outcome.append(duck.write("default", None, decide)))
    writer.start()
    assert inside.wait(60)
    closer = threading.Thread(target=duck.close)
    closer.start()
    go_on.set()
    writer.join()
    closer.join()
    assert outcome[0].position == 1


TABLES = {"vss.py", "vector_tables.py"}
# What works on whole databases names tables and files, for which DuckDB takes no parameters.
WHOLE_DATABASES = {
    *("database_copy.py", "own.py", "erase_files.py", "check.py", "repair.py", "bad_rows.py"),
    *("inspection.py", "catalogue.py", "row_tables.py", "schema.py"),
}
# Made at import from the list of a memory's fields, and constants from then on.
FROM_FIELDS = {"memory_table.py", "duck_sync.py"}
# Two constants that share most of their text.
SHARED_TEXT = {"list_table.py"}
RUNNERS = {"execute", "rows", "dictionaries", "row", "change", "send", "columns", "extract_statements", "_execute"}


def calls_with_statements():
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNNERS:
                yield source.name, node


@pytest.mark.slow
def test_statements_are_constants_but_for_the_vector_tables():
    found = list(calls_with_statements())
    assert len(found) > 40
    for name, call in found:
        first = call.args[0]
        if name in TABLES and isinstance(first, ast.Call):
            assert ast.unparse(first.func) == "self._statement"
            continue
        if name in WHOLE_DATABASES and isinstance(first, ast.Call):
            assert re.fullmatch(
                r"(_?[A-Z_]+|one|migration\.of_vectors)\.substitute|self\._[a-z_]*statement|_usable_statements",
                ast.unparse(first.func),
            ), ast.unparse(call)
            continue
        if ast.unparse(first) == "own.set_words":
            continue  # a constant of each engine
        named = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
        if isinstance(first, ast.Subscript) and isinstance(first.value, ast.Name):
            # One constant for each table that is copied.
            assert name == "row_tables.py", ast.unparse(call)
            assert first.value.id.strip("_").isupper(), ast.unparse(call)
            continue
        if isinstance(first, ast.Subscript):
            named = first.value.elts
        assert all(isinstance(part, ast.Name) for part in named), ast.unparse(call)


@pytest.mark.slow
def test_no_statement_is_put_together_from_text():
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.JoinedStr):
                if source.name in SHARED_TEXT:
                    assert all(
                        isinstance(part, ast.Name | ast.Constant | ast.BinOp | ast.Add | ast.Load)
                        for part in ast.walk(node.value)
                    )
                    continue
                assert not any(word in ast.unparse(node.value) for word in ("SELECT", "INSERT", "UPDATE", "DELETE"))
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"Template", "string.Template"}:
                assert source.name in TABLES | WHOLE_DATABASES | FROM_FIELDS
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
                raise AssertionError(ast.unparse(node))


def test_the_vector_tables_statements_hold_whole_numbers_only():
    from hybrid_memory.store.duck.vector_tables import _INSERT, VectorTable
    from hybrid_memory.store.duck.writer_cache import PinnedEmbedder

    with pytest.raises(ValueError, match="invalid literal"):
        VectorTable(PinnedEmbedder("1; DROP TABLE memory", "e", 8))._statement(_INSERT)


@given(st.text())
def test_names_of_tables_and_files_cannot_end_their_quotation(text):
    for quoted, mark in ((database_copy._quote_name(text), '"'), (database_copy._quote_text(text), "'")):
        assert quoted[0] == quoted[-1] == mark
        assert quoted[1:-1].replace(mark * 2, "").count(mark) == 0


def test_only_the_duck_package_imports_duckdb():
    core = Path(inspect.getfile(package)).parents[2]
    for source in core.rglob("*.py"):
        if DUCK not in source.parents:
            assert "import duckdb" not in source.read_text()
