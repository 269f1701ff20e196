"""What counts as not given, for every argument of every tool, and what callers can say that leave no argument out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.services import call, refusal
from tests.tables import each

from hybrid_memory.requests import Where
from hybrid_memory_mcp.mcp_api import not_given, schemas
from hybrid_memory_mcp.mcp_api.moments import CallTime
from hybrid_memory_mcp.mcp_api.tools import TOOLS

NULLS = (None, "null", " null ")
BLANKS = ("", "  ", [], {}, "[]", "{}", [""], [None], ["", None, " "], [[]], ["null"], '[""]')
ONLY_FREE = (None, "", "  ", [], {}, [""], [None])
REQUIRED = {
    "write_memory": {"content": "Ada plays the cello"},
    "read_memories": {},
    "reflect": {},
    "update_memory": {"id": "a"},
    "forget_memories": {},
}
TAKEN = {tool.name: tool.takes for tool in TOOLS}


def optional(model):
    return [name for name, field in model.model_fields.items() if not field.is_required()]


def nothings(tool, name):
    """Return the values of an argument that say nothing."""
    if name in not_given.FREE_WORDS:
        return ONLY_FREE
    words = () if name in not_given.NAMES else ("none", "NULL", " None ")
    meant = (
        {"tags": ([], "[]"), "where": ({}, "{}")}.get(name, ()) if tool in ("update_memory", "forget_memories") else ()
    )
    return [one for one in (*NULLS, *BLANKS, *words) if one not in meant]


EVERY = [(tool, name, value) for tool in TAKEN for name in optional(TAKEN[tool]) for value in nothings(tool, name)]
FILTERS = [(name, value) for name in schemas.WhereArguments.model_fields for value in nothings("", name)]


@each("tool", TAKEN)
def test_an_optional_argument_that_says_nothing_is_not_given(tool):
    for of, name, value in EVERY:
        if of == tool:
            given_too = TAKEN[tool].model_validate(REQUIRED[tool] | {name: value})
            assert given_too == TAKEN[tool].model_validate(REQUIRED[tool]), (name, value)


@pytest.mark.parametrize("tool", ["read_memories", "forget_memories"])
def test_a_filter_that_says_nothing_is_none(tool):
    for name, value in (*FILTERS, ("memory_type", "Any"), ("min_trust", "untrusted"), ("min_trust", "any")):
        read = TAKEN[tool].model_validate({"where": {"speaker": "Ada", "session": "s-one", name: value}})
        expected = {"speaker": "Ada", "session": "s-one"}
        expected.pop(name, None)
        assert read.where == schemas.WhereArguments.model_validate(expected), (name, value)


@given(st.data())
def test_any_number_of_arguments_may_say_nothing(data):
    tool = data.draw(st.sampled_from(sorted(TAKEN)))
    sent = {
        name: data.draw(st.sampled_from(nothings(tool, name)), label=name)
        for name in optional(TAKEN[tool])
        if data.draw(st.booleans())
    }
    assert TAKEN[tool].model_validate(REQUIRED[tool] | sent) == TAKEN[tool].model_validate(REQUIRED[tool])


@each(
    "tool, name, words",
    [
        ("update_memory", "content", "null"),
        ("read_memories", "query", "null"),
        ("read_memories", "query", "{}"),
        ("reflect", "focus", "None"),
        ("write_memory", "speaker", "None"),
        ("write_memory", "speaker", "Null"),
        ("write_memory", "session", "none"),
        ("write_memory", "key", "nullable"),
    ],
)
def test_what_are_words_of_the_user_stay_what_they_are(tool, name, words):
    assert getattr(TAKEN[tool].model_validate(REQUIRED[tool] | {name: words}), name) == words


def test_no_memory_becomes_the_word_null_where_that_is_written_for_nothing():
    names = optional(schemas.UpdateArguments)
    for null in ("null", "None"):
        sent = dict.fromkeys(set(names) - {"tags"}, null) | {"tags": "null", "id": "a", "pinned": True}
        assert schemas.UpdateArguments.model_validate(sent) == schemas.UpdateArguments(id="a", pinned=True)
    read = schemas.ReadArguments.model_validate({"query": "null", "ids": ["a"], "cursor": "null", "where": None})
    assert read == schemas.ReadArguments(ids=["a"])


def test_what_must_be_given_stays_what_it_is_beside_the_word_null():
    assert schemas.WriteArguments.model_validate({"content": "null", "importance": "null"}).content == "null"


def test_a_tag_null_among_others_is_a_tag():
    assert TAKEN["write_memory"].model_validate({"content": "a", "tags": ["sql", "null", ""]}).tags == ["sql", "null"]


def test_metadata_may_hold_what_is_empty():
    for sent in ({"a": None, "b": ""}, [{"key": "a", "value": None}, {"key": "b", "value": ""}]):
        read = TAKEN["write_memory"].model_validate({"content": "a", "metadata": sent})
        assert read.metadata == {"a": None, "b": ""}


def test_filters_that_all_let_everything_through_are_no_filters(service):
    neutral = neutral_of(schemas.plain_schema(schemas.ReadArguments))["where"]
    filters = schemas.WhereArguments.model_validate(neutral).to_filters(CallTime(None, service.now()))
    assert filters == Where()


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("where", ["", [], None, {}, "{}", "null", {"session": ""}, {"memory_type": "any"}])
async def test_ids_may_stand_beside_filters_that_are_none(client, service, where):
    kept = service.keep("Ada plays the cello").id
    page = await call(client, "read_memories", ids=[kept], where=where)
    assert [one["id"] for one in page["memories"]] == [kept]
    assert (await call(client, "forget_memories", ids=[kept], where=where))["ids"] == [kept]


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["", [], "null", None])
async def test_filters_that_are_not_given_are_not_those_that_match_all(client, service, where):
    service.keep("Ada plays the cello")
    assert await refusal(client, "forget_memories", where=where, ids=[""]) == "ids: give either ids or where"


# Callers that leave no argument out: with null for what they do not mean, or with the empty value of its kind.


def neutral_of(schema):
    """Return what a caller sends that fills every field by its type, with the first name where it must choose."""
    empty = {"string": "", "array": [], "boolean": False, "number": 0, "integer": 0}
    return {
        name: neutral_of(field) if field["type"] == "object" else field.get("enum", [empty[field["type"]]])[0]
        for name, field in schema["properties"].items()
    }


def with_empties(tool, said):
    return neutral_of(schemas.plain_schema(TAKEN[tool])) | said


def with_nulls(tool, said):
    return dict.fromkeys(schemas.plain_schema(TAKEN[tool])["properties"]) | said


STYLES = pytest.mark.parametrize("all_named", [with_empties, with_nulls])
TAG, CELLO = ("music",), "Ada plays the cello"
VERBS = {
    "write": ("write_memory", {"content": "Ada plays chess"}, lambda new: new.content == "Ada plays chess"),
    "write a fact": ("write_memory", {"content": "Ada is allergic to nuts"}, lambda new: new.importance > 0.5),
    "write a task": (
        "write_memory",
        {"content": "Ada moves", "memory_type": "working", "key": "task"},
        lambda new: (new.tier, new.key) == ("working", "task"),
    ),
    "write a summary": (
        "write_memory",
        {"content": "Ada moved", "memory_type": "episodic"},
        lambda new: new.tier == "episodic",
    ),
    "write tags": ("write_memory", {"content": "Ada moved", "tags": ["home"]}, lambda new: new.tags == ("home",)),
    "write no tags": ("write_memory", {"content": "Ada moved", "tags": ["none"]}, lambda new: new.tags == ()),
    "write pinned": ("write_memory", {"content": "Ada moved", "pinned": True}, lambda new: new.pinned),
    "correct": (
        "write_memory",
        {"content": "Ada plays the viola", "supersedes": "KEPT"},
        lambda new: new.supersedes is not None and new.importance > 0,
    ),
    "change": (
        "update_memory",
        {"content": "Ada plays the viola"},
        lambda new: (new.content, new.pinned, new.importance, new.tags) == ("Ada plays the viola", True, 0.9, TAG),
    ),
    "weigh": ("update_memory", {"importance": 0.3}, lambda new: (new.importance, new.pinned) == (0.3, True)),
    "pin": ("update_memory", {"pinned": True}, lambda new: (new.pinned, new.importance, new.tags) == (True, 0.9, TAG)),
    "unpin": (
        "update_memory",
        {"pinned": False},
        lambda new: (new.pinned, new.importance, new.tags) == (False, 0.9, TAG),
    ),
    "tag": ("update_memory", {"tags": ["home"]}, lambda new: (new.tags, new.pinned) == (("home",), True)),
    "untag": (
        "update_memory",
        {"tags": ["none"]},
        lambda new: (new.tags, new.pinned, new.importance) == ((), True, 0.9),
    ),
    "expire": (
        "update_memory",
        {"expires_at": "2030-01-01"},
        lambda new: new.expires_at is not None and (new.pinned, new.tags) == (True, TAG),
    ),
}


@pytest.mark.slow
@pytest.mark.anyio
@STYLES
@pytest.mark.parametrize("verb", VERBS)
async def test_who_names_every_argument_can_write_and_change(client, service, all_named, verb):
    tool, said, is_right = VERBS[verb]
    kept = service.keep(CELLO, tags=TAG, importance=0.9, pinned=True).id
    said = {name: kept if value == "KEPT" else value for name, value in said.items()}
    done = await call(client, tool, **all_named(tool, said | ({"id": kept} if tool == "update_memory" else {})))
    assert is_right(service.memories[done["id"]])


def ids_of(answer):
    return [one["id"] for one in answer["memories"]]


@pytest.mark.slow
@pytest.mark.anyio
@STYLES
async def test_who_names_every_argument_can_ask_and_fetch_and_have_a_brief(client, service, all_named):
    kept = service.keep(CELLO).id
    for said in ({"query": "cello"}, {"ids": [kept]}, {}):
        assert ids_of(await call(client, "read_memories", **all_named("read_memories", said))) == [kept]
    filters = with_empties("read_memories", {})["where"] | {"session": "s-other"}
    assert not ids_of(
        await call(client, "read_memories", **all_named("read_memories", {"query": "cello", "where": filters}))
    )


@pytest.mark.anyio
@STYLES
async def test_who_names_every_argument_can_turn_a_page(client, service, all_named):
    kept = {service.keep(f"Ada's note {number}").id for number in range(6)}
    first = await call(client, "read_memories", **all_named("read_memories", {"query": "note", "limit": 4}))
    said = {"query": "note", "limit": 4, "cursor": first["cursor"]}
    rest = await call(client, "read_memories", **all_named("read_memories", said))
    assert {*ids_of(first), *ids_of(rest)} == kept


@pytest.mark.anyio
@STYLES
async def test_who_names_every_argument_can_reflect(client, service, all_named):
    kept = [service.keep(f"Ada came late on day {number}").id for number in range(3)]
    for none in ([], [{"text": "", "evidence": [], "importance": 0}]):
        assert "instructions" in await call(client, "reflect", **all_named("reflect", {"insights": none}))
    insight = {"text": "Ada is often late", "evidence": [kept[0], ""], "importance": 0}
    (stored,) = (await call(client, "reflect", **all_named("reflect", {"insights": [insight]})))["stored"]
    assert service.memories[stored].importance > 0


@pytest.mark.anyio
@STYLES
async def test_who_names_every_argument_can_forget_and_bring_back(client, service, all_named):
    kept = service.keep(CELLO).id
    filters = with_empties("forget_memories", {})["where"] | {"session": service.memories[kept].session}
    for said in ({"ids": [kept]}, {"ids": [kept], "restore": True}, {"where": filters, "count": 1}):
        assert (await call(client, "forget_memories", **all_named("forget_memories", said)))["ids"] == [kept]


@pytest.mark.anyio
async def test_who_forgets_nothing_by_name_is_told_the_count_first(client, service):
    service.keep(CELLO)
    assert "count=1" in await refusal(client, "forget_memories", **with_empties("forget_memories", {}))


@pytest.mark.anyio
async def test_zero_beside_nulls_is_wanted(client, service):
    kept = service.keep(CELLO, importance=0.9).id
    await call(client, "update_memory", **with_nulls("update_memory", {"id": kept, "importance": 0}))
    assert service.memories[kept].importance == 0
    new = await call(client, "write_memory", **with_nulls("write_memory", {"content": "Ada", "importance": 0}))
    assert service.memories[new["id"]].importance == 0


@pytest.mark.anyio
async def test_false_beside_nulls_and_words_is_wanted(client, service):
    kept = service.keep(CELLO, pinned=True).id
    said = {"id": kept, "content": "Ada plays the viola", "pinned": False}
    new = await call(client, "update_memory", **with_nulls("update_memory", said))
    assert not service.memories[new["id"]].pinned


@pytest.mark.anyio
@pytest.mark.parametrize("beside", [{"tags": []}, {"expires_at": ""}, {"pinned": False}])
async def test_zero_beside_another_empty_value_is_none(client, service, beside):
    kept = service.keep(CELLO, importance=0.9).id
    said = {"id": kept, "content": "Ada plays the viola", "importance": 0} | beside
    new = await call(client, "update_memory", **with_nulls("update_memory", said))
    assert service.memories[new["id"]].importance == 0.9


@pytest.mark.anyio
async def test_who_can_leave_arguments_out_means_zero_and_false(client, service):
    kept = service.keep(CELLO, pinned=True, importance=0.9).id
    await call(client, "update_memory", id=kept, importance=0, pinned=0)
    assert (service.memories[kept].pinned, service.memories[kept].importance) == (False, 0)


@pytest.mark.anyio
async def test_who_sends_nothing_but_empty_values_is_told_what_that_did(client, service):
    kept = service.keep(CELLO, pinned=True, tags=TAG).id
    answer = await client.call_tool("update_memory", with_empties("update_memory", {"id": kept}))
    told = 'Not pinned now; its importance and tags stay (tags ["none"] takes them away)'
    assert answer.content[0].text == f"Updated {kept}. {told}"
