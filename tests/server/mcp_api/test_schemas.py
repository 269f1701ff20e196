from __future__ import annotations

from datetime import UTC, datetime

import pytest
from mcp.server.mcpserver.exceptions import ToolError
from tests.server.services import call, refusal

from hybrid_memory.model import Origin


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("write_memory", {}, "content: is required"),
        ("write_memory", {"content": ""}, "content: must not be empty"),
        ("write_memory", {"content": "x" * 100_001}, "content: must have at most 100000 characters"),
        ("write_memory", {"content": True}, "content: must be text"),
        ("write_memory", {"content": "a", "importance": 8}, "importance: must be a number from 0 to 1, as 0.8"),
        ("write_memory", {"content": "a", "importance": -0.5}, "importance: must be a number from 0 to 1, as 0.8"),
        ("write_memory", {"content": "a", "importance": True}, "importance: must be a number from 0 to 1"),
        ("write_memory", {"content": "a", "importance": "high"}, "importance: must be a number from 0 to 1"),
        ("write_memory", {"content": "a", "tags": {"a": 1}}, "tags: must be a list"),
        ("write_memory", {"content": "a", "tags": [True]}, "tags.0: must be text"),
        ("write_memory", {"content": "a", "metadata": [1]}, "metadata: must be an object"),
        (
            "write_memory",
            {"content": "a", "memory_type": "forever"},
            "memory_type: must be 'short_term', 'working', 'long_term' or 'episodic'",
        ),
        (
            "write_memory",
            {"content": "a", "occurred_at": "some day"},
            "occurred_at: is not a date; write 2026-01-31 or 2026-01-31T09:30",
        ),
        ("read_memories", {"limit": 101}, "limit: must be at most 100"),
        ("read_memories", {"limit": 2.5}, "limit: must be a whole number"),
        ("read_memories", {"token_budget": 99}, "token_budget: must be at least 100"),
        (
            "read_memories",
            {"where": {"colour": "red"}},
            "where.colour: unknown argument; where takes memory_type, tags, metadata",
        ),
        ("read_memories", {"where": "red"}, "where: must be an object"),
        ("read_memories", {"explain": "maybe"}, "explain: must be true or false"),
        (
            "reflect",
            {"insights": [{"text": "a", "evidence": "b", "colour": 1}]},
            "insights.0.colour: unknown argument; insights takes text, evidence, importance",
        ),
        ("reflect", {"insights": [{"text": "a"}]}, "insights.0.evidence: is required"),
        ("reflect", {"insights": [{"text": "a", "evidence": []}]}, "insights.0.evidence: must hold at least 1"),
        ("read_memories", {"limit": "five"}, "limit: must be a whole number"),
        ("read_memories", {"query": "a", "where": {"since": "banana"}}, "where.since: is not a date"),
        ("update_memory", {"id": "a", "colour": 1}, "unknown argument; update_memory takes id, content, importance"),
    ],
)
async def test_a_wrong_argument_is_named_with_what_it_must_be(server, tool, arguments, told):
    with pytest.raises(ToolError) as caught:
        await server.call_tool(tool, arguments)
    assert told in str(caught.value)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("beside", "where"),
    [
        ({"session": "s-old"}, None),
        ({"session": "s-old"}, {}),
        ({"session": "s-old"}, {"session": ""}),
        ({"session": "s-old"}, {"session": "s-old"}),
        ({"session": "s-old"}, '{"memory_type": "short_term"}'),
        ({"memory_type": "Short Term"}, {"session": "s-old"}),
        ({"tags": "home", "since": "2021-01-01", "until": ""}, None),
    ],
)
async def test_a_filter_beside_where_counts_as_if_it_stood_in_it(client, service, beside, where):
    kept = service.keep("An old note", session="s-old", tags=("home",)).id
    service.keep("A new note")
    found = await call(client, "read_memories", query="note", where=where, **beside)
    assert [one["id"] for one in found["memories"]] == [kept]


@pytest.mark.anyio
async def test_a_filter_that_where_contradicts_is_refused_with_its_place(client):
    told = await refusal(client, "read_memories", query="a", session="s-one", where={"session": "s-two"})
    assert told == 'session: belongs in where, as {"where": {"session": ...}}'


@pytest.mark.anyio
async def test_what_is_forgotten_is_never_guessed_from_a_filter_beside_where(client):
    told = await refusal(client, "forget_memories", session="s-old", count=1)
    assert told == 'session: belongs in where, as {"where": {"session": ...}}'


@pytest.mark.anyio
async def test_a_refusal_holds_neither_the_value_nor_a_link(client):
    told = await refusal(client, "write_memory", content="a", importance="VALUE", origin="VALUE", tags="VALUE")
    assert "VALUE" not in told
    assert "http" not in told
    assert "pydantic" not in told


@pytest.mark.anyio
async def test_a_made_up_name_is_shown_without_its_strange_characters(client):
    told = await refusal(client, "write_memory", content="a", **{"x\n<b>": 1})
    assert told.startswith("x??b?: unknown argument")


@pytest.mark.anyio
async def test_many_problems_are_not_all_listed(client):
    told = await refusal(client, "write_memory", **{f"made_up_{n}": n for n in range(50)})
    assert len(told.splitlines()) == 9


@pytest.mark.anyio
async def test_null_is_taken_for_an_optional_argument_that_is_left_out(client):
    await call(client, "write_memory", content="Ada", tags=None, importance=None, occurred_at=None, key=None)


@pytest.mark.anyio
async def test_a_list_sent_as_the_text_of_its_json_is_understood(client, service):
    written = await call(client, "write_memory", content="Ada", tags='["music"]', metadata='{"a": 1}')
    assert service.memories[written["id"]].tags == ("music",)


@pytest.mark.anyio
async def test_a_whole_number_may_be_written_with_a_point(client):
    await call(client, "read_memories", limit=8.0)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"importance": "0.8"}, {"importance": 0.8}),
        ({"importance": 1}, {"importance": 1.0}),
        ({"tags": "music, home"}, {"tags": ("music", "home")}),
        ({"tags": "music"}, {"tags": ("music",)}),
        ({"tags": '["music", "home"]'}, {"tags": ("music", "home")}),
        ({"tags": None}, {"tags": ()}),
        ({"tags": ""}, {"tags": ()}),
        ({"memory_type": "Long Term"}, {"tier": "long_term"}),
        ({"memory_type": "long-term"}, {"tier": "long_term"}),
        ({"memory_type": "longterm memory"}, {"tier": "long_term"}),
        ({"memory_type": "WORKING", "key": "task"}, {"tier": "working"}),
        ({"origin": "User"}, {"origin": Origin.USER}),
        ({"origin": "assistant"}, {"origin": Origin.AGENT}),
        ({"metadata": '{"a": 1}'}, {"metadata": {"a": 1}}),
        ({"metadata": [{"key": "a", "value": 1}, {"key": 2, "value": "b"}]}, {"metadata": {"a": 1, "2": "b"}}),
        ({"metadata": '[{"name": "a", "value": null}]'}, {"metadata": {"a": None}}),
        ({"metadata": "null"}, {"metadata": {}}),
        ({"session": 42}, {"session": "42"}),
        ({"speaker": 42.0, "tags": [7, "eight", 8.5]}, {"speaker": "42", "tags": ("7", "eight", "8.5")}),
        ({"tags": 7}, {"tags": ("7",)}),
        ({"content": 4711}, {"content": "4711"}),
        ({"expires_at": 20300131}, {"expires_at": datetime(2030, 1, 31, tzinfo=UTC)}),
        ({"supersedes": "", "key": "", "speaker": " ", "expires_at": "", "metadata": {}}, {"supersedes": None}),
    ],
)
async def test_what_is_plainly_meant_is_accepted(client, service, sent, meant):
    written = await call(client, "write_memory", **({"content": "Ada"} | sent))
    memory = service.memories[written["id"]]
    assert {name: getattr(memory, name) for name in meant} == meant


@pytest.mark.anyio
async def test_a_day_in_words_is_that_day_in_the_zone_of_the_client(client, service):
    written = await call(client, "write_memory", content="Ada", occurred_at="yesterday", expires_at="in 3 days")
    memory = service.memories[written["id"]]
    assert memory.occurred_at.isoformat() == "2026-01-09T00:00:00+00:00"
    assert memory.expires_at.isoformat() == "2026-01-13T12:00:00+00:00"


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("limit", ["2", 2.0, "2.0", " 2 "])
async def test_a_limit_may_be_written_in_other_ways(client, service, limit):
    for number in range(4):
        service.keep(f"note {number}")
    assert len((await call(client, "read_memories", limit=limit))["memories"]) == 2


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("write_ids", [", ".join, " ".join, list, lambda ids: str(list(ids)).replace("'", '"')])
async def test_ids_may_be_one_text(client, service, write_ids):
    kept = [service.keep(f"note {number}").id for number in range(2)]
    page = await call(client, "read_memories", ids=write_ids(kept))
    assert [one["id"] for one in page["memories"]] == kept


@pytest.mark.anyio
async def test_a_single_id_is_a_list_of_one(client, service):
    kept = service.keep("note").id
    assert (await call(client, "forget_memories", ids=kept))["ids"] == [kept]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    "where", ['{"session": "s-other"}', {"session": "s-other", "tags": [], "since": "", "metadata": {}}]
)
async def test_filters_may_be_the_text_of_their_json_or_be_empty_in_part(client, service, where):
    kept = service.keep("note", session="s-other").id
    service.keep("note", session="s-here")
    assert [one["id"] for one in (await call(client, "read_memories", query="note", where=where))["memories"]] == [kept]


@pytest.mark.anyio
async def test_since_may_be_said_in_words(client, service):
    old = service.keep("note").id
    service.clock.advance(days=20)
    new = service.keep("note again").id
    page = await call(client, "read_memories", query="note", where={"since": "last week"})
    assert [one["id"] for one in page["memories"]] == [new] != [old]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("day", ["yesterday", "2026-01-10"])
async def test_from_a_day_until_the_same_day_is_that_day(client, service, day):
    kept = service.keep("note").id
    service.clock.advance(days=1)
    service.keep("note again")
    page = await call(client, "read_memories", query="note", where={"since": day, "until": day})
    assert [one["id"] for one in page["memories"]] == [kept]


@pytest.mark.anyio
async def test_no_memory_is_corrected_where_none_is_named(client, service):
    kept = await call(client, "write_memory", content="Ada", supersedes="none", pinned="no")
    assert service.memories[kept["id"]].supersedes is None


@pytest.mark.anyio
async def test_one_insight_needs_no_list_and_one_piece_of_evidence_neither(client, service):
    kept = service.keep("Ada came late").id
    (stored,) = (await call(client, "reflect", insights={"text": "Ada is often late", "evidence": kept}))["stored"]
    assert service.memories[stored].parents == (kept,)


@pytest.mark.anyio
async def test_a_list_of_one_id_is_that_id(client):
    old = (await call(client, "write_memory", content="Ada plays the cello"))["id"]
    new = (await call(client, "write_memory", content="Ada plays the viola", supersedes=[old]))["id"]
    assert (await call(client, "update_memory", id=f'["{new}"]', pinned=True))["id"] == new
    assert [one["text"] for one in (await call(client, "read_memories"))["memories"]] == ["Ada plays the viola"]


@pytest.mark.anyio
async def test_a_flag_may_be_text(client, service):
    kept = service.keep("note").id
    await call(client, "update_memory", id=kept, pinned="yes")
    assert service.memories[kept].pinned
    await call(client, "update_memory", id=kept, pinned="False")
    assert not service.memories[kept].pinned


@pytest.mark.anyio
async def test_a_model_that_cannot_leave_anything_out_is_understood(client, service):
    """Strict function calling sends an empty value for every argument that is not meant."""
    everything = {"query": "", "ids": [], "cursor": "", "explain": False, "where": {}}
    where = {
        "memory_type": "",
        "tags": [],
        "metadata": {},
        "session": "",
        "speaker": "",
        "since": "",
        "until": "",
        "as_of": "",
    }
    kept = service.keep("Ada plays the cello", tags=("music",)).id
    page = await call(client, "read_memories", **(everything | {"query": "cello", "where": where}))
    assert [one["id"] for one in page["memories"]] == [kept]
    assert (await call(client, "reflect", focus="", session="", since="", insights=[]))["instructions"]
    await call(client, "update_memory", id=kept, content="", importance=0.5, tags=[], pinned=False, expires_at="")
    assert service.memories[kept].tags == ("music",)
    gone = await call(client, "forget_memories", ids=[kept], where=where, count=0, restore=False)
    assert gone["ids"] == [kept]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("zero", [0, 0.0, "0"])
async def test_a_limit_or_budget_of_zero_is_none(client, service, zero):
    service.keep("note")
    assert (await call(client, "read_memories", limit=zero, token_budget=zero))["memories"]


@pytest.mark.anyio
async def test_empty_filters_alone_still_ask_for_the_count(client, service):
    service.keep("note")
    assert "count=1" in await refusal(client, "forget_memories", where={})


@pytest.mark.anyio
async def test_an_empty_list_of_tags_alone_takes_the_tags_away(client, service):
    kept = service.keep("note", tags=("music",)).id
    await call(client, "update_memory", id=kept, tags=[])
    assert service.memories[kept].tags == ()
