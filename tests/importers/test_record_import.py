"""What another program's file said becomes memories, is next to what was said here, and leaves again without a trace in the export."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.core.admin.sample_stores import exported, filled, some
from tests.core.store.making import memory

from hybrid_memory.admin.export_import import ImportPolicy, import_file
from hybrid_memory.admin.imports import action_of, imports_of, undo_import
from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, MemoryId, Origin, Trust
from hybrid_memory.secret_detection.secret_policy import SecretMode, SecretPolicy
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory.testing import START
from hybrid_memory_importers.record_import import Batch, import_records, look_at_records
from hybrid_memory_importers.spool import SpoolLine

NOW = START + timedelta(days=30)
ID = "0123456789"


@pytest.fixture
def store(tmp_path):
    store = filled(tmp_path / "store", [*some(), *some(2, "work")])
    yield store
    store.close()


def line(name, text=None, **changes):
    text = f"what {name} told" if text is None else text
    values = {
        "content": text,
        "digest": content_hash(text),
        "session": "import:chatgpt",
        "told": True,
        "at": START + timedelta(days=1),
    }
    return SpoolLine(id=MemoryId(name), **(values | changes))


def taken(store, tmp_path, *lines, id_=ID, namespace="default", stop_after=None, **options):
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"".join(one.encoded() for one in lines))

    def on_progress(done, total):
        if stop_after is not None and done >= stop_after:
            raise KeyboardInterrupt

    batch = Batch(namespace=namespace, now=NOW, **options)
    seen = look_at_records(store, file, batch)
    done = import_records(
        store,
        file,
        batch,
        action=action_of("chatgpt", id_),
        embed=lambda _: None,
        actor="tester",
        on_progress=on_progress,
    )
    assert seen == done  # what is shown before is what happens
    return done


def one(store, name, namespace="default"):
    return store.get(namespace, [MemoryId(name)])[MemoryId(name)]


@pytest.mark.slow
def test_what_the_person_told_is_theirs_and_what_the_assistant_said_is_not(store, tmp_path):
    taken(store, tmp_path, line("a"), line("b", told=False))
    assert [(one(store, name).origin, one(store, name).trust) for name in "ab"] == [
        (Origin.IMPORT, Trust.AGENT),
        (Origin.IMPORT, Trust.UNTRUSTED),
    ]


def test_a_time_to_come_counts_as_now(store, tmp_path):
    taken(store, tmp_path, line("a", at=NOW + timedelta(days=999)), line("b", at=None))
    assert one(store, "a").created_at == one(store, "b").created_at == NOW


def test_words_that_are_here_already_are_passed_over(store, tmp_path):
    first = taken(store, tmp_path, line("a", "I like rye"))
    again = taken(store, tmp_path, line("a", "I like rye"), line("b", "i LIKE  rye"), line("c"), id_="1111111111")
    assert (first.new, again.new, again.there, again.known) == (1, 1, 1, 1)


def test_words_of_another_namespace_are_not_here(store, tmp_path):
    taken(store, tmp_path, line("a", "I like rye"))
    assert taken(store, tmp_path, line("b", "I like rye"), namespace="other").new == 1


def test_what_a_web_page_said_does_not_keep_the_persons_words_out(store, tmp_path):
    taken(store, tmp_path, line("a", "I like rye", told=False))
    assert taken(store, tmp_path, line("b", "I like rye")).new == 1


def test_what_was_corrected_here_and_is_said_later_again_comes_in(store, tmp_path):
    old, new = line("a", "Berlin", superseded_by=MemoryId("b")), line("b", "Porto", supersedes=MemoryId("a"))
    taken(store, tmp_path, old, new)
    assert taken(store, tmp_path, line("c", "Berlin", at=START), id_="1111111111").known == 1
    assert taken(store, tmp_path, line("d", "Berlin", at=START + timedelta(days=9)), id_="1111111111").new == 1


def test_links_hold_both_ends_and_lead_only_to_what_is_there(store, tmp_path):
    taken(store, tmp_path, line("x", "here before"))
    taken(
        store,
        tmp_path,
        line("a", superseded_by=MemoryId("b")),
        line("b", supersedes=MemoryId("a"), parents=(MemoryId("a"), MemoryId("m0"))),
        line("y", "here before"),
        line("c", supersedes=MemoryId("y")),
        id_="1111111111",
    )
    assert (one(store, "a").superseded_by, one(store, "b").supersedes, one(store, "b").parents) == ("b", "a", ("a",))
    assert one(store, "c").supersedes is None


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "new", "refused"), [("mask", 1, 0), ("off", 1, 0), ("refuse", 0, 1)])
def test_secrets_are_dealt_with_as_the_settings_say(store, tmp_path, mode, new, refused):
    text = "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    done = taken(store, tmp_path, line("a", text), secrets=SecretPolicy(SecretMode(mode)))
    assert (done.new, done.refused) == (new, refused)
    if new:
        assert (one(store, "a").content == text) is (mode == "off")


def test_undone_the_export_is_the_same_byte_by_byte(store, tmp_path):
    before = exported(store, tmp_path / "x")
    draw = random.Random(1)
    lines = [line(f"n{number}", at=START + timedelta(hours=draw.randint(-999, 999))) for number in range(50)]
    taken(store, tmp_path, *lines, line("a", superseded_by=MemoryId("b")), line("b", supersedes=MemoryId("a")))
    entry, gone = undo_import(store, ID, actor="tester")
    assert exported(store, tmp_path / "x") == before
    assert (entry.memories, gone.memories, gone.resting_on) == (52, 52, ())


@pytest.mark.slow
def test_two_imports_are_undone_each_for_itself(store, tmp_path):
    before = exported(store, tmp_path / "x")
    taken(store, tmp_path, line("a"))
    taken(store, tmp_path, line("b"), id_="0199999999", namespace="work")
    assert [(one.id, one.memories, one.namespaces) for one in imports_of(store)] == [
        (ID, 1, ("default",)),
        ("0199999999", 1, ("work",)),
    ]
    undo_import(store, "0199", actor="tester")
    undo_import(store, "01234", actor="tester")
    assert exported(store, tmp_path / "x") == before


def test_a_beginning_of_several_ids_is_not_enough(store, tmp_path):
    taken(store, tmp_path, line("a"), id_="abcd111111")
    taken(store, tmp_path, line("b"), id_="abcd222222")
    with pytest.raises(InvalidInput, match="more than one"):
        undo_import(store, "abcd", actor="tester")


@pytest.mark.slow
def test_an_import_that_was_killed_goes_on_and_is_undone_as_one(store, tmp_path, monkeypatch):
    monkeypatch.setattr("hybrid_memory_importers.record_import._BATCH", 10)
    before = exported(store, tmp_path / "x")
    lines = [
        line(f"n{number}", superseded_by=MemoryId(f"n{number + 20}") if number == 5 else None) for number in range(40)
    ]
    lines[25] = replace(lines[25], supersedes=MemoryId("n5"))
    with pytest.raises(KeyboardInterrupt):
        taken(store, tmp_path, *lines, stop_after=10)
    done = taken(store, tmp_path, *lines)
    assert (done.new, done.there) == (30, 10)
    assert one(store, "n5").superseded_by == "n25"
    assert undo_import(store, ID, actor="tester")[1].memories == 40
    assert exported(store, tmp_path / "x") == before


@pytest.mark.slow
def test_what_was_undone_can_be_imported_and_undone_again(store, tmp_path):
    before = exported(store, tmp_path / "x")
    for _ in range(2):
        assert taken(store, tmp_path, line("a")).new == 1
        assert undo_import(store, ID, actor="tester")[1].memories == 1
    assert exported(store, tmp_path / "x") == before
    assert store.check(refusal=refusal).findings == ()


def test_undone_twice_is_said(store, tmp_path):
    taken(store, tmp_path, line("a"))
    undo_import(store, ID, actor="tester")
    with pytest.raises(NotFound, match="undone before"):
        undo_import(store, ID, actor="tester")


@pytest.mark.slow
@pytest.mark.parametrize(("named", "error"), [("abcdef", NotFound), ("", InvalidInput), ("' OR 1", InvalidInput)])
def test_an_id_that_is_none_is_said(store, named, error):
    with pytest.raises(error):
        undo_import(store, named, actor="tester")


def test_what_was_made_of_it_since_stays_without_its_links(store, tmp_path):
    taken(store, tmp_path, line("a"), line("b"))
    later = memory("later", supersedes=MemoryId("a"))
    insight = memory("insight", kind=Kind.INSIGHT, parents=(MemoryId("b"), MemoryId("m0")))
    elsewhere = memory("elsewhere", namespace="work", kind=Kind.INSIGHT, parents=(MemoryId("b"),))
    store.transfer.import_items([MemoryItem(each) for each in (later, insight, elsewhere)], action="test", actor="t")
    _, gone = undo_import(store, ID, actor="tester")
    assert set(gone.resting_on) == {("default", "insight"), ("work", "elsewhere")}
    assert (one(store, "later").supersedes, one(store, "insight").parents) == (None, ("m0",))


def test_the_log_tells_of_each_memory_that_left(store, tmp_path):
    taken(store, tmp_path, line("a"))
    undo_import(store, ID, actor="tester")
    told = [(each.change.value, each.action) for each in store.history("default", [MemoryId("a")])]
    assert told == [("put", f"import chatgpt {ID}"), ("purge", "undo import")]


@pytest.mark.slow
def test_a_store_with_an_import_is_sound(store, tmp_path):
    taken(store, tmp_path, line("a"), line("b", told=False))
    assert not [one for one in store.check(refusal=refusal).findings if "future" not in one.what]


def test_a_store_that_has_an_import_from_another_machine_is_sound(store, tmp_path):
    told = memory("told", origin=Origin.IMPORT, trust=Trust.AGENT, content_hash=content_hash("what told says"))
    store.transfer.import_items([MemoryItem(told)], action="sync", actor="t")
    assert not [one for one in store.check(refusal=refusal).findings if "trusted" in one.what]


def test_a_foreign_statement_that_was_raised_by_hand_is_still_found(store, tmp_path):
    raised = memory(
        "raised", origin=Origin.IMPORT, trust=Trust.CONFIRMED, content_hash=content_hash("what raised says")
    )
    store.transfer.import_items([MemoryItem(raised)], action="test", actor="t")
    assert any("trusted as more" in finding.what for finding in store.check(refusal=refusal).findings)


@pytest.mark.slow
def test_lines_of_our_own_form_are_undone_too(store, tmp_path):
    before = exported(store, tmp_path / "x")
    file = tmp_path / "own.jsonl"
    file.write_text('{"content": "one"}\n{"content": "two"}\n')
    done = import_file(
        store,
        file,
        ImportPolicy(now=datetime(2026, 1, 1, tzinfo=UTC)),
        embed=lambda _: None,
        actor="t",
        on_progress=lambda *_: None,
        action=action_of("lines", ID),
    )
    assert done.new == undo_import(store, ID, actor="t")[1].memories == 2
    assert exported(store, tmp_path / "x") == before


def test_what_the_store_has_in_a_longer_form_is_passed_over(store, tmp_path):
    taken(store, tmp_path, line("a", "I live in Berlin, in Neukölln"))
    before = exported(store, tmp_path / "before")
    done = taken(store, tmp_path, line("b", "I live in Berlin"), line("c", "I live near the sea"), id_="8989")
    assert (done.new, done.known, done.longer) == (1, 0, 1)
    undo_import(store, "8989", actor="tester")
    assert exported(store, tmp_path / "after") == before


def test_the_longer_form_counts_where_the_line_goes_and_if_it_is_trusted_as_much(store, tmp_path):
    taken(store, tmp_path, line("a", "I live in Berlin, in Neukölln", told=False))
    taken(store, tmp_path, line("b", "I like tea, black"), namespace="work", id_="7777")
    done = taken(store, tmp_path, line("c", "I live in Berlin"), line("d", "I like tea"), id_="8989")
    assert (done.new, done.longer) == (2, 0)


def test_what_was_said_after_the_longer_form_was_corrected_comes_in(store, tmp_path):
    longer = line("a", "I live in Berlin, in Neukölln", superseded_by=MemoryId("b"))
    taken(store, tmp_path, longer, line("b", "I live in Lisbon", supersedes=MemoryId("a")))
    assert taken(store, tmp_path, line("c", "I live in Berlin", at=START + timedelta(days=2)), id_="8989").new == 1
    assert taken(store, tmp_path, line("d", "I live in Berlin", at=START), id_="9090").longer == 0


def test_rules_for_a_folder_go_where_those_do_whatever_they_say(store, tmp_path):
    rule = line("a", "Answer me in German", rules_of="/src/shop")
    done = taken(store, tmp_path, rule, of_folder=lambda _: "default", of_rules=lambda folder: f"project:{folder[5:]}")
    assert done.projects == (("project:shop", 1),)
