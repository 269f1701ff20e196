"""What leaves a store as JSON lines comes back the same, and what is wrong with a file is said before anything happens."""

import json
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.admin.sample_stores import ITEMS, exported, filled, imported, lines_of, opened, some
from tests.core.store.hostile_rows import change_rows
from tests.core.store.making import memory, one, put

from hybrid_memory.admin.export_import import export_store
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId, Origin, Tier, Trust
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory.testing import START

QUICK = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
FILE = "memories.jsonl"


@pytest.fixture
def old(tmp_path):
    store = filled(tmp_path / "old", [*some(), *some(2, "work")])
    yield store
    store.close()


@pytest.fixture
def new(tmp_path):
    store = opened(tmp_path / "new")
    yield store
    store.close()


@pytest.fixture
def place(tmp_path):
    return tmp_path / FILE


def problem(store, place, data, **options):
    with pytest.raises(InvalidInput) as caught:
        imported(store, place, data, **options)
    return str(caught.value)


def plain(*lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.slow
@QUICK
@given(ITEMS, st.booleans())
def test_what_was_imported_is_exported_byte_by_byte_the_same(items, vectors):
    round_trip(items, vectors=vectors)


def round_trip(items, *, vectors):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / FILE
        store = filled(Path(folder) / "old", items)
        data = exported(store, place, vectors=vectors)
        store.close()
        again = opened(Path(folder) / "new")
        try:
            imported(again, place, data)
            assert exported(again, place, vectors=vectors) == data
        finally:
            again.close()


def test_the_first_line_says_what_follows(old, place):
    header, *lines = lines_of(exported(old, place))
    assert header["namespaces"] == ["default", "work"]
    assert (header["memories"], header["entries"], header["embedder"]) == (5, 2, None)
    assert [line["type"] for line in lines[:6]] == ["memory"] * 3 + ["buffer", "conversation", "entry"]
    assert len(lines) == sum(header[kind] for kind in ("memories", "buffers", "conversations", "entries"))


def test_vectors_come_along_when_they_are_asked_for(old, place):
    assert "vector" not in lines_of(exported(old, place))[1]
    header, line, *_ = lines_of(exported(old, place, vectors=True))
    assert (header["embedder"], header["dimensions"]) == ("e-1", 8)
    assert len(line["vector"]) == 44


def test_one_namespace_can_be_exported_alone(old, place):
    lines = lines_of(exported(old, place, namespaces=["work"]))
    assert {line["namespace"] for line in lines[1:]} == {"work"}


def test_a_namespace_that_holds_nothing_is_named_wrong(old, place):
    with pytest.raises(InvalidInput):
        exported(old, place, namespaces=["default", "wrok"])
    assert not place.exists()


def test_an_export_is_readable_by_its_owner_alone(old, tmp_path):
    from hybrid_memory.admin.export_import import export_store

    export_store(old, tmp_path / "x", on_progress=lambda _, __: None)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_second_import_of_the_same_file_adds_nothing(old, new, place):
    data = exported(old, place, vectors=True)
    assert imported(new, place, data).new == 11
    head = new.head("default")
    again = imported(new, place, data)
    assert (again.new, again.there, new.head("default")) == (0, 11, head)


def test_an_import_is_in_the_log(old, new, place):
    imported(new, place, exported(old, place))
    entry = new.changes("work", 0)[-1]
    assert (entry.action, entry.actor, entry.id, entry.rev) == ("import", "tester", "m1", 2)


@pytest.mark.slow
def test_vectors_of_another_embedder_stay_outside(old, new, place):
    new.pin_embedder("e-2", 8)
    imported(new, place, exported(old, place, vectors=True))
    assert new.vectors("default", [MemoryId("m0")]) == {}


def test_new_memories_get_vectors_of_the_store_where_the_file_has_none(old, new, place):
    import numpy as np

    from hybrid_memory.admin.export_import import ImportPolicy, import_file

    new.pin_embedder("e-2", 4)
    place.write_bytes(exported(old, place))
    incoming = ImportPolicy(now=START, trusted=True)
    shown = []
    import_file(
        new,
        place,
        incoming,
        embed=lambda texts: np.full((len(texts), 4), len(texts), np.float32),
        actor="t",
        on_progress=lambda done, total: shown.append((done, total)),
    )
    assert new.vectors("work", [MemoryId("m1")])["m1"].tolist() == [5, 5, 5, 5]
    assert shown == [(11, 11)]


def test_one_namespace_of_a_file_can_be_imported_alone(old, new, place):
    imported(new, place, exported(old, place), namespace="work")
    assert list(new.namespaces()) == ["work"]


def test_lines_of_another_program_become_untrusted_memories(new, place):
    data = plain({"content": "The spare key lies under the blue pot.", "created_at": "2025-05-01T10:00:00+02:00"})
    result = imported(new, place, data + b"\n", trusted=False, namespace="home")
    assert (result.new, result.ours) == (1, False)
    (found,) = [
        item.memory for item in new.transfer.export_items(["home"], vectors=False).items if isinstance(item, MemoryItem)
    ]
    assert (found.origin, found.trust, found.tier) == (Origin.IMPORT, Trust.UNTRUSTED, Tier.LONG_TERM)
    assert found.created_at.isoformat() == "2025-05-01T08:00:00+00:00"
    assert found == with_encoded_words(found, new.hasher)


def test_what_search_knows_of_the_words_is_not_taken_from_a_file(old, new, place):
    data = exported(old, place)
    header, *lines = lines_of(data)
    forged = [line | ({"terms": [1, 2]} if line["type"] == "memory" else {}) for line in lines]
    imported(new, place, plain(header, *forged))
    for item in new.transfer.export_items(None, vectors=False).items:
        assert not isinstance(item, MemoryItem) or item.memory == with_encoded_words(item.memory, new.hasher)


def test_the_digest_of_the_words_is_not_taken_from_a_file(old, new, place):
    header, *lines = lines_of(exported(old, place))
    forged = [line | ({"content_hash": "0" * 32} if line["type"] == "memory" else {}) for line in lines]
    imported(new, place, plain(header, *forged))
    assert one(new, "m1").content_hash == one(old, "m1").content_hash


def test_lines_of_another_program_are_known_when_they_come_again(new, place):
    data = plain({"content": "a"}, {"content": "b", "tags": ["x"]}, {"content": "a"})
    assert imported(new, place, data, trusted=False).new == 2
    assert imported(new, place, data, trusted=False, now=START + timedelta(days=90)).new == 0


def test_lines_of_another_program_cannot_be_trusted(new, place):
    assert problem(new, place, plain({"content": "a"})).startswith("trusted: is for exports of this program")


def test_a_wrong_line_is_named_and_nothing_comes_in(old, new, place):
    lines = exported(old, place).splitlines(keepends=True)
    wrong = b"".join([*lines[:5], lines[5].replace(b'"talk"', b"7"), *lines[6:]])
    assert problem(new, place, wrong) == "line 6: name: Input should be a valid string"
    assert list(new.namespaces()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"content": "a"', "line 2: the object: is not JSON"),
        (b'{"content": ""}', "line 2: content: is empty; say something in it"),
        (b'{"content": 5}', "line 2: content: Input should be a valid string"),
        (b'{"content": "a", "mood": 1}', "line 2: mood: is no field of this format"),
        (b'{"tags": []}', "line 2: content: is missing"),
        (
            b'{"content": "a", "created_at": "2025-01-01T00:00:00"}',
            "line 2: created_at: Input should have timezone info",
        ),
        (b'{"content": "a", "importance": 7}', "line 2: importance: Input should be less than or equal to 1"),
        (b'{"content": "\\ud800"}', "line 2: the object: is not JSON"),
        (b'{"content": "a", "metadata": {"a": 1e999}}', "line 2: metadata: holds a value that JSON does not have"),
        (b"[" * 5000, "line 2: the object: is not JSON"),
        (b"\xff\xfe", "line 2: the object: is not JSON"),
        (b"null", "line 2: the object: Input should be an object"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_without_its_words(new, place, line, said):
    assert problem(new, place, plain({"content": "first"}) + line, trusted=False).startswith(said)
    assert list(new.namespaces()) == []


def test_an_export_of_an_earlier_version_lacks_what_was_added_since(old, new, place):
    header, *lines = lines_of(exported(old, place))
    earlier = [{name: value for name, value in line.items() if name != "disputes"} for line in lines]
    assert imported(new, place, plain(header, *earlier)).new == len(lines)


def test_a_file_that_was_cut_short_is_refused(old, new, place):
    data = exported(old, place)
    assert "was cut short" in problem(new, place, data[: data.rindex(b"\n", 0, -1) + 1])
    assert "is not JSON" in problem(new, place, data[:-9])
    assert list(new.namespaces()) == []


def test_a_later_version_of_the_format_is_refused(new, place):
    assert "another version" in problem(new, place, plain({"format": "hybrid-memory", "version": 2}))


def test_an_id_that_says_something_else_here_is_told_with_its_line(old, new, place):
    put(new, "m1", namespace="work", content="quite another thing", content_hash="other")
    said = problem(new, place, exported(old, place))
    assert said.startswith("line 9: has the id of a memory that is there already and says something else")
    assert list(new.namespaces()) == ["work"]


def test_an_id_that_comes_twice_is_told_with_its_line(old, new, place):
    lines = exported(old, place).splitlines(keepends=True)
    assert problem(new, place, b"".join([*lines, lines[1]])).startswith("line 13: has the id of an earlier line")


def test_a_vector_of_another_length_is_refused(old, new, place):
    data = exported(old, place, vectors=True).replace(b'"dimensions":8', b'"dimensions":9')
    assert problem(new, place, data).startswith("line 2: holds a value that no export holds")


def test_a_line_of_a_namespace_that_was_not_announced_is_refused(old, new, place):
    data = exported(old, place).replace(b'"namespaces":["default","work"]', b'"namespaces":["default"]')
    assert "does not name" in problem(new, place, data, namespace="default")


def test_an_export_shows_one_moment_while_others_write(old, place, tmp_path):
    from hybrid_memory.admin.export_import import export_store

    written = []

    def write(done, total):
        written.append(done)
        put(old, f"late-{done}")

    export_store(old, place, on_progress=write)
    assert written
    assert b"late-" not in place.read_bytes()


def test_the_order_of_an_export_is_that_of_time_not_of_storing(old, place):
    old.transfer.import_items(
        [MemoryItem(memory("early", created_at=START - timedelta(days=1)))], action="t", actor="t"
    )
    assert lines_of(exported(old, place))[1]["id"] == "early"


def test_what_cannot_be_read_is_left_out_of_an_export_which_says_so_and_counts_right(tmp_path, place, new):
    home = tmp_path / "hostile"
    store = filled(home, [*some(), *some(2, "work")])
    store.close()
    change_rows(home / "memory.duckdb", "UPDATE memory SET tier = 'bogus' WHERE rowid = 1")
    store = opened(home)
    data, told = export_store_to(store, place)
    store.close()
    assert told.left_out == 1
    first, *lines = lines_of(data)
    assert first["memories"] == told.memories == sum(line["type"] == "memory" for line in lines)
    imported(new, place, data, trusted=True)


def export_store_to(store, place):
    told = export_store(store, place, on_progress=lambda *_: None)
    return place.read_bytes(), told
