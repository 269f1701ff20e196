"""Memories of other programs: the official memory server, mem0, Letta, Zep and Graphiti, in the shapes of their own documentation."""

import json
import zipfile
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats import find_format, format_named
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import open_source

GRAPH = [
    {
        "type": "entity",
        "name": "John_Smith",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "John Smith graduated in 2019"],
    },
    {"type": "entity", "name": "default_user", "entityType": "person", "observations": ["prefers morning meetings"]},
    {"type": "entity", "name": "Anthropic", "entityType": "organization", "observations": []},
    {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
]
MEM0 = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8a",
    "memory": "Is allergic to peanuts",
    "user_id": "alex",
    "run_id": "trip",
    "hash": "a1",
    "metadata": {"source": "chat"},
    "categories": ["health"],
    "created_at": "2026-01-15T10:30:00Z",
    "updated_at": "2026-01-16T10:30:00.123456-08:00",
    "expiration_date": "2027-01-01",
}
EDGE = {
    "uuid": "e1",
    "name": "LIVES_IN",
    "fact": "Anna lives in Munich",
    "source_node_uuid": "n1",
    "target_node_uuid": "n2",
    "created_at": "2025-03-01T10:00:00.123456789Z",
    "valid_at": "2019-01-01T00:00:00Z",
    "invalid_at": "2024-06-01T00:00:00Z",
    "expired_at": None,
    "group_id": "g",
    "episodes": ["p1"],
    "attributes": {"since": "2019", "fact_embedding": [1]},
}
AGENT_FILE = {
    "agents": [
        {
            "id": "agent-0",
            "name": "Sam",
            "agent_type": "letta_v1_agent",
            "block_ids": ["block-0", "block-1"],
            "messages": [
                {
                    "id": "message-0",
                    "role": "system",
                    "content": [{"type": "text", "text": "You are Sam."}],
                    "created_at": "2025-10-10T07:00:00Z",
                },
                {
                    "id": "message-1",
                    "role": "user",
                    "content": [{"type": "text", "text": '{"type": "login", "time": "x"}'}],
                },
                {
                    "id": "message-2",
                    "role": "user",
                    "created_at": "2025-10-10T07:14:31+00:00",
                    "content": [
                        {
                            "type": "text",
                            "text": '{"type": "user_message", "message": "My dog is called Rex", "time": "x"}',
                        }
                    ],
                },
                {
                    "id": "message-3",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "They have a dog."}],
                    "tool_calls": [{"function": {"name": "send_message", "arguments": '{"message": "Nice!"}'}}],
                },
                {
                    "id": "message-4",
                    "role": "user",
                    "content": [{"type": "text", "text": "<system-reminder>\nx\n</system-reminder>I run daily"}],
                },
            ],
        }
    ],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "First name: Chad\nLast name: ?\nInterests: sailing"},
        {"id": "block-1", "label": "persona", "value": "I am Sam."},
    ],
    "files": [{"file_name": "a.pdf"}],
    "created_at": "2026-01-22T00:40:22.963855+00:00",
}
FORMATS = ("memory-server", "mem0", "zep", "letta")


def read(place, name=None):
    source = open_source(place)
    found = format_named(name) if name else find_format(source)
    assert found is not None
    everything = list(found.read(source))
    records = [one for one in everything if isinstance(one, Record)]
    assert len({one.key for one in records}) == len(records)
    return found.NAME, records, [one for one in everything if isinstance(one, Skipped)]


@pytest.fixture
def file(tmp_path):
    def write(value, name="export.json"):
        place = tmp_path / name
        place.write_text(value if isinstance(value, str) else json.dumps(value))
        return place

    return write


def lines(*values):
    return "\n".join(map(json.dumps, values))


def texts(records):
    return [one.text for one in records]


def test_a_graph_comes_in_with_the_names_of_what_it_is_about(file):
    name, records, skipped = read(file(lines(*GRAPH), "memory.jsonl"))
    assert name == "memory-server"
    assert texts(records) == [
        "John Smith: Speaks fluent Spanish",
        "John Smith graduated in 2019",
        "User: prefers morning meetings",
        "John Smith works at Anthropic",
    ]
    assert records[0].tags == ("person",)
    assert [one.reason for one in skipped] == ["an entity of which nothing is told"]


def test_what_the_tool_read_graph_gives_is_the_same(file):
    whole = {"entities": [one for one in GRAPH if one["type"] == "entity"], "relations": GRAPH[3:]}
    assert texts(read(file(whole))[1]) == texts(read(file(lines(*GRAPH), "memory.json"))[1])


def test_an_observation_keeps_its_key_when_others_come_and_go(file):
    before = {one.text: one.key for one in read(file(lines(*GRAPH)))[1]}
    fewer = [{**GRAPH[0], "observations": GRAPH[0]["observations"][1:]}, *GRAPH[1:]]
    assert all(before[one.text] == one.key for one in read(file(lines(*fewer)))[1])


@pytest.mark.parametrize(
    "shape",
    [
        {"results": [MEM0], "relations": []},
        {"count": 1, "next": None, "previous": None, "results": [MEM0]},
        [MEM0],
        lines(MEM0, MEM0 | {"id": "b", "memory": "x"}),
    ],
)
def test_memories_of_mem0_come_with_their_times_and_categories(file, shape):
    name, records, _ = read(file(shape))
    one = records[0]
    assert (name, one.key, one.text) == ("mem0", MEM0["id"], "Is allergic to peanuts")
    assert (one.at, one.expires_at) == (datetime(2026, 1, 15, 10, 30, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert (one.tags, one.conversation, one.kind) == (("health",), "trip", RecordKind.MEMORY)
    assert one.metadata["source"] == "chat"
    assert one.metadata["user_id"] == "alex"


def test_a_memory_of_mem0_tells_what_took_its_place(file):
    newer = MEM0 | {"id": "b", "memory": "Is allergic to nuts"}
    _, records, _ = read(file({"results": [MEM0 | {"replaced_by": "b"}, newer]}))
    assert [one.superseded_by for one in records] == ["b", None]


def test_relations_of_mem0_are_sentences(file):
    relations = [{"source": "alex", "relationship": "works_at", "target": "acme"}]
    assert texts(read(file({"results": [MEM0], "relations": relations}))[1])[1:] == ["alex works at acme"]


def test_a_backup_of_openmemory_is_read_from_its_zip(tmp_path):
    payload = {
        "user": {"id": "u", "user_id": "alex"},
        "apps": [{"id": "a", "owner_id": "u", "name": "cursor"}],
        "categories": [{"id": "c", "name": "health"}],
        "memories": [
            {
                "id": "m",
                "user_id": "u",
                "content": "Is vegan",
                "state": "active",
                "created_at": "2025-05-01T00:00:00+00:00",
                "category_ids": ["c"],
            },
            {"id": "d", "user_id": "u", "content": "Gone", "state": "deleted", "category_ids": []},
        ],
        "memory_categories": [],
    }
    with zipfile.ZipFile(tmp_path / "memories_export.zip", "w") as archive:
        archive.writestr("memories.json", json.dumps(payload, indent=2))
        archive.writestr("memories.jsonl.gz", b"\x1f\x8b")
    name, records, skipped = read(tmp_path / "memories_export.zip")
    assert (name, texts(records), records[0].tags) == ("mem0", ["Is vegan"], ("health",))
    assert [one.reason for one in skipped] == ["deleted there"]


def test_an_export_of_a_shape_of_ones_own_is_read_when_the_format_is_named(file):
    _, records, skipped = read(
        file({"full_name": "John Doe", "years_experience": 8, "tools": ["uv", "git"], "notes": None}), "mem0"
    )
    assert texts(records) == ["Full name: John Doe", "Years experience: 8", "Tools: uv, git"]
    assert len(skipped) == 1


@pytest.mark.parametrize(
    "shape", [[EDGE], {"edges": [EDGE], "nodes": []}, {"message": "ok", "facts": [EDGE]}, lines(EDGE, EDGE)]
)
def test_a_fact_of_zep_holds_from_when_until_when_it_was_true(file, shape):
    name, records, _ = read(file(shape))
    one = records[0]
    assert (name, one.text, one.conversation) == ("zep", "Anna lives in Munich", "g")
    assert (one.occurred_at.year, one.expires_at.year, one.at.year) == (2019, 2024, 2025)
    assert one.metadata == {"relation": "LIVES_IN", "since": "2019"}


def test_summaries_episodes_and_messages_of_zep_are_told_apart(file):
    answer = {
        "edges": [EDGE],
        "nodes": [
            {
                "uuid": "n",
                "name": "Anna",
                "summary": "A nurse.",
                "labels": ["Person"],
                "created_at": "2025-01-01T00:00:00Z",
            }
        ],
        "episodes": [
            {
                "uuid": "p1",
                "content": "user: I moved\nBob(assistant): Good",
                "source": "message",
                "created_at": "2025-01-01T00:00:00Z",
            },
            {"uuid": "p2", "content": "{}", "source": "json", "created_at": "2025-01-01T00:00:00Z"},
            {"uuid": "p3", "content": "A manual.", "source": "text", "created_at": "2025-01-01T00:00:00Z"},
        ],
        "messages": [
            {"uuid": "m", "content": "I like tea", "role": "user", "name": "Anna", "created_at": "2025-01-02T00:00:00Z"}
        ],
        "user_id": "anna",
    }
    _, records, skipped = read(file(answer))
    told = {one.text: (one.kind, one.author, one.speaker) for one in records[1:]}
    assert told == {
        "Anna: A nurse.": (RecordKind.MEMORY, Author.ASSISTANT, None),
        "I moved": (RecordKind.MESSAGE, Author.PERSON, None),
        "Good": (RecordKind.MESSAGE, Author.ASSISTANT, "Bob"),
        "A manual.": (RecordKind.MEMORY, Author.OTHER, None),
        "I like tea": (RecordKind.MESSAGE, Author.PERSON, "Anna"),
    }
    assert [one.reason for one in skipped] == ["data (JSON) of an episode"]


def test_messages_of_the_earlier_zep_have_a_role_type(file):
    _, records, _ = read(
        file(
            {
                "messages": [{"uuid": "m", "content": "I like tea", "role": "Anna", "role_type": "user"}],
                "facts": ["Anna likes tea"],
            }
        )
    )
    assert {(one.text, one.author, one.speaker) for one in records} == {
        ("I like tea", Author.PERSON, "Anna"),
        ("Anna likes tea", Author.ASSISTANT, None),
    }


@pytest.mark.parametrize("twice", [False, True])
def test_an_agent_file_of_letta_gives_blocks_and_what_was_said(file, twice):
    text = json.dumps(AGENT_FILE)
    name, records, skipped = read(file(json.dumps(text) if twice else text, "sam.af"))
    assert name == "letta"
    assert [(one.text, one.author, one.kind) for one in records] == [
        ("First name: Chad", Author.ASSISTANT, RecordKind.MEMORY),
        ("Interests: sailing", Author.ASSISTANT, RecordKind.MEMORY),
        ("My dog is called Rex", Author.PERSON, RecordKind.MESSAGE),
        ("Nice!", Author.ASSISTANT, RecordKind.MESSAGE),
        ("I run daily", Author.PERSON, RecordKind.MESSAGE),
    ]
    assert records[0].at == datetime(2026, 1, 22, 0, 40, 22, 963855, tzinfo=UTC)
    assert "about the agent itself, or how it is to work" in {one.reason for one in skipped}


def test_the_older_agent_file_is_one_agent(file):
    old = {
        "agent_type": "memgpt_agent",
        "name": "Sam",
        "version": "0.6",
        "core_memory": [{"label": "human", "value": "Likes tea.", "updated_at": "2025-04-01T03:57:37"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}], "created_at": "2025-04-01T03:47:27.492966"}
        ],
    }
    _, records, _ = read(file(old, "sam.af"))
    assert [(one.text, one.at) for one in records] == [
        ("Likes tea.", datetime(2025, 4, 1, 3, 57, 37, tzinfo=UTC)),
        ("hi", datetime(2025, 4, 1, 3, 47, 27, 492966, tzinfo=UTC)),
    ]


def test_passages_of_archival_memory_come_without_those_of_files(file):
    passages = [
        {
            "embedding": [0.1] * 9000,
            "embedding_config": {},
            "id": "p1",
            "text": "Rex is a dog",
            "created_at": "2025-01-01T00:00:00Z",
            "tags": ["pets"],
            "archive_id": "a",
        },
        {"embedding": [], "id": "p2", "text": "Chapter 1", "file_id": "f"},
        {"embedding": [], "id": "p3", "text": "Gone", "is_deleted": True},
    ]
    name, records, skipped = read(file(passages))
    assert (name, texts(records), records[0].tags) == ("letta", ["Rex is a dog"], ("pets",))
    assert [one.reason for one in skipped] == ["a piece of a file that was given to the agent", "deleted there"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("content", ["", "{}", "[]", "null", "3", '"x"', "[" * 3000, "not json", "\x00"])
def test_nothing_comes_of_what_is_no_export(file, name, content):
    found = format_named(name).read(open_source(file(content)))
    with suppress(InvalidInput):  # the whole is not that; else each part is left out
        assert all(isinstance(one, Skipped) for one in found)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9)
    | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*EDGE, *MEM0, *GRAPH[0], *AGENT_FILE, "messages", "content", "role"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "well"),
    [("memory-server", GRAPH[0]), ("mem0", MEM0), ("zep", EDGE), ("letta", {"text": "x", "archive_id": "a"})],
)
@given(
    hostile=st.lists(VALUES, max_size=4),
    field=st.text(max_size=3) | st.sampled_from([*EDGE, *MEM0, *GRAPH[0], "text"]),
    inner=VALUES,
)
@settings(max_examples=40)
def test_no_bad_record_stops_the_others(tmp_path_factory, name, well, hostile, field, inner):
    place = tmp_path_factory.mktemp("hostile") / "export.json"
    place.write_text(json.dumps([well | {field: inner}, *hostile, well]))
    *_, last = format_named(name).read(open_source(place))
    assert isinstance(last, Record)
    last.text.encode()


@pytest.mark.parametrize(
    "value",
    [[{"role": "user", "content": "hi"}], {"name": "x", "version": "1.0.0", "dependencies": {}}, {"memory": 3}, []],
)
def test_other_json_is_none_of_these(file, value):
    source = open_source(file(value))
    assert not [name for name in FORMATS if format_named(name).recognises(source)]


def test_the_oldest_form_of_mem0_is_recognised(tmp_path):
    told = [{"id": "m1", "text": "Is allergic to peanuts", "metadata": {"data": "x", "user_id": "alex"}}]
    (tmp_path / "all.json").write_text(json.dumps(told))
    source = open_source(tmp_path / "all.json")
    found = find_format(source)
    (one,) = found.read(source)
    assert (found.NAME, one.text, one.conversation) == ("mem0", "Is allergic to peanuts", "alex")
