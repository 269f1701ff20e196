"""Recording a run, comparing later runs with it, and doing it again without the agent."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory_testing import Recording, memory_for_tests
from hybrid_memory_testing.clock import moment_of
from hybrid_memory_testing.recording import Event

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recordings" / "run.json"


async def agent(memory, what="tea"):
    bonn = memory.remember("Ada lives in Bonn.", tags=("home",))
    async with memory.client() as client:
        result = await client.call_tool("write_memory", {"content": f"Ada likes {what}."})
        made = result.structured_content["id"]
        await client.call_tool("update_memory", {"id": made, "content": f"Ada loves {what}."})
        await client.call_tool("forget_memories", {"ids": ["0" * 20]})
        await client.call_tool("update_memory", {"id": bonn, "pinned": True})
    memory.clock.advance(days=2)
    async with memory.client() as client:
        await client.read_resource("memory://status")
        await client.call_tool("read_memories", {"query": "What does Ada like?", "explain": True})


async def recorded(file, **options):
    with memory_for_tests(recorded=file, **options) as memory:
        await agent(memory)


async def test_the_first_run_is_recorded_and_the_next_is_as_recorded(file):
    await recorded(file)
    text = file.read_text(encoding="utf-8")
    await recorded(file)
    assert file.read_text(encoding="utf-8") == text
    assert [event.does for event in Recording.load(file).events] == [
        "remember",
        *["call"] * 4,
        "end",
        *["call"] * 2,
        "end",
    ]


@pytest.mark.slow
async def test_a_run_that_differs_fails_and_shows_where(file):
    await recorded(file)
    with pytest.raises(AssertionError) as raised, memory_for_tests(recorded=file) as memory:
        await agent(memory, "coffee")
    message = str(raised.value)
    assert message.startswith(f"This run is not as recorded in {file}.\n\n2. recorded (-), now (+):")
    assert '\n-   "content": "Ada likes tea."\n+   "content": "Ada likes coffee."\n' in message
    assert "--hybrid-memory-record=rewrite" in message


@pytest.mark.slow
async def test_a_call_more_or_less_is_a_difference(file):
    await recorded(file)
    with memory_for_tests() as memory:
        await agent(memory)
        memory.remember("One more.")
        memory.save_recording(file.with_name("more.json"))
    short, long = Recording.load(file), Recording.load(file.with_name("more.json"))
    assert [one.number for one in short.differences(long.events)] == [10]
    assert [one.number for one in long.differences(short.events)] == [10]


async def test_other_ids_are_no_difference(file):
    await recorded(file)
    await recorded(file, seed=7)


@pytest.mark.slow
async def test_a_recording_can_be_made_anew_and_must_be_there_where_none_may_be_made(file):
    with pytest.raises(AssertionError, match="there is no recording"):
        await recorded(file, record_mode="none")
    await recorded(file)
    with memory_for_tests(recorded=file, record_mode="rewrite") as memory:
        await agent(memory, "coffee")
    assert "coffee" in file.read_text(encoding="utf-8")


@pytest.mark.slow
async def test_a_run_that_failed_otherwise_is_neither_recorded_nor_compared(file):
    async def failing():
        with memory_for_tests(recorded=file) as memory:
            await agent(memory)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    assert not file.exists()


@pytest.mark.slow
async def test_a_memory_that_is_off_records_nothing_and_is_not_as_recorded(file):
    await recorded(file, off=True)
    assert not file.exists()
    await recorded(file)
    with pytest.raises(AssertionError, match="not as recorded"):
        await recorded(file, off=True)
    with pytest.raises(AssertionError, match="not as recorded"):
        await recorded(file, off=True, record_mode="none")


async def test_what_was_recorded_is_done_again_without_the_agent(file):
    await recorded(file)
    for seed in (0, 7):
        with memory_for_tests(seed=seed) as memory:
            memory.replay(file)
            memory.assert_remembered("Ada loves tea")
            memory.assert_calls("write_memory", "update_memory", "forget_memories", "update_memory", "read_memories")


async def test_a_memory_that_answers_otherwise_is_found_out(file):
    await recorded(file)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"text": "Ada loves tea."', '"text": "Ada loves milk."'), encoding="utf-8")
    with memory_for_tests() as memory, pytest.raises(AssertionError, match=r"answers otherwise(?s:.*)Ada loves milk"):
        memory.replay(file)
    with memory_for_tests(off=True) as memory, pytest.raises(AssertionError, match="answers otherwise"):
        memory.replay(file)


@pytest.mark.slow
async def test_scores_may_differ_in_their_last_digits(file):
    await recorded(file)
    shown = json.loads(file.read_text(encoding="utf-8"))
    (hit, *_) = shown["events"][-2]["answer"]["memories"]
    hit["score"] += 0.00001
    file.write_text(json.dumps(shown), encoding="utf-8")
    await recorded(file)
    hit["score"] += 0.01
    file.write_text(json.dumps(shown), encoding="utf-8")
    with pytest.raises(AssertionError, match="not as recorded"):
        await recorded(file)


def test_a_session_so_far_can_be_saved(file):
    with memory_for_tests(seed=3, timezone="Europe/Berlin") as memory:
        memory.remember("Ada lives in Bonn.")
        memory.save_recording(file)
    found = Recording.load(file)
    assert (found.seed, found.timezone, len(found.events)) == (3, "Europe/Berlin", 1)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": "x"}', '{"format": "hybrid-memory-mcp recording", "version": 99}']
)
def test_what_is_no_recording_says_so(file, text):
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(f"{file} is no recording")):
        Recording.load(file)


def test_a_recording_over_stdio_is_refused(file):
    with pytest.raises(ValueError, match="transport='memory'"):
        memory_for_tests(transport="stdio", recorded=file)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
VALUES = st.none() | st.integers() | TEXTS | st.lists(TEXTS, max_size=2)
EVENTS = st.builds(
    Event,
    does=st.just("call"),
    at=st.just(moment_of("2026-01-10")),
    tool=TEXTS,
    client=st.integers(0, 5),
    session=TEXTS,
    arguments=st.dictionaries(TEXTS, VALUES, max_size=2),
    failed=st.booleans(),
    answer=st.dictionaries(TEXTS, VALUES, max_size=2),
    text=TEXTS,
)


@given(st.lists(EVENTS, max_size=2))
def test_what_is_written_is_read_again_and_is_the_same(tmp_path_factory, events):
    file = tmp_path_factory.mktemp("made") / "run.json"
    Recording(events=tuple(events), seed=4).save(file)
    found = Recording.load(file)
    assert found == Recording(events=tuple(events), seed=4)
    assert found.differences(events) == []


WORDS = st.sampled_from(["Ada likes tea.", "Ada likes coffee now.", "Bo lives in Bonn.", "Bo moved to Rome.", "tea"])
DONE = st.one_of(
    st.builds(lambda text: ("write_memory", {"content": text}), WORDS),
    st.builds(
        lambda text, key: ("write_memory", {"content": text, "memory_type": "working", "key": key}), WORDS, WORDS
    ),
    st.builds(lambda text: ("read_memories", {"query": text, "explain": True}), WORDS),
    st.just(("read_memories", {})),
    st.just(("reflect", {})),
    st.builds(lambda at: ("forget_memories", {"ids": at}), st.integers(0, 5)),
    st.builds(lambda at, text: ("update_memory", {"id": at, "content": text}), st.integers(0, 5), WORDS),
    st.just(("end", {})),
    st.builds(lambda days: ("days", {"days": days}), st.integers(0, 400)),
)


def done(memory, steps):
    """Do random steps; of an id the steps know only the number of the memory, the newest first."""
    session = 0
    for name, arguments in steps:
        event = Event(does="call", at=memory.clock.now(), tool=name, session=f"s-{session:012}")
        if name == "days":
            memory.clock.advance(**arguments)
        elif name == "end":
            memory.do_again(replace(event, does="end", tool=""), {})
            session += 1
        else:
            ids = [one.id for one in (*memory.memories, *memory.former_memories)] or ["0" * 20]
            given = dict(arguments)
            if name == "forget_memories":
                given["ids"] = [ids[arguments["ids"] % len(ids)]]
            elif name == "update_memory":
                given["id"] = ids[arguments["id"] % len(ids)]
            memory.do_again(event, given)


@settings(max_examples=10)
@given(st.lists(DONE, max_size=12))
def test_any_session_done_again_is_the_same(tmp_path_factory, steps):
    file = tmp_path_factory.mktemp("made") / "run.json"
    with memory_for_tests() as memory:
        done(memory, steps)
        memory.save_recording(file)
        before = [(one.content, one.tier, one.created_at) for one in memory.memories]
    with memory_for_tests() as memory:
        memory.replay(file)
        assert [(one.content, one.tier, one.created_at) for one in memory.memories] == before
