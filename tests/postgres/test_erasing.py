"""What is erased from a PostgreSQL store is gone from its tables and from the server's files, while other hubs go on."""

import contextlib
from pathlib import Path

import psycopg
import pytest
from tests.core.admin.sample_stores import filled
from tests.core.store.making import DIMENSIONS, memory, vector

from hybrid_memory.admin.backup import create_backup
from hybrid_memory.admin.purge import purge, remaining_state
from hybrid_memory.admin.redact import redact
from hybrid_memory.errors import NotFound
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, MemoryId, Origin, Trust, Usage
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory.store.transfer import BufferItem, ConversationItem, EntryItem, MemoryItem, PurgeSelection
from hybrid_memory.store.writing import BufferState, ChangeType, SetTier, UndoRecord, WriteBatch
from hybrid_memory.testing import START, FakeClock
from hybrid_memory.tiers.buffers import Buffers, Item, encode_buffers
from hybrid_memory_postgres.rewriting import REWRITTEN, is_unwritten, rewrite_tables
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

SECRET = "sk-ant-api03-" + "Ab3" * 30  # made up


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def hub(database, clock):
    """Return a store of a hub over the test's database; each call is another hub."""
    opened = []

    def open_one():
        opened.append(PostgresStore.open(database.conninfo, clock, size=4, wait_seconds=5))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def home(tmp_path):
    place = tmp_path / "home"
    place.mkdir()
    return place


def ids(*names):
    return tuple(MemoryId(name) for name in names)


def chosen(*names, **options):
    return PurgeSelection(namespace="default", ids=ids(*names), **options)


def purged(store, home, selection, **options):
    return purge(store.eraser(home), selection, START, actor="tester", **options)


def of_words(id_, words, **fields):
    return MemoryItem(memory(id_, content=words, content_hash=content_hash(words), **fields))


def put(store, *items):
    store.pin_embedder("test", DIMENSIONS)
    store.transfer.import_items(items, action="import test", actor="tester")


def data_files(server):
    return [file for file in (server.folder / "data" / "base").rglob("*") if file.is_file()]


def holding(server, words):
    """Return the server's files of data that hold some bytes, once all that it knows is written out."""
    server.rows("CHECKPOINT")
    found = []
    for file in data_files(server):
        with contextlib.suppress(FileNotFoundError):  # a table that was just written again
            if words in file.read_bytes():
                found.append(file)
    return found


def tables_naming(database, words):
    """Return the tables with a row that holds some words anywhere."""
    names = [
        str(name) for (name,) in database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    ]
    asked = "SELECT 1 FROM {} AS r WHERE strpos(r::text, %s) > 0"
    return [name for name in names if database.rows(asked.replace("{}", name), words)]


# --- bytes ------------------------------------------------------------------------------------------------------------


def test_no_byte_of_what_was_purged_is_left_in_any_file_of_data(hub, home, database, postgres_server):
    store = hub()
    word, tag = "quetzalcoatl-7261", "tag-of-the-purged-8811"
    own = vector(3)
    put(
        store,
        MemoryItem(
            memory("a", content=f"We met at {word}.", content_hash=content_hash("x"), tags=(tag,)),
            Usage(accessed_at=START, count=2),
            own,
        ),
        of_words("b", "The violin is in the attic."),
    )
    store.readings.add([reading("a", f"Where is {word}?")], keep=10, since=START)
    database.rows("ANALYZE")
    database.rows("VACUUM")
    marks = [word.encode(), tag.encode(), own.astype("<f4").tobytes()]
    assert all(holding(postgres_server, mark) for mark in marks)
    done = purged(store, home, chosen("a"))
    assert (done.memories, done.rewritten, done.removed) == (1, 0, 0)
    assert [holding(postgres_server, mark) for mark in marks] == [[], [], []]
    assert store.get("default", ids("b"))


def test_deleting_the_rows_alone_would_leave_the_bytes(hub, database, postgres_server):
    store = hub()
    put(store, of_words("a", "We met at quetzalcoatl-9917."))
    database.rows("DELETE FROM memory")
    assert holding(postgres_server, b"quetzalcoatl-9917")


def test_the_report_names_what_else_may_hold_the_bytes(hub, home):
    store = hub()
    put(store, of_words("a", "We met."))
    told = " ".join(purged(store, home, chosen("a")).elsewhere)
    assert "write-ahead log" in told
    assert "standby" in told
    assert "backups" in told


def test_no_statistics_are_kept_of_columns_that_may_hold_words(hub, database):
    hub()
    wordless = {
        *("namespace", "id", "session", "agent", "kind", "tier", "origin", "trust", "superseded_by", "supersedes", "duplicate_of"),
        *("parents", "disputes", "verdict", "name", "link", "change", "actor", "action", "relay", "conversation", "identity"),
        *("client", "way", "asked", "outcome", "first", "second", "folder", "version", "marks", "holder", "role", "what", "mark"),
    }  # fmt: skip
    found = database.rows("""
        SELECT c.relname, a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
        JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
            AND t.typname IN ('text', 'bytea', 'name', 'varchar', 'jsonb', 'json') AND a.attstattarget <> 0
    """)
    assert {(table, column) for table, column in found if column not in wordless} == set()


def test_the_words_of_a_redacted_secret_leave_the_files_too(hub, home, postgres_server):
    store = hub()
    put(store, of_words("a", f"The key is {SECRET}, keep it."), of_words("b", "The violin is in the attic."))
    assert holding(postgres_server, SECRET.encode())
    done = redact(store.eraser(home), "default", ids("a"), START, actor="tester")
    assert done.memories == 1
    assert not holding(postgres_server, SECRET.encode())
    (left,) = store.get("default", ids("a")).values()
    assert SECRET not in left.content
    assert left.content.startswith("The key is ")
    assert left.encoding == 0  # its words are encoded again when the hub is idle
    assert store.check_log("default").problem is None


def reading(id_, question):
    return Reading(
        at=START,
        namespace="default",
        session="s",
        client="c",
        way=Way.TOOL,
        asked=Asked.QUESTION,
        question=question,
        filters={},
        shown=ids(id_),
        matched=1,
        outcome=Outcome.FOUND,
        tokens=5,
    )


# --- the same as in a file --------------------------------------------------------------------------------------------


def sample():
    state = encode_buffers(Buffers((Item(MemoryId("v2"), "", 0.5), Item(MemoryId("other"), "", 0.5))))
    return [
        MemoryItem(memory("v1", superseded_by=MemoryId("v2")), Usage(accessed_at=START, count=2), vector(1)),
        MemoryItem(memory("v2", supersedes=MemoryId("v1"), superseded_by=MemoryId("v3")), None, vector(2)),
        MemoryItem(memory("v3", supersedes=MemoryId("v2"), trust=Trust.CONFIRMED)),
        MemoryItem(memory("thought", kind=Kind.INSIGHT, parents=ids("v2"))),
        MemoryItem(memory("sum", kind=Kind.SUMMARY, origin=Origin.DERIVED, parents=ids("thought", "other"))),
        MemoryItem(memory("group", parents=ids("v3", "other"), disputes=MemoryId("v1"))),
        MemoryItem(memory("other", duplicate_of=MemoryId("v3"), session="elsewhere")),
        MemoryItem(memory("echo", content_hash="hash-v2", forgotten_at=START)),
        MemoryItem(memory("far", namespace="project", parents=ids("v2"))),
        BufferItem("default", BufferState("elsewhere", "agent", state, START)),
        ConversationItem("default", "elsewhere", "message", 4),
        EntryItem("default", "elsewhere", "message", 2, {"text": "v2 was said"}),
    ]


SELECTIONS = [
    chosen("v1"),
    chosen("v2"),
    chosen("v2", derived=False),
    chosen("v3"),
    chosen("other", "absent"),
    PurgeSelection(namespace="default", session="elsewhere"),
    PurgeSelection(namespace="default", forgotten=True),
    PurgeSelection(namespace="default", everything=True),
]


def all_items(store):
    return list(store.transfer.export_items(None, vectors=True).items)


def same_items(one, other):
    assert [type(item) for item in one] == [type(item) for item in other]
    for left, right in zip(one, other, strict=True):
        if isinstance(left, MemoryItem):
            assert (left.memory, left.usage) == (right.memory, right.usage)
            assert (left.vector is None) == (right.vector is None)
        else:
            assert left == right


@pytest.fixture
def file_store(tmp_path, clock):
    home = tmp_path / "file"
    home.mkdir()
    store = DuckStore.open(home / "memory.duckdb", clock)
    yield store
    with contextlib.suppress(Exception):
        store.close()


@pytest.mark.parametrize(
    "selection", SELECTIONS, ids=lambda one: ",".join(one.ids) or str(one.session or one.forgotten)
)
def test_a_purge_comes_to_the_same_and_leaves_the_same_as_in_a_file(hub, file_store, home, selection, clock):
    store = hub()
    for one in (store, file_store):
        put(one, *sample())
    same_items(all_items(store), all_items(file_store))
    plan = store.transfer.plan_purge(selection)
    assert plan == file_store.transfer.plan_purge(selection)
    if plan.missing or plan.is_empty:
        with pytest.raises(NotFound):
            purged(store, home, selection)
        return
    place = Path(home.parent / "file")
    eraser = file_store.eraser(place)
    file_store.close()
    done, in_file = (purge(one, selection, START, actor="tester") for one in (store.eraser(home), eraser))
    assert done.memories == in_file.memories
    again = DuckStore.open(place / "memory.duckdb", clock)
    try:
        same_items(all_items(store), all_items(again))
        assert list(store.changes("default", 0)) == list(again.changes("default", 0))
        assert store.check_log("default").problem is None
    finally:
        again.close()


def test_an_import_is_undone_as_in_a_file(hub, file_store):
    store = hub()
    kept = of_words("kept", "The violin is in the attic.", parents=ids("v2"))
    for one in (store, file_store):
        one.pin_embedder("test", DIMENSIONS)
        one.transfer.import_items(sample(), action="import 1", actor="tester")
        one.transfer.import_items([kept], action="import 2", actor="tester")
    assert store.transfer.imports() == file_store.transfer.imports()
    undone = [
        one.transfer.undo_import("import 1", actor="tester", remaining_state=remaining_state)
        for one in (store, file_store)
    ]
    assert undone[0] == undone[1]
    same_items(all_items(store), all_items(file_store))
    assert store.transfer.known_imports() == file_store.transfer.known_imports() == ["import 1", "import 2"]
    assert store.check_log("default").problem is None


def test_what_would_be_redacted_is_what_would_be_in_a_file(hub, file_store):
    items = [
        of_words("a", f"The key is {SECRET}."),
        of_words("b", f"Somebody repeated {SECRET}."),
        of_words("c", "Nothing in here.", metadata={"note": SECRET}),
        EntryItem("default", "talk", "message", 1, {"text": f"I said {SECRET}"}),
    ]
    store = hub()
    for one in (store, file_store):
        put(one, *items)
    assert store.transfer.plan_redaction("default", ids("a", "absent"), None) == file_store.transfer.plan_redaction(
        "default", ids("a", "absent"), None
    )


def test_a_secret_is_taken_out_of_all_that_repeats_it(hub, home, database):
    store = hub()
    put(
        store,
        of_words("a", f"The key is {SECRET}."),
        of_words("c", "Nothing in here.", metadata={"note": SECRET}),
        EntryItem("default", "talk", "message", 1, {"text": f"I said {SECRET}"}),
    )
    store.readings.add([reading("b", f"What is {SECRET}?")], keep=10, since=START)
    redact(store.eraser(home), "default", ids("a"), START, actor="tester")
    assert tables_naming(database, SECRET) == []


# --- nothing stays behind ---------------------------------------------------------------------------------------------


def test_nothing_names_what_was_purged(hub, home, database):
    store = hub()
    put(store, *sample())
    store.readings.add([reading("v2", "What was said?")], keep=10, since=START)
    keep_undo(store, "v2")
    purged(store, home, chosen("v2"))
    assert tables_naming(database, "What was said?") == []
    assert tables_naming(database, "undo-of-v2") == []
    assert database.rows("SELECT DISTINCT id FROM log WHERE digest = 'hash-v2'") == [
        ("echo",)
    ]  # which has the same words
    assert store.buffer("default", "elsewhere", "agent").state.count("v2") == 0


def keep_undo(store, id_):
    undo = UndoRecord(id="undo-of-v2", body={"memories": [id_]}, action="pin")
    store.write(
        "default",
        None,
        lambda _: WriteBatch(
            action="pin", actor="t", tier_changes=(SetTier(MemoryId("v3"), memory("v3").tier),), undo=undo
        ),
    )


def test_of_a_namespace_that_is_erased_as_a_whole_nothing_stays(hub, home, database):
    store, other = hub(), hub()
    put(store, *sample(), MemoryItem(memory("x", namespace="secret project")))
    assert "namespace" in tables_naming(database, "secret project")
    purged(store, home, PurgeSelection(namespace="secret project", everything=True))
    assert tables_naming(database, "secret project") == []
    assert database.rows("SELECT erasures FROM store") == [(1,)]
    assert other.namespaces() == ["default", "project"]
    # It can begin again.
    put(other, MemoryItem(memory("y", namespace="secret project")))
    assert [one.position for one in store.changes("secret project", 0)] == [1]


def test_other_hubs_hear_of_a_purge_by_the_log(hub, home):
    store, other = hub(), hub()
    put(store, *sample())
    seen = other.head("default")
    purged(store, home, chosen("v1"))
    (first, *_) = other.changes("default", seen)
    assert (first.change, first.id, first.action, first.digest) == (ChangeType.PURGE, "v1", "purge", "")


def test_what_others_write_meanwhile_is_kept(hub, home):
    store, other = hub(), hub()
    put(store, of_words("a", "We met."))

    def while_erasing(step):
        if step == "copies":
            put(other, of_words("b", "The violin is in the attic."))

    purged(store, home, chosen("a"), on_step=while_erasing)
    assert list(store.get("default", ids("a", "b"))) == ["b"]
    assert store.check_log("default").problem is None


# --- interrupted, or in each other's way ------------------------------------------------------------------------------


class KilledError(Exception):
    """Stands for the end of a process."""


def test_a_purge_that_dies_before_the_tables_are_written_anew_is_finished_by_the_next(hub, home, postgres_server):
    store = hub()
    put(store, of_words("a", "We met at quetzalcoatl-4410."))

    def die(step):
        if step == "erased":
            raise KilledError

    with pytest.raises(KilledError):
        purged(store, home, chosen("a"), on_step=die)
    assert is_unwritten(store.connections)
    assert holding(postgres_server, b"quetzalcoatl-4410")
    with pytest.raises(NotFound):
        purged(store, home, chosen("a"))
    assert not is_unwritten(store.connections)
    assert not holding(postgres_server, b"quetzalcoatl-4410")


def test_who_still_sees_the_erased_rows_is_waited_for_and_then_told(hub, home, database, postgres_server):
    store = hub()
    put(store, of_words("a", "We met at quetzalcoatl-5523."))
    with psycopg.connect(database.conninfo_of("keeper")) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM migration")
        purge_rows_alone(store, home)
        told = rewrite_tables(store.connections, seconds=0)
        assert len(told) == 1
        assert "open all the time" in told[0]
    assert is_unwritten(store.connections)
    assert rewrite_tables(store.connections) == []
    assert not is_unwritten(store.connections)
    assert not holding(postgres_server, b"quetzalcoatl-5523")


def purge_rows_alone(store, home):
    def die(step):
        if step == "erased":
            raise KilledError

    with pytest.raises(KilledError):
        purged(store, home, chosen("a"), on_step=die)


def test_a_table_that_somebody_holds_all_the_time_is_told(hub, database):
    store = hub()
    waits = []
    with psycopg.connect(database.conninfo_of("keeper")) as reader:
        reader.execute("LOCK TABLE buffer IN ACCESS SHARE MODE")
        told = rewrite_tables(store.connections, wait=waits.append, tries=1, lock_timeout="50ms")
    assert any("VACUUM FULL" in one for one in told)


def test_every_table_with_words_is_written_anew(database, hub):
    hub()
    found = database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    others = {"migration", "embedder", "store", "hub", "lease", "role_namespace", "moving"}
    others |= {"sync_note", "sync_log", "sync_folder", "sync_segment"}  # names of folders and files, and ids
    assert {str(name) for (name,) in found} - others == set(REWRITTEN)


# --- copies -----------------------------------------------------------------------------------------------------------


def test_the_backups_in_the_hubs_folder_lose_it_too(hub, home, clock, tmp_path):
    store = hub()
    items = [of_words("a", "We met at quetzalcoatl-3301."), of_words("b", "The violin is in the attic.")]
    put(store, *items)
    source = filled(tmp_path / "source", items, own_digests=False)
    made = create_backup(source, tmp_path / "source", START, keep=3)
    source.close()
    (home / "backups").mkdir(mode=0o700)
    backup = home / "backups" / made.file.name
    backup.write_bytes(made.file.read_bytes())
    assert b"quetzalcoatl-3301" in backup.read_bytes()
    done = purged(store, home, chosen("a"))
    assert (done.memories, done.rewritten) == (1, 1)
    assert b"quetzalcoatl-3301" not in backup.read_bytes()
    again = DuckStore.open(backup, clock)
    try:
        assert list(again.get("default", ids("a", "b"))) == ["b"]
    finally:
        again.close()
    assert sorted(one.name for one in home.iterdir()) == ["backups"]
