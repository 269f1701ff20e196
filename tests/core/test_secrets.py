"""What the memory does about secrets: at every entrance, at every way out, and in the search."""

import json
from dataclasses import replace

import pytest
from tests.core.secret_detection.planted import ALNUM, TOKENS, drawn
from tests.core.speaking import remember

from hybrid_memory.errors import InvalidInput
from hybrid_memory.requests import Insight, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings, store_settings
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import HashEmbedder

TOKEN = TOKENS["GitHub token"]
SAID = f"The deploy token of the blog is {TOKEN}"
SHOWN = "The deploy token of the blog is [secret: GitHub token]"


@pytest.fixture
def memory_with(clock, random_source):
    def make(mode, store=None):
        settings = StoreSettings(secrets=mode)
        store = store or MemoryStore(clock)
        return MemoryService(store, HashEmbedder(), clock=clock, random_source=random_source, settings=settings)

    return make


def stored(service, scope, written):
    return service.store.get(scope.namespace, [written.id])[written.id]


def everything_shown(service, scope, memory_id):
    """Return what every way out shows, as one text."""
    shown = [
        service.read(scope, ReadRequest(query="deploy token of the blog")),
        service.read(scope, ReadRequest()),
        service.read(scope, ReadRequest(ids=(memory_id,))),
        service.recent(scope),
        service.get(scope, memory_id),
        service.offer_reflection(scope),
        service.write(scope, WriteRequest(content="The deploy token of the blog is in the safe", session="later")),
        *(service.suggest(scope, what, "") for what in ("session", "tag", "speaker")),
    ]
    return repr(shown)


def test_a_secret_is_stored_told_and_shown_as_a_mark(service, scope):
    written = remember(service, scope, SAID)
    assert written.secrets == ("GitHub token",)
    assert stored(service, scope, written).content == SAID
    assert service.get(scope, written.id).content == SHOWN


def test_what_holds_no_secret_is_told_of_none(service, scope):
    assert remember(service, scope, "The deploy token of the blog is in the safe").secrets == ()


def test_no_way_out_shows_it_wherever_it_was_written(service, scope):
    fields = {"source": f"chat {TOKEN}", "speaker": f"Bo {TOKEN}", "tags": (f"tag {TOKEN}",)}
    request = WriteRequest(content=SAID, metadata={"deep": [{"token": TOKEN}]}, session=f"s {TOKEN}", **fields)
    written = service.write(scope, request)
    assert TOKEN not in everything_shown(service, scope, written.id)
    assert "[secret: GitHub token]" in everything_shown(service, scope, written.id)


def test_what_was_written_before_is_shown_as_a_mark_when_the_store_is_opened_again(memory_with, clock, scope):
    store = MemoryStore(clock)
    written = remember(memory_with("off", store), scope, SAID)
    assert TOKEN not in everything_shown(memory_with("warn", store), scope, written.id)


def test_masked_nothing_of_it_is_stored(memory_with, scope):
    service = memory_with("mask")
    request = WriteRequest(
        content=SAID, tags=(TOKEN,), metadata={"t": TOKEN}, source=TOKEN, speaker=TOKEN, session=TOKEN
    )
    written = service.write(scope, request)
    kept = stored(service, scope, written)
    assert written.secrets == ("GitHub token",)
    assert TOKEN not in repr(kept)
    assert kept.content == SHOWN
    assert (
        kept.content_hash
        == stored(service, scope, service.write(scope, WriteRequest(content=SHOWN, session="b"))).content_hash
    )


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("content", {"content": SAID}),
        ("tags", {"content": "x", "tags": ("a", TOKEN)}),
        ("metadata", {"content": "x", "metadata": {"a": {"b": TOKEN}}}),
        ("source", {"content": "x", "source": TOKEN}),
        ("speaker", {"content": "x", "speaker": TOKEN}),
        ("session", {"content": "x", "session": TOKEN}),
    ],
)
def test_refused_the_error_names_field_and_kind_and_nothing_is_stored(memory_with, scope, field, given):
    service = memory_with("refuse")
    with pytest.raises(InvalidInput) as refused:
        service.write(scope, WriteRequest(**given))
    assert refused.value.field == field
    assert "GitHub token" in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert service.store.head(scope.namespace) == 0


def test_an_update_is_an_entrance_too(memory_with, scope):
    for mode, kept in (("warn", SAID), ("mask", SHOWN)):
        service = memory_with(mode)
        first = remember(service, scope, "The deploy token of the blog is somewhere")
        updated = service.update(scope, UpdateRequest(id=first.id, content=SAID, tags=(TOKEN,)))
        assert (updated.secrets, stored(service, scope, updated).content) == (("GitHub token",), kept)
        assert (TOKEN in repr(stored(service, scope, updated).tags)) == (mode == "warn")
    refusing = memory_with("refuse")
    first = remember(refusing, scope, "x")
    with pytest.raises(InvalidInput, match="content: looks"):
        refusing.update(scope, UpdateRequest(id=first.id, content=SAID))


def test_an_insight_is_an_entrance_too(memory_with, scope):
    service = memory_with("mask")
    first = remember(service, scope, "The blog is deployed by hand")
    (insight,) = service.store_insights(scope, [Insight(text=SAID, evidence=(first.id,))])
    assert service.store.get(scope.namespace, [insight])[insight].content == SHOWN
    refusing = memory_with("refuse")
    seen = remember(refusing, scope, "The blog is deployed by hand")
    with pytest.raises(InvalidInput, match="text: looks"):
        refusing.store_insights(scope, [Insight(text=SAID, evidence=(seen.id,))])


def test_off_everything_is_as_it_was_written(memory_with, scope):
    service = memory_with("off")
    written = service.write(scope, WriteRequest(content=SAID, tags=(TOKEN,)))
    assert written.secrets == ()
    assert TOKEN in everything_shown(service, scope, written.id)


def test_a_repeat_of_the_request_tells_it_again(service, scope):
    key = RequestKey("relay", 1)
    told = [service.write(scope, WriteRequest(content=SAID), key=key).secrets for _ in range(2)]
    assert told == [("GitHub token",)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["warn", "refuse", "off"])
def test_no_question_tells_what_a_secret_is(memory_with, clock, scope, mode):
    """Whatever the secret is, a guess finds the memory with the same score."""

    def score(secret, guess):
        store = MemoryStore(clock)
        for sentence in (f"The wifi password is {secret}", "The fence was painted in May"):
            remember(memory_with("off", store), scope, sentence)
        hits = memory_with(mode, store).read(scope, ReadRequest(query=guess, weak=True)).hits
        return {hit.memory.tier: hit.score for hit in hits if "wifi" in hit.memory.content}

    for guess in ("password kirschbaum77", "Kirschbaum77", "is the wifi password kirschbaum77?"):
        assert score("kirschbaum77", guess) == score("apfelbaum88", guess)


def test_a_filter_by_what_is_stored_goes_on_working(service, scope):
    written = service.write(scope, WriteRequest(content="The key of the blog", metadata={"api_key": drawn(ALNUM, 32)}))
    found = service.read(scope, ReadRequest(where=Where(metadata={"api_key": drawn(ALNUM, 32)})))
    assert [hit.memory.id for hit in found.hits] == [written.id]


@pytest.mark.parametrize("source", ["file", "variable"])
def test_the_setting_comes_from_the_file_or_the_environment(tmp_path, monkeypatch, source):
    if source == "file":
        (tmp_path / "config.toml").write_text('secrets = "refuse"\n')
    else:
        monkeypatch.setenv("HYBRID_MEMORY_SECRETS", "refuse")
    assert store_settings(tmp_path).secrets == "refuse"


def test_another_setting_is_refused(tmp_path):
    (tmp_path / "config.toml").write_text('secrets = "hide"\n')
    with pytest.raises(InvalidInput, match="secrets"):
        store_settings(tmp_path)


def test_the_results_kept_for_a_repeat_hold_no_secret(service, scope):
    service.write(scope, WriteRequest(content=SAID), key=RequestKey("relay", 1))
    assert TOKEN not in json.dumps(dict(service.store.result(scope.namespace, RequestKey("relay", 1))))


def test_status_shows_no_secret_in_a_name(memory_with, scope):
    """Neither in its own session, nor in those of others who are connected, nor in a notice."""
    named = replace(scope, session=f"deploy {TOKEN}")
    clients = ({"client": f"app {TOKEN}", "session": f"s {TOKEN}", "pid": 7},)
    shown = memory_with("warn").shown_status(named, clients, (f"notice {TOKEN}",))
    assert TOKEN not in json.dumps(shown, default=dict)
    assert shown["session"] == "deploy [secret: GitHub token]"
    assert shown["clients"] == [
        {"client": "app [secret: GitHub token]", "session": "s [secret: GitHub token]", "pid": 7}
    ]
    assert TOKEN in json.dumps(memory_with("off").shown_status(named, clients), default=dict)
