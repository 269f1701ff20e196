"""What is redacted is gone from every file of the store's folder, and the memory, its links and its lines in the log are there."""

from dataclasses import replace

import pytest
from tests.core.admin.sample_stores import filled, opened
from tests.core.secret_detection.planted import TOKENS
from tests.core.store.making import memory

from hybrid_memory.admin.backup import create_backup
from hybrid_memory.admin.health_check import check
from hybrid_memory.admin.redact import redact
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.store.home_files import list_backups
from hybrid_memory.store.store_file import file_eraser
from hybrid_memory.store.transfer import EntryItem, MemoryItem
from hybrid_memory.testing import HASHER, START, FakeClock

TOKEN = TOKENS["GitHub token"]


def said(name, content, **fields):
    plain = replace(memory(name, **fields), content=content, content_hash=content_hash(content))
    return MemoryItem(with_encoded_words(plain, HASHER))


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    store = filled(
        home,
        [
            said("first", f"The deploy token is {TOKEN}", superseded_by=MemoryId("second")),
            said(
                "second", f"The deploy token of the blog is {TOKEN}", supersedes=MemoryId("first"), tags=("blog", TOKEN)
            ),
            said("thought", f"Bo uses {TOKEN} everywhere", parents=(MemoryId("second"),)),
            said("other", "The wifi password is hunter2", metadata={"deep": [{"password": "swordfish"}]}),
            said("plain", "The fence is green", pinned=True),
            EntryItem("default", "talk", "message", 2, {"content": f"use {TOKEN}", "n": 1}),
        ],
    )
    create_backup(store, home, START, keep=3)
    store.close()
    return home


def redacted(home, *ids, **options):
    return redact(file_eraser(home), "default", [MemoryId(one) for one in ids], START, actor="tester", **options)


def held(home):
    store = opened(home)
    try:
        return store.get("default", [MemoryId(one) for one in ("first", "second", "thought", "other", "plain")])
    finally:
        store.close()


def in_files(home, text):
    return [file.name for file in home.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


@pytest.mark.slow
def test_the_secret_is_gone_from_all_that_holds_it_and_all_files(home):
    assert in_files(home, TOKEN)
    assert redacted(home, "second").memories == 3
    found = held(home)
    assert found["second"].content == "The deploy token of the blog is [secret: GitHub token]"
    assert found["second"].tags == ("blog", "[secret: GitHub token]")
    assert TOKEN not in repr(found)
    assert in_files(home, TOKEN) == []
    store = opened(home)
    assert store.entries("default", "talk", "message")[-1].body == {"content": "use [secret: GitHub token]", "n": 1}
    store.close()


@pytest.mark.slow
def test_what_held_no_such_secret_is_as_it_was(home):
    before = held(home)
    redacted(home, "second")
    after = held(home)
    assert (after["other"], after["plain"]) == (before["other"], before["plain"])


@pytest.mark.slow
def test_links_times_and_place_stay(home):
    before = held(home)["second"]
    redacted(home, "second")
    after = held(home)["second"]
    assert (after.supersedes, after.created_at, after.tier, after.trust) == (
        "first",
        before.created_at,
        before.tier,
        before.trust,
    )
    assert after.content_hash == content_hash(after.content)
    assert held(home)["thought"].parents == ("second",)


@pytest.mark.slow
def test_the_audit_log_keeps_its_lines_tells_of_the_redaction_and_fits(home):
    redacted(home, "second")
    store = opened(home)
    log = store.history("default", [MemoryId("second")])
    assert [(one.action, one.note, bool(one.digest)) for one in log][-1] == ("redact", "a secret was taken out", True)
    assert [bool(one.digest) for one in log[:-1]] == [False] * (len(log) - 1)
    assert store.check_log("default").problem is None
    store.close()
    assert check(home, FakeClock()).sound


@pytest.mark.slow
def test_a_short_secret_goes_from_the_named_memory_alone(home):
    assert redacted(home, "other").memories == 1
    assert held(home)["other"].content == "The wifi password is [secret: password]"
    assert held(home)["other"].metadata == {"deep": [{"password": "[secret: password]"}]}


@pytest.mark.slow
def test_words_that_are_not_recognised_can_be_named(home):
    with pytest.raises(NotFound, match="--words"):
        redacted(home, "plain")
    redacted(home, "plain", words="green")
    assert held(home)["plain"].content == "The fence is [secret: redacted]"


@pytest.mark.slow
def test_the_backups_are_rewritten_too(home):
    (backup,) = list_backups(home)
    assert TOKEN.encode() in backup.read_bytes()
    assert redacted(home, "second").rewritten == 1
    assert TOKEN.encode() not in backup.read_bytes()


@pytest.mark.slow
def test_nothing_happens_without_the_right_number_or_id(home):
    before = held(home)
    with pytest.raises(ConfirmationNeeded):
        redacted(home, "second", count=1)
    with pytest.raises(NotFound):
        redacted(home, "nobody")
    with pytest.raises(InvalidInput):
        redacted(home)
    with pytest.raises(InvalidInput):
        redacted(home, "plain", words="x")
    assert held(home) == before
